//! Where may the sampler run, so that it keeps nobody from a CPU?
//!
//! A scheduler that takes each CPU for a neighbourhood of its own, as it does in many virtual
//! machines, wakes the sampler where it slept, though the command runs there by now and another CPU
//! is idle: each sample is then a switch to and fro.

use crate::cpus::{allowed_cpus, run_on};

/// The CPUs that this thread may use, restored when dropped.
pub(super) struct SamplerAffinity {
    /// Empty where the system does not say.
    allowed: Vec<usize>,
    narrowed: bool,
}

impl SamplerAffinity {
    /// What is allowed now.
    pub(super) fn begin() -> Self {
        Self {
            allowed: allowed_cpus(),
            narrowed: false,
        }
    }

    /// Leaves the CPU that this thread is on if it is one of these, for one that isn't.
    pub(super) fn leave(&mut self, busy: &[usize]) {
        // SAFETY: asks for a number.
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
        // Where all are busy there is nowhere to go.
        affinity.leave(&before);
        assert_eq!(allowed_cpus(), before);
        if let [first, others @ ..] = &before[..]
            && !others.is_empty()
        {
            // Numbers that no set holds are ignored.
            affinity.avoid(&[*first, 9_999]);
            assert_eq!(allowed_cpus(), others);
            // SAFETY: asks for a number.
            assert_ne!(unsafe { libc::sched_getcpu() }, *first as i32);
            affinity.leave(&before);
            assert_eq!(allowed_cpus(), before, "all are busy by now");
        }
        drop(affinity);
        assert_eq!(allowed_cpus(), before);
    }
}
