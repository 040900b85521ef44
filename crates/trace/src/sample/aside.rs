//! Where may the sampler run, so that it keeps nobody from a CPU?
//!
//! A scheduler that takes each CPU for a neighbourhood of its own, as it does in many virtual machines, wakes the sampler
//! where it slept, though the command runs there by now and another CPU is idle: each look is then a switch to and fro.

use std::mem;

/// The CPUs that this thread may use, restored when dropped.
pub(super) struct Aside {
    allowed: Option<libc::cpu_set_t>,
    narrowed: bool,
}

impl Aside {
    /// What is allowed now.
    pub fn begin() -> Self {
        // SAFETY: an all-zero set is valid.
        let mut allowed: libc::cpu_set_t = unsafe { mem::zeroed() };
        // SAFETY: the pointer is to a live set of that size; 0 is this thread.
        let known = unsafe { libc::sched_getaffinity(0, mem::size_of_val(&allowed), &mut allowed) };
        Self {
            allowed: (known == 0).then_some(allowed),
            narrowed: false,
        }
    }

    /// Leaves the CPU that this thread is on if it is one of these, for one that isn't.
    pub fn leave(&mut self, busy: &[usize]) {
        // SAFETY: asks for a number.
        let here = unsafe { libc::sched_getcpu() };
        if busy.iter().any(|cpu| *cpu as i32 == here) {
            self.avoid(busy);
        }
    }

    fn avoid(&mut self, busy: &[usize]) {
        let Some(allowed) = self.allowed else { return };
        match without(allowed, busy) {
            Some(free) => {
                stay_on(&free);
                self.narrowed = true;
            }
            None => self.widen(),
        }
    }

    fn widen(&mut self) {
        if let Some(allowed) = self.allowed.filter(|_| self.narrowed) {
            stay_on(&allowed);
            self.narrowed = false;
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.widen();
    }
}

/// A set without these CPUs; `None` if that has none.
fn without(mut set: libc::cpu_set_t, cpus: &[usize]) -> Option<libc::cpu_set_t> {
    for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is one of the set's.
        unsafe { libc::CPU_CLR(*cpu, &mut set) };
    }
    // SAFETY: counts the bits of a live set.
    (unsafe { libc::CPU_COUNT(&set) } > 0).then_some(set)
}

fn stay_on(set: &libc::cpu_set_t) {
    // SAFETY: the pointer is to a live set of that size; 0 is this thread.
    unsafe { libc::sched_setaffinity(0, mem::size_of_val(set), set) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<usize> {
        let set = Aside::begin().allowed.expect("it is known");
        // SAFETY: the numbers are the set's.
        let may = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &set) };
        (0..libc::CPU_SETSIZE as usize).filter(may).collect()
    }

    #[test]
    fn a_busy_cpu_is_left_and_all_are_allowed_again_afterwards() {
        let before = allowed();
        let mut aside = Aside::begin();
        // Where all are busy there is nowhere to go.
        aside.leave(&before);
        assert_eq!(allowed(), before);
        if let [first, others @ ..] = &before[..]
            && !others.is_empty()
        {
            aside.avoid(&[*first]);
            assert_eq!(allowed(), others);
            // SAFETY: asks for a number.
            assert_ne!(unsafe { libc::sched_getcpu() }, *first as i32);
            aside.leave(&before);
            assert_eq!(allowed(), before, "all are busy by now");
        }
        drop(aside);
        assert_eq!(allowed(), before);
    }

    #[test]
    fn the_last_cpu_is_kept() {
        // SAFETY: an all-zero set is valid.
        let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
        // SAFETY: the numbers are the set's.
        unsafe { libc::CPU_SET(3, &mut set) };
        assert!(without(set, &[3]).is_none());
        let left = without(set, &[2, 9_999]).expect("the third is left");
        // SAFETY: the number is the set's.
        assert!(unsafe { libc::CPU_ISSET(3, &left) });
    }
}
