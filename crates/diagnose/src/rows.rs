//! The tables of an explanation.

use std::collections::{BTreeMap, HashMap};

use fathom_model::{CallRow, Phase, ProcessRow};
use fathom_trace::{End, Process, SyscallRow, Tier, Trace};

use crate::analysis::Analysis;
use crate::entry_exit_overhead::cpu_in_calls;
use crate::file_name::file_name;

pub(crate) fn plus(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
    }
}

/// Returns the time that the calls of a row take in an untraced run, on a CPU and asleep. It is unknown if
/// the run was stopped at its calls, because the stops are included in their times.
pub(crate) fn time_of(analysis: &Analysis<'_>, row: &SyscallRow) -> Option<u64> {
    let trace = analysis.trace;
    let timed = trace.calls_from.or(trace.tier) == Some(Tier::Kernel);
    let cpu = cpu_in_calls(row, analysis.entry_exit.call_ns) * analysis.call_factor(&row.name);
    timed.then(|| cpu as u64 + blocked_of(analysis, row).unwrap_or(0))
}

/// Like [`time_of`], for waiting. In a run that tracing lengthened, waits for slowed processes are longer
/// too.
pub(crate) fn blocked_of(analysis: &Analysis<'_>, row: &SyscallRow) -> Option<u64> {
    Some(analysis.untraced(row.blocked_ns? as f64) as u64)
}

/// Returns calls by name over all threads, those with the most time first.
pub(crate) fn call_rows(analysis: &Analysis<'_>) -> Vec<CallRow> {
    let trace = analysis.trace;
    let mut rows: BTreeMap<&str, CallRow> = BTreeMap::new();
    for call in &trace.syscalls {
        let row = rows.entry(&call.name).or_insert_with(|| CallRow {
            name: call.name.clone(),
            calls: 0,
            errors: 0,
            total_ns: None,
            blocked_ns: None,
            bytes: 0,
        });
        row.calls += call.calls + call.unfinished;
        row.errors += call.errors;
        row.total_ns = plus(row.total_ns, time_of(analysis, call));
        row.blocked_ns = plus(row.blocked_ns, blocked_of(analysis, call));
        row.bytes += call.bytes;
    }
    let mut rows: Vec<CallRow> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.total_ns, row.calls)));
    rows
}

/// Describes how a process ended; empty if only the fact that it ended is known.
fn in_words(trace: &Trace, process: &Process) -> String {
    match process.end {
        Some(End {
            cut_short: true, ..
        }) => "ended by Fathom".to_owned(),
        Some(End {
            signal: Some(signal),
            ..
        }) => format!("killed by signal {signal}"),
        Some(End {
            code: Some(code), ..
        }) => format!("exit code {code}"),
        _ if process.ended_ns.is_some() => String::new(),
        _ if trace.attached.is_some() => "goes on".to_owned(),
        _ => "end not seen".to_owned(),
    }
}

/// Returns the process tree, with parents before their children.
pub fn process_rows(trace: &Trace) -> Vec<ProcessRow> {
    let mut threads: HashMap<u32, usize> = HashMap::new();
    for thread in &trace.threads {
        *threads.entry(thread.pid).or_default() += 1;
    }
    let row = |process: &fathom_trace::Process| ProcessRow {
        pid: process.pid,
        parent: process.parent,
        programs: process
            .execs
            .iter()
            .map(|exec| {
                let arguments = exec.arguments.iter().skip(1).cloned();
                std::iter::once(exec.path.clone())
                    .chain(arguments)
                    .collect()
            })
            .collect(),
        // Processes that outlived the command end after it.
        from_ns: process.started_ns.min(trace.duration_ns),
        to_ns: process
            .ended_ns
            .map_or(trace.duration_ns, |end| end.min(trace.duration_ns)),
        end: in_words(trace, process),
        threads: threads.get(&process.pid).copied().unwrap_or(0),
    };
    trace.processes.iter().map(row).collect()
}

/// Returns the phases of the command: what it executed, its first output, and its end. Empty for a process
/// that was already running.
pub fn phases(trace: &Trace) -> Vec<Phase> {
    if trace.attached.is_some() {
        return Vec::new();
    }
    let measured = |name: String, at_ns| Phase {
        name,
        at_ns,
        modelled: false,
    };
    let by_calls = |name: String, at_ns| Phase {
        modelled: trace.calls_from.is_some(),
        ..measured(name, at_ns)
    };
    let mut phases = Vec::new();
    if let Some(root) = trace.processes.first() {
        let many = root.execs.len() > 1;
        for exec in &root.execs {
            let program = file_name(&exec.path);
            let named = |what: &str| match many {
                true => format!("{what} {program}"),
                false => what.to_owned(),
            };
            phases.push(measured(named("exec"), exec.at_ns));
            let loaded = exec.entered.filter(|entered| entered.loaded);
            phases.extend(loaded.map(|entered| by_calls(named("loader_done"), entered.at_ns)));
        }
    }
    if let Some(at) = trace
        .processes
        .iter()
        .filter_map(|p| p.first_output_ns)
        .min()
    {
        phases.push(by_calls("first_output".to_owned(), at));
    }
    phases.push(measured("exit".to_owned(), trace.duration_ns));
    phases.sort_by_key(|phase| phase.at_ns);
    phases
}
