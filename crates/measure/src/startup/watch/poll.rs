//! Polls a pipe continuously, without disturbing other threads.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(super) use fathom_trace::allowed_cpus;

use super::shared::{Shared, mark};
use crate::emptying::lock;
use crate::launcher::now_ns;

/// After this time, a late timestamp is off by less than a thousandth, so the CPUs are released.
const WATCH_AT_MOST: Duration = Duration::from_millis(250);
/// The number of pause instructions between two polls, some 3 µs in total, during which the core's other
/// thread has the core to itself.
const PAUSES: u32 = 64;

/// Polls the pipe during a run.
pub(super) fn poll_while_watched(shared: &Shared, cpu: usize) {
    step_back(cpu);
    let mut done = 0;
    loop {
        let run = {
            let mut order = lock(&shared.order);
            while !order.over && (order.run == 0 || order.run == done) {
                order = shared
                    .changed
                    .wait(order)
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if order.over {
                return;
            }
            order.run
        };
        watch_one_run(shared, run);
        done = run;
    }
}

fn watch_one_run(shared: &Shared, run: u64) {
    let began = Instant::now();
    let mut polled = libc::pollfd {
        fd: shared.pipe.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    while shared.watched_run.load(Ordering::Acquire) == run {
        let before = now_ns();
        // SAFETY: one entry; returns immediately.
        let ready = unsafe { libc::poll(&raw mut polled, 1, 0) };
        if ready > 0 && polled.revents & libc::POLLIN != 0 {
            // Only the first of the two threads sets it.
            let _ = shared.polled_ns.compare_exchange(
                mark(run),
                now_ns(),
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
        let is_over = shared.polled_ns.load(Ordering::Acquire) != mark(run)
            || shared.taken.load(Ordering::SeqCst);
        if is_over || began.elapsed() > WATCH_AT_MOST {
            return;
        }
        shared.empty_ns.fetch_max(before, Ordering::AcqRel);
        for _ in 0..PAUSES {
            std::hint::spin_loop();
        }
        give_way();
    }
}

/// Lets other runnable threads go first on this CPU. A thread that becomes runnable preempts this one anyway.
/// But when a third thread releases the CPU, the scheduler may choose the thread that has had less time,
/// which is this one: a starting program then waited for 4 ms, in one of thirty runs.
fn give_way() {
    // SAFETY: takes no arguments.
    unsafe { libc::sched_yield() };
}

/// Lets any other thread preempt this one immediately.
fn step_back(cpu: usize) {
    // On failure nothing changes, and the reader sees the byte first.
    fathom_trace::run_on(&[cpu]);
    // SAFETY: a plain structure that lives through the call.
    unsafe {
        let parameter = libc::sched_param { sched_priority: 0 };
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter);
    }
}

/// Returns two CPUs that the programs aren't pinned to; otherwise any two.
pub(super) fn watching_cpus(allowed: &[usize], avoid: &[usize]) -> Vec<usize> {
    if allowed.len() < 2 {
        return Vec::new();
    }
    let free: Vec<usize> = allowed
        .iter()
        .copied()
        .filter(|cpu| !avoid.contains(cpu))
        .collect();
    let from = if free.is_empty() || avoid.is_empty() {
        allowed
    } else {
        &free
    };
    from.iter().copied().take(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_the_programs_are_avoided_where_there_are_others() {
        assert_eq!(watching_cpus(&[0], &[]), Vec::<usize>::new());
        assert_eq!(watching_cpus(&[0, 1, 2], &[]), [0, 1]);
        assert_eq!(watching_cpus(&[0, 1, 2, 3], &[0, 2]), [1, 3]);
        assert_eq!(watching_cpus(&[0, 1], &[0, 1]), [0, 1]);
    }
}
