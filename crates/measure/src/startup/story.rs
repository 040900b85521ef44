//! From one trace to what it says of a start. Reads executables, to know where they begin.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_model::{FailedLookup, PhaseTime, StartupPhase};
use fathom_trace::{Exec, Process, Trace};

use super::chain;
use super::elf;

/// What standard output is called in the trace, to tell it from other pipes.
pub(crate) const STDOUT: &str = "standard output of the command";
/// Paths that were looked for in vain that are kept.
const MOST_MISSING: usize = 50;
/// Enough of an executable for its headers.
const HEADERS: usize = 4096;
/// Addresses within a page are the same wherever a file is loaded.
const PAGE: u64 = 4096;

/// What one traced run told.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Story {
    /// What ran up to the first output.
    pub ran: Vec<PathBuf>,
    /// In order; empty where the tier has no times.
    pub phases: Vec<PhaseTime>,
    /// From the call of the first `execve` to the call of the first write, ns.
    pub first_output_ns: Option<u64>,
    /// Shared libraries, the loader first.
    pub libraries: Vec<PathBuf>,
    /// Other files that were opened.
    pub files: Vec<PathBuf>,
    pub failed_lookups: u64,
    pub missing: Vec<FailedLookup>,
    pub bytes_read: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

/// Reads the trace. `with_times` only where tracing slows the program little.
pub(crate) fn read(trace: &Trace, directory: &Path, with_times: bool) -> Story {
    let writer = writer(trace);
    let line = line_to(trace, writer);
    let until = writer.and_then(|process| process.first_output_ns);
    let mut ran = Vec::new();
    for process in &line {
        for exec in before(process, until) {
            ran.extend(files_of_exec(exec, directory));
        }
    }
    let (libraries, files) = opened(trace, directory, &ran);
    let mut missing: Vec<FailedLookup> = trace
        .failed_lookups
        .iter()
        .map(|row| FailedLookup {
            path: row.path.clone(),
            call: row.call.clone(),
            calls: row.calls,
        })
        .collect();
    missing.truncate(MOST_MISSING);
    let called = trace
        .processes
        .first()
        .and_then(|root| root.execs.first()?.called_ns);
    Story {
        phases: match with_times {
            true => phases(trace, &line, writer, directory),
            false => Vec::new(),
        },
        first_output_ns: until
            .zip(called)
            .map(|(first, called)| first.saturating_sub(called)),
        ran,
        libraries,
        files,
        failed_lookups: trace.failed_lookups.iter().map(|row| row.calls).sum(),
        missing,
        bytes_read: trace
            .syscalls
            .iter()
            .filter(|row| ["read", "pread64", "readv", "preadv", "preadv2"].contains(&&*row.name))
            .map(|row| row.bytes)
            .sum(),
        minor_faults: trace.accounts.minor_faults,
        major_faults: trace.accounts.major_faults,
    }
}

/// The process that first wrote to the command's own standard output. A shell's `$(...)` also writes to
/// descriptor 1, but into another pipe.
fn writer(trace: &Trace) -> Option<&Process> {
    let wrote = |process: &&Process| {
        let mut files = trace.files.iter();
        files.any(|file| file.pid == process.pid && file.writes > 0 && file.name == STDOUT)
    };
    let first = |processes: &mut dyn Iterator<Item = &'_ Process>| -> Option<u32> {
        processes
            .filter_map(|process| Some((process.first_output_ns?, process.pid)))
            .min()
            .map(|(_, pid)| pid)
    };
    let known = first(&mut trace.processes.iter().filter(wrote));
    // `sendfile` and the like move bytes without a row of the file: then only the command itself is sure.
    let pid = known.or_else(|| first(&mut trace.processes.iter().take(1)))?;
    trace.processes.iter().find(|process| process.pid == pid)
}

/// The processes from the command to `writer`, each made by the one before.
fn line_to<'a>(trace: &'a Trace, writer: Option<&'a Process>) -> Vec<&'a Process> {
    let mut line = Vec::new();
    let mut next = writer.or(trace.processes.first());
    while let Some(process) = next.filter(|_| line.len() <= trace.processes.len()) {
        line.push(process);
        next = process
            .parent
            .and_then(|parent| trace.processes.iter().find(|other| other.pid == parent));
    }
    line.reverse();
    line
}

/// The programs that a process ran before this time.
fn before(process: &Process, until: Option<u64>) -> impl Iterator<Item = &Exec> {
    process
        .execs
        .iter()
        .filter(move |exec| until.is_none_or(|until| exec.at_ns <= until))
}

