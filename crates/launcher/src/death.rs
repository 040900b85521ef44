//! When Fathom dies, everything that it started ends too. Finished runs are recorded first.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::system::{self, call, call3, number};
use crate::tree::sweep;

const PR_SET_PDEATHSIG: usize = 1;
const SIGUSR1: usize = 10;
const SIGTERM: usize = 15;
const SA_RESTORER: usize = 0x0400_0000;

/// Whether a run has ended but is not in the record yet.
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether the launcher must exit once the run is recorded.
static DYING: AtomicBool = AtomicBool::new(false);

/// Makes the launcher end when the Fathom thread that started it dies. SIGUSR1 interrupts the launcher's wait
/// for another process to open a FIFO.
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

/// Does nothing: the interrupted call returns an error.
extern "C" fn on_wake(_: i32) {}

extern "C" fn on_death(_: i32) {
    DYING.store(true, Relaxed);
    if !RECORDING.load(Relaxed) {
        end()
    }
}

/// Return path of a signal handler.
#[unsafe(naked)]
extern "C" fn restore() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov eax, 15", "syscall");
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x8, 139", "svc 0");
}

/// Notes that a run has ended: the launcher doesn't exit before [`recorded`].
pub(crate) fn recording() {
    RECORDING.store(true, Relaxed);
}

/// Notes that the run is in the record.
pub(crate) fn recorded() {
    RECORDING.store(false, Relaxed);
    if DYING.load(Relaxed) {
        end();
    }
}

/// Ends the remaining processes of the runs, and the launcher.
pub(crate) fn end() -> ! {
    sweep();
    system::exit(0)
}
