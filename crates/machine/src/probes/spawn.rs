//! The lower bound of every command: starting and reaping a program that does nothing.

use std::time::{Duration, Instant};

use crate::cpu_gate::CpuOf;
use crate::result::{Estimator, Heading, ProbeResult};
use crate::samples::Agreement;
use crate::track::Track;

pub(crate) const HEADING: Heading = Heading {
    id: "spawn_floor",
    title: "starting a program",
    unit: "us",
    method: "vfork, execveat and wait of a static program that is held in memory and only calls exit(0), on the same \
         CPU; the fastest.",
};

/// Returns the probe.
pub(crate) fn track() -> Result<Track, Box<ProbeResult>> {
    let floor = linux::Floor::new().map_err(|why| Box::new(HEADING.not_measurable(why)))?;
    let agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.1,
    };
    Ok(
        Track::new(HEADING, agreement, Duration::from_millis(60), move || {
            let start = Instant::now();
            let done = floor.run();
            let us = start.elapsed().as_nanos() as f64 / 1000.0;
            if done { us } else { f64::NAN }
        })
        .gated_by(CpuOf::Family)
        .alone_on_core(),
    )
}

mod linux {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd, RawFd};

    /// Code of exit(0), and the ELF machine number.
    #[cfg(target_arch = "x86_64")]
    const PROGRAM: (&[u8], u16) = (&[0xb8, 0x3c, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05], 62);
    #[cfg(target_arch = "aarch64")]
    const PROGRAM: (&[u8], u16) = (
        &[
            0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
        ],
        183,
    );

    /// Returns a program of one page without libraries: header, one segment, code.
    fn elf(code: &[u8], machine: u16) -> Vec<u8> {
        const BASE: u64 = 0x40_0000;
        let entry = BASE + 120;
        let length = 120 + code.len() as u64;
        let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for half in [2u16, machine] {
            file.extend(half.to_le_bytes());
        }
        file.extend(1u32.to_le_bytes());
        for word in [entry, 64, 0] {
            file.extend(word.to_le_bytes());
        }
        file.extend(0u32.to_le_bytes());
        for half in [64u16, 56, 1, 0, 0, 0] {
            file.extend(half.to_le_bytes());
        }
        // One loadable segment, readable and executable.
        for half in [1u32, 5] {
            file.extend(half.to_le_bytes());
        }
        for word in [0, BASE, BASE, length, length, 0x1000] {
            file.extend(word.to_le_bytes());
        }
        file.extend(code);
        file
    }

    /// The child's code: executes the file behind `file` without arguments or environment.
    extern "C" fn execute(file: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the parent, which is suspended, holds the file open behind this pointer.
        let file = unsafe { &*file.cast::<File>() };
        let none: [*const libc::c_char; 1] = [std::ptr::null()];
        // SAFETY: an empty path with AT_EMPTY_PATH names the descriptor; both lists end with null.
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                file.as_raw_fd(),
                c"".as_ptr(),
                none.as_ptr(),
                none.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
            // The memory is the parent's: exit without running any of the parent's code.
            libc::_exit(127)
        }
    }

    /// The program, ready to start.
    pub(super) struct Floor {
        file: File,
    }

    impl Floor {
        /// Loads the program into memory; no file is left behind.
        pub(super) fn new() -> Result<Floor, String> {
            let (code, machine) = PROGRAM;
            let io = |error: std::io::Error| format!("can't create a file in memory: {error}");
            let name = c"floor".as_ptr();
            // SAFETY: the name is a valid string. Called directly, because glibc only has it since 2.27.
            let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) };
            let fd = fd as RawFd;
            if fd < 0 {
                return Err(io(std::io::Error::last_os_error()));
            }
            // SAFETY: the descriptor was just created and has no other owner.
            let mut writer = unsafe { File::from_raw_fd(fd) };
            writer.write_all(&elf(code, machine)).map_err(io)?;
            // A file that is open for writing can't be executed, so continue with a reader.
            let file = File::open(format!("/proc/self/fd/{fd}")).map_err(io)?;
            drop(writer);
            let floor = Floor { file };
            if floor.run() {
                Ok(floor)
            } else {
                Err("the smallest program did not start".into())
            }
        }

        /// Starts the program and waits; returns true if it exited with 0.
        ///
        /// It doesn't use posix_spawn, whose child first queries and resets all 64 signals: that increased
        /// 105 us to 151. Nor does it use the file's path below /proc, because looking it up takes 18 us.
        pub(super) fn run(&self) -> bool {
            let mut stack = [0u64; 512];
            let top = stack.as_mut_ptr_range().end.cast();
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let file: *const File = &raw const self.file;
            // SAFETY: the child runs on `stack`, which is aligned to 16 after clone's own rounding and
            // outlives it: CLONE_VFORK suspends this thread until the child executes or exits. It only makes
            // system calls.
            let pid = unsafe { libc::clone(execute, top, flags, file.cast_mut().cast()) };
            if pid < 0 {
                return false;
            }
            let mut status = 0;
            loop {
                // SAFETY: `pid` is our child and not yet reaped.
                let reaped = unsafe { libc::waitpid(pid, &raw mut status, 0) };
                if reaped == pid {
                    return status == 0;
                }
                if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                    return false;
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        fn the_smallest_program_runs_and_ends_with_0() {
            let floor = Floor::new().unwrap();
            assert!(floor.run());
        }
    }
}