/// A script and its interpreter, or a program. The kernel tier names what was asked for, the stops tier
/// what came of it: there the script is among the arguments.
fn files_of_exec(exec: &Exec, directory: &Path) -> Vec<PathBuf> {
    let files = chain::files_of(Path::new(&exec.path), directory);
    let [program] = &files[..] else { return files };
    let script = exec
        .arguments
        .iter()
        .skip(1)
        .take(2)
        .map(|argument| chain::files_of(Path::new(argument), directory))
        .find(|script| script.len() > 1 && script.last() == Some(program));
    script.unwrap_or(files)
}

/// Libraries and other regular files that were opened, each once, in the order of opening.
fn opened(trace: &Trace, directory: &Path, ran: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut rows: Vec<_> = trace.files.iter().filter(|file| file.opens > 0).collect();
    rows.sort_by_key(|file| file.first_ns);
    let mut seen: BTreeSet<PathBuf> = ran.iter().cloned().collect();
    let (mut libraries, mut files) = (Vec::new(), Vec::new());
    let loaders = ran.iter().filter_map(|path| {
        let loader = elf::parse(&chain::start_of(path, HEADERS))?.loader?;
        std::fs::canonicalize(loader).ok()
    });
    for loader in loaders {
        if seen.insert(loader.clone()) {
            libraries.push(loader);
        }
    }
    for row in rows {
        let path = directory.join(&row.name);
        let Ok(path) = std::fs::canonicalize(path) else {
            continue;
        };
        let is_file = std::fs::metadata(&path).is_ok_and(|m| m.is_file());
        if !is_file || path.starts_with("/proc") || path.starts_with("/sys") {
            continue;
        }
        if seen.insert(path.clone()) {
            match is_library(&row.name) {
                true => libraries.push(path),
                false => files.push(path),
            }
        }
    }
    (libraries, files)
}

/// `libc.so.6`, `libz.so`, but not `ld.so.cache`.
fn is_library(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name.split_once(".so") {
        Some((_, "")) => true,
        Some((_, version)) => version
            .strip_prefix('.')
            .is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit())),
        None => false,
    }
}

/// The stretches from the first `execve` to the exit of the command.
fn phases(
    trace: &Trace,
    line: &[&Process],
    writer: Option<&Process>,
    directory: &Path,
) -> Vec<PhaseTime> {
    let Some(start) = trace
        .processes
        .first()
        .and_then(|root| root.execs.first()?.called_ns)
    else {
        return Vec::new();
    };
    let last = line.last().copied();
    let first_output = writer.and_then(|process| process.first_output_ns);
    let exec = last.and_then(|process| before(process, first_output).last());
    // A writer that execs nothing is a shell's copy of itself: its parent's program is what ran.
    let exec = exec.or_else(|| {
        line.iter()
            .rev()
            .find_map(|process| before(process, first_output).last())
    });
    let Some(exec) = exec else {
        return Vec::new();
    };
    // Where the call was not seen its time is the wrappers'.
    let called = exec.called_ns.unwrap_or(exec.at_ns);
    let end = trace
        .processes
        .first()
        .and_then(|root| root.ended_ns)
        .unwrap_or(trace.duration_ns);
    let wrote = first_output.map(|at| (at, first_write_ns(trace, last, at)));
    let entered = last.and_then(|process| entered(process, exec, directory));
    let mut points = vec![(StartupPhase::Wrappers, start, called)];
    points.push((StartupPhase::Exec, called, exec.at_ns));
    let until_main = wrote.map_or(end, |(at, _)| at);
    match entered {
        Some(entered) if entered <= until_main => {
            points.push((StartupPhase::Loader, exec.at_ns, entered));
            points.push((StartupPhase::RuntimeAndMain, entered, until_main));
        }
        _ => points.push((StartupPhase::LoaderToMain, exec.at_ns, until_main)),
    }
    match wrote {
        Some((at, Some(took))) => {
            points.push((StartupPhase::FirstWrite, at, at + took));
            points.push((StartupPhase::Exit, at + took, end));
        }
        Some((at, None)) => points.push((StartupPhase::Exit, at, end)),
        None => {}
    }
    points
        .into_iter()
        .map(|(phase, from, to)| PhaseTime {
            phase,
            ns: to.saturating_sub(from),
        })
        .filter(|time| {
            let may_lack = [StartupPhase::Wrappers, StartupPhase::Exec];
            !may_lack.contains(&time.phase) || time.ns > 0
        })
        .collect()
}

/// How long the first write took, where it was the only one of its row.
fn first_write_ns(trace: &Trace, writer: Option<&Process>, at: u64) -> Option<u64> {
    let pid = writer?.pid;
    let row = trace
        .syscalls
        .iter()
        .find(|row| row.pid == pid && row.fd == Some(1) && row.first_ns == at)?;
    (row.calls == 1 && row.unfinished == 0).then_some(row.total_ns)
}

