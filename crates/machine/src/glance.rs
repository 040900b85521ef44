//! What does a call take right now? A sample of a few milliseconds, where a profile takes seconds.

use std::ffi::{CStr, CString};
use std::time::Instant;

/// A path of two names, as most of those that programs ask for, that every system has.
const PATH: &CStr = c"/usr/bin";

/// Paths of a program that are asked for; the others are taken to be like them.
const MOST_PATHS: usize = 8;

/// To ask for what the kernel's cache of names has, and back, in seconds: what a program asked for,
/// each path with how often. Without any: a short one that every system has. Names that lead nowhere
/// are asked for as well.
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

/// Asks what a path leads to; nothing is mounted for it.
fn ask(path: &CStr) {
    // SAFETY: an all-zero stat is valid.
    let mut of: libc::stat = unsafe { std::mem::zeroed() };
    let flags = libc::AT_NO_AUTOMOUNT;
    // SAFETY: a live C string, and a live value to write to.
    unsafe { libc::fstatat(libc::AT_FDCWD, path.as_ptr(), &raw mut of, flags) };
}

/// The simplest call and back, in seconds.
pub fn simplest_call_seconds() -> f64 {
    // SAFETY: asks for a number, and can't fail.
    usual_mean(20, 100, || _ = unsafe { libc::getppid() })
}

/// A call that changes nothing by its name, and back, in seconds, of a program that computes a little
/// between two: right one after the other they are quicker on some machines. `None` for others.
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
        // SAFETY: each of these calls only asks, and writes at most to what `room` has space for.
        unsafe { libc::syscall(*number, first, second) };
        compute();
    });
    std::hint::black_box(value);
    Some((both - computing).max(0.0))
}

/// Steps of computing between two calls, each 6 cycles.
const STEPS: usize = 30;

/// What such a call takes as its first argument.
enum First {
    /// Where to write; how much may be written is the second then.
    Room,
    /// A number; where to write is the second then, if it writes.
    Number(usize),
}

/// Calls that change nothing and take what they take whatever the program is: by their names.
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
    // What the vDSO doesn't serve: the clock of the process.
    ("clock_gettime", libc::SYS_clock_gettime, First::Number(2)),
    ("times", libc::SYS_times, First::Room),
    ("uname", libc::SYS_uname, First::Room),
    ("sysinfo", libc::SYS_sysinfo, First::Room),
    ("getcwd", libc::SYS_getcwd, First::Room),
];

/// The median of so many means of so many calls, in seconds: what a call of a program takes, which has
/// neighbours, too.
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

/// The cheapest call through the 32-bit entry of x86 (`int 0x80`) and back, in seconds: the least
/// of ten means of 20 calls, 0.1 to 6 us by the machine and what runs beneath it. `None` where
/// there is no such entry.
#[cfg(target_arch = "x86_64")]
pub fn entry_32_seconds() -> Option<f64> {
    let call = || {
        call_through_32_bit_entry();
        true
    };
    has_32_bit_entry().then(|| least_mean(10, 20, call))?
}

/// There is no such entry.
#[cfg(not(target_arch = "x86_64"))]
pub fn entry_32_seconds() -> Option<f64> {
    None
}

/// The least of so many means of so many calls, in seconds; `None` if one of them fails.
fn least_mean(rounds: usize, calls: usize, call: impl Fn() -> bool) -> Option<f64> {
    let mean = |_| {
        let start = Instant::now();
        let works = (0..calls).all(|_| call());
        works.then(|| start.elapsed().as_secs_f64() / calls as f64)
    };
    let means: Option<Vec<f64>> = (0..rounds).map(mean).collect();
    means?.into_iter().min_by(f64::total_cmp)
}

/// Whether a child survives a call through it: it is killed where the entry is switched off.
#[cfg(target_arch = "x86_64")]
fn has_32_bit_entry() -> bool {
    // SAFETY: the child makes only calls that are safe after a fork: a limit, the call, and its
    // end.
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
            // SAFETY: waits for the child that was just made; the pointer is to a live value.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
                if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                    return false;
                }
            }
            status == 0
        }
    }
}

/// `getpid`, by its number in the 32-bit table.
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
        // Kernels can be built without it.
        if let Some(seconds) = entry_32_seconds() {
            assert!((1e-9..1e-3).contains(&seconds), "{seconds}");
        }
    }
}
