//! The contents of `fathom report` and `fathom ui`: benchmarks over their revisions, and the records of verbs
//! that have answers of their own.

use crate::{
    ChangePoint, Drift, Estimate, GateRecord, HistoryEnvironment, ServeRecord, Verdict,
    VersionsRecord, listed, with_parameters,
};

/// The contents of a page or a site.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The store without its password, or the files.
    pub source: String,
    /// The version of Fathom that read it.
    pub fathom_version: String,
    /// Differences up to this share count as no difference.
    pub margin: f64,
    /// A description of the baseline; not trustworthy: escape it.
    pub baseline: String,
    /// The measurements behind the points, oldest first.
    pub measurements: Vec<Measurement>,
    /// The environments of the measurements.
    pub environments: Vec<HistoryEnvironment>,
    /// The benchmarks, those with the largest changes first.
    pub benchmarks: Vec<ReportBenchmark>,
    /// Records of `gate`.
    pub gates: Vec<GateRecord>,
    /// Records of `serve`.
    pub serves: Vec<ServeRecord>,
    /// Records of `versions`.
    pub versions: Vec<VersionsRecord>,
}

/// Facts about the record that points come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Its id.
    pub id: String,
    /// Start, milliseconds since 1970, UTC.
    pub time: i64,
    /// The start in RFC 3339.
    pub started_at: String,
    /// The measured commit.
    pub revision: Option<String>,
    /// Whether tracked files differed from it.
    pub dirty: bool,
    /// The labels of the record; not trustworthy.
    pub labels: Vec<String>,
}

/// A benchmark with its metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportBenchmark {
    /// The name; not trustworthy: escape it.
    pub name: String,
    /// The parameters, as names and values; not trustworthy.
    pub parameters: Vec<(String, String)>,
    /// Its metrics; the first one represents it.
    pub series: Vec<ReportSeries>,
    /// The last point compared with the previous one in its environment.
    pub before: Option<ReportComparison>,
    /// The last point compared with the baseline.
    pub baseline: Option<ReportComparison>,
    /// The runs of the newest points of the first series, older ones first.
    pub samples: Vec<ReportSamples>,
}

/// One metric over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSeries {
    /// Name of the metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// `lower_is_better` or `higher_is_better`, if known.
    pub direction: Option<String>,
    /// A description of the metric.
    pub meaning: String,
    /// The number of points of the series; `points` may be a part of them.
    pub total: usize,
    /// The points by time, oldest first.
    pub points: Vec<ReportPoint>,
    /// Where its level changed for good, by index.
    pub changes: Vec<ChangePoint>,
}

/// One value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportPoint {
    /// The position in the whole series, from 0.
    pub index: usize,
    /// The index of the measurement.
    pub measurement: usize,
    /// The index of the environment.
    pub environment: usize,
    /// The number of runs behind it.
    pub runs: u32,
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// A comparison of two points of a series that allows for the drift between separate measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportComparison {
    /// The index of the earlier point.
    pub base: usize,
    /// Whether both are compared by wait-free time, though the series is of wall time.
    pub wait_free: bool,
    /// Later / earlier with its interval.
    pub ratio: Estimate,
    /// The assumed drift.
    pub drift: Drift,
    /// Whether higher values are better, if known.
    pub higher_is_better: Option<bool>,
    /// The verdict; if the direction is unknown, [`Verdict::Faster`] means less and [`Verdict::Slower`] more.
    pub verdict: Verdict,
}

impl ReportComparison {
    /// Returns the word for the verdict.
    pub fn word(&self) -> &'static str {
        self.verdict.word_for(self.higher_is_better)
    }
}

/// The runs of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSamples {
    /// Index of the point.
    pub index: usize,
    /// The value of each run.
    pub values: Vec<f64>,
}

impl ReportBenchmark {
    /// Returns the metric that represents the benchmark; `None` if it has no metric.
    pub fn main(&self) -> Option<&ReportSeries> {
        self.series.first()
    }

    /// Formats the name with its parameters: `seq 10 [threads=2]`; not trustworthy.
    pub fn shown(&self) -> String {
        with_parameters(&self.name, listed(&self.parameters))
    }
}
