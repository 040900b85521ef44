//! Replaces glibc's malloc by another allocator that is installed.

use std::path::PathBuf;

use fathom_model::FindingId;

use super::join_calls::before_others;
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "other-allocator",
    takes_away: "the C library's malloc: mimalloc, jemalloc or tcmalloc takes its place (LD_PRELOAD)",
    needs: "a dynamically linked program that uses the C library's malloc; one of the three in a library folder",
    can_break: "the program may use more memory",
    findings: &[FindingId::AllocatorChurn, FindingId::PageFaultHeavy],
    arrange,
    ..USUAL
};

const NAMES: [&str; 4] = [
    "libmimalloc.so",
    "libjemalloc.so",
    "libtcmalloc_minimal.so",
    "libtcmalloc.so",
];

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let library = installed().ok_or(
        "neither mimalloc, jemalloc nor tcmalloc is installed; keep-memory tunes malloc itself",
    )?;
    Ok(before_others(case, library))
}

/// Returns the first of the allocators that a library folder of this system contains.
fn installed() -> Option<PathBuf> {
    let own = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64", "/lib"];
    let folders = folders.iter().map(PathBuf::from);
    let folders: Vec<PathBuf> = folders
        .flat_map(|folder| [folder.join(&own), folder])
        .collect();
    let found = |name: &str| {
        folders.iter().find_map(|folder| {
            let entries = std::fs::read_dir(folder).ok()?.flatten();
            let names = entries.map(|entry| entry.file_name());
            let mut names = names.filter(|one| one.to_string_lossy().starts_with(name));
            names.next().map(|name| folder.join(name))
        })
    };
    NAMES.iter().find_map(|name| found(name))
}
