//! Builds the two static programs that Fathom brings along: the launcher and the empty program.
//!
//! They are plain Rust without the standard library, so that the compiler at hand is all it takes.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(launcher)");
    println!("cargo::rerun-if-changed=launcher");
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if os != "linux" || !["x86_64", "aarch64"].contains(&arch.as_str()) {
        return;
    }
    println!("cargo::rustc-cfg=launcher");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    build("launcher/main.rs", &out.join("launcher"));
    build("launcher/floor.rs", &out.join("floor"));
}

fn build(source: &str, target: &Path) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let triple = std::env::var("TARGET").expect("cargo sets TARGET");
    let mut command = Command::new(rustc);
    command
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--target",
            &triple,
        ])
        .args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=s",
            "-C",
            "relocation-model=static",
        ])
        .args([
            "-C",
            "strip=symbols",
            "-C",
            "overflow-checks=off",
            "-C",
            "debug-assertions=off",
        ])
        .args([
            "-C",
            "link-arg=-nostartfiles",
            "-C",
            "link-arg=-nostdlib",
            "-C",
            "link-arg=-static",
        ])
        .args([
            "-C",
            "link-arg=-no-pie",
            "-C",
            "link-arg=-Wl,--build-id=none",
            "-C",
            "link-arg=-Wl,-z,norelro",
        ])
        .arg("-o")
        .arg(target)
        .arg(source);
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        command
            .arg("-C")
            .arg(format!("linker={}", linker.display()));
    }
    let status = command.status().expect("rustc can be started");
    assert!(status.success(), "building {source} failed: {status}");
}
