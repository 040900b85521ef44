//! Until when the probes of this thread may go on: a time, or an interrupt.
//!
//! Ten times the time that a probe takes on a quiet machine is common at load 10. Every loop that
//! lasts asks here, so that a profile ends in the time that was promised; what was cut short is
//! said to be not reached, and never becomes a figure.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longer than any profile.
const FOR_EVER: Duration = Duration::from_secs(86_400);

/// How late an interrupt may be noticed while nothing is done.
const STEP: Duration = Duration::from_millis(20);

thread_local! {
    static CURRENT: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

/// A time, and whether some work was cut short by it.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    until: Instant,
    /// Says that somebody wants it to end now.
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

/// Runs `work` until `until`, or an earlier deadline that holds already. The second value says
/// whether something was cut short.
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

/// Runs `work`, in which every deadline has passed once `stop` says true.
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

/// Waits for `time`, at most until the deadline.
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

/// Whether no time is left: the caller must then end at once, and its work counts as cut short.
pub(crate) fn passed() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(Deadline::passed))
}

/// The deadline of this thread, for threads that work for it.
pub(crate) fn current() -> Option<Deadline> {
    CURRENT.with_borrow(Clone::clone)
}

/// Takes over the deadline of another thread.
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
