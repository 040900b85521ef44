//! When Fathom dies, everything that it started ends with it. What has ended is recorded first.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::system::{self, call, call3, number};
use crate::tree::sweep;

const PR_SET_PDEATHSIG: usize = 1;
const SIGUSR1: usize = 10;
const SIGTERM: usize = 15;
const SA_RESTORER: usize = 0x0400_0000;

/// Whether a run has ended and is not in the record yet.
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether the launcher is to end as soon as it is.
static DYING: AtomicBool = AtomicBool::new(false);

/// From now on the death of Fathom's thread that started the launcher ends it, and SIGUSR1 lets it go
/// on where it waits for somebody who opens a FIFO.
pub(crate) fn end_with_fathom() {
    handle(SIGTERM, on_death);
    handle(SIGUSR1, on_wake);
    // SAFETY: takes numbers.
    unsafe { call3(number::PRCTL, PR_SET_PDEATHSIG, SIGTERM, 0) };
}

fn handle(signal: usize, by: extern "C" fn(i32)) {
    let handler = [
        by as usize,
        SA_RESTORER,
        restore as extern "C" fn() as usize,
        0,
    ];
    // SAFETY: a handler that lives as long as the program, and numbers.
    unsafe {
        call(
            number::RT_SIGACTION,
            [signal, handler.as_ptr() as usize, 0, 8, 0, 0],
        )
    };
}

/// The call that it interrupts says so.
extern "C" fn on_wake(_: i32) {}

extern "C" fn on_death(_: i32) {
    DYING.store(true, Relaxed);
    if !RECORDING.load(Relaxed) {
        end()
    }
}

/// A signal handler returns through here.
#[unsafe(naked)]
extern "C" fn restore() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov eax, 15", "syscall");
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x8, 139", "svc 0");
}

/// A run has ended: the launcher does not end before [`recorded`].
pub(crate) fn recording() {
    RECORDING.store(true, Relaxed);
}

/// The run is in the record.
pub(crate) fn recorded() {
    RECORDING.store(false, Relaxed);
    if DYING.load(Relaxed) {
        end();
    }
}

/// Ends what is left of the runs, and the launcher.
pub(crate) fn end() -> ! {
    sweep();
    system::exit(0)
}
