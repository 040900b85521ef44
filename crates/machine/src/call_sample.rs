//! The current cost of a call: a sample of a few milliseconds, where a profile takes seconds.

use std::ffi::{CStr, CString};
use std::time::Instant;

/// A path of two components that every system has, like most paths that programs look up.
const PATH: &CStr = c"/usr/bin";

/// Maximum number of a program's paths that are looked up; the others are assumed to cost the same.
const MOST_PATHS: usize = 8;

/// Returns the seconds of a path lookup that the kernel's name cache can answer. `asked` has the paths that a
/// program looked up, each with its count, including paths that don't exist. If it is empty, a short path
/// that every system has is used.
pub fn lookup_seconds(asked: &[(CString, u64)]) -> Option<f64> {
    let any = [(PATH.to_owned(), 1)];
    let paths = match asked.is_empty() {
        true => &any[..],
        false => &asked[..asked.len().min(MOST_PATHS)],
    };
    let mut times = 0.0;
    for (path, often) in paths {
        times += *often as f64 * usual_mean(20, 50, || ask(path));
    }
    let all: u64 = paths.iter().map(|(_, often)| often).sum();
    (all > 0).then(|| times / all as f64)
}

/// Looks up a path without triggering an automount.
fn ask(path: &CStr) {
    // SAFETY: an all-zero stat is valid.
    let mut of: libc::stat = unsafe { std::mem::zeroed() };
    let flags = libc::AT_NO_AUTOMOUNT;
    // SAFETY: a live C string, and a live value to write to.
    unsafe { libc::fstatat(libc::AT_FDCWD, path.as_ptr(), &raw mut of, flags) };
}

/// Returns the duration of the simplest system call, in seconds.
pub fn simplest_call_seconds() -> f64 {
    // SAFETY: returns a number, and can't fail.
    usual_mean(20, 100, || _ = unsafe { libc::getppid() })
}

/// Returns the duration in seconds of a side-effect-free system call, by name, in a program that computes a
/// little between calls: on some machines calls in direct sequence are faster. `None` for other calls.
pub fn call_seconds(name: &str) -> Option<f64> {
    let (_, number, first) = HARMLESS.iter().find(|call| call.0 == name)?;
    let mut room = [0u64; 128];
    let place = room.as_mut_ptr();
    let (first, second) = match first {
        First::Room => (place as usize, size_of_val(&room)),
        First::Number(number) => (*number, place as usize),
    };
    let mut value = 1u64;
    let mut compute = || {
        for _ in 0..STEPS {
            value ^= value << 13;
            value ^= value >> 7;
            value ^= value << 17;
        }
    };
    let computing = usual_mean(20, 100, &mut compute);
    let both = usual_mean(20, 100, || {
        // SAFETY: each of these calls only queries, and writes at most to the space in `room`.
        unsafe { libc::syscall(*number, first, second) };
        compute();
    });
    std::hint::black_box(value);
    Some((both - computing).max(0.0))
}

/// Computation steps between two calls, each 6 cycles.
const STEPS: usize = 30;

/// The first argument of a call in [`HARMLESS`].
enum First {
    /// A buffer; the second argument is its size.
    Room,
    /// A number; the second argument is a buffer, if the call writes.
    Number(usize),
}

/// System calls, by name, that change nothing and whose cost doesn't depend on the program.
const HARMLESS: [(&str, libc::c_long, First); 15] = [
    ("getpid", libc::SYS_getpid, First::Number(0)),
    ("getppid", libc::SYS_getppid, First::Number(0)),
    ("gettid", libc::SYS_gettid, First::Number(0)),
    ("getpgid", libc::SYS_getpgid, First::Number(0)),
    ("getsid", libc::SYS_getsid, First::Number(0)),
    ("getuid", libc::SYS_getuid, First::Number(0)),
    ("geteuid", libc::SYS_geteuid, First::Number(0)),
    ("getgid", libc::SYS_getgid, First::Number(0)),
    ("getegid", libc::SYS_getegid, First::Number(0)),
    ("getrusage", libc::SYS_getrusage, First::Number(0)),
    // Not served by the vDSO: the CPU clock of the process.
    ("clock_gettime", libc::SYS_clock_gettime, First::Number(2)),
    ("times", libc::SYS_times, First::Room),
    ("uname", libc::SYS_uname, First::Room),
    ("sysinfo", libc::SYS_sysinfo, First::Room),
    ("getcwd", libc::SYS_getcwd, First::Room),
];

