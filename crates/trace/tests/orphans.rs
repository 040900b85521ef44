//! What a command leaves behind is ended also when it keeps moving.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use fathom_trace::Adopted;

/// Each process starts the next and ends. It stops by itself after some thousand.
const CHAIN: &str = "#!/bin/sh\n[ $2 -ge 4000 ] || \"$0\" \"$1\" $(($2 + 1)) &\n";

/// Whether any process has this as a word of its command line.
fn runs(word: &str) -> bool {
    let names = |line: Vec<u8>| line.split(|byte| *byte == 0).any(|it| it == word.as_bytes());
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(names))
}

#[test]
fn a_chain_of_processes_is_ended_at_its_last() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("chain");
    let mut file = fs::File::create(&script).unwrap();
    file.write_all(CHAIN.as_bytes()).unwrap();
    drop(file);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for round in 0..5 {
        let mark = format!("chain-{}-{round}", std::process::id());
        let adopted = Adopted::begin();
        let mut first = Command::new(&script).args([&mark, "0"]).spawn().unwrap();
        first.wait().unwrap();
        let ended = adopted.end(|_| false);
        assert!(!runs(&mark), "round {round}, {ended} ended");
    }
}
