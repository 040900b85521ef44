//! Joins small reads and writes of files, using a library that comes with Fathom.

use std::ffi::OsString;
use std::path::PathBuf;

use fathom_diagnose::Language;
use fathom_model::{Finding, FindingId};
use fathom_trace::{DescriptorKind, Trace};

use crate::interventions::{Asks, Case, Change, Intervention, Takes, USUAL};
use crate::why::language::language_of;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "join-calls",
    takes_away: "small reads and writes of regular files and /dev/null, and small reads of pipes: a library combines \
         them (LD_PRELOAD)",
    needs: "a dynamically linked program that makes its calls through the C library",
    can_break: "other readers of the file see its data later: at the next wait or when the program ends",
    findings: &[
        FindingId::UnbufferedOutput,
        FindingId::UnbufferedInput,
        FindingId::LineBufferedOutput,
        FindingId::KernelBound,
    ],
    takes: Takes::Calls,
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    match case.asks {
        Asks::For { finding, .. } if has_reader(finding, case.trace) => {
            Err("a program reads what it writes, and may wait for each piece".to_owned())
        }
        _ => preloaded(case),
    }
}

/// Reports whether a finding is about writes that aren't joined.
fn has_reader(finding: &Finding, trace: &Trace) -> bool {
    let (pid, fd) = (finding.place.pid, finding.place.fd);
    let mut descriptors = trace.descriptors.iter();
    let meant = descriptors.find(|one| pid.is_none_or(|pid| pid == one.pid) && Some(one.fd) == fd);
    let output = [FindingId::UnbufferedOutput, FindingId::LineBufferedOutput];
    let is_read = |kind: &DescriptorKind| {
        use DescriptorKind::{NamedPipe, Pipe, Socket, SocketPair, Terminal};
        matches!(
            kind,
            NamedPipe(_) | Pipe(_) | Socket(_) | SocketPair | Terminal(_)
        )
    };
    output.contains(&finding.id) && meant.is_some_and(|one| one.names.iter().all(is_read))
}

/// Loads the library into the command.
pub(super) fn preloaded(case: &Case<'_>) -> Result<Change, String> {
    let folder = case.target.command.folder();
    let root = case.trace.processes.first();
    let program = root.and_then(|process| process.execs.last());
    let language = program.and_then(|exec| language_of(&folder.join(&exec.path)));
    if language == Some(Language::Go) {
        return Err("Go makes system calls without the C library".to_owned());
    }
    let library = case.folder.join("libfathom-joining.so");
    std::fs::write(&library, fathom_measure::joining_library())
        .map_err(|error| format!("the library for it can't be written: {error}"))?;
    Ok(before_others(case, library))
}

/// Loads a library before those that the command already preloads.
pub(super) fn before_others(case: &Case<'_>, library: PathBuf) -> Change {
    let mut all = OsString::from(library);
    if let Some(own) = case.variable("LD_PRELOAD").filter(|own| !own.is_empty()) {
        all.push(":");
        all.push(own);
    }
    Change::setting("LD_PRELOAD", all)
}
