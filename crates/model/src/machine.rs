//! Facts about a machine: the figures of its probes, and the checks of whether it is quiet.

use serde::{Deserialize, Serialize};

use crate::quantity::{Nanoseconds, Ratio};
use crate::{Environment, version1};

/// How a figure is computed from many chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The smallest value: for unshared resources (core, L1, L2, system calls), where every disturbance only
    /// adds time.
    Minimum,
    /// The tenth percentile: for shared resources, where the smallest value is an exception.
    P10,
    /// The median: for shared resources with disturbances in both directions.
    Median,
    /// The mean: for sustained rates, such as bandwidth. Memory refreshes, TLB misses and other programs slow
    /// down some pieces of every scan of memory; the median piece of 15 us hides a tenth of the time.
    Mean,
    /// The most frequent value: for steps.
    Mode,
    /// A position on a curve (a knee), or another value derived from `points`.
    Derived,
}

/// Whether a figure is reliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeVerdict {
    /// At least two passes agree within the probe's tolerance, without losing the CPU.
    Ok,
    /// Passes disagree: there is no `value`; the observations are in `min`, `p10`, `median`.
    Disturbed,
    /// Too few chunks had the CPU, or the data do not show what the probe looks for.
    NoAnswer,
    /// The machine, the system or the architecture doesn't provide what the probe needs.
    NotMeasurable,
}

/// One measurement of the machine, with everything needed to judge it.
///
/// Invariant: `value` is present if and only if `verdict` is [`ProbeVerdict::Ok`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeResult {
    /// A stable name, such as `core_clock`; the key in JSON.
    pub id: String,
    /// The name for display, such as `core clock`.
    pub title: String,
    /// The figure, in `unit`; only if it is reliable.
    pub value: Option<f64>,
    /// The unit of `value`, `p10`, `median`, `min`, `reported`.
    pub unit: String,
    /// How `value` was computed from the chunks.
    pub estimator: Estimator,
    /// The number of chunks that counted.
    #[serde(rename = "chunks", alias = "n")]
    pub n: usize,
    /// Tenth percentile of the chunks.
    pub p10: Option<f64>,
    /// Median of the chunks.
    pub median: Option<f64>,
    /// Smallest chunk.
    pub min: Option<f64>,
    /// The largest minus the smallest estimate of the passes, relative to the value (0.01 = 1 %).
    pub spread: Option<f64>,
    /// CPU time divided by wall time while the probe ran, per thread (0 to 1); absent if the probe waits by
    /// design.
    #[serde(rename = "cpu_share", alias = "share")]
    pub share: Option<f64>,
    /// The steal time in this period, over all CPUs; resolution 10 ms.
    pub steal_ns: Nanoseconds,
    /// How often the scheduler preempted the probe.
    pub involuntary_switches: u64,
    /// Whether the figure is reliable.
    pub verdict: ProbeVerdict,
    /// The method, in one sentence.
    pub method: String,
    /// Why there is no figure, or a note about it.
    pub note: Option<String>,
    /// The value that the kernel or the processor reports, in `unit`. It is shown in addition to the figure,
    /// never instead of it.
    pub reported: Option<f64>,
    /// The figure in cycles of the core's clock, counted with each chunk: it stays the same if the clock
    /// frequency changes. Only for times of the core itself.
    #[serde(default)]
    pub cycles: Option<f64>,
    /// Core-to-core latency in ns right before and right after a figure with several threads: on some virtual
    /// machines it determines the figure.
    pub core_to_core_ns: Option<(f64, f64)>,
    /// The meaning of the first coordinate of `points`, with its unit, such as `bytes` or `threads`.
    pub points_over: Option<String>,
    /// The unit of the second coordinate of `points` if it is not `unit`.
    pub points_unit: Option<String>,
    /// The curve: (x, value).
    pub points: Option<Vec<(f64, f64)>>,
}

impl ProbeResult {
    /// The note of a probe that ran out of time before it ended or began.
    pub const NOT_REACHED: &'static str = "not reached: the machine was too busy";

