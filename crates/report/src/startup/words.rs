//! Names of states, stretches and phases.

use fathom_model::{Cache, StartupMetric, StartupPhase};

use crate::format_time;
use crate::line::Tone;

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
        StartupPhase::Wrappers => "wrappers before it",
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

/// Three digits: `486 µs`, `8.62 ms`, `61.8 ms`.
pub(super) fn time(seconds: f64) -> String {
    let scaled = seconds.abs() / crate::TimeUnit::fitting(seconds).seconds();
    let decimals = match scaled {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    };
    format_time(seconds, None, decimals)
}

pub(super) fn time_ns(ns: u64) -> String {
    time(ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(time(0.000_486_2), "486 µs");
        assert_eq!(time(0.008_621), "8.62 ms");
        assert_eq!(time(0.0618), "61.8 ms");
        assert_eq!(time(0.000_004_3), "4.30 µs");
    }
}
