//! Derives the phases and files of a start from one trace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_measure::startup::ResolvedPaths;
use fathom_model::{FailedLookup, PhaseTime};
use fathom_trace::{Exec, Process, Trace};

use super::first_output::wrote;
use super::phases;
use crate::calls::{is_of_sockets, is_read};
use crate::file_name::file_name;

/// The maximum number of failed lookups to keep.
const MOST_MISSING: usize = 50;

/// The results of one traced start.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StartTimeline {
    /// The programs that ran up to the first output.
    pub ran: Vec<PathBuf>,
    /// The phases in order; empty if the tier has no times.
    pub phases: Vec<PhaseTime>,
    /// The time from the call of the first `execve` to the call of the first write, in ns.
    pub first_output_ns: Option<u64>,
    /// The time from the call of the first `execve` to the exit of the command, in ns; `None` if the command
    /// was stopped early.
    pub exit_ns: Option<u64>,
    /// Shared libraries, with the loader first.
    pub libraries: Vec<PathBuf>,
    /// Other files that were opened.
    pub files: Vec<PathBuf>,
    pub failed_lookups: u64,
    pub missing: Vec<FailedLookup>,
    pub bytes_read: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

/// Reads the trace. `with_times` should only be set if tracing slows the program little.
pub(super) fn read(trace: &Trace, paths: &ResolvedPaths, with_times: bool) -> StartTimeline {
    let writer = writer(trace);
    let line = line_to(trace, writer);
    let until = writer.and_then(|process| process.first_output_ns);
    let mut ran = Vec::new();
    for process in &line {
        for exec in before(process, until) {
            ran.extend_from_slice(files_of_exec(exec, paths));
        }
    }
    let (libraries, files) = opened(trace, paths, &ran);
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
    StartTimeline {
        phases: match with_times {
            true => phases::of(trace, &line, writer, paths),
            false => Vec::new(),
        },
        first_output_ns: until
            .zip(called)
            .map(|(first, called)| first.saturating_sub(called)),
        exit_ns: trace
            .processes
            .first()
            .and_then(|root| root.ended_ns)
            .filter(|_| !trace.end.cut_short)
            .zip(called)
            .map(|(ended, called)| ended.saturating_sub(called)),
        ran,
        libraries,
        files,
        failed_lookups: trace.failed_lookups.iter().map(|row| row.calls).sum(),
        missing,
        bytes_read: trace
            .syscalls
            .iter()
            .filter(|row| is_read(&row.name) && !is_of_sockets(&row.name))
            .map(|row| row.bytes)
            .sum(),
        minor_faults: trace.accounts.minor_faults,
        major_faults: trace.accounts.major_faults,
    }
}

/// Returns the process that first wrote to the command's own standard output. A shell's `$(...)` also writes
/// to descriptor 1, but into another pipe.
fn writer(trace: &Trace) -> Option<&Process> {
    let wrote = |process: &&Process| wrote(trace, process.pid);
    let first = |processes: &mut dyn Iterator<Item = &'_ Process>| -> Option<u32> {
        processes
            .filter_map(|process| Some((process.first_output_ns?, process.pid)))
            .min()
            .map(|(_, pid)| pid)
    };
    let known = first(&mut trace.processes.iter().filter(wrote));
    // `sendfile` and similar calls transfer bytes without a row for the file. In that case, only the command
    // itself is certain.
    let pid = known.or_else(|| first(&mut trace.processes.iter().take(1)))?;
    trace.processes.iter().find(|process| process.pid == pid)
}

/// Returns the processes from the command to `writer`, each of which is the parent of the next.
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

/// Returns the programs that a process ran before this time.
pub(super) fn before(process: &Process, until: Option<u64>) -> impl Iterator<Item = &Exec> {
    process
        .execs
        .iter()
        .filter(move |exec| until.is_none_or(|until| exec.at_ns <= until))
}

/// Returns the files of a script and its interpreters, or of a program. The kernel tier reports the path that
/// was requested; the stops tier reports the path that was run as well as the requested one.
pub(super) fn files_of_exec<'a>(exec: &Exec, paths: &'a ResolvedPaths) -> &'a [PathBuf] {
    let really = paths.chain(&exec.path);
    let Some(asked) = &exec.asked else {
        return really;
    };
    let files = paths.chain(asked);
    // A script that was deleted or rewritten in the meantime doesn't lead to what was run.
    match files.last() == really.last() {
        true => files,
        false => really,
    }
}