    /// Adds a curve over `over`, whose values are in `unit`.
    pub fn set_points(&mut self, over: &str, unit: &str, points: Vec<(f64, f64)>) {
        self.points_over = Some(over.to_owned());
        self.points_unit = (unit != self.unit).then(|| unit.to_owned());
        self.points = Some(points);
    }

    /// Appends a note to the existing one.
    pub fn add_note(&mut self, note: impl AsRef<str>) {
        let text = match self.note.take() {
            Some(before) => format!("{before}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        };
        self.note = Some(text);
    }

    /// Removes the figure, because evidence other than the chunks shows that it isn't reliable.
    pub fn withdraw(&mut self, verdict: ProbeVerdict, why: impl AsRef<str>) {
        self.value = None;
        self.cycles = None;
        self.verdict = verdict;
        self.add_note(why);
    }
}

/// Gaps in the execution of a core that spun for a while.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gaps {
    /// How long it spun, in seconds.
    pub seconds: f64,
    /// The number of gaps above 1 us.
    pub count: usize,
    /// The part of the time spent in gaps, 0 to 1.
    pub lost: Ratio,
    /// The part lost in the first and in the second half of the time.
    #[serde(default)]
    pub lost_by_half: [Ratio; 2],
    /// The longest gap in ns.
    pub longest_ns: f64,
    /// The number of gaps by decade: 1-10 us, 10-100 us, 0.1-1 ms, 1-10 ms, above.
    pub by_decade: [usize; 5],
    /// How often the scheduler gave the CPU to another thread.
    #[serde(rename = "scheduler_switches", alias = "scheduler")]
    pub scheduler: u64,
    /// The steal time in this period, over all CPUs; resolution 10 ms.
    pub steal_ns: Nanoseconds,
    /// The number of interrupts that this CPU handled in this period, if the kernel reports it.
    pub interrupts: Option<u64>,
}

impl Gaps {
    /// If a spinning core loses this share to others, medians are wide.
    pub const BUSY_FROM: Ratio = Ratio(0.01);
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The state is as it should be.
    Ok,
    /// The system doesn't report it: never treated as `ok`.
    Unknown,
    /// Results may vary more, or differ from those elsewhere.
    Warning,
    /// Results would be wrong or worthless.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckItem {
    /// A stable name, such as `governor`.
    pub id: String,
    /// The result.
    pub state: CheckState,
    /// The finding, in a few words.
    pub found: String,
    /// Its effect on results; absent if there is none.
    pub effect: Option<String>,
    /// The command that fixes it, or what to do; absent if there is nothing to fix.
    pub remedy: Option<String>,
}

impl CheckItem {
    /// Creates a check without effect and remedy.
    pub fn new(id: &str, state: CheckState, found: impl Into<String>) -> CheckItem {
        CheckItem {
            id: id.to_owned(),
            state,
            found: found.into(),
            effect: None,
            remedy: None,
        }
    }

    /// Adds the effect on results.
    pub fn because(mut self, effect: &str) -> CheckItem {
        self.effect = Some(effect.to_owned());
        self
    }

    /// Adds the remedy.
    pub fn mend(mut self, remedy: impl Into<String>) -> CheckItem {
        self.remedy = Some(remedy.into());
        self
    }
}

/// What the machine is suitable for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// Less than 1 % of a core is lost and nothing is bad.
    Quiet,
    /// Short chunks and low quantiles give correct figures; medians of wall time are wide.
    Usable,
    /// A tenth of a core or more is lost, or something is bad: wall times are worthless.
    Unfit,
}

/// The smallest difference that can be detected here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NoiseFloor {
    /// The gaps of a core that only spins.
    pub gaps: Gaps,
    /// The smallest relative difference (0.01 = 1 %) that `bench` would report here, from runs of one program
    /// against itself; absent if there were no such runs, or if `bench` would report no difference.
    pub smallest_difference: Option<f64>,
    /// The basis of `smallest_difference`; absent if no such runs were made or finished.
    #[serde(default, rename = "self_comparison", alias = "told_by")]
    pub against_itself: Option<SelfComparison>,
}

