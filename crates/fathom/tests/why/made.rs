//! Functions compiled at run time by Node and Java have names, and their maps are removed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::attached::Subject;
use crate::world::{allows, fathom, stderr, stdout, text};

/// A script that uses this CPU time on any machine. If Node's options make it write names and the script is
/// given a path, the script writes its pid there and keeps running.
const SCRIPT: &str = "const fs = require('fs');
function parse(until) {
  let sum = 0;
  while (process.cpuUsage().user < until) for (let i = 0; i < 2e5; i++) sum = (sum * 31 + i) % 1000003;
  return sum;
}
class Reader { read(until) { return parse(until); } }
function main(seconds) { new Reader().read(seconds * 1e6); }
if (process.argv[3] && (process.execArgv.length || process.env.NODE_OPTIONS)) {
  fs.writeFileSync(process.argv[3], `${process.pid}\\n`);
  main(1e6);
}
main(Number(process.argv[2]));
";

const CLASS: &str = "public class Hot {
  static long sum = 0;
  static void parse(long until) {
    while (cpu() < until) sum += turns(200_000);
  }
  static int turns(int n) { int s = 0; for (int i = 0; i < n; i++) s = (int) ((s * 31L + i) % 1000003); return s; }
  static long cpu() { return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }
  public static void main(String[] a) { parse((long) (Double.parseDouble(a[0]) * 1e9)); System.out.println(sum); }
}
";

/// Returns whether these programs are installed.
fn have(programs: &[&str]) -> bool {
    let answers = |program: &&str| {
        let mut command = Command::new(program);
        command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok()
    };
    let missing = programs.iter().find(|program| !answers(program));
    if let Some(missing) = missing {
        fathom_test_log::skipped(&format!("{missing} is not here"));
    }
    missing.is_none()
}

fn script() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.js");
    std::fs::write(&file, SCRIPT).unwrap();
    (folder, file)
}

/// Returns the folder of the compiled class.
fn class() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Hot.java");
    std::fs::write(&file, CLASS).unwrap();
    let compiled = Command::new("javac").arg(&file).status().unwrap();
    assert!(compiled.success());
    folder
}

fn explained(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

fn rows_of_own_code(explanation: &Value) -> Vec<&Value> {
    let rows = explanation["where"].as_array().unwrap();
    rows.iter()
        .filter(|row| row["kind"] == "user_code")
        .collect()
}

/// Returns the row of the program's own code with the most time.
fn largest(explanation: &Value) -> &Value {
    let rows = rows_of_own_code(explanation);
    rows.into_iter()
        .max_by_key(|row| row["ns"].as_u64())
        .unwrap()
}

fn names_parse(explanation: &Value, file: &str) {
    let row = largest(explanation);
    assert_eq!(row["function"], "parse", "{:#}", explanation["where"]);
    assert_eq!(row["source_file"], file, "{row:#}");
    assert_eq!(row["line"], 2, "{row:#}");
    let callers = row["callers"].as_array().unwrap();
    let names: Vec<_> = callers.iter().map(|one| &one["function"]).collect();
    assert!(names.iter().any(|name| *name == "main"), "{row:#}");
    // Interpreted, baseline and optimised code of a function form one row.
    let all = rows_of_own_code(explanation);
    let parse = all.iter().filter(|row| row["function"] == "parse");
    assert_eq!(parse.count(), 1, "{all:#?}");
}

fn names_turns(explanation: &Value) {
    let row = largest(explanation);
    let name = row["function"].as_str().unwrap_or_default();
    // A function that is inlined counts as part of its caller.
    let line = match name {
        "Hot.turns" => 6,
        "Hot.parse" => 4,
        _ => panic!("{:#}", explanation["where"]),
    };
    assert_eq!(row["source_file"], "Hot.java", "{row:#}");
    assert_eq!(row["line"], line, "{row:#}");
}

/// Returns the maps in `/tmp` that contain this text.
fn maps_with(part: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").unwrap().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_map = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("perf-") && name.ends_with(".map")
    };
    let has = |path: &PathBuf| {
        let content = std::fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&content).contains(part)
    };
    paths.filter(is_map).filter(has).collect()
}

fn left_no_map(explanation: &Value) {
    for process in explanation["processes"].as_array().unwrap() {
        let map = format!("/tmp/perf-{}.map", process["pid"]);
        assert!(!Path::new(&map).exists(), "{map}");
    }
}

const TIERS: [&str; 2] = ["kernel", "perf"];

fn why(tier: &str, command: &[&str]) -> Output {
    let options = ["why", "--runs", "2", "--tier", tier, "--json", "-", "--"];
    fathom(&[&options[..], command].concat())
}

#[test]
fn functions_of_node_have_names_files_and_lines() {
    if !have(&["node"]) {
        return;
    }
    let (folder, file) = script();
    for tier in TIERS.into_iter().filter(|tier| allows(tier)) {
        let explanation = explained(&why(tier, &["node", text(&file), "0.4"]));
        names_parse(&explanation, text(&file));
        let added = explanation["observation"]["added"].as_str().unwrap();
        assert!(added.contains("--perf-basic-prof"), "{added}");
        left_no_map(&explanation);
        assert_eq!(maps_with(text(&file)), [] as [PathBuf; 0]);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "Node left a file of its own");
    }
}

#[test]
fn functions_of_java_have_names() {
    if !have(&["java", "javac"]) {
        return;
    }
    let folder = class();
    for tier in TIERS.into_iter().filter(|tier| allows(tier)) {
        let command = ["java", "-cp", text(folder.path()), "Hot", "0.8"];
        let explanation = explained(&why(tier, &command));
        names_turns(&explanation);
        left_no_map(&explanation);
    }
}

