//! What is known of a machine: the figures of its probes, and the checks whether it is quiet.

use serde::{Deserialize, Serialize};

use crate::quantity::{Nanoseconds, Ratio};
use crate::{Environment, version1};

/// How one figure is taken from many chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The smallest value: for what nobody else touches (core, L1, L2, system calls), where
    /// every disturbance only adds.
    Minimum,
    /// The tenth percentile: for what is shared, where the smallest is a lucky chunk.
    P10,
    /// The median: for shared things whose disturbances go both ways.
    Median,
    /// The mean: for rates that are kept up, such as bandwidth. Refreshes of the memory, misses of
    /// the address cache and neighbours slow some pieces down in each program that goes through its
    /// memory; the median piece of 15 us hides a tenth of the time.
    Mean,
    /// The most frequent value: for steps.
    Mode,
    /// A position on a curve (a knee), or another value that is derived from `points`.
    Derived,
}

/// Whether a figure may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProbeVerdict {
    /// At least two passes agree within the probe's tolerance, with the CPU held.
    Ok,
    /// Passes disagree: there is no `value`; what was seen is in `min`, `p10`, `median`.
    Disturbed,
    /// Too few chunks had the CPU, or the data do not show what the probe looks for.
    NoAnswer,
    /// The machine, the system or the architecture does not offer what the probe needs.
    NotMeasurable,
}

/// One measurement of the machine, with all that is needed to judge it.
///
/// Invariant: `value` is present exactly if `verdict` is [`ProbeVerdict::Ok`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProbeResult {
    /// Stable name, such as `core_clock`; the key in JSON.
    pub id: String,
    /// What a person reads, such as `core clock`.
    pub title: String,
    /// The figure, in `unit`; only if it can be believed.
    pub value: Option<f64>,
    /// Unit of `value`, `p10`, `median`, `min`, `reported`.
    pub unit: String,
    /// How `value` was taken from the chunks.
    pub estimator: Estimator,
    /// Chunks that counted.
    #[serde(rename = "chunks", alias = "n")]
    pub n: usize,
    /// Tenth percentile of the chunks.
    pub p10: Option<f64>,
    /// Median of the chunks.
    pub median: Option<f64>,
    /// Smallest chunk.
    pub min: Option<f64>,
    /// Largest less smallest estimate of the passes, relative to the value (0.01 = 1 %).
    pub spread: Option<f64>,
    /// CPU time over wall time while the probe ran, per thread (0 to 1); absent where the probe
    /// waits by design.
    #[serde(rename = "cpu_share", alias = "share")]
    pub share: Option<f64>,
    /// Time that the hypervisor gave to others meanwhile; all CPUs; grain 10 ms.
    pub steal_ns: Nanoseconds,
    /// Times that the scheduler took the CPU away.
    pub involuntary_switches: u64,
    /// Whether the figure may be believed.
    pub verdict: ProbeVerdict,
    /// The method in a sentence.
    pub method: String,
    /// Why there is no figure, or what must be known beside it.
    pub note: Option<String>,
    /// What the kernel or the processor says of itself, in `unit`: shown beside, never instead.
    pub reported: Option<f64>,
    /// The figure in cycles of the core's clock, which was counted beside each chunk: it stays
    /// where the clock moves. Only of times of the core itself.
    #[serde(default)]
    pub cycles: Option<f64>,
    /// Core-to-core latency in ns right before and right after a figure of several threads: on
    /// some virtual machines it decides the figure.
    pub core_to_core_ns: Option<(f64, f64)>,
    /// What the first coordinate of `points` is, with its unit, such as `bytes` or `threads`.
    pub points_over: Option<String>,
    /// Unit of the second coordinate of `points` where it is not `unit`.
    pub points_unit: Option<String>,
    /// The curve: (x, value).
    pub points: Option<Vec<(f64, f64)>>,
}

impl ProbeResult {
    /// The note of a probe whose time was up before it had ended or begun.
    pub const NOT_REACHED: &'static str = "not reached: the machine was too busy";

    /// Adds a curve over `over`, whose values are in `unit`.
    pub fn set_points(&mut self, over: &str, unit: &str, points: Vec<(f64, f64)>) {
        self.points_over = Some(over.to_owned());
        self.points_unit = (unit != self.unit).then(|| unit.to_owned());
        self.points = Some(points);
    }

