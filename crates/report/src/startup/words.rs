//! Names of states, metrics and phases.

use fathom_model::{Cache, StartupMetric, StartupPhase, StartupRecord};

use crate::line::Tone;
pub(super) use crate::quantity::short_time as time;

pub(super) fn cache(cache: Cache) -> &'static str {
    match cache {
        Cache::Warm => "warm",
        Cache::Cold => "cold",
    }
}

pub(super) fn metric(metric: StartupMetric) -> &'static str {
    match metric {
        StartupMetric::FirstOutput => "first byte of output",
        StartupMetric::Exit => "exit",
    }
}

pub(super) fn phase(phase: StartupPhase) -> &'static str {
    match phase {
        StartupPhase::Wrappers => "wrapper scripts",
        StartupPhase::Exec => "exec, in the kernel",
        StartupPhase::Loader => "loader and libraries",
        StartupPhase::Entry => "to its entry (static)",
        StartupPhase::RuntimeAndMain => "runtime and main",
        StartupPhase::LoaderToMain => "loader, runtime, main",
        StartupPhase::FirstWrite => "first write",
        StartupPhase::Exit => "to the exit",
        StartupPhase::WaitingForCpu => "waiting for a CPU",
    }
}

pub(super) fn phase_tone(phase: StartupPhase) -> Tone {
    match phase {
        StartupPhase::WaitingForCpu => Tone::StarvedTime,
        StartupPhase::Exec | StartupPhase::FirstWrite => Tone::KernelTime,
        StartupPhase::Wrappers | StartupPhase::Loader | StartupPhase::Entry => Tone::WaitTime,
        StartupPhase::RuntimeAndMain | StartupPhase::LoaderToMain => Tone::OwnTime,
        StartupPhase::Exit => Tone::Quiet,
    }
}

pub(super) fn time_ns(ns: u64) -> String {
    time(ns as f64 / 1e9)
}

/// Returns the name of a program.
pub(super) fn name(record: &StartupRecord, program: usize) -> &str {
    let program = record.programs.get(program);
    program.map_or("?", |program| program.name.as_str())
}

/// Returns `2: ` if there are several programs.
pub(super) fn number(record: &StartupRecord, program: usize) -> String {
    match record.programs.len() {
        1 => String::new(),
        _ => format!("{}: ", program.saturating_add(1)),
    }
}

/// Returns the name of a program, with its number if there are several.
pub(super) fn numbered(record: &StartupRecord, program: usize) -> String {
    number(record, program) + name(record, program)
}

/// Returns `warm` or `cold` between `before` and `after`, if both were measured.
pub(super) fn state(record: &StartupRecord, cache: Cache, before: &str, after: &str) -> String {
    match record.conditions.cold_by {
        None => String::new(),
        Some(_) => format!("{before}{}{after}", self::cache(cache)),
    }
}
