//! Until when the probes of this thread may go on.
//!
//! Ten times the time that a probe takes on a quiet machine is common at load 10. Every loop that
//! lasts looks here, so that a profile ends in the time that was promised; what was cut short is
//! said to be not reached, and never becomes a figure.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

thread_local! {
    static CURRENT: RefCell<Option<Deadline>> = const { RefCell::new(None) };
}

/// A time, and whether some work was cut short by it.
#[derive(Debug, Clone)]
pub struct Deadline {
    until: Instant,
    cut: Arc<AtomicBool>,
}

impl Deadline {
    fn passed(&self) -> bool {
        let passed = Instant::now() >= self.until;
        if passed {
            self.cut.store(true, Ordering::Relaxed);
        }
        passed
    }
}

/// Runs `work` until `until`, or an earlier deadline that holds already. The second value says
/// whether something was cut short.
pub fn within<T>(until: Instant, work: impl FnOnce() -> T) -> (T, bool) {
    let outer = current();
    let until = outer.as_ref().map_or(until, |outer| outer.until.min(until));
    let own = Deadline {
        until,
        cut: Arc::default(),
    };
    adopt(Some(own.clone()));
    let done = work();
    adopt(outer);
    (done, own.cut.load(Ordering::Relaxed))
}

/// Whether no time is left: the caller must then end at once, and its work counts as cut short.
pub fn passed() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(Deadline::passed))
}

/// The deadline of this thread, for threads that work for it.
pub fn current() -> Option<Deadline> {
    CURRENT.with_borrow(Clone::clone)
}

/// Takes over the deadline of another thread.
pub fn adopt(deadline: Option<Deadline>) {
    CURRENT.with_borrow_mut(|current| *current = deadline);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
    fn work_that_ends_in_time_is_not_cut() {
        let far = Instant::now() + Duration::from_secs(3600);
        assert_eq!(within(far, passed), (false, false));
    }
}
