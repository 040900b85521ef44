//! The `fathom` command.

#[cfg(target_os = "linux")]
mod cli;

#[cfg(target_os = "linux")]
fn main() {
    std::process::exit(cli::run());
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("error: Fathom measures with means that only Linux has; it does not run here yet");
    std::process::exit(4);
}
