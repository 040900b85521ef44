//! Chooses the sampler's CPU so that the sampler doesn't take one from another thread.
//!
//! A scheduler that treats each CPU as a separate domain, as in many virtual machines, wakes the sampler on
//! the CPU where it slept, even if the command now runs there and another CPU is idle. Each sample then
//! requires two switches.

use crate::cpus::{allowed_cpus, run_on};

/// The CPUs that this thread may use, which are restored when this value is dropped.
pub(super) struct SamplerAffinity {
    /// Empty if the system doesn't report them.
    allowed: Vec<usize>,
    narrowed: bool,
}

impl SamplerAffinity {
    /// Reads the currently allowed CPUs.
    pub(super) fn begin() -> Self {
        Self {
            allowed: allowed_cpus(),
            narrowed: false,
        }
    }

    /// If this thread's CPU is among `busy`, moves the thread to one that isn't.
    pub(super) fn leave(&mut self, busy: &[usize]) {
        // SAFETY: the call only returns a number.
        let here = unsafe { libc::sched_getcpu() };
        if busy.iter().any(|cpu| *cpu as i32 == here) {
            self.avoid(busy);
        }
    }

    fn avoid(&mut self, busy: &[usize]) {
        let mut free = self.allowed.clone();
        free.retain(|cpu| !busy.contains(cpu));
        if free.is_empty() {
            self.widen();
        } else {
            run_on(&free);
            self.narrowed = true;
        }
    }

    fn widen(&mut self) {
        if self.narrowed {
            run_on(&self.allowed);
            self.narrowed = false;
        }
    }
}

impl Drop for SamplerAffinity {
    fn drop(&mut self) {
        self.widen();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_cpu_is_left_and_all_are_allowed_again_afterwards() {
        let before = allowed_cpus();
        let mut affinity = SamplerAffinity::begin();
        // If all CPUs are busy, there is no better one.
        affinity.leave(&before);
        assert_eq!(allowed_cpus(), before);
        if let [first, others @ ..] = &before[..]
            && !others.is_empty()
        {
            // CPU numbers outside the set are ignored.
            affinity.avoid(&[*first, 9_999]);
            assert_eq!(allowed_cpus(), others);
            // SAFETY: the call only returns a number.
            assert_ne!(unsafe { libc::sched_getcpu() }, *first as i32);
            affinity.leave(&before);
            assert_eq!(allowed_cpus(), before, "all are busy by now");
        }
        drop(affinity);
        assert_eq!(allowed_cpus(), before);
    }
}
