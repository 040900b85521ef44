//! What is found out once and kept: the limits of this machine, and which tiers it allows.
//!
//! Files below `$XDG_CACHE_HOME/fathom` (or `~/.cache/fathom`), each with a stamp of what it depends
//! on. A stamp that differs, or a file that can't be read, is as good as none; not being able to
//! write one is no error.

use std::path::PathBuf;

use fathom_machine::environment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    stamp: String,
    value: T,
}

/// What was kept under this name with this stamp.
pub fn load<T: DeserializeOwned>(name: &str, stamp: &str) -> Option<T> {
    let text = std::fs::read(file(name)?).ok()?;
    let kept: Kept<T> = serde_json::from_slice(&text).ok()?;
    (kept.stamp == stamp).then_some(kept.value)
}

/// Keeps a value; another process never sees half of it.
pub fn store<T: Serialize>(name: &str, stamp: &str, value: &T) {
    let Some(file) = file(name) else { return };
    let kept = Kept {
        stamp: stamp.to_owned(),
        value,
    };
    let Ok(text) = serde_json::to_vec(&kept) else {
        return;
    };
    let beside = file.with_extension(format!("new.{}", std::process::id()));
    let folder = file.parent().map(std::fs::create_dir_all);
    if matches!(folder, Some(Ok(()))) && std::fs::write(&beside, text).is_ok() {
        // Without it the next run finds out again.
        let _ = std::fs::rename(&beside, &file);
    }
}

/// The machine since it was started: probes of another boot may be of another host.
pub fn machine_stamp() -> String {
    let machine = environment();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!(
        "{} {} {:?} {} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        machine.kernel,
        machine.cpu_model,
        machine.cpus,
        machine.memory_bytes,
        boot.trim()
    )
}

/// Who asks, on which kernel: what tiers depend on.
pub fn rights_stamp() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rights = status.lines().filter(|line| {
        ["Uid:", "CapEff:", "Seccomp:"]
            .iter()
            .any(|key| line.starts_with(key))
    });
    let rights: Vec<&str> = rights.collect();
    // A container may share this folder with its host.
    let numbers = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!(
        "{} {} {}",
        machine_stamp(),
        rights.join(" "),
        numbers.display()
    )
}

fn file(name: &str) -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))?;
    // The variable's specification asks for an absolute path and ignores others.
    folder
        .is_absolute()
        .then(|| folder.join("fathom").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_the_kernel_and_who_asks() {
        let stamp = rights_stamp();
        assert!(stamp.contains(&environment().kernel), "{stamp}");
        assert!(stamp.contains("CapEff:"), "{stamp}");
    }
}
