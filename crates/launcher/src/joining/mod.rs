//! A library for `LD_PRELOAD`: it joins the small writes and reads of one file.
//!
//! `--try join-calls` runs a command with it. A program that writes its output piece by piece makes as
//! many system calls; with this library most of these end here, in memory. What is held is written
//! when there is much of it, when another file is written, and before any call that waits, that
//! makes or ends a process, or by which somebody could see the file ([`forward`]). Only regular files
//! and `/dev/null` are joined: nobody waits for what is on its way to them.
//!
//! It needs the C library for `dlsym` and the address of `errno`, no other, and calls the kernel by
//! itself. What it can't see are calls that the C library makes on its own, and programs that do
//! without it (static ones, Go).

mod forward;
mod hold;
mod kernel;
mod streams;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    crate::system::exit(99)
}

// The precompiled core library refers to it; with `panic=abort` it is never called. Hidden, or it would
// take the place of that of a library which the program is linked with.
core::arch::global_asm!(".hidden rust_eh_personality");

#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Runs when the program calls `exit`, before the C library writes what its own streams hold.
extern "C" fn at_the_end() {
    hold::end();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = at_the_end;
