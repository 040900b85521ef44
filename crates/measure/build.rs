//! Sets the cfg `launcher` if a launcher for running commands is available.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(launcher)");
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if os == "linux" && ["x86_64", "aarch64"].contains(&arch.as_str()) {
        println!("cargo::rustc-cfg=launcher");
    }
}
