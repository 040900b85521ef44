//! The deadline of this thread's probes: a time, or an interrupt.
//!
//! Under a load of 10, a probe often takes ten times as long as on a quiet machine. Every long loop checks
//! the deadline, so that a profile ends in time; interrupted work is reported as not reached, and never
//! becomes a figure.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A duration longer than any profile.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// How late an interrupt may be noticed during a pause.
const STEP: Duration = Duration::from_millis(20);

thread_local! {
    static CURRENT: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

/// A deadline, and whether it cut some work short.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    until: Instant,
    /// Returns true when the work must end now.
    stop: Option<fn() -> bool>,
    cut: Arc<AtomicBool>,
}

impl Deadline {
    fn passed(&self) -> bool {
        let passed = Instant::now() >= self.until || self.stop.is_some_and(|stop| stop());
        if passed {
            self.cut.store(true, Ordering::Relaxed);
        }
        passed
    }
}

/// Runs `work` until `until`, or until an earlier active deadline. The second value says whether any work was
/// cut short.
pub(crate) fn within<T>(until: Instant, work: impl FnOnce() -> T) -> (T, bool) {
    let outer = current();
    let until = outer.as_ref().map_or(until, |outer| outer.until.min(until));
    let own = Deadline {
        until,
        stop: outer.as_ref().and_then(|outer| outer.stop),
        cut: Arc::default(),
    };
    adopt(Some(own.clone()));
    let done = work();
    adopt(outer);
    (done, own.cut.load(Ordering::Relaxed))
}

/// Runs `work`. Once `stop` returns true, every deadline within `work` counts as passed.
pub(crate) fn unless<T>(stop: Option<fn() -> bool>, work: impl FnOnce() -> T) -> T {
    let outer = current();
    adopt(Some(Deadline {
        until: outer
            .as_ref()
            .map_or_else(|| Instant::now() + FOR_EVER, |outer| outer.until),
        stop,
        cut: Arc::default(),
    }));
    let done = work();
    adopt(outer);
    done
}

/// Waits for `time`, but not beyond the deadline.
pub(crate) fn pause(time: Duration) {
    let began = Instant::now();
    while !passed() {
        let left = time.saturating_sub(began.elapsed());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(STEP));
    }
}

/// Returns whether the deadline has passed: the caller must then stop immediately, and its work counts as cut
/// short.
pub(crate) fn passed() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(Deadline::passed))
}

/// Returns the deadline of this thread, for its worker threads.
pub(crate) fn current() -> Option<Deadline> {
    CURRENT.with_borrow(Clone::clone)
}

/// Adopts the deadline of another thread.
pub(crate) fn adopt(deadline: Option<Deadline>) {
    CURRENT.with_borrow_mut(|current| *current = deadline);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_deadline_is_never_later_than_the_outer_one() {
        let far = Instant::now() + Duration::from_secs(3600);
        let ((_, inner), outer) = within(Instant::now(), || within(far, passed));
        assert!(inner, "the outer deadline had passed");
        assert!(!outer, "nothing of the outer work itself was cut");
        assert!(!passed(), "no deadline holds afterwards");
    }

    #[test]
    fn a_thread_that_works_for_another_cuts_for_it() {
        let (_, cut) = within(Instant::now(), || {
            let ours = current();
            std::thread::spawn(move || {
                adopt(ours);
                passed()
            })
            .join()
        });
        assert!(cut);
    }

    #[test]
    fn an_interrupt_ends_everything_within() {
        let far = Instant::now() + Duration::from_secs(3600);
        let (_, cut) = unless(Some(|| true), || {
            pause(Duration::from_secs(3600));
            within(far, passed)
        });
        assert!(cut);
        assert!(!passed(), "it does not hold afterwards");
    }

    #[test]
    fn work_that_ends_in_time_is_not_cut() {
        let far = Instant::now() + Duration::from_secs(3600);
        assert_eq!(within(far, passed), (false, false));
    }
}
