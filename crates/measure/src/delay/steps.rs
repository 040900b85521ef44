//! Measures how much longer a call takes with a filter that executes a given number of steps.

use std::io;
use std::time::Instant;

use crate::CallFilter;
use crate::Steps;

/// The number of calls in each row; [`ROWS`] rows are timed, and the fastest one was not interrupted.
const CALLS: u32 = 40;
const ROWS: u32 = 12;

/// Returns how long a call with these steps takes, in seconds. The measurement runs on a separate thread,
/// because a filter stays until its thread ends.
///
/// # Errors
/// If the kernel doesn't accept the filter.
pub fn cost_of_steps(steps: Steps) -> io::Result<f64> {
    let measured = std::thread::Builder::new()
        .spawn(move || {
            install(&CallFilter::delaying(&[libc::SYS_getppid as u32], steps))?;
            let row = || {
                let began = Instant::now();
                for _ in 0..CALLS {
                    // SAFETY: takes no arguments. The raw call is used because the library may cache the
                    // result of its own function.
                    unsafe { libc::syscall(libc::SYS_getppid) };
                }
                began.elapsed().as_secs_f64() / f64::from(CALLS)
            };
            Ok((0..ROWS).map(|_| row()).fold(f64::INFINITY, f64::min))
        })?
        .join();
    measured.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

/// Installs the filter for the calling thread.
fn install(filter: &CallFilter) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: (filter.bytes().len() / 8) as u16,
        filter: filter.bytes().as_ptr().cast_mut().cast(),
    };
    for _ in 0..filter.times() {
        // SAFETY: the arguments are numbers and a program that the kernel copies byte by byte, so it need not
        // be aligned.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
            let mode = libc::SECCOMP_SET_MODE_FILTER;
            libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program)
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_takes_some_time() {
        let cost = |made| {
            cost_of_steps(Steps {
                made,
                room: Steps::MOST,
                filters: 2,
            })
            .unwrap()
        };
        // 8,000 divisions against two: even on a busy machine, the fastest row with more divisions takes
        // longer.
        assert!(cost(Steps::MOST) > cost(1));
    }
}
