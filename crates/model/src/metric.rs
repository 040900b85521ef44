//! Named quantities with a unit and a direction.

use serde::{Deserialize, Serialize};

use crate::Run;

/// Unit of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

impl Unit {
    /// Returns its name in records and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
        }
    }
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Lower values are better: all metrics of a run.
    LowerIsBetter,
    /// Higher values are better: rates.
    HigherIsBetter,
}

/// A quantity that every run provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Wall time.
    Wall,
    /// Wall time without the time spent waiting for a CPU.
    #[serde(rename = "cpu_wait_free", alias = "undisturbed")]
    Undisturbed,
    /// CPU time, user and kernel.
    Cpu,
    /// The user part of the CPU time.
    User,
    /// The kernel part of the CPU time.
    System,
    /// The time ready to run without a CPU.
    RunQueueWait,
    /// The peak resident memory.
    PeakMemory,
    /// Page faults served without the storage device.
    MinorFaults,
    /// Page faults that read from the storage device.
    MajorFaults,
    /// How often the CPU was given up to wait.
    VoluntarySwitches,
    /// How often the CPU was taken away.
    InvoluntarySwitches,
    /// Bytes read.
    ReadBytes,
    /// Bytes written.
    WrittenBytes,
    /// Read calls.
    ReadCalls,
    /// Write calls.
    WriteCalls,
}

/// A metric whose comparison was requested.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AskedMetric {
    /// The metric.
    pub metric: Metric,
    /// Differences up to this share count as no difference (0.01 is 1 %).
    #[cfg_attr(test, schemars(range(min = 0.0)))]
    pub margin: f64,
}

impl AskedMetric {
    /// Creates it with the metric's own margin if given; otherwise a count has no margin, and other metrics
    /// have the margin `others`.
    pub fn new(metric: Metric, own: Option<f64>, others: f64) -> AskedMetric {
        let usual = if metric.is_exact() { 0.0 } else { others };
        AskedMetric {
            metric,
            margin: own.unwrap_or(usual),
        }
    }
}

impl Metric {
    /// All metrics, in display order.
    pub const ALL: [Metric; 15] = [
        Metric::Wall,
        Metric::Undisturbed,
        Metric::Cpu,
        Metric::User,
        Metric::System,
        Metric::RunQueueWait,
        Metric::PeakMemory,
        Metric::MinorFaults,
        Metric::MajorFaults,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
        Metric::ReadBytes,
        Metric::WrittenBytes,
        Metric::ReadCalls,
        Metric::WriteCalls,
    ];

    /// Returns the name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Wall => "wall",
            Metric::Undisturbed => "cpu_wait_free",
            Metric::Cpu => "cpu",
            Metric::User => "user",
            Metric::System => "system",
            Metric::RunQueueWait => "run_queue_wait",
            Metric::PeakMemory => "peak_memory",
            Metric::MinorFaults => "minor_faults",
            Metric::MajorFaults => "major_faults",
            Metric::VoluntarySwitches => "voluntary_switches",
            Metric::InvoluntarySwitches => "involuntary_switches",
            Metric::ReadBytes => "read_bytes",
            Metric::WrittenBytes => "written_bytes",
            Metric::ReadCalls => "read_calls",
            Metric::WriteCalls => "write_calls",
        }
    }

    /// Returns the unit of the values of [`Metric::of`].
    pub fn unit(self) -> Unit {
        match self {
            Metric::Wall
            | Metric::Undisturbed
            | Metric::Cpu
            | Metric::User
            | Metric::System
            | Metric::RunQueueWait => Unit::Seconds,
            Metric::PeakMemory | Metric::ReadBytes | Metric::WrittenBytes => Unit::Bytes,
            _ => Unit::Count,
        }
    }

    /// Returns its name for sentences and headings.
    pub fn label(self) -> &'static str {
        match self {
            Metric::Wall => "wall time",
            Metric::Undisturbed => "CPU-wait-free time",
            Metric::Cpu => "CPU time",
            Metric::User => "user CPU time",
            Metric::System => "kernel CPU time",
            Metric::RunQueueWait => "waiting for a CPU",
            Metric::PeakMemory => "peak memory",
            Metric::MinorFaults => "minor page faults",
            Metric::MajorFaults => "major page faults",
            Metric::VoluntarySwitches => "voluntary switches",
            Metric::InvoluntarySwitches => "involuntary switches",
            Metric::ReadBytes => "bytes read",
            Metric::WrittenBytes => "bytes written",
            Metric::ReadCalls => "read calls",
            Metric::WriteCalls => "write calls",
        }
    }

    /// Which direction of a metric is better.
    pub fn direction(self) -> Direction {
        Direction::LowerIsBetter
    }

    /// Reports whether the metric is a count, so that runs of the same work have the same value: if they do,
    /// a difference needs no test.
    pub fn is_exact(self) -> bool {
        matches!(
            self,
            Metric::ReadBytes | Metric::WrittenBytes | Metric::ReadCalls | Metric::WriteCalls
        )
    }

    /// Returns the value of this metric for one run, in [`Metric::unit`]; `None` if it was not available.
    pub fn of(self, run: &Run) -> Option<f64> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        match self {
            Metric::Wall => Some(seconds(run.wall_ns)),
            Metric::Undisturbed => run.undisturbed_ns.map(seconds),
            Metric::Cpu => Some(seconds(run.cpu_ns)),
            Metric::User => Some(seconds(run.user_ns)),
            Metric::System => Some(seconds(run.system_ns)),
            Metric::RunQueueWait => run.run_queue_wait_ns.map(seconds),
            Metric::PeakMemory => Some(run.peak_memory_bytes as f64),
            Metric::MinorFaults => Some(run.minor_faults as f64),
            Metric::MajorFaults => Some(run.major_faults as f64),
            Metric::VoluntarySwitches => Some(run.voluntary_switches as f64),
            Metric::InvoluntarySwitches => Some(run.involuntary_switches as f64),
            Metric::ReadBytes => run.io.map(|io| io.read_bytes as f64),
            Metric::WrittenBytes => run.io.map(|io| io.written_bytes as f64),
            Metric::ReadCalls => run.io.map(|io| io.read_calls as f64),
            Metric::WriteCalls => run.io.map(|io| io.write_calls as f64),
        }
    }
}
