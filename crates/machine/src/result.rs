//! What a probe answers.

use serde::{Deserialize, Serialize};

/// How one figure is taken from many chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The smallest value: for what nobody else touches (core, L1, L2, system calls), where
    /// every disturbance only adds.
    Minimum,
    /// The tenth percentile: for what is shared, where the smallest is a lucky chunk.
    P10,
    /// The median: for shared things whose disturbances go both ways.
    Median,
    /// The mean: for rates that are kept up, such as bandwidth. Refreshes of the memory, misses of the
    /// address cache and neighbours slow some pieces down in each program that goes through its memory;
    /// the median piece of 15 us hides a tenth of the time.
    Mean,
    /// The most frequent value: for steps.
    Mode,
    /// A position on a curve (a knee), or another value that is derived from `points`.
    Derived,
}

impl Estimator {
    /// The word that is printed.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Minimum => "minimum",
            Estimator::P10 => "p10",
            Estimator::Median => "median",
            Estimator::Mean => "mean",
            Estimator::Mode => "mode",
            Estimator::Derived => "derived",
        }
    }
}

/// Whether a figure may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At least two passes agree within the probe's tolerance, with the CPU held.
    Ok,
    /// Passes disagree: there is no `value`; what was seen is in `min`, `p10`, `median`.
    Disturbed,
    /// Too few chunks had the CPU, or the data do not show what the probe looks for.
    NoAnswer,
    /// The machine, the system or the architecture does not offer what the probe needs.
    NotMeasurable,
}

impl Verdict {
    /// The words that are printed. Of a figure that is believed: that it was measured, and not that the machine
    /// is as it should be.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "measured",
            Verdict::Disturbed => "disturbed",
            Verdict::NoAnswer => "no answer",
            Verdict::NotMeasurable => "not measurable here",
        }
    }
}

/// One measurement of the machine, with all that is needed to judge it.
///
/// Invariant: `value` is present exactly if `verdict` is [`Verdict::Ok`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    pub share: Option<f64>,
    /// Time that the hypervisor gave to others meanwhile, in ns; all CPUs; grain 10 ms.
    pub steal_ns: u64,
    /// Times that the scheduler took the CPU away.
    pub involuntary_switches: u64,
    /// Whether the figure may be believed.
    pub verdict: Verdict,
    /// The method in a sentence.
    pub method: String,
    /// Why there is no figure, or what must be known beside it.
    pub note: Option<String>,
    /// What the kernel or the processor says of itself, in `unit`: shown beside, never instead.
    pub reported: Option<f64>,
    /// The figure in cycles of the core's clock, which was counted beside each chunk: it stays where the clock
    /// moves. Only of times of the core itself.
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

/// The note of a probe whose time was up before it had ended or begun.
pub const NOT_REACHED: &str = "not reached: the machine was too busy";

/// The note of a probe that Ctrl-C cut short.
pub const INTERRUPTED: &str = "not reached: interrupted";

/// What is known of a probe before it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heading {
    /// Stable name; see [`ProbeResult::id`].
    pub id: &'static str,
    /// What a person reads.
    pub title: &'static str,
    /// Unit of the figure.
    pub unit: &'static str,
    /// The method in a sentence.
    pub method: &'static str,
}

impl ProbeResult {
    /// A result without a figure, to be filled by the probe.
    pub(crate) fn blank(heading: Heading, estimator: Estimator, verdict: Verdict) -> ProbeResult {
        ProbeResult {
            id: heading.id.to_owned(),
            title: heading.title.to_owned(),
            value: None,
            unit: heading.unit.to_owned(),
            estimator,
            n: 0,
            p10: None,
            median: None,
            min: None,
            spread: None,
            share: None,
            steal_ns: 0,
            involuntary_switches: 0,
            verdict,
            method: heading.method.to_owned(),
            note: None,
            reported: None,
            cycles: None,
            core_to_core_ns: None,
            points_over: None,
            points_unit: None,
            points: None,
        }
    }

    /// `not measurable here`, with the reason.
    pub(crate) fn not_measurable(heading: Heading, why: impl Into<String>) -> ProbeResult {
        let mut result = ProbeResult::blank(heading, Estimator::Derived, Verdict::NotMeasurable);
        result.note = Some(why.into());
        result
    }

    /// `no answer`, with the reason.
    pub(crate) fn no_answer(heading: Heading, why: impl Into<String>) -> ProbeResult {
        let mut result = ProbeResult::blank(heading, Estimator::Derived, Verdict::NoAnswer);
        result.note = Some(why.into());
        result
    }

