//! Requests symbol names of JIT-compiled code: observed runs are told to write them, timed runs never are.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fathom_diagnose::{Asked, Language, asked_by_hand, joined};
use fathom_model::Explanation;
use fathom_trace::{NameMaps, StackPool, Trace, TraceCommand};

use super::from_here;
use crate::Target;

/// The number of bytes of a script's first line to read.
const FIRST_LINE: u64 = 256;

/// Returns how to request names from the command; `None` if no known runtime would write them, or if they
/// could end up in the wrong place.
pub(super) fn asked(target: &Target) -> Option<Asked> {
    let script = first_line(&from_here(&target.command));
    let words = target.words_as_found();
    Asked::of(&words, script.as_deref(), follows_no_links_of_others())
}

/// Requests names from an observed run. Does nothing if the files that would be written couldn't be managed.
pub(super) fn ask(asked: &Asked, command: &mut TraceCommand) {
    let Ok(maps) = NameMaps::begin() else {
        return;
    };
    command.name_maps = Some(Arc::new(maps));
    command.argv.clone_from(&asked.words);
    if let Some((name, options)) = &asked.variable {
        add(command.env.get_or_insert_default(), name, options);
    }
}

fn add(environment: &mut Vec<(OsString, OsString)>, name: &str, options: &str) {
    match environment.iter_mut().rfind(|(known, _)| known == name) {
        Some((_, value)) => *value = joined(Some(value), options),
        None => environment.push((name.into(), joined(None, options))),
    }
}

/// Returns a command for the user to copy that would name the functions, if the explanation lacks their
/// names.
pub(super) fn names_by(explanation: &Explanation, trace: &Trace) -> Option<String> {
    let language = fathom_diagnose::lacks_names(explanation, trace)?;
    let by_hand = asked_by_hand(language)?;
    let command = shell_words::join(&explanation.arguments);
    Some(
        match explanation.process.as_ref().map(|process| process.pid) {
            None => format!("{by_hand} fathom why -- {command}"),
            Some(pid) if language == Language::Java => {
                format!(
                    "{} && fathom why --pid {pid}",
                    shell_words::join(asks_jvm(pid))
                )
            }
            Some(_) => format!("{by_hand} {command}"),
        },
    )
}

fn asks_jvm(pid: u32) -> [String; 3] {
    [
        "jcmd".to_owned(),
        pid.to_string(),
        "Compiler.perfmap".to_owned(),
    ]
}

/// Asks a running JVM of this user to write its symbol names, which takes the JVM a few milliseconds.
pub(super) fn ask_jvm(pid: u32, trace: &Trace, stacks: &StackPool) {
    let root = trace.processes.first();
    let program = root.and_then(|root| root.execs.last());
    let is_jvm =
        program.is_some_and(|exec| Language::from_program_name(&exec.path) == Some(Language::Java));
    let owner = |path: String| fs::metadata(path).map(|data| data.uid()).ok();
    let is_own = owner("/proc/self".to_owned()) == owner(format!("/proc/{pid}"));
    let wrote = fathom_trace::has_name_map(pid);
    if !is_jvm || !is_own || wrote {
        return;
    }
    let Ok(maps) = NameMaps::begin() else {
        return;
    };
    if maps.make(pid).is_ok() && run(&asks_jvm(pid)) {
        stacks.read_maps();
    }
}

/// Runs a command for at most 30 s, which is long enough to start a JVM on a heavily overloaded machine.
/// Returns whether the command succeeded.
fn run(words: &[String]) -> bool {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Returns the first line of a script; `None` for any other program.
fn first_line(program: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // The path may now be a pipe, and reading from it would block.
    if !program.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::open(program).ok()?;
    file.take(FIRST_LINE).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    line.starts_with(b"#!")
        .then(|| String::from_utf8_lossy(line).into_owned())
}

/// Reports whether a program that writes to `/tmp` is protected from links that other users put there. This
/// matters because only the map of the command's own process is created before it runs.
fn follows_no_links_of_others() -> bool {
    let setting = fs::read_to_string("/proc/sys/fs/protected_symlinks");
    setting.is_ok_and(|setting| setting.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_keeps_what_it_held() {
        let mut environment = vec![("NODE_OPTIONS".into(), "--a".into())];
        add(&mut environment, "NODE_OPTIONS", "--b");
        add(&mut environment, "OTHER", "--c");
        let wanted = [("NODE_OPTIONS", "--a --b"), ("OTHER", "--c")];
        assert_eq!(
            environment,
            wanted.map(|(name, value)| (name.into(), value.into()))
        );
    }

    #[test]
    fn only_a_script_has_a_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "#!/usr/bin/env node\nrun()").unwrap();
        assert_eq!(first_line(&file).as_deref(), Some("#!/usr/bin/env node"));
        fs::write(&file, "\x7fELF").unwrap();
        assert_eq!(first_line(&file), None);
        assert_eq!(first_line(folder.path()), None);
    }
}