/// When the first own instruction of the program in `exec` was fetched: the first fetch that faulted at
/// the place in a page where the program begins.
fn entered(process: &Process, exec: &Exec, directory: &Path) -> Option<u64> {
    let program = files_of_exec(exec, directory).pop()?;
    let entry = elf::parse(&chain::start_of(&program, HEADERS))?.entry;
    let next = process
        .execs
        .iter()
        .map(|other| other.at_ns)
        .find(|at| *at > exec.at_ns)
        .unwrap_or(u64::MAX);
    process
        .code_faults
        .iter()
        .filter(|fault| fault.at_ns >= exec.at_ns && fault.at_ns < next)
        .find(|fault| fault.address % PAGE == entry % PAGE)
        .map(|fault| fault.at_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{CodeFault, FileRow, SyscallRow};

    fn process(pid: u32, parent: Option<u32>, first_output_ns: Option<u64>) -> Process {
        Process {
            pid,
            parent,
            first_output_ns,
            ended_ns: Some(900),
            ..Process::default()
        }
    }

    fn exec(path: &str, called: u64, at: u64) -> Exec {
        Exec {
            called_ns: Some(called),
            at_ns: at,
            path: path.to_string(),
            ..Exec::default()
        }
    }

    fn wrote(pid: u32, name: &str) -> FileRow {
        FileRow {
            pid,
            name: name.to_string(),
            writes: 1,
            ..FileRow::default()
        }
    }

    #[test]
    fn a_shells_substitution_is_not_the_first_output() {
        let mut trace = Trace {
            processes: vec![process(1, None, Some(500)), process(2, Some(1), Some(100))],
            files: vec![wrote(2, "pipe"), wrote(1, STDOUT)],
            ..Trace::default()
        };
        trace.processes[0].execs = vec![exec("/nowhere/a", 10, 20), exec("/nowhere/b", 200, 220)];
        let story = read(&trace, Path::new("/"), true);
        assert_eq!(story.first_output_ns, Some(490));
        let phases: Vec<_> = story.phases.iter().map(|p| (p.phase, p.ns)).collect();
        assert_eq!(
            phases,
            [
                (StartupPhase::Wrappers, 190),
                (StartupPhase::Exec, 20),
                (StartupPhase::LoaderToMain, 280),
                (StartupPhase::Exit, 400),
            ]
        );
        assert_eq!(
            story.ran,
            [Path::new("/nowhere/a"), Path::new("/nowhere/b")]
        );
    }

    #[test]
    fn phases_add_up_to_the_whole_and_the_entry_ends_the_loader() {
        let own = std::fs::canonicalize("/proc/self/exe").unwrap();
        let entry = elf::parse(&chain::start_of(&own, HEADERS)).unwrap().entry;
        let mut only = process(1, None, Some(500));
        only.execs = vec![exec(own.to_str().unwrap(), 10, 110)];
        let fault = |at_ns, address| CodeFault { at_ns, address };
        only.code_faults = vec![
            fault(50, entry),
            fault(150, entry + 8),
            fault(300, 0x5000_0000 + entry % PAGE),
            fault(400, entry),
        ];
        let trace = Trace {
            processes: vec![only],
            files: vec![wrote(1, STDOUT)],
            syscalls: vec![SyscallRow {
                pid: 1,
                name: "write".to_string(),
                fd: Some(1),
                calls: 1,
                total_ns: 7,
                first_ns: 500,
                ..SyscallRow::default()
            }],
            ..Trace::default()
        };
        let story = read(&trace, Path::new("/"), true);
        let phases: Vec<_> = story.phases.iter().map(|p| (p.phase, p.ns)).collect();
        assert_eq!(
            phases,
            [
                (StartupPhase::Exec, 100),
                (StartupPhase::Loader, 190),
                (StartupPhase::RuntimeAndMain, 200),
                (StartupPhase::FirstWrite, 7),
                (StartupPhase::Exit, 393),
            ]
        );
        assert_eq!(phases.iter().map(|p| p.1).sum::<u64>(), 890);
    }

    #[test]
    fn libraries_are_told_from_other_files() {
        for name in [
            "/lib/libc.so.6",
            "libz.so",
            "_json.cpython-311-x86_64-linux-gnu.so",
        ] {
            assert!(is_library(name), "{name}");
        }
        for name in [
            "/etc/ld.so.cache",
            "/etc/ld.so.preload",
            "notes.sorted",
            "x.so.txt",
        ] {
            assert!(!is_library(name), "{name}");
        }
    }
}
