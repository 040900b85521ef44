//! Gives the reader of the kernel's tables a CPU on a busy machine.
//!
//! The tables and the ring are bounded: if the reader has to queue for a CPU, new data is lost. Niceness
//! doesn't help across sessions (autogroup), but a real-time policy does. The reader runs for microseconds
//! every 10 ms, so the effect on the command is not measurable.

/// Gives the calling thread priority over all ordinary threads until this value is dropped, if that is
/// allowed (`CAP_SYS_NICE`). Its children get ordinary priority.
#[derive(Debug)]
pub(super) struct Urgent {
    before: Option<(i32, libc::sched_param)>,
}

impl Urgent {
    /// Raises the calling thread's priority. If this is refused, nothing changes: losses are counted.
    pub(super) fn raise() -> Self {
        // SAFETY: an all-zero parameter is valid; both calls refer to the calling thread and live values.
        let before = unsafe {
            let mut param: libc::sched_param = std::mem::zeroed();
            let policy = libc::sched_getscheduler(0);
            let known = policy != -1 && libc::sched_getparam(0, &raw mut param) == 0;
            known.then_some((policy, param))
        };
        // A policy that was chosen explicitly is kept.
        let ordinary = before.filter(|(policy, _)| *policy == libc::SCHED_OTHER);
        Self {
            before: ordinary.filter(|_| raised()),
        }
    }
}

fn raised() -> bool {
    // SAFETY: the call refers to the calling thread and a live value.
    unsafe {
        let mut param: libc::sched_param = std::mem::zeroed();
        param.sched_priority = libc::sched_get_priority_min(libc::SCHED_RR);
        libc::sched_setscheduler(
            0,
            libc::SCHED_RR | libc::SCHED_RESET_ON_FORK,
            &raw const param,
        ) == 0
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if let Some((policy, param)) = &self.before {
            // SAFETY: the call refers to the calling thread and a live value.
            unsafe { libc::sched_setscheduler(0, *policy, param) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> i32 {
        // SAFETY: the call takes only an integer.
        unsafe { libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK }
    }

    #[test]
    fn the_thread_is_as_it_was_afterwards() {
        let before = policy();
        let urgent = Urgent::raise();
        let raised = urgent.before.is_some();
        assert_eq!(
            policy() == libc::SCHED_RR,
            raised || before == libc::SCHED_RR
        );
        drop(urgent);
        assert_eq!(policy(), before);
    }
}