    /// No figure, because the time was up before the probe had ended or begun.
    pub(crate) fn not_reached(heading: Heading) -> ProbeResult {
        ProbeResult::no_answer(heading, NOT_REACHED)
    }

    /// Takes back what a probe says that was cut short: a curve without its end is a wrong one.
    pub(crate) fn cut_short(self) -> ProbeResult {
        ProbeResult {
            value: None,
            cycles: None,
            spread: None,
            verdict: Verdict::NoAnswer,
            points: None,
            points_over: None,
            points_unit: None,
            note: Some(NOT_REACHED.to_owned()),
            ..self
        }
    }

    /// Adds a curve over `over`, whose values are in `unit`.
    pub(crate) fn set_points(&mut self, over: &str, unit: &str, points: Vec<(f64, f64)>) {
        self.points_over = Some(over.to_owned());
        self.points_unit = (unit != self.unit).then(|| unit.to_owned());
        self.points = Some(points);
    }

    /// Adds a note to what is there already.
    pub(crate) fn add_note(&mut self, note: impl AsRef<str>) {
        let text = match self.note.take() {
            Some(before) => format!("{before}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        };
        self.note = Some(text);
    }

    /// One result from two passes of a probe: a figure only if theirs lie within `tolerance`
    /// (relative) of each other. The first pass gives the curve, both the spread.
    pub(crate) fn of_two(first: ProbeResult, second: ProbeResult, tolerance: f64) -> ProbeResult {
        let (Some(a), Some(b)) = (first.value, second.value) else {
            return if first.value.is_some() { second } else { first };
        };
        let mut result = first;
        result.n += second.n;
        let apart = apart(a, b);
        result.spread = Some(apart);
        if apart <= tolerance {
            return result;
        }
        result.min = Some(a.min(b));
        result.median = Some(a.max(b));
        result.withdraw(Verdict::Disturbed, "two passes lie too far apart");
        result
    }

    /// Takes the figure back, because something beside the chunks says that it can't be believed.
    pub(crate) fn withdraw(&mut self, verdict: Verdict, why: impl AsRef<str>) {
        self.value = None;
        self.cycles = None;
        self.verdict = verdict;
        self.add_note(why);
    }
}

/// How far two figures lie apart, relative to the larger one; 0 if both are.
pub(crate) fn apart(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

/// The same of two estimates of which each may be missing.
pub(crate) fn apart_if_both(both: [Option<f64>; 2]) -> Option<f64> {
    both[0].zip(both[1]).map(|(a, b)| apart(a, b))
}

/// A result for tests, in ns, with the verdict that its figure asks for unless another is set.
#[cfg(test)]
pub(crate) fn made_up(id: &'static str, value: Option<f64>) -> ProbeResult {
    let head = Heading {
        id,
        title: id,
        unit: "ns",
        method: "m",
    };
    let verdict = match value {
        Some(_) => Verdict::Ok,
        None => Verdict::NoAnswer,
    };
    ProbeResult {
        value,
        ..ProbeResult::blank(head, Estimator::Minimum, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(value: Option<f64>) -> ProbeResult {
        ProbeResult {
            n: 3,
            ..made_up("x", value)
        }
    }

    #[test]
    fn two_passes_must_agree() {
        let same = ProbeResult::of_two(result(Some(10.0)), result(Some(9.0)), 0.15);
        assert_eq!(
            (same.value, same.n, same.spread),
            (Some(10.0), 6, Some(0.1))
        );
        let apart = ProbeResult::of_two(result(Some(10.0)), result(Some(5.0)), 0.15);
        assert_eq!((apart.value, apart.verdict), (None, Verdict::Disturbed));
        let half = ProbeResult::of_two(result(Some(10.0)), result(None), 0.15);
        assert_eq!((half.value, half.verdict), (None, Verdict::NoAnswer));
    }

    #[test]
    fn a_result_survives_its_json() {
        let mut before = result(Some(64.0));
        before.set_points("bytes", "B", vec![(4096.0, 1.25)]);
        before.add_note("one");
        before.add_note("two");
        let text = serde_json::to_string(&before).unwrap();
        assert!(text.contains(r#""note":"one; two""#) && text.contains(r#""verdict":"ok""#));
        assert_eq!(serde_json::from_str::<ProbeResult>(&text).unwrap(), before);
    }
}