#[test]
fn a_map_is_removed_also_where_fathom_is_killed() {
    if !have(&["node"]) || !allows("perf") {
        return;
    }
    let (folder, file) = script();
    let note = folder.path().join("pid");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["why", "--runs", "1", "--tier", "perf", "--", "node"]);
    command.args([text(&file), "0.01", text(&note)]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut fathom = command.spawn().unwrap();
    let pause = || std::thread::sleep(std::time::Duration::from_millis(2));
    let pid = loop {
        let told = std::fs::read_to_string(&note).unwrap_or_default();
        if told.ends_with('\n') {
            break told;
        }
        assert!(fathom.try_wait().unwrap().is_none(), "it ended before");
        pause();
    };
    let map = PathBuf::from(format!("/tmp/perf-{}.map", pid.trim()));
    assert!(map.is_file(), "it was asked for names");
    fathom.kill().unwrap();
    fathom.wait().unwrap();
    while map.exists() {
        pause();
    }
}

/// A runtime started by a shell: the command, a check of its rows, and a text that only its map contains.
struct Through<'a> {
    command: String,
    is_named: &'a dyn Fn(&Value),
    part: &'a str,
}

impl Through<'_> {
    fn command(&self) -> String {
        format!("{}; true", self.command)
    }

    /// If a link in `/tmp` could redirect a child's writes, Fathom doesn't make children write names. The
    /// output then ends with a command that provides the names, and the test runs that command.
    fn where_links_are_followed(&self) {
        let command = self.command();
        let Some(output) = with_links_protected("0", &["sh", "-c", &command]) else {
            return;
        };
        let explanation = explained(&output);
        assert!(
            explanation["observation"]["added"].is_null(),
            "{explanation:#}"
        );
        let by = explanation["observation"]["names_by"].as_str();
        let by = by.unwrap_or_else(|| panic!("{explanation:#}")).replace(
            "fathom why",
            "\"$FATHOM\" why --runs 2 --tier perf --json -",
        );
        let mut again = Command::new("sh");
        again
            .args(["-c", &by])
            .env("FATHOM", env!("CARGO_BIN_EXE_fathom"));
        let output = again.stdin(Stdio::null()).output().unwrap();
        let maps = maps_with(self.part);
        maps.iter()
            .for_each(|map| std::fs::remove_file(map).unwrap());
        (self.is_named)(&explained(&output));
    }

    /// If links are not followed, Fathom requests the map with an environment variable and removes the map
    /// afterwards.
    fn where_links_are_not_followed(&self) {
        let command = self.command();
        let Some(output) = with_links_protected("1", &["sh", "-c", &command]) else {
            return;
        };
        let explanation = explained(&output);
        let added = explanation["observation"]["added"].as_str();
        assert!(
            added.is_some_and(|added| added.contains("_OPTIONS=")),
            "{added:?}"
        );
        (self.is_named)(&explanation);
        left_no_map(&explanation);
    }
}

/// Runs `why` with this value of `fs.protected_symlinks`, as root with a private view of `/proc`; `None` if
/// that isn't possible.
fn with_links_protected(value: &str, command: &[&str]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let setting = folder.path().join("setting");
    std::fs::write(&setting, format!("{value}\n")).unwrap();
    let mount = "mount --bind \"$0\" /proc/sys/fs/protected_symlinks && exec \"$@\"";
    let within = |rest: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["-m", "sh", "-c", mount, text(&setting)])
            .args(rest);
        unshare.stdin(Stdio::null()).output()
    };
    if !within(&["true"]).is_ok_and(|output| output.status.success()) {
        fathom_test_log::skipped("only root may have another view of /proc/sys");
        return None;
    }
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let options = [
        fathom, "why", "--runs", "2", "--tier", "perf", "--json", "-", "--",
    ];
    Some(within(&[&options[..], command].concat()).unwrap())
}

#[test]
fn what_a_shell_starts_has_names_or_the_answer_ends_with_the_command_for_node() {
    if !have(&["node"]) || !allows("perf") {
        return;
    }
    let (_folder, file) = script();
    let file = text(&file);
    let node = Through {
        command: format!("node {file} 0.4"),
        is_named: &|explanation| names_parse(explanation, file),
        part: file,
    };
    node.where_links_are_followed();
    node.where_links_are_not_followed();
}

#[test]
fn what_a_shell_starts_has_names_or_the_answer_ends_with_the_command_for_java() {
    if !have(&["java", "javac"]) || !allows("perf") {
        return;
    }
    let folder = class();
    let java = Through {
        command: format!("java -cp {} Hot 0.8", text(folder.path())),
        is_named: &names_turns,
        part: "Hot.turns",
    };
    java.where_links_are_followed();
    java.where_links_are_not_followed();
}

#[test]
fn a_jvm_that_runs_already_is_asked_and_its_map_removed() {
    if !have(&["java", "javac", "jcmd"]) || !allows("perf") {
        return;
    }
    let folder = class();
    let mut command = Command::new("java");
    command.args([
        "-XX:+PreserveFramePointer",
        "-cp",
        text(folder.path()),
        "Hot",
        "1e6",
    ]);
    let subject = Subject::of(&mut command);
    subject.executes("java");
    subject.has_computed();
    let pid = subject.pid();
    let options = [
        "why", "--tier", "perf", "--time", "3s", "--json", "-", "--pid", &pid,
    ];
    let explanation = explained(&fathom(&options));
    names_turns(&explanation);
    left_no_map(&explanation);
}
