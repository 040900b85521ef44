//! Fathom with file capabilities that let it see the processes of all users. Through Fathom, its user must
//! see no more than without it.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::world::{stderr, stdout};

const NOBODY: u32 = 65534;
/// A file that only root may know about, including its name.
const HIDDEN: &str = "name-that-only-root-may-know";

/// A folder with a copy of Fathom that has the capabilities of the kernel tier, and a set-uid program that
/// opens a file not named by any argument. Only root can create it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Option<Place> {
        let allowed = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(["why", "--tiers"])
            .output()
            .unwrap();
        let has_tier = stdout(&allowed)
            .lines()
            .any(|line| line.starts_with("kernel   yes"));
        // SAFETY: the call takes no arguments and can't fail.
        if unsafe { libc::getuid() } != 0 || !has_tier {
            fathom_test_log::skipped("only root can make a set-uid program and give capabilities");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(folder.path(), 0o755);
        let place = Place { folder };
        fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), place.path("fathom"));
        // cap_perfmon (38) and cap_bpf (39), permitted and effective, in the second version.
        let capabilities = [
            1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0u8,
        ];
        let path = std::ffi::CString::new(place.path("fathom").to_str().unwrap()).unwrap();
        // SAFETY: strings that end with zero, and the length matches the bytes.
        let given = unsafe {
            libc::setxattr(
                path.as_ptr(),
                c"security.capability".as_ptr(),
                capabilities.as_ptr().cast(),
                capabilities.len(),
                0,
            )
        };
        if given != 0 {
            fathom_test_log::skipped("the file system of temporary files keeps no capabilities");
            return None;
        }
        std::fs::write(place.path(HIDDEN), "x\n").unwrap();
        let hidden = place.path(HIDDEN);
        let list = [hidden.to_str().unwrap().as_bytes(), b"\0"].concat();
        std::fs::write(place.path("list"), list).unwrap();
        for name in [HIDDEN, "list"] {
            mode(&place.path(name), 0o600);
        }
        std::fs::copy("/usr/bin/sort", place.path("reader")).unwrap();
        mode(&place.path("reader"), 0o4755);
        Some(place)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that runs in the folder as an unprivileged user.
    fn as_nobody(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", "/dev/null/no-folder")
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .gid(NOBODY)
            .uid(NOBODY);
        command
    }

    fn fathom(&self, arguments: &[&str]) -> Output {
        self.as_nobody(&self.path("fathom"), arguments)
            .output()
            .unwrap()
    }
}

const READS: [&str; 2] = ["./reader", "--files0-from=list"];

#[test]
fn what_a_set_uid_program_opens_is_not_shown() {
    let Some(place) = Place::new() else { return };
    let alone = place
        .as_nobody(&place.path("reader"), &READS[1..])
        .output()
        .unwrap();
    assert_eq!(
        stdout(&alone),
        "x\n",
        "it has its rights: {}",
        stderr(&alone)
    );
    for verb in [
        ["why", "--runs", "3", "--json", "-", "--"],
        ["startup", "--runs", "3", "--json", "-", "--"],
    ] {
        let output = place.fathom(&[&verb[..], &READS].concat());
        let (printed, said) = (stdout(&output), stderr(&output));
        assert!(printed.contains("\"kernel\""), "{printed}");
        assert!(!printed.contains(HIDDEN), "{verb:?}: {printed}");
        assert_eq!(output.status.code(), Some(4), "{verb:?}: {said}");
        assert!(
            said.contains("observed, it runs without them"),
            "{verb:?}: {said}"
        );
    }
    let reads = READS.join(" ");
    let output = place.fathom(&["why", "--runs", "3", "--json", "-", "true", &reads]);
    assert!(!stdout(&output).contains(HIDDEN), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("observed, it runs without them"),
        "{}",
        stderr(&output)
    );
    let output = place.fathom(&["pipe", "--json", "-", &READS.join(" "), "cat"]);
    assert!(!stdout(&output).contains(HIDDEN), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    // Root sees the name, so it can be shown.
    let by_root = Command::new(place.path("fathom"))
        .args(["why", "--runs", "3", "--json", "-", "--"])
        .args(READS)
        .current_dir(place.folder.path())
        .output()
        .unwrap();
    assert!(stdout(&by_root).contains(HIDDEN), "{}", stderr(&by_root));
    assert_eq!(by_root.status.code(), Some(0), "{}", stderr(&by_root));
}

/// A process that is ended when this value is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_process_that_runs_is_followed_no_further_than_to_rights() {
    let Some(place) = Place::new() else { return };
    let again = format!("while :; do {} >/dev/null; done", READS.join(" "));
    let shell = place.as_nobody(Path::new("/bin/sh"), &["-c", &again]);
    let shell = Ended({ shell }.spawn().unwrap());
    let pid = shell.0.id().to_string();
    let observe = ["why", "--time", "200ms", "--json", "-", "--pid", &pid];
    // Repeated, because it must also hold for a program that is executed at the very end.
    for _ in 0..6 {
        let output = place.fathom(&observe);
        let printed = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!printed.contains(HIDDEN), "{printed}");
        assert!(printed.contains("that has its own privileges"), "{printed}");
    }
    let by_root = Command::new(place.path("fathom"))
        .args(observe)
        .output()
        .unwrap();
    assert!(stdout(&by_root).contains(HIDDEN), "{}", stderr(&by_root));
}

#[test]
fn variables_that_the_loader_takes_from_fathom_reach_the_command() {
    let Some(place) = Place::new() else { return };
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(place.folder.path(), open).unwrap();
    let note =
        |name: &str| format!("echo \"$TMPDIR $LD_LIBRARY_PATH $MALLOC_ARENA_MAX\" >> {name}");
    let (timed, prepared) = (note("timed"), note("prepared"));
    let words = [
        "why",
        "--runs",
        "3",
        "--prepare",
        &prepared,
        "--",
        "sh",
        "-c",
        &timed,
    ];
    let mut command = place.as_nobody(&place.path("fathom"), &words);
    command
        .env("TMPDIR", "/a folder")
        .env("LD_LIBRARY_PATH", "/nowhere")
        .env("MALLOC_ARENA_MAX", "3");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for name in ["timed", "prepared"] {
        let noted = std::fs::read_to_string(place.path(name)).unwrap();
        // Timed runs and observed runs.
        assert!(noted.lines().count() > 3, "{name}: {noted}");
        assert!(
            noted.lines().all(|line| line == "/a folder /nowhere 3"),
            "{name}: {noted}"
        );
    }
}
