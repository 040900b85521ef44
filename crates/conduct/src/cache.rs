//! A cache for facts that are expensive to determine.
//!
//! The cache consists of files in the folder of [`remembered`], each with a stamp of the inputs it depends
//! on. A file with a different stamp, or one that can't be read, is ignored; failing to write one is not an
//! error.

use std::path::PathBuf;

use fathom_machine::remembered::{self, identity};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    stamp: String,
    value: T,
}

/// Loads the value saved under `name`; `None` if its stamp differs.
pub(crate) fn load<T: DeserializeOwned>(name: &str, stamp: &str) -> Option<T> {
    let text = std::fs::read(file(name)?).ok()?;
    let kept: Kept<T> = serde_json::from_slice(&text).ok()?;
    (kept.stamp == stamp).then_some(kept.value)
}

/// Saves a value atomically, so that no other process sees a partial file.
pub(crate) fn store<T: Serialize>(name: &str, stamp: &str, value: &T) {
    let Some(file) = file(name) else { return };
    let kept = Kept {
        stamp: stamp.to_owned(),
        value,
    };
    let Ok(text) = serde_json::to_vec(&kept) else {
        return;
    };
    let folder = file.parent().map(std::fs::create_dir_all);
    if matches!(folder, Some(Ok(()))) {
        // On failure, the next run computes the value again.
        let _ = fathom_measure::write_whole(&file, text);
    }
}

/// Returns a stamp of what determines the available tiers: the user, the privileges, the PID namespace and
/// the boot.
pub(crate) fn rights_stamp() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let rights = status.lines().filter(|line| {
        ["Uid:", "CapEff:", "Seccomp:"]
            .iter()
            .any(|key| line.starts_with(key))
    });
    let rights: Vec<&str> = rights.collect();
    // A container can share this folder with its host, so the PID namespace is part of the stamp.
    let numbers = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!(
        "{} {:?} {} {}",
        env!("CARGO_PKG_VERSION"),
        identity(),
        rights.join(" "),
        numbers.display()
    )
}

fn file(name: &str) -> Option<PathBuf> {
    remembered::default_folder().map(|folder| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_the_kernel_and_who_asks() {
        let stamp = rights_stamp();
        let kernel = identity().kernel.unwrap();
        assert!(stamp.contains(&kernel), "{stamp}");
        assert!(stamp.contains("CapEff:"), "{stamp}");
    }
}
