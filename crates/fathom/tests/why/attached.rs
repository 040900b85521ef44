//! A running process: `--pid`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::world::{allows, fathom, parts_add_up, stderr, stdout, text};

const TIERS: [&str; 3] = ["kernel", "perf", "sample"];

/// A process that is ended when the test ends.
pub(crate) struct Subject(Child);

impl Subject {
    /// Starts a shell with this script. Its standard input comes from the test.
    fn shell(script: &str) -> Self {
        Self::of(Command::new("sh").args(["-c", script]))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Waits until the process has executed `sleep` and is asleep, so the shell and the loader are done.
    fn asleep(self) -> Self {
        let name = format!("/proc/{}/stat", self.pid());
        while std::fs::read_to_string(&name).is_ok_and(|stat| !stat.contains(" (sleep) S ")) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        self
    }

    pub(crate) fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Waits until the process executes `program`, and no longer the program that started it.
    pub(crate) fn executes(&self, program: &str) {
        let program = program.rsplit('/').next().unwrap();
        let name = format!("/proc/{}/comm", self.pid());
        while std::fs::read_to_string(&name).is_ok_and(|name| name.trim_end() != program) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Waits until the process has computed for a second, so that its startup is over.
    pub(crate) fn has_computed(&self) {
        const TICKS: u64 = 100;
        let ticks = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).ok()?;
            let behind_name = stat.rsplit_once(") ")?.1;
            behind_name.split(' ').nth(11)?.parse().ok()
        };
        while ticks().is_some_and(|ticks: u64| ticks < TICKS) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    fn goes_on(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn observed(tier: &str, pid: &str, more: &[&str]) -> Value {
    let arguments = ["why", "--pid", pid, "--tier", tier, "--json", "-"];
    let output = fathom(&[&arguments, more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Checks that each thread's parts add up to its time, and that no time exceeds the observed duration.
fn threads_add_up(explanation: &Value) {
    let whole = explanation["observation"]["wall_ns"].as_u64().unwrap();
    for thread in explanation["threads"].as_array().unwrap() {
        parts_add_up(thread);
        let of = |key: &str| thread[key].as_u64().unwrap();
        let life = of("to_ns") - of("from_ns");
        assert_eq!(thread["account"]["wall_ns"].as_u64(), Some(life));
        assert!(life <= whole, "{thread}");
    }
}

/// A script that repeatedly reads a file and sleeps. Its first child waits for the end of its input.
const WORKS: &str = "exec 3<&0; cat <&3 & while :; do read x < /proc/uptime; sleep 0.02; done";

#[test]
fn what_runs_already_is_explained_in_every_tier_and_goes_on() {
    for tier in TIERS.into_iter().filter(|tier| allows(tier)) {
        let mut subject = Subject::shell(WORKS);
        let explanation = observed(tier, &subject.pid(), &["--time", "400ms"]);
        assert!(subject.goes_on(), "{tier}");
        assert_eq!(explanation["kind"], "why");
        assert_eq!(explanation["observation"]["tier"], tier);
        let process = &explanation["process"];
        assert_eq!(process["pid"].as_u64(), Some(u64::from(subject.0.id())));
        assert_eq!(process["ended"], false);
        assert_eq!(explanation["timed"]["runs"], 0);
        let wall = explanation["observation"]["wall_ns"].as_u64().unwrap();
        assert!(wall >= 400_000_000, "{wall}");
        assert_eq!(explanation["account"]["wall_ns"].as_u64(), Some(wall));
        parts_add_up(&explanation);
        threads_add_up(&explanation);
        assert!(explanation["command"].as_str().unwrap().contains("uptime"));
        assert_eq!(explanation["phases"], Value::Array(Vec::new()));
        let parents = explanation["processes"].as_array().unwrap();
        assert!(parents[0]["parent"].is_null());
        let was_there = parents.iter().any(|one| {
            one["programs"][0][0]
                .as_str()
                .is_some_and(|path| path.ends_with("cat"))
        });
        assert!(was_there, "{parents:?}");
    }
}

#[test]
fn calls_of_what_runs_already_are_counted_from_then_on() {
    if !allows("kernel") {
        return;
    }
    let subject = Subject::shell("exec sleep 1000").asleep();
    let pid = subject.pid();
    let explanation = observed("kernel", &pid, &["--time", "200ms"]);
    // The only call is the sleep that was in progress when observation began.
    let calls = explanation["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{calls:?}");
    let name = calls[0]["name"].as_str().unwrap();
    assert!(name.ends_with("nanosleep"), "{name}");
    assert_eq!(calls[0]["calls"], 1);
    let parts = explanation["account"]["parts"].as_array().unwrap();
    assert_eq!(parts[0]["category"], "sleeping", "{parts:?}");
    let whole = explanation["account"]["wall_ns"].as_u64();
    assert_eq!(parts[0]["ns"].as_u64(), whole, "it slept all the time");
}

/// Starts observing by sampling, and returns once Fathom has opened the files of the process.
fn sampled(pid: &str, more: &[&str]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fathom"))
        .args(["why", "--pid", pid, "--tier", "sample"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let descriptors = PathBuf::from(format!("/proc/{}/fd", child.id()));
    let wanted = format!("/proc/{pid}/task/");
    let is_sampled = || {
        let entries = std::fs::read_dir(&descriptors).into_iter().flatten();
        let links = entries
            .flatten()
            .filter_map(|one| one.path().read_link().ok());
        let mut links = links.map(|link| link.to_string_lossy().into_owned());
        links.any(|link| link.starts_with(&wanted))
    };
    while !is_sampled() {
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "it ended before it observed anything");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child
}

#[test]
fn a_process_that_ends_meanwhile_is_explained_up_to_there() {
    if !allows("sample") {
        return;
    }
    let mut subject = Subject::shell("read x; exit 3");
    let fathom = sampled(&subject.pid(), &["--time", "600s"]);
    drop(subject.0.stdin.take());
    let output = fathom.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    let title = format!("PID {} (sh), ", subject.pid());
    assert!(said.starts_with(&title), "{said}");
    let first = said.lines().next().unwrap();
    assert!(first.ends_with(", until it exited"), "{said}");
}

#[test]
fn a_signal_to_fathom_ends_the_observation_and_nothing_else() {
    if !allows("sample") {
        return;
    }
    let mut subject = Subject::shell("read x");
    let fathom = sampled(&subject.pid(), &["--time", "600s"]);
    // SAFETY: a process that this test started and has not reaped.
    unsafe { libc::kill(fathom.id() as i32, libc::SIGINT) };
    let output = fathom.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains(", observed for "), "{said}");
    assert!(said.contains("it was not stopped"), "{said}");
    assert!(subject.goes_on());
}

#[test]
fn a_killed_fathom_leaves_what_it_observed_as_it_was() {
    if !allows("sample") {
        return;
    }
    let mut subject = Subject::shell("read x; exit 7");
    let mut fathom = sampled(&subject.pid(), &["--time", "600s"]);
    fathom.kill().unwrap();
    fathom.wait().unwrap();
    drop(subject.0.stdin.take());
    assert_eq!(subject.0.wait().unwrap().code(), Some(7));
}

fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let output = fathom(&[&["why", "--pid"], arguments].concat());
    (output.status.code(), stderr(&output))
}

#[test]
fn what_can_not_be_observed_is_named() {
    let gone = Command::new("true").spawn().unwrap();
    let pid = gone.id().to_string();
    gone.wait_with_output().unwrap();
    let (code, said) = refusal(&[&pid]);
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with(&format!("error: there is no process {pid}: it has ended")),
        "{said}"
    );
    let is_kernels = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
    if is_kernels {
        let (code, said) = refusal(&["2"]);
        assert_eq!(code, Some(2));
        assert!(said.contains("(kthreadd) is a kernel thread"), "{said}");
    }
    let own = std::process::id();
    let other = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let mut tids = other.map(|task| task.file_name().into_string().unwrap());
    if let Some(tid) = tids.find(|tid| *tid != own.to_string()) {
        let (code, said) = refusal(&[&tid]);
        assert_eq!(code, Some(2));
        assert!(
            said.contains(&format!("is a thread of process {own}")),
            "{said}"
        );
    }
    let subject = Subject::shell("read x");
    let (code, said) = refusal(&[&subject.pid(), "--tier", "ptrace"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the ptrace tier stops a program"), "{said}");
    for given in [&["7", "--", "true"][..], &["7", "--runs", "3"], &["0"]] {
        let (code, said) = refusal(given);
        assert_eq!(code, Some(2), "{said}");
    }
}

/// Returns a copy of Fathom that another user may run, or why there is no other user here.
pub(crate) fn for_nobody(folder: &Path) -> Result<PathBuf, &'static str> {
    // SAFETY: the call takes no arguments and can't fail.
    if unsafe { libc::geteuid() } != 0 {
        return Err("only root can become another user");
    }
    if as_nobody(Path::new("true"), &[]).is_err() {
        return Err("there is no setpriv");
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("fathom");
    fathom_test_log::copy_program(env!("CARGO_BIN_EXE_fathom"), &program);
    Ok(program)
}

pub(crate) fn of_nobody(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(program)
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null());
    command
}

pub(crate) fn as_nobody(program: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    of_nobody(program, arguments).output()
}

/// Starts a sleeping process owned by the user `nobody`.
fn nobodys() -> Subject {
    Subject::of(&mut of_nobody(Path::new("sleep"), &["1000"])).asleep()
}

#[test]
fn another_user_observes_his_own_processes_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let program = match for_nobody(folder.path()) {
        Ok(program) => program,
        Err(why) => return fathom_test_log::skipped(why),
    };
    let (own, roots) = (nobodys(), Subject::shell("read x"));
    let listed = stdout(&as_nobody(&program, &["why", "--tiers"]).unwrap());
    for tier in ["perf", "sample"] {
        if !listed
            .lines()
            .any(|line| line.starts_with(&format!("{tier:<8} yes")))
        {
            fathom_test_log::skipped("this tier is not allowed here");
            continue;
        }
        let arguments = [
            "why", "--time", "200ms", "--tier", tier, "--json", "-", "--pid",
        ];
        let observe = |pid: &str| as_nobody(&program, &[&arguments[..], &[pid]].concat()).unwrap();
        let output = observe(&own.pid());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let explanation: Value = serde_json::from_str(&stdout(&output)).unwrap();
        parts_add_up(&explanation);
        threads_add_up(&explanation);
        let parts = explanation["account"]["parts"].as_array().unwrap();
        assert_eq!(parts[0]["category"], "sleeping", "{tier}: {parts:?}");
        refuses(&observe(&roots.pid()));
    }
}

/// Checks that observing a process owned by root was refused, with its owner named.
fn refuses(output: &Output) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("(sh) belongs to root (user 0)"), "{said}");
    assert!(said.contains("you may not trace it"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn capabilities_of_fathoms_file_are_no_rights_of_its_user() {
    // Use the disk that holds the build: on other disks, set-id bits may have no effect.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = match for_nobody(folder.path()) {
        Ok(program) => program,
        Err(why) => return fathom_test_log::skipped(why),
    };
    let mut setcap = Command::new("setcap");
    setcap.arg("cap_bpf,cap_perfmon,cap_sys_ptrace+ep");
    match setcap.arg(text(&program)).status() {
        Ok(status) if status.success() => {}
        _ => return fathom_test_log::skipped("no setcap, or files there have no capabilities"),
    }
    let listed = stdout(&as_nobody(&program, &["why", "--tiers"]).unwrap());
    if !listed.starts_with("kernel   yes") {
        return fathom_test_log::skipped("no capabilities of files, or no kernel tier");
    }
    let (own, roots) = (nobodys(), Subject::shell("read x"));
    let arguments = ["why", "--time", "200ms", "--json", "-", "--pid"];
    let observe = |pid: &str| as_nobody(&program, &[&arguments[..], &[pid]].concat()).unwrap();
    refuses(&observe(&roots.pid()));
    let output = observe(&own.pid());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let explanation: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(explanation["observation"]["tier"], "kernel");
    parts_add_up(&explanation);
}

/// A server that answers each line after 50 ms or after an answer from its peer, and that also ticks. It writes
/// its port to a file.
const SERVER: &str = r#"
import asyncio, os, sys
peer, place = int(sys.argv[1]), sys.argv[2]
async def serve(reader, writer):
    upstream = await asyncio.open_connection("127.0.0.1", peer) if peer else None
    while line := await reader.readline():
        if upstream:
            upstream[1].write(line)
            await upstream[0].readline()
        else:
            await asyncio.sleep(0.05)
        writer.write(line)
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    with open(place + ".new", "w") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(place + ".new", place)
    while True:
        await asyncio.sleep(0.02 if not peer else 1)
asyncio.run(main())
"#;

#[test]
fn a_server_that_has_requests_to_answer_does_not_wait_for_connections() {
    use std::io::{BufRead, BufReader, Write};
    if !allows("kernel") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let serve = |name: &str, peer: u16| {
        let place = folder.path().join(name);
        let mut command = Command::new("python3");
        let server = Subject::of(command.args(["-c", SERVER, &peer.to_string()]).arg(&place));
        while !place.exists() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let port: u16 = std::fs::read_to_string(&place).unwrap().parse().unwrap();
        (server, port)
    };
    let ask = |port: u16| {
        std::thread::spawn(move || {
            let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
            let mut answers = BufReader::new(client.try_clone().unwrap());
            let mut answer = || answers.read_line(&mut String::new()).unwrap_or(0);
            while client.write_all(b"line\n").is_ok() && answer() > 0 {}
        })
    };
    let (slow, port) = serve("slow", 0);
    let (asks, between) = serve("asks", port);
    let observe = |server: &Subject| {
        let arguments = ["why", "--pid", &server.pid(), "--time", "1s"];
        let output = fathom(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        // A statement is broken into lines of the terminal's width.
        let shown = stdout(&output);
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };

    let idle = observe(&slow);
    assert!(idle.contains("Waiting for connections"), "{idle}");

    let client = ask(between);
    let timers = observe(&slow);
    assert!(timers.contains("1 sleeping"), "{timers}");
    assert!(timers.contains("clients waited for answers"), "{timers}");
    let peer = observe(&asks);
    assert!(peer.contains("1 waiting-for-network"), "{peer}");
    assert!(peer.contains(&format!("for 127.0.0.1:{port}")), "{peer}");
    drop((asks, slow));
    client.join().unwrap();
}
