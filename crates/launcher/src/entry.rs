//! The kernel's entry point of the launcher.

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    crate::system::exit(99)
}

/// The precompiled core library refers to this function; with `panic=abort` it is never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {serve}",
    "ud2",
    serve = sym crate::serve,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "bl {serve}",
    "brk 1",
    serve = sym crate::serve,
);