/// The runs of one program against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfComparison {
    /// The number of rounds, each of two runs.
    pub rounds: usize,
    /// The clock by which `bench` would judge here: `undisturbed` or `wall`.
    #[serde(deserialize_with = "version1::text")]
    pub clock: String,
    /// The median time of a run on that clock, in seconds. For longer programs, smaller differences can be
    /// detected.
    pub program_seconds: f64,
}

/// All checks, and the noise floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// The checks, in a fixed order.
    pub items: Vec<CheckItem>,
    /// The noise floor: what a spinning core loses.
    pub noise: NoiseFloor,
    /// The overall result.
    pub fitness: Fitness,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_survives_its_json() {
        let mut before = ProbeResult {
            id: "cache_line".into(),
            title: "cache line".into(),
            value: Some(64.0),
            unit: "B".into(),
            estimator: Estimator::Mode,
            n: 3,
            p10: None,
            median: None,
            min: None,
            spread: None,
            share: None,
            steal_ns: Nanoseconds(10_000_000),
            involuntary_switches: 0,
            verdict: ProbeVerdict::Ok,
            method: "m".into(),
            note: None,
            reported: None,
            cycles: None,
            core_to_core_ns: None,
            points_over: None,
            points_unit: None,
            points: None,
        };
        before.set_points("bytes", "ns", vec![(4096.0, 1.25)]);
        before.add_note("one");
        before.add_note("two");
        let text = serde_json::to_string(&before).unwrap();
        assert!(text.contains(r#""note":"one; two""#) && text.contains(r#""verdict":"ok""#));
        assert!(text.contains(r#""steal_ns":10000000"#), "{text}");
        assert_eq!(serde_json::from_str::<ProbeResult>(&text).unwrap(), before);
        before.withdraw(ProbeVerdict::Disturbed, "three");
        assert_eq!((before.value, before.cycles), (None, None));
    }
}

/// What the system reports about the machine; a stored profile is valid only if all of these are the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineIdentity {
    /// Name of the machine.
    pub host: Option<String>,
    /// The id of the current boot (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// The processor model name, or its numbers if it has no name (AArch64).
    pub processor: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// The CPUs that are online, such as `0-7`.
    pub cpus: Option<String>,
    /// Memory in kB.
    pub memory_kb: Option<u64>,
    /// Settings that affect figures, by name: governor, turbo, SMT, huge pages, clock source, and the
    /// kernel's command line, which selects mitigations.
    pub settings: Vec<(String, String)>,
}

/// The header of each record of `machine`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineHead {
    /// The version of this format. It increases when a key changes its meaning or is removed.
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// The version of Fathom that measured.
    pub fathom_version: String,
    /// When it was written, RFC 3339, UTC.
    pub written_at: String,
    /// Machine and system.
    pub environment: Environment,
    /// The facts that distinguish this machine from others, and from itself before a boot or an update.
    pub machine: MachineIdentity,
}

/// The figures of the machine, as written by `machine --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineRecord {
    /// The header of the record.
    #[serde(flatten)]
    pub head: MachineHead,
    /// The kind of the record.
    #[cfg_attr(test, schemars(extend("const" = "machine")))]
    pub kind: String,
    /// `quick`, `default`, `full` or `only`.
    pub profile: String,
    /// False if it was interrupted.
    pub complete: bool,
    /// The measurements.
    pub results: Vec<ProbeResult>,
}

/// A check of the machine, as written by `machine --check --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckRecord {
    /// The header of the record.
    #[serde(flatten)]
    pub head: MachineHead,
    /// The kind of the record.
    #[cfg_attr(test, schemars(extend("const" = "machine_check")))]
    pub kind: String,
    /// False if it was interrupted.
    pub complete: bool,
    /// The result of the check.
    #[serde(flatten)]
    pub report: CheckReport,
}
