//! `bench --try` and `why --prove` leave nothing behind when they are killed, at any moment.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::world::{allows, text};

/// A program that writes a file, computes and sleeps. It first writes its process id to a pipe, which it holds
/// open.
const PROGRAM: &str = "\
import os, sys, time
pipe = os.open(sys.argv[1], os.O_WRONLY)
os.write(pipe, b'%7d\\n' % os.getpid())
open(os.path.dirname(sys.argv[1]) + '/written/file', 'w').write('x' * 10000)
for _ in range(40): sum(range(100000))
for _ in range(4): time.sleep(0.02)
";

struct Running {
    fathom: Child,
    pipe: File,
    temporary: PathBuf,
}

impl Running {
    fn start(folder: &Path, words: &[&str], command: &[&str]) -> Running {
        let temporary = folder.join("temporary");
        fs::create_dir(&temporary).unwrap();
        Running::start_with(folder, &temporary, words, command)
    }

    fn start_with(folder: &Path, temporary: &Path, words: &[&str], command: &[&str]) -> Running {
        let fifo = folder.join("fifo");
        fs::create_dir(folder.join("written")).unwrap();
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&fifo)
            .unwrap();
        let fathom = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(words)
            .arg("--")
            .args(command)
            .arg(&fifo)
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Running {
            fathom,
            pipe,
            temporary: temporary.to_path_buf(),
        }
    }

    /// Returns the process of the next run of the program.
    fn next(&mut self) -> u32 {
        let mut line = [0; 8];
        loop {
            match self.pipe.read(&mut line) {
                Ok(8) => break std::str::from_utf8(&line).unwrap().trim().parse().unwrap(),
                Ok(0) => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => (),
                other => panic!("{other:?}"),
            }
            let ended = self.fathom.try_wait().unwrap();
            assert_eq!(ended, None, "it ended before the moment");
            std::thread::yield_now();
        }
    }

    /// Waits until a run is in this state.
    fn until(&mut self, is_meant: impl Fn(u32) -> bool) {
        loop {
            let pid = self.next();
            while Path::new(&format!("/proc/{pid}")).exists() {
                if is_meant(pid) {
                    return;
                }
            }
        }
    }

    /// Kills Fathom, and waits until no run holds the pipe and no file is left.
    fn kill(mut self, signal: i32) {
        // SAFETY: takes numbers; the process is our own child, which was not waited for.
        unsafe { libc::kill(self.fathom.id() as i32, signal) };
        self.fathom.wait().unwrap();
        let mut rest = [0; 64];
        while !matches!(self.pipe.read(&mut rest), Ok(0)) {
            std::thread::yield_now();
        }
        while fs::read_dir(&self.temporary).unwrap().count() > 0 {
            std::thread::yield_now();
        }
    }
}

fn proc_text(pid: u32, file: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default()
}

/// Returns whether the kernel holds a call until Fathom answers its notification.
fn is_notified(pid: u32) -> bool {
    proc_text(pid, "wchan").contains("seccomp")
}

/// Returns whether a tracer has stopped the program.
fn is_stopped(pid: u32) -> bool {
    let stat = proc_text(pid, "stat");
    stat.rsplit_once(')')
        .is_some_and(|(_, behind)| behind.starts_with(" t"))
}

fn killed(words: &[&str], until: impl Fn(&mut Running)) {
    killed_with(words, &["python3", "-c", PROGRAM], until);
}

fn killed_with(words: &[&str], command: &[&str], until: impl Fn(&mut Running)) {
    for signal in [libc::SIGKILL, libc::SIGTERM] {
        let folder = tempfile::tempdir().unwrap();
        let mut running = Running::start(folder.path(), words, command);
        until(&mut running);
        running.kill(signal);
    }
}

/// Waits for this many runs.
fn runs(count: usize) -> impl Fn(&mut Running) {
    move |running| {
        for _ in 0..count {
            running.next();
        }
    }
}

#[test]
fn during_the_notification_of_a_call() {
    if allows("kernel") {
        let words = ["bench", "--try", "slope:sleeps", "--time", "60s"];
        killed(&words, |running| running.until(is_notified));
    }
}

