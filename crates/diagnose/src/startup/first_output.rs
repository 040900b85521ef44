//! Determines when the first byte of a traced run reached the command's own standard output.
//!
//! The tracer reports when a process first wrote to its descriptor 1. That descriptor may temporarily have
//! referred to something else (for `echo text >&2`, a shell puts standard error there), and the write may
//! then have gone elsewhere. In that case, the time at which the parent saw the byte is used.

use fathom_measure::startup::STDOUT;
use fathom_trace::{Process, Trace};

/// The output of one traced run, as seen by the parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    /// Bytes received.
    pub bytes: u64,
    /// When the first byte arrived, in ns of the monotonic clock; `None` if there was none, or the time is
    /// unknown.
    pub first_ns: Option<u64>,
}

/// The source of the time at which the first byte was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// There was no output.
    Silence,
    /// The call that wrote the byte.
    Call,
    /// The parent, which saw the byte arrive.
    Parent,
    /// There was output, but its time is unknown.
    Unknown,
}

/// Removes from a trace with calls all first outputs except those that reached standard output.
pub(super) fn settle(trace: &mut Trace, output: Output) -> Source {
    if output.bytes == 0 {
        for process in &mut trace.processes {
            process.first_output_ns = None;
        }
        return Source::Silence;
    }
    let unsure: Vec<bool> = trace
        .processes
        .iter()
        .map(|process| wrote(trace, process.pid) && is_unsure(trace, process))
        .collect();
    if !unsure.contains(&true) {
        return Source::Call;
    }
    let parents = output.first_ns.map(|at| since_start(trace, at));
    for (process, unsure) in trace.processes.iter_mut().zip(&unsure) {
        if *unsure {
            process.first_output_ns = parents;
        }
    }
    let Some(parents) = parents else {
        return Source::Unknown;
    };
    // The parent sees a byte only after the call that wrote it.
    let by_a_call = trace
        .processes
        .iter()
        .zip(&unsure)
        .any(|(process, unsure)| {
            let before = process.first_output_ns.is_some_and(|at| at <= parents);
            !unsure && before && wrote(trace, process.pid)
        });
    match by_a_call {
        true => Source::Call,
        false => Source::Parent,
    }
}

/// Like [`settle`], for a run without traced calls. The writer of the byte is known if only one process ran
/// programs.
pub(super) fn settle_without_calls(trace: &mut Trace, output: Output) -> Source {
    let called = trace
        .exec_called_clock_ns
        .map(|called| since_start(trace, called));
    // Every program that writes is held before it writes; see `Trace::held_ns`.
    let byte = output
        .first_ns
        .map(|at| since_start(trace, at).saturating_sub(trace.held_ns));
    let Some(root) = trace.processes.first_mut() else {
        return Source::Unknown;
    };
    root.first_output_ns = byte.filter(|_| output.bytes > 0);
    if let Some(first) = root.execs.first_mut() {
        first.called_ns = called;
    }
    match (output.bytes, root.first_output_ns) {
        (0, _) => Source::Silence,
        (_, Some(_)) => Source::Parent,
        (_, None) => Source::Unknown,
    }
}

/// Returns whether only one process ran programs.
pub(super) fn is_alone(trace: &Trace) -> bool {
    let ran = |process: &&Process| !process.execs.is_empty();
    trace.processes.iter().filter(ran).count() == 1
}

/// Returns whether the process wrote to the command's own standard output.
pub(super) fn wrote(trace: &Trace, pid: u32) -> bool {
    let mut files = trace.files.iter();
    files.any(|file| file.pid == pid && file.writes > 0 && file.name == STDOUT)
}

/// Returns whether the process's first write to descriptor 1 may not have been its first write to standard
/// output.
fn is_unsure(trace: &Trace, process: &Process) -> bool {
    let mut rows = trace.descriptors.iter();
    let changed = rows.any(|row| {
        let others = row.names.iter().any(|name| name != STDOUT) || row.more_names > 0;
        row.pid == process.pid && row.fd == 1 && others
    });
    changed || process.first_output_ns.is_none()
}

fn since_start(trace: &Trace, at: u64) -> u64 {
    at.saturating_sub(trace.started_clock_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::{DescriptorRow, Exec, FileRow};

    /// Returns a trace of processes, given what descriptor 1 of each was and when each first wrote to it.
    fn trace(processes: &[(&[&str], Option<u64>)]) -> Trace {
        let mut trace = Trace {
            started_clock_ns: 1000,
            ..Trace::default()
        };
        for (pid, (names, first_output_ns)) in (1..).zip(processes) {
            trace.processes.push(Process {
                pid,
                first_output_ns: *first_output_ns,
                execs: vec![Exec::default()],
                ..Process::default()
            });
            trace.descriptors.push(DescriptorRow {
                pid,
                fd: 1,
                names: names.iter().map(|name| (*name).into()).collect(),
                more_names: 0,
            });
            trace.files.push(FileRow {
                pid,
                name: STDOUT.into(),
                writes: u64::from(names.contains(&STDOUT)),
                ..FileRow::default()
            });
        }
        trace
    }

    fn settled(mut trace: Trace, bytes: u64, first_ns: Option<u64>) -> (Source, Vec<Option<u64>>) {
        let source = settle(&mut trace, Output { bytes, first_ns });
        let firsts = trace.processes.iter().map(|p| p.first_output_ns);
        (source, firsts.collect())
    }

    #[test]
    fn a_write_of_which_no_byte_came_is_no_output() {
        let only = trace(&[(&[STDOUT, "standard error"], Some(70))]);
        assert_eq!(settled(only, 0, None), (Source::Silence, vec![None]));
    }

    #[test]
    fn a_descriptor_that_was_always_standard_output_is_believed() {
        let only = trace(&[(&[STDOUT], Some(70))]);
        assert_eq!(
            settled(only.clone(), 4, Some(1090)),
            (Source::Call, vec![Some(70)])
        );
        assert_eq!(settled(only, 4, None), (Source::Call, vec![Some(70)]));
    }

    #[test]
    fn where_the_descriptor_was_something_else_too_the_parent_stamps_it() {
        let only = trace(&[(&[STDOUT, "standard error"], Some(70))]);
        assert_eq!(
            settled(only.clone(), 4, Some(1500)),
            (Source::Parent, vec![Some(500)])
        );
        assert_eq!(settled(only, 4, None), (Source::Unknown, vec![None]));
    }

    #[test]
    fn a_child_that_surely_wrote_before_is_believed() {
        let both = trace(&[
            (&[STDOUT, "standard error"], Some(70)),
            (&[STDOUT], Some(490)),
        ]);
        assert_eq!(
            settled(both, 4, Some(1500)),
            (Source::Call, vec![Some(500), Some(490)])
        );
    }

    #[test]
    fn without_calls_the_parent_stamps_it_and_the_time_at_stops_is_taken_off() {
        let mut only = trace(&[(&[STDOUT], None)]);
        only.held_ns = 100;
        let output = |bytes, first_ns| Output { bytes, first_ns };
        let source = settle_without_calls(&mut only, output(4, Some(1500)));
        assert_eq!(source, Source::Parent);
        assert_eq!(only.processes[0].first_output_ns, Some(400));
        let source = settle_without_calls(&mut only, output(0, None));
        assert_eq!(source, Source::Silence);
        assert_eq!(only.processes[0].first_output_ns, None);
        let source = settle_without_calls(&mut only, output(4, None));
        assert_eq!(source, Source::Unknown);
    }
}