    /// Adds a note to what is there already.
    pub fn add_note(&mut self, note: impl AsRef<str>) {
        let text = match self.note.take() {
            Some(before) => format!("{before}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        };
        self.note = Some(text);
    }

    /// Takes the figure back, because something beside the chunks says that it can't be believed.
    pub fn withdraw(&mut self, verdict: ProbeVerdict, why: impl AsRef<str>) {
        self.value = None;
        self.cycles = None;
        self.verdict = verdict;
        self.add_note(why);
    }
}

/// Gaps of a core that spun for a while.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gaps {
    /// How long it spun, in s.
    pub seconds: f64,
    /// Gaps above 1 us.
    pub count: usize,
    /// Part of the time that lies in gaps, 0 to 1.
    pub lost: Ratio,
    /// The same of the first and of the second half of the time.
    #[serde(default)]
    pub lost_by_half: [Ratio; 2],
    /// Longest gap in ns.
    pub longest_ns: f64,
    /// Number of gaps by decade: 1-10 us, 10-100 us, 0.1-1 ms, 1-10 ms, above.
    pub by_decade: [usize; 5],
    /// Times that the scheduler gave the CPU to another thread.
    #[serde(rename = "scheduler_switches", alias = "scheduler")]
    pub scheduler: u64,
    /// Time that the hypervisor gave to others meanwhile; all CPUs; grain 10 ms.
    pub steal_ns: Nanoseconds,
    /// Interrupts that this CPU took meanwhile, if the kernel says.
    pub interrupts: Option<u64>,
}

impl Gaps {
    /// From this share of a spinning core on, lost to others, medians are wide.
    pub const BUSY_FROM: Ratio = Ratio(0.01);
}

/// What one check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// The system does not say: never taken for `ok`.
    Unknown,
    /// Results may be wider or differ from those elsewhere.
    Warning,
    /// Results would be wrong or worthless.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckItem {
    /// Stable name, such as `governor`.
    pub id: String,
    /// How it stands.
    pub state: CheckState,
    /// What was found, in a few words.
    pub found: String,
    /// What it does to results; absent if nothing.
    pub effect: Option<String>,
    /// The command that mends it, or what to do; absent if there is nothing to mend.
    pub remedy: Option<String>,
}

impl CheckItem {
    /// A check without effect and remedy.
    pub fn new(id: &str, state: CheckState, found: impl Into<String>) -> CheckItem {
        CheckItem {
            id: id.to_owned(),
            state,
            found: found.into(),
            effect: None,
            remedy: None,
        }
    }

    /// With what it does to results.
    pub fn because(mut self, effect: &str) -> CheckItem {
        self.effect = Some(effect.to_owned());
        self
    }

    /// With what mends it.
    pub fn mend(mut self, remedy: impl Into<String>) -> CheckItem {
        self.remedy = Some(remedy.into());
        self
    }
}

/// What the machine is fit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// Less than 1 % of a core is lost and nothing is bad.
    Quiet,
    /// Short chunks and low quantiles give right figures; medians of wall time are wide.
    Usable,
    /// A tenth of a core or more is lost, or something is bad: wall times are worthless.
    Unfit,
}

/// The smallest difference that can be detected here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NoiseFloor {
    /// Gaps of a core that only spins.
    pub gaps: Gaps,
    /// Smallest relative difference that `bench` would report, from runs of one program against
    /// itself (0.01 = 1 %); absent if no such runs were offered, or none would be reported.
    pub smallest_difference: Option<f64>,
    /// What `smallest_difference` rests on; absent if no such runs were offered or finished.
    #[serde(default, rename = "self_comparison", alias = "told_by")]
    pub against_itself: Option<SelfComparison>,
}

/// The runs of one program against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SelfComparison {
    /// Rounds of two runs.
    pub rounds: usize,
    /// The clock by which `bench` would judge here: `undisturbed` or `wall`.
    #[serde(deserialize_with = "version1::text")]
    pub clock: String,
    /// Median time of a run on that clock, in seconds. Of longer programs smaller differences can
    /// be detected.
    pub program_seconds: f64,
}

/// All checks with the noise floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// The checks, in a fixed order.
    pub items: Vec<CheckItem>,
    /// What is lost on a spinning core.
    pub noise: NoiseFloor,
    /// The sum of it.
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

/// What the system says of the machine; a remembered profile holds only where all of it is the same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineIdentity {
    /// Name of the machine.
    pub host: Option<String>,
    /// Differs after each boot (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model name, or its numbers where it has no name (AArch64).
    pub processor: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// CPUs that are switched on, such as `0-7`.
    pub cpus: Option<String>,
    /// Memory in kB.
    pub memory_kb: Option<u64>,
    /// Settings that move figures, by name: governor, turbo, SMT, huge pages, clock source, and
    /// the kernel's command line, where mitigations are chosen.
    pub settings: Vec<(String, String)>,
}

/// What stands at the head of each record of `machine`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineHead {
    /// Version of this form. It rises when a key changes its meaning or goes away.
    #[cfg_attr(test, schemars(extend("const" = crate::SCHEMA_VERSION)))]
    pub schema_version: u32,
    /// Version of Fathom that measured.
    pub fathom_version: String,
    /// When it was written, RFC 3339, UTC.
    pub written_at: String,
    /// Machine and system.
    pub environment: Environment,
    /// What tells this machine from others, and from itself before a boot or an update.
    pub machine: MachineIdentity,
}

/// The figures of the machine: what `machine --json` writes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineRecord {
    /// Head of the record.
    #[serde(flatten)]
    pub head: MachineHead,
    /// Kind of the record.
    #[cfg_attr(test, schemars(extend("const" = "machine")))]
    pub kind: String,
    /// `quick`, `default`, `full` or `only`.
    pub profile: String,
    /// False if it was interrupted.
    pub complete: bool,
    /// The measurements.
    pub results: Vec<ProbeResult>,
}

/// A check of the machine: what `machine --check --json` writes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckRecord {
    /// Head of the record.
    #[serde(flatten)]
    pub head: MachineHead,
    /// Kind of the record.
    #[cfg_attr(test, schemars(extend("const" = "machine_check")))]
    pub kind: String,
    /// False if it was interrupted.
    pub complete: bool,
    /// The result of the check.
    #[serde(flatten)]
    pub report: CheckReport,
}