/// Returns the median of `rounds` means of `calls` calls each, in seconds: the cost in a real program, where
/// other processes run as well.
fn usual_mean(rounds: usize, calls: usize, mut call: impl FnMut()) -> f64 {
    let mean = |_| {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        start.elapsed().as_secs_f64() / calls as f64
    };
    let mut means: Vec<f64> = (0..rounds).map(mean).collect();
    means.sort_by(f64::total_cmp);
    means[rounds / 2]
}

/// Returns the duration of the cheapest call through the 32-bit entry of x86 (`int 0x80`), in seconds: the
/// minimum of ten means of 20 calls, 0.1 to 6 us depending on the machine and the layers below. `None` if the
/// entry doesn't exist.
#[cfg(target_arch = "x86_64")]
pub fn entry_32_seconds() -> Option<f64> {
    let call = || {
        call_through_32_bit_entry();
        true
    };
    has_32_bit_entry().then(|| least_mean(10, 20, call))?
}

/// Returns `None`, because the entry doesn't exist here.
#[cfg(not(target_arch = "x86_64"))]
pub fn entry_32_seconds() -> Option<f64> {
    None
}

/// Returns the minimum of `rounds` means of `calls` calls each, in seconds; `None` if a call fails.
#[cfg(target_arch = "x86_64")]
fn least_mean(rounds: usize, calls: usize, call: impl Fn() -> bool) -> Option<f64> {
    let mean = |_| {
        let start = Instant::now();
        let works = (0..calls).all(|_| call());
        works.then(|| start.elapsed().as_secs_f64() / calls as f64)
    };
    let means: Option<Vec<f64>> = (0..rounds).map(mean).collect();
    means?.into_iter().min_by(f64::total_cmp)
}

/// Returns whether a child survives a call through the entry: it is killed if the entry is disabled.
#[cfg(target_arch = "x86_64")]
fn has_32_bit_entry() -> bool {
    // SAFETY: the child makes only calls that are safe after a fork: a limit, the call, and an exit.
    match unsafe { libc::fork() } {
        -1 => false,
        0 => {
            let no_core = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            // SAFETY: reads one live value.
            unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core) };
            call_through_32_bit_entry();
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(0) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child that was just created; the pointer is to a live value.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
                if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                    return false;
                }
            }
            status == 0
        }
    }
}

/// Calls `getpid` by its number in the 32-bit table.
#[cfg(target_arch = "x86_64")]
fn call_through_32_bit_entry() {
    const GETPID: i64 = 20;
    // SAFETY: the call takes nothing and touches no memory; the kernel may clear the registers
    // named.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("rax") GETPID => _,
            lateout("r8") _, lateout("r9") _, lateout("r10") _, lateout("r11") _,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_less_than_a_millisecond_and_more_than_a_cycle() {
        let seconds = lookup_seconds(&[]).expect("every system has it");
        assert!((1e-10..1e-3).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_program_s_paths_are_asked_for_also_if_they_lead_nowhere() {
        let none = CString::new("/proc/self/there is nothing").expect("no zero");
        let asked: Vec<_> = (0..20).map(|often| (none.clone(), often)).collect();
        let seconds = lookup_seconds(&asked).expect("some were asked for");
        assert!((1e-10..1e-3).contains(&seconds), "{seconds}");
        assert_eq!(lookup_seconds(&asked[..1]), None, "never asked for");
        assert!((1e-10..1e-3).contains(&simplest_call_seconds()));
    }

    #[test]
    fn a_harmless_call_is_one_that_the_kernel_has() {
        for (name, number, first) in &HARMLESS {
            let mut room = [0u64; 128];
            let place = room.as_mut_ptr() as usize;
            let (first, second) = match first {
                First::Room => (place, size_of_val(&room)),
                First::Number(number) => (*number, place),
            };
            // SAFETY: as in `call_seconds`.
            let answer = unsafe { libc::syscall(*number, first, second) };
            assert!(answer >= 0, "{name}");
            assert!(
                call_seconds(name).is_some_and(|seconds| seconds < 1e-3),
                "{name}"
            );
        }
        assert_eq!(call_seconds("unlink"), None);
    }

    #[test]
    fn where_there_is_a_32_bit_entry_it_takes_more_than_a_cycle_and_less_than_a_millisecond() {
        // Kernels can be built without the 32-bit entry.
        if let Some(seconds) = entry_32_seconds() {
            assert!((1e-9..1e-3).contains(&seconds), "{seconds}");
        }
    }
}
