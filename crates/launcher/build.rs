//! Builds the programs that Fathom embeds: two static programs, the launcher and the empty program, and the
//! library that measured commands may be started with.
//!
//! Cargo sees this crate as a library, so that it is formatted and linted like the rest. The programs are the
//! same source compiled again, without the standard library and with flags that cargo profiles don't support;
//! only rustc is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for all three outputs: no libc, and as few pages as possible.
const FLAGS: [&str; 8] = [
    "panic=abort",
    "opt-level=s",
    "strip=symbols",
    "overflow-checks=off",
    "debug-assertions=off",
    "link-arg=-nostartfiles",
    "link-arg=-nostdlib",
    "link-arg=-Wl,--build-id=none",
];

/// Flags of the programs: one image at a fixed address. The launcher's memory is the smallest peak memory
/// that can be reported for a program.
const OF_PROGRAMS: [&str; 4] = [
    "relocation-model=static",
    "link-arg=-static",
    "link-arg=-no-pie",
    "link-arg=-Wl,-z,norelro",
];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(supported)");
    println!(
        "cargo::rustc-check-cfg=cfg(program, values(none(), \"launcher\", \"floor\", \"joining\"))"
    );
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if os != "linux" || !["x86_64", "aarch64"].contains(&arch.as_str()) {
        return;
    }
    println!("cargo::rustc-cfg=supported");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    build("launcher", "bin", &OF_PROGRAMS, &out);
    build("floor", "bin", &OF_PROGRAMS, &out);
    // Use a single codegen unit; otherwise the compiler's own helpers would be looked up in other units.
    build("joining", "cdylib", &["codegen-units=1"], &out);
}

fn build(program: &str, kind: &str, flags: &[&str], folder: &Path) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let triple = std::env::var("TARGET").expect("cargo sets TARGET");
    let mut command = Command::new(rustc);
    command
        .args(["--edition", "2024", "--crate-type", kind])
        .args(["--crate-name", program, "--target", &triple])
        .args(["--cfg", "supported", "--cfg", "program"])
        .args(["--cfg", &format!("program=\"{program}\"")])
        // Cargo lints the library build.
        .args(["--cap-lints", "allow"])
        .args(FLAGS.iter().chain(flags).flat_map(|flag| ["-C", flag]))
        .arg("-o")
        .arg(folder.join(program))
        .arg("src/lib.rs");
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        command
            .arg("-C")
            .arg(format!("linker={}", linker.display()));
    }
    let status = command.status().expect("rustc can be started");
    assert!(status.success(), "building {program} failed: {status}");
}
