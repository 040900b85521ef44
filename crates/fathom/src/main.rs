//! The `fathom` command.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() {
    keep_memory();
    report_large_files();
    fathom_measure::remember_what_the_loader_took();
    // SAFETY: no other thread exists yet.
    unsafe { fathom_store::variables::withhold() };
    if let Some(server) = fathom_store::variables::get(fathom_mcp::SERVER) {
        fathom_mcp::end_with(&server);
    }
    std::process::exit(cli::run());
}

/// Ignores SIGXFSZ, so exceeding the file size limit (`ulimit -f`) is reported as a write error and doesn't
/// end the process. Programs started by Fathom get the original signal disposition.
#[cfg(target_os = "linux")]
fn report_large_files() {
    // SAFETY: the arguments are numbers; no other thread exists yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Lets the allocator keep freed memory. Otherwise it would return it to the kernel after each round of runs
/// and take it back for the next one, with a page fault for each page.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_memory() {
    // SAFETY: the arguments are numbers; no other thread exists yet.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
        libc::mallopt(libc::M_TOP_PAD, 256 << 10);
    }
}

#[cfg(all(target_os = "linux", not(target_env = "gnu")))]
fn keep_memory() {}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: Fathom needs Linux for its measurements; it does not run on this system yet");
    std::process::exit(4);
}