#[test]
fn while_a_thread_is_stopped() {
    if allows("kernel") {
        let words = ["bench", "--try", "slope:thread:0", "--time", "60s"];
        // The kernel tier doesn't stop the observed run.
        killed(&words, |running| running.until(is_stopped));
    }
}

#[test]
fn while_a_filter_or_a_library_is_there() {
    for name in ["no-sleep", "join-calls"] {
        killed(&["bench", "--try", name, "--time", "60s"], runs(6));
    }
}

#[test]
fn while_its_files_lie_in_memory() {
    let words = ["bench", "--try", "files-in-memory", "--time", "60s"];
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        fathom_test_log::skipped("there is no /dev/shm");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let tried = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(&words[..3])
        .args(["-r", "1", "--", "sh", "-c", "echo x > file"])
        .current_dir(place.path())
        .output()
        .unwrap();
    if tried.status.code() == Some(2) {
        fathom_test_log::skipped(&String::from_utf8_lossy(&tried.stderr));
        return;
    }
    // The folder of Fathom's own files must lie in memory too, to see that it is removed.
    let temporary = memory.path().to_str().unwrap();
    for count in [3, 6] {
        for signal in [libc::SIGKILL, libc::SIGTERM] {
            let folder = tempfile::tempdir().unwrap();
            let command = ["python3", "-c", PROGRAM];
            let mut running =
                Running::start_with(folder.path(), Path::new(temporary), &words, &command);
            for _ in 0..count {
                running.next();
            }
            running.kill(signal);
        }
    }
}

#[test]
fn while_the_program_behind_a_wrapper_is_examined() {
    let wrapped = "exec python3 -c \"$0\" \"$1\"";
    let command = ["sh", "-c", wrapped, PROGRAM];
    // The first run is observed.
    killed_with(&["bench", "--try", "no-wrapper"], &command, runs(2));
}

#[test]
fn while_findings_are_proved() {
    for count in [1, 5, 9, 14] {
        killed(&["why", "--prove=all", "--time", "60s"], runs(count));
    }
}

#[test]
fn another_user_can_try_what_needs_no_privilege() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        fathom_test_log::skipped("only root can become another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(folder.path(), all).unwrap();
    let program = folder.path().join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    let as_nobody = |words: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&program)
            .args(words)
            .current_dir("/")
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .output()
    };
    let Ok(_) = as_nobody(&["--version"]) else {
        fathom_test_log::skipped("there is no setpriv");
        return;
    };
    let computes = "for _ in range(40): sum(range(100000))";
    let writes = format!("echo x > {}/written", text(folder.path()));
    for (name, command) in [
        ("files-in-memory", &["sh", "-c", &writes][..]),
        ("free-cpus", &["true"]),
        ("keep-memory", &["true"]),
        ("no-delay", &["true"]),
        ("larger-pipes", &["sh", "-c", "echo x | cat"]),
        ("no-sleep", &["sleep", "0.01"]),
        ("join-calls", &["echo"]),
        ("known-missing", &["ls", "/"]),
        ("no-wrapper", &["sh", "-c", "exec sleep 0.3"]),
        ("slope:sleeps", &["sleep", "0.01"]),
        ("slope:thread:0", &["python3", "-c", computes]),
    ] {
        let words = ["bench", "--try", name, "-r", "6", "--"];
        let output = as_nobody(&[&words, command].concat()).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // A tier that only samples doesn't know the calls.
        let may_refuse = name.starts_with("slope:") || name == "files-in-memory";
        let says_why = may_refuse && said.contains(&format!("--try {name}: it "));
        assert!(output.status.success() || says_why, "{name}: {said}");
    }
    let words = [
        "why", "--prove", "--runs", "3", "--time", "3s", "--json", "-",
    ];
    let output = as_nobody(&[&words[..], &["--", "sleep", "0.3"]].concat()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let explanation: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for finding in explanation["findings"].as_array().unwrap() {
        assert!(finding["proof"]["verdict"].is_string(), "{finding}");
    }
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(
        left,
        2,
        "only the program and what the command wrote are left in {}",
        text(folder.path())
    );
}
