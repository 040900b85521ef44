//! What `fathom report` and `fathom ui` show: benchmarks over their revisions, and records of the
//! verbs that answer by themselves.

use crate::{
    ChangePoint, Drift, Estimate, GateRecord, HistoryEnvironment, ServeRecord, Verdict,
    VersionsRecord, listed, with_parameters,
};

/// Everything on a page or a site.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The store without its password, or the files.
    pub source: String,
    /// Version of Fathom that read it.
    pub fathom_version: String,
    /// Differences up to this share count as none.
    pub margin: f64,
    /// What the baseline is, in words; not trustworthy: escape it.
    pub baseline: String,
    /// The measurements that points come from, oldest first.
    pub measurements: Vec<Measurement>,
    /// Where they were made.
    pub environments: Vec<HistoryEnvironment>,
    /// What changed most comes first.
    pub benchmarks: Vec<ReportBenchmark>,
    /// Records of `gate`.
    pub gates: Vec<GateRecord>,
    /// Records of `serve`.
    pub serves: Vec<ServeRecord>,
    /// Records of `versions`.
    pub versions: Vec<VersionsRecord>,
}

/// What is known of the record that points come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Its id.
    pub id: String,
    /// Start, milliseconds since 1970, UTC.
    pub time: i64,
    /// The same in RFC 3339.
    pub started_at: String,
    /// Commit that was measured.
    pub revision: Option<String>,
    /// Tracked files differed from it.
    pub dirty: bool,
    /// Names that the record was given; not trustworthy.
    pub labels: Vec<String>,
}

/// A benchmark with its metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportBenchmark {
    /// Name; not trustworthy: escape it.
    pub name: String,
    /// Parameters, names and values; not trustworthy.
    pub parameters: Vec<(String, String)>,
    /// Its metrics; the first one stands for it.
    pub series: Vec<ReportSeries>,
    /// The last point against the one before in its environment.
    pub before: Option<ReportComparison>,
    /// The last point against the baseline.
    pub baseline: Option<ReportComparison>,
    /// Runs of the newest points of the first series, the older first.
    pub samples: Vec<ReportSamples>,
}

/// One metric over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSeries {
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, where that is known.
    pub direction: Option<String>,
    /// What the metric is, in words.
    pub meaning: String,
    /// Points of the series, of which `points` may be a part.
    pub total: usize,
    /// By time, oldest first.
    pub points: Vec<ReportPoint>,
    /// Where its level changed for good, by index.
    pub changes: Vec<ChangePoint>,
}

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportPoint {
    /// Position in the whole series, from 0.
    pub index: usize,
    /// Which of the measurements.
    pub measurement: usize,
    /// Which of the environments.
    pub environment: usize,
    /// Runs that it comes from.
    pub runs: u32,
    /// The estimate.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// Two points of a series compared, with the drift between separate measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportComparison {
    /// Index of the earlier point.
    pub base: usize,
    /// Both are compared by the time without waits for a CPU, though the series is of wall time.
    pub wait_free: bool,
    /// Later / earlier with its interval.
    pub ratio: Estimate,
    /// What is allowed for.
    pub drift: Drift,
    /// Whether more is better, where that is known.
    pub higher_is_better: Option<bool>,
    /// What follows; where the direction isn't known, [`Verdict::Faster`] is less and
    /// [`Verdict::Slower`] more.
    pub verdict: Verdict,
}

impl ReportComparison {
    /// The word for the verdict.
    pub fn word(&self) -> &'static str {
        self.verdict.word_for(self.higher_is_better)
    }
}

/// The runs of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSamples {
    /// Index of the point.
    pub index: usize,
    /// Value of each run.
    pub values: Vec<f64>,
}

impl ReportBenchmark {
    /// The metric that stands for it; `None` if it has none.
    pub fn main(&self) -> Option<&ReportSeries> {
        self.series.first()
    }

    /// The name with its parameters: `seq 10 [threads=2]`; not trustworthy.
    pub fn shown(&self) -> String {
        with_parameters(&self.name, listed(&self.parameters))
    }
}
