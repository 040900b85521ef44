//! Parses texts of `/sys/devices/system/cpu/cpu0/cache`: four lines are the files of one cache.
#![no_main]

use std::path::Path;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let root = tempfile::tempdir().expect("a folder");
    let cache = root.path().join("sys/devices/system/cpu/cpu0/cache/index0");
    std::fs::create_dir_all(&cache).expect("a folder");
    for (name, line) in ["level", "type", "size", "coherency_line_size"].iter().zip(text.lines()) {
        std::fs::write(cache.join(name), line).expect("a file");
    }
    let found = fathom_machine::reported_caches(Path::new(root.path()), 0);
    assert!(found.len() <= 1);
});
