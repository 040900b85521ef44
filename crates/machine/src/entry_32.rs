//! What it takes right now to call the kernel through the 32-bit entry of x86 (`int 0x80`): 0.1 to 6 us, by the
//! machine and what runs beneath it, and not at all where it is switched off.

/// The cheapest call through it and back, in seconds: the least of ten means of 20 calls. `None` where there is no such
/// entry, or none that works. A child tries it (2 ms at most), as it is killed where the entry is switched off.
#[cfg(target_arch = "x86_64")]
pub fn entry_32_seconds() -> Option<f64> {
    let told = Told::new()?;
    // SAFETY: the child makes only calls that are safe after a fork: limits, clocks, and its end.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            leave_no_core();
            // SAFETY: the mapping is shared, lives as long as the child, and nobody else writes to it now.
            unsafe { told.0.write_volatile(least_ns()) };
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(0) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just made; the pointer is to a live value.
            while unsafe { libc::waitpid(child, &mut status, 0) } == -1 {
                if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                    return None;
                }
            }
            // SAFETY: the child has ended, and the mapping lives until `told` is dropped.
            let ns = unsafe { told.0.read_volatile() };
            (status == 0 && ns > 0).then_some(ns as f64 / 1e9)
        }
    }
}

/// There is no such entry.
#[cfg(not(target_arch = "x86_64"))]
pub fn entry_32_seconds() -> Option<f64> {
    None
}

/// Where the child leaves what it found: a page that both have.
#[cfg(target_arch = "x86_64")]
struct Told(*mut u64);

#[cfg(target_arch = "x86_64")]
impl Told {
    fn new() -> Option<Self> {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a fresh mapping placed by the kernel.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<u64>(), access, kind, -1, 0) };
        (at != libc::MAP_FAILED).then_some(Self(at.cast()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for Told {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, to which nothing points any more.
        unsafe { libc::munmap(self.0.cast(), size_of::<u64>()) };
    }
}

#[cfg(target_arch = "x86_64")]
fn leave_no_core() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: reads one live value.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

#[cfg(target_arch = "x86_64")]
fn least_ns() -> u64 {
    const ROUNDS: usize = 10;
    const CALLS: u64 = 20;
    let round = |_| {
        let before = now_ns();
        for _ in 0..CALLS {
            call();
        }
        (now_ns() - before) / CALLS
    };
    (0..ROUNDS).map(round).min().unwrap_or(0).max(1)
}

/// `getpid`, by its number in the 32-bit table.
#[cfg(target_arch = "x86_64")]
fn call() {
    const GETPID: i64 = 20;
    // SAFETY: the call takes nothing and touches no memory; the kernel may clear the registers named.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("rax") GETPID => _,
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn now_ns() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one live value.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_such_an_entry_it_takes_more_than_a_cycle_and_less_than_a_millisecond() {
        // Kernels can be built without it.
        if let Some(seconds) = entry_32_seconds() {
            assert!((1e-9..1e-3).contains(&seconds), "{seconds}");
        }
    }
}
