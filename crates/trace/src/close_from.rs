//! Closing the descriptors that a forked child inherited.

/// Closes all descriptors from `first` on. Async-signal-safe.
///
/// # Safety
/// Nothing may own one of these descriptors, as in a forked child that never returns.
pub unsafe fn close_from(first: u32) {
    // SAFETY: the calls take only integers and the pointer to a live struct.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, u32::MAX, 0u32) == 0 {
            return;
        }
        // Linux before 5.9, or a container that doesn't allow the call.
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        for fd in first..limit.rlim_cur.min(1 << 20) as u32 {
            libc::close(fd as i32);
        }
    }
}
