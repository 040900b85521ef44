//! Names of states, stretches and phases.

use fathom_model::{Cache, StartupMetric, StartupPhase};

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
