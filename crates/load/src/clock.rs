//! The clocks of this crate.

/// Returns nanoseconds of `CLOCK_MONOTONIC`, the clock of kernel events and other processes.
pub fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the nanoseconds that this thread was on a CPU.
pub fn thread_cpu() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a live timespec; both clocks always exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the nanoseconds that this process was on CPUs.
pub fn process_cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Makes the kernel wake the calling thread exactly when requested. By default it delays wake-ups by up to 50
/// µs, to combine those of several threads.
pub fn be_punctual() {
    // SAFETY: takes numbers; the setting is the calling thread's.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}
