//! The life of the launcher: it sets itself up, then takes commands.

use crate::child::memory;
use crate::death::{self, end};
use crate::files::{AT_FDCWD, O_CLOEXEC, open};
use crate::jobs::run_all;
use crate::pipeline;
use crate::shared::{BASE, SIZE, command, fd};
use crate::system::{self, call, call3, number};
use crate::tree::sweep;

const PR_SET_NAME: usize = 15;
const PR_SET_CHILD_SUBREAPER: usize = 36;
const O_RDWR: usize = 2;
const F_SETFD: usize = 2;
const FD_CLOEXEC: usize = 1;
const EINTR: isize = -4;

/// Takes commands until Fathom is gone. Only useful in a process that was started with the descriptors of
/// [`fd`].
pub extern "C" fn serve() -> ! {
    set_up();
    loop {
        let mut byte = 0u8;
        // SAFETY: transfers one byte of a live variable.
        match unsafe {
            call3(
                number::READ,
                fd::COMMANDS as usize,
                &raw mut byte as usize,
                1,
            )
        } {
            1 => {}
            EINTR => continue,
            _ => end(),
        }
        // SAFETY: mapped in set_up; Fathom accesses it only while we wait for a command, except `kill_tree`,
        // which is read by a volatile read.
        let shared = unsafe { &mut *memory() };
        match byte {
            command::RUN => run_all(shared),
            // SAFETY: in the mapping, above the jobs; Fathom reads only `child` at this time.
            command::PIPELINE => unsafe {
                pipeline::run(&mut shared.control, &mut *pipeline::area());
            },
            command::SWEEP => shared.control.immortal = sweep(),
            _ => end(),
        }
        // SAFETY: transfers one byte of a live variable.
        unsafe {
            call3(
                number::WRITE,
                fd::DONE as usize,
                &raw const byte as usize,
                1,
            )
        };
    }
}

fn set_up() {
    // SAFETY: plain calls with numbers, NUL-terminated paths, and a fixed mapping at an address that a
    // static program doesn't use.
    unsafe {
        call3(number::SETPGID, 0, 0, 0);
        call3(number::PRCTL, PR_SET_CHILD_SUBREAPER, 1, 0);
    }
    death::end_with_fathom();
    // SAFETY: as above.
    unsafe {
        // Set the process name, which would otherwise be the number of the descriptor that the launcher was
        // started from.
        call3(
            number::PRCTL,
            PR_SET_NAME,
            c"fathom-launcher".as_ptr() as usize,
            0,
        );
        // PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE
        let at = call(
            number::MMAP,
            [BASE as usize, SIZE, 3, 0x10_0001, fd::MEMORY as usize, 0],
        );
        if at != BASE as isize {
            system::exit(98);
        }
        for (path, flags, place) in [
            (
                c"/proc",
                0o200000 * usize::from(cfg!(target_arch = "x86_64")),
                fd::PROC,
            ),
            (c"/proc/self/schedstat", 0, fd::OWN_SCHEDSTAT),
            (c"/dev/null", O_RDWR, fd::NULL),
        ] {
            let got = open(AT_FDCWD, path.as_ptr() as usize, flags);
            if got >= 0 && got != place as isize {
                call3(number::DUP3, got as usize, place as usize, O_CLOEXEC);
                call3(number::CLOSE, got as usize, 0, 0);
            }
        }
        let highest = (*memory()).control.highest_fd;
        for descriptor in fd::COMMANDS..=highest.max(fd::NULL) {
            call3(number::FCNTL, descriptor as usize, F_SETFD, FD_CLOEXEC);
        }
        // Fathom may have died before the death signal was requested.
        if call3(number::GETPPID, 0, 0, 0) != (*memory()).control.parent as isize {
            system::exit(97);
        }
    }
}
