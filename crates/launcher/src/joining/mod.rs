//! A library for `LD_PRELOAD`: it joins the small writes and reads of one file, or does one of the other things
//! that [`mode`] lists.
//!
//! `--try join-calls` runs a command with it. A program that writes its output in small pieces makes as many
//! system calls; with this library, most of them end here, in memory. Held data is written when there is much
//! of it, when another file is written, and before any call that waits, creates or ends a process, or could
//! reveal the file's state to others ([`forward`]). Only writes to regular files and `/dev/null` are joined: no
//! reader waits for data on its way to them. What is read ahead from a pipe stays there until the program has it.
//!
//! It needs the C library only for `dlsym`, a variable, the time and the address of `errno`, and calls the
//! kernel directly. It can't see calls that the C library makes internally, or programs that don't use the C library (static
//! ones, Go).

mod descriptors;
mod forward;
mod hold;
mod kernel;
mod lookups;
mod memory;
mod mode;
mod streams;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    crate::system::exit(99)
}

// The precompiled core library refers to this function; with `panic=abort` it is never called. It is hidden
// so that it doesn't replace the one in a library that the program is linked with.
core::arch::global_asm!(".hidden rust_eh_personality");

#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Runs when the program calls `exit`, before the C library writes the contents of its own streams.
extern "C" fn at_the_end() {
    hold::end();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = at_the_end;
