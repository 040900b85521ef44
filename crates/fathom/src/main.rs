//! The `fathom` command.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() {
    keep_memory();
    fathom_measure::remember_what_the_loader_took();
    // SAFETY: no other thread is there yet.
    unsafe { fathom_store::variables::withhold() };
    std::process::exit(cli::run());
}

/// Lets the allocator keep what is freed: it would give it back to the kernel after each round of
/// runs and take it again for the next, at a page fault each.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_memory() {
    // SAFETY: takes numbers; no other thread is there yet.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        libc::mallopt(libc::M_TOP_PAD, 256 << 10);
    }
}

#[cfg(all(target_os = "linux", not(target_env = "gnu")))]
fn keep_memory() {}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: Fathom measures with means that only Linux has; it does not run here yet");
    std::process::exit(4);
}