/// Returns libraries and other regular files that were opened, in the order of opening, each only once.
fn opened(trace: &Trace, paths: &ResolvedPaths, ran: &[PathBuf]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut rows: Vec<_> = trace.files.iter().filter(|file| file.opens > 0).collect();
    rows.sort_by_key(|file| file.first_ns);
    let mut known: BTreeSet<&Path> = ran.iter().map(PathBuf::as_path).collect();
    let (mut libraries, mut files) = (Vec::new(), Vec::new());
    for loader in ran.iter().filter_map(|path| paths.loader(path)) {
        if known.insert(loader) {
            libraries.push(loader.to_path_buf());
        }
    }
    for row in rows {
        let Some(path) = paths.file(&row.name.text()) else {
            continue;
        };
        if path.starts_with("/proc") || path.starts_with("/sys") {
            continue;
        }
        if known.insert(path) {
            match is_library(&row.name.text()) {
                true => libraries.push(path.to_path_buf()),
                false => files.push(path.to_path_buf()),
            }
        }
    }
    (libraries, files)
}

/// Accepts `libc.so.6` and `libz.so`, but not `ld.so.cache`.
fn is_library(name: &str) -> bool {
    let name = file_name(name);
    match name.split_once(".so") {
        Some((_, "")) => true,
        Some((_, version)) => version
            .strip_prefix('.')
            .is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit())),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::startup::STDOUT;
    use fathom_model::StartupPhase;
    use fathom_trace::{Cause, Entered, FileRow, Interval, SyscallRow, Thread};

    fn timeline(trace: &Trace) -> StartTimeline {
        let paths = ResolvedPaths::of(trace, Path::new("/"));
        read(trace, &paths, true)
    }

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
            name: name.into(),
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
        let timeline = timeline(&trace);
        assert_eq!(timeline.first_output_ns, Some(490));
        let phases: Vec<_> = timeline.phases.iter().map(|p| (p.phase, p.ns)).collect();
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
            timeline.ran,
            [Path::new("/nowhere/a"), Path::new("/nowhere/b")]
        );
    }

    #[test]
    fn phases_add_up_to_the_whole_and_the_entry_ends_the_loader() {
        let own = std::fs::canonicalize("/proc/self/exe").unwrap();
        let mut only = process(1, None, Some(500));
        only.execs = vec![exec(own.to_str().unwrap(), 10, 110)];
        only.execs[0].entered = Some(Entered {
            at_ns: 300,
            loaded: true,
        });
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
        let timeline = timeline(&trace);
        let phases: Vec<_> = timeline.phases.iter().map(|p| (p.phase, p.ns)).collect();
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
    fn waits_for_a_cpu_are_a_phase_and_in_no_other() {
        let mut only = process(1, None, Some(500));
        only.execs = vec![exec("/nowhere/a", 10, 110)];
        let off = |from_ns, to_ns| Interval {
            pid: 1,
            tid: 1,
            from_ns,
            woken_ns: None,
            to_ns,
            cause: Cause::Preempted,
            call: None,
            fd: None,
            woken_by: None,
            object: None,
        };
        let trace = Trace {
            processes: vec![only],
            threads: vec![Thread {
                pid: 1,
                tid: 1,
                ended_ns: Some(900),
                ..Thread::default()
            }],
            files: vec![wrote(1, STDOUT)],
            timeline: Some(vec![off(5, 70), off(300, 320), off(600, 700)]),
            ..Trace::default()
        };
        let timeline = timeline(&trace);
        let phases: Vec<_> = timeline.phases.iter().map(|p| (p.phase, p.ns)).collect();
        assert_eq!(
            phases,
            [
                (StartupPhase::Exec, 40),
                (StartupPhase::LoaderToMain, 370),
                (StartupPhase::Exit, 300),
                (StartupPhase::WaitingForCpu, 180),
            ]
        );
        assert_eq!(timeline.exit_ns, Some(890));
        assert_eq!(phases.iter().map(|p| p.1).sum::<u64>(), 890);
    }

    #[test]
    fn every_link_of_a_chain_of_interpreters_is_known_by_what_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let here = std::fs::canonicalize(folder.path()).unwrap();
        let (script, wrapper) = (here.join("script"), here.join("wrapper"));
        std::fs::write(&script, format!("#!{}\n", wrapper.display())).unwrap();
        std::fs::write(&wrapper, "#!/bin/sh\n").unwrap();
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        let ran = |asked: Option<&Path>| {
            let mut only = process(1, None, None);
            only.execs = vec![Exec {
                asked: asked.map(|path| path.to_str().unwrap().to_string()),
                ..exec(shell.to_str().unwrap(), 10, 20)
            }];
            let trace = Trace {
                processes: vec![only],
                ..Trace::default()
            };
            timeline(&trace).ran
        };
        let chain = [script.clone(), wrapper, shell.clone()];
        assert_eq!(ran(Some(&script)), chain);
        assert_eq!(ran(None), std::slice::from_ref(&shell));
        assert_eq!(ran(Some(&here.join("gone"))), [shell]);
    }

    #[test]
    fn libraries_are_known_by_their_names() {
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
