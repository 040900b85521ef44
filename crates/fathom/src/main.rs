//! The `fathom` command.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() {
    keep_memory();
    report_large_files();
    fathom_measure::remember_what_the_loader_took();
    // SAFETY: no other thread is there yet.
    unsafe { fathom_store::variables::withhold() };
    if let Some(server) = fathom_store::variables::get(fathom_mcp::SERVER) {
        fathom_mcp::end_with(&server);
    }
    std::process::exit(cli::run());
}

/// A file that grows beyond the limit of its size (`ulimit -f`) is an error of the write, which is
/// reported, and not the end by SIGXFSZ. What Fathom starts has the signal as it was.
#[cfg(target_os = "linux")]
fn report_large_files() {
    // SAFETY: takes numbers; no other thread is there yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
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
