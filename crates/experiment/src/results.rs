//! Results: samples by measure, metric, subject and parameters.

use std::collections::HashMap;

use fathom_model::{Combination, CpuWaits, Estimate};
use serde::{Deserialize, Serialize};

use crate::unit::{self, Unit};

/// The values of one metric of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// The measure.
    pub measure: String,
    /// The metric.
    pub metric: String,
    /// The subject or stage; absent for values of the machine.
    pub subject: Option<String>,
    /// The parameters under which the values were measured.
    pub parameters: Combination,
    /// The unit of the values, as a text that [`unit::parse`] reads with a size of 1.
    pub unit: String,
    /// Values, each with its round, in order of measurement.
    pub values: Vec<(u32, f64)>,
    /// Whether it is a count that does not vary, so that one value suffices.
    pub exact: bool,
    /// Whether this metric is meant if only a subject's name is given.
    pub primary: bool,
    /// Whether the values are fractions from 0 to 1; intervals don't extend beyond that range.
    #[serde(default)]
    pub is_share: bool,
}

impl Samples {
    /// Returns the unit.
    pub fn unit(&self) -> Unit {
        match self.unit.as_str() {
            "?" => Unit::any(),
            text => unit::parse(text).map_or_else(|_| Unit::plain(), |(unit, _)| unit),
        }
    }

    /// Returns the values alone.
    pub fn plain(&self) -> Vec<f64> {
        self.values.iter().map(|(_, value)| *value).collect()
    }

    /// Limits an estimate's interval to the possible values. This is needed because Student's interval has no
    /// bounds: for shares near 1, it extends beyond 1.
    pub fn within_bounds(&self, estimate: Estimate) -> Estimate {
        match self.is_share {
            true => Estimate {
                low: estimate.low.clamp(0.0, 1.0),
                high: estimate.high.clamp(0.0, 1.0),
                ..estimate
            },
            false => estimate,
        }
    }

    /// Returns the median with its interval.
    pub fn median(&self, level: f64) -> Option<Estimate> {
        fathom_stats::median_interval(&self.plain(), level)
    }
}

/// The findings of `why`, those with the most time first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The measure.
    pub measure: String,
    /// The subject.
    pub subject: String,
    /// The parameters.
    pub parameters: Combination,
    /// Ids of the findings.
    pub ids: Vec<String>,
    /// Why a cause may be missing from the findings, if the tier could not observe everything.
    pub limited: Option<String>,
}

/// Something that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The measure; all if absent.
    pub measure: Option<String>,
    /// The subject; all if absent.
    pub subject: Option<String>,
    /// The parameters; all if empty.
    pub parameters: Combination,
    /// What is missing or went wrong, for display.
    pub reason: String,
    /// The kind of cause.
    pub cause: Cause,
}

/// Why a result is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// This machine lacks something.
    Missing,
    /// The subject was run, and failed.
    Failed,
    /// The result could have been measured but was not, because the run was interrupted or out of time, or
    /// because it isn't in the quick set.
    NotMeasured,
}

/// A name for which a measure of the file has a result, if the measure can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promised {
    /// The measure.
    pub measure: String,
    /// The metric; [`FINDINGS`] for the findings of `why`.
    pub metric: String,
    /// The subject or stage; absent for values of the machine.
    pub subject: Option<String>,
    /// Whether this metric is meant if only a subject's name is given.
    pub primary: bool,
    /// The parameter values to which the measure and the subject are restricted.
    pub only: Vec<(String, Vec<String>)>,
}

/// The metric name under which findings are promised; no other metric has this name.
pub const FINDINGS: &str = "(findings)";

impl Promised {
    fn allowed(&self, wanted: &HashMap<&str, &str>) -> bool {
        self.only.iter().all(|(name, values)| {
            wanted
                .get(name.as_str())
                .is_none_or(|value| values.iter().any(|allowed| allowed == value))
        })
    }

    fn lacks(&self, gap: &Gap) -> bool {
        gap.measure.as_ref().is_none_or(|of| *of == self.measure)
            && (gap.subject.is_none() || gap.subject == self.subject)
    }
}

/// All results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// The numbers.
    pub samples: Vec<Samples>,
    /// The findings.
    pub findings: Vec<Findings>,
    /// What could not be measured.
    pub gaps: Vec<Gap>,
    /// How long the runs behind the numbers waited for a CPU.
    #[serde(default)]
    pub waits: CpuWaits,
    /// The names that the file's measures promise. They are used to attribute a missing result to a gap.
    #[serde(skip)]
    pub promised: Vec<Promised>,
}

/// Why a name has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// The file doesn't measure anything with that name.
    Unknown,
    /// Several measures have the name; holds their names.
    Ambiguous(Vec<String>),
    /// The result could not be measured, for this reason.
    Gap(String),
    /// The result was not measured this time, for this reason.
    NotMeasured(String),
    /// The result is not measured with these parameters.
    Elsewhere,
}

/// Returns whether all values of `part` are also in `whole`.
fn holds_in(part: &Combination, whole: &HashMap<&str, &str>) -> bool {
    part.iter()
        .all(|(name, value)| whole.get(name.as_str()).is_none_or(|other| other == value))
}

fn overlay<'a>(
    combination: &'a Combination,
    selectors: &'a [(String, String)],
) -> HashMap<&'a str, &'a str> {
    combination
        .iter()
        .chain(selectors)
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

/// A name split into measure, metric and subject.
type Parts<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

/// Returns the possible readings of a dotted name; there can be several because names of subjects may contain
/// dots.
fn readings(path: &str) -> Vec<Parts<'_>> {
    let mut all: Vec<Parts<'_>> = vec![(None, None, Some(path))];
    for (at, _) in path.match_indices('.') {
        let (first, rest) = (&path[..at], &path[at + 1..]);
        all.push((None, Some(first), Some(rest)));
        all.push((Some(first), Some(rest), None));
        for (at, _) in rest.match_indices('.') {
            all.push((Some(first), Some(&rest[..at]), Some(&rest[at + 1..])));
        }
    }
    all
}

impl Results {
    /// Returns the number of rounds of a measure.
    pub fn rounds_of(&self, measure: &str) -> u64 {
        let own = self.samples.iter().filter(|one| one.measure == measure);
        let rounds = own.flat_map(|one| &one.values).map(|(round, _)| *round);
        rounds.max().map_or(0, |last| u64::from(last) + 1)
    }

    /// Appends the rounds of `more` to the existing samples, after the `before` rounds that the measure
    /// already has.
    pub fn append(&mut self, more: &Results, before: u64) {
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        for new in more.samples.iter().filter(|new| !new.exact) {
            let known = self.samples.iter_mut().find(|known| {
                (&known.measure, &known.metric) == (&new.measure, &new.metric)
                    && (&known.subject, &known.parameters) == (&new.subject, &new.parameters)
            });
            let values = new.values.iter();
            if let Some(known) = known {
                let behind = values.map(|(round, value)| (round.saturating_add(before), *value));
                known.values.extend(behind);
            }
        }
        self.waits.extend(&more.waits);
    }

    /// Returns the samples to which a name refers under a combination of parameters; values in brackets take
    /// precedence.
    ///
    /// # Errors
    /// The reason why there are none.
    pub fn find(
        &self,
        path: &str,
        combination: &Combination,
        selectors: &[(String, String)],
    ) -> Result<&Samples, Lookup> {
        let wanted = overlay(combination, selectors);
        let readings = readings(path);
        let named: Vec<&Samples> = self
            .samples
            .iter()
            .filter(|samples| readings.iter().any(|&one| fits(samples, one)))
            .collect();
        let here: Vec<&Samples> = named
            .iter()
            .copied()
            .filter(|samples| holds_in(&samples.parameters, &wanted))
            .collect();
        // A subject's bare name means its wall time rather than a number that it prints.
        let walls: Vec<&Samples> = here
            .iter()
            .copied()
            .filter(|s| s.metric == "wall")
            .collect();
        let here = match walls.as_slice() {
            [_] if here.iter().all(|s| s.subject.as_deref() == Some(path)) => walls,
            _ => here,
        };
        match here.as_slice() {
            [one] => Ok(one),
            [] => {
                let promised = |promised: &Promised| {
                    let parts = (
                        promised.measure.as_str(),
                        promised.metric.as_str(),
                        promised.subject.as_deref(),
                        promised.primary,
                    );
                    readings.iter().any(|&one| fit(parts, one))
                };
                Err(self.reason(path, &wanted, !named.is_empty(), &promised))
            }
            several => {
                let mut names: Vec<String> = several
                    .iter()
                    .map(|samples| match &samples.subject {
                        Some(subject) => {
                            format!("{}.{}.{subject}", samples.measure, samples.metric)
                        }
                        None => format!("{}.{}", samples.measure, samples.metric),
                    })
                    .collect();
                names.dedup();
                Err(Lookup::Ambiguous(names))
            }
        }
    }

    /// Returns why a name has no result. If the file defines a measure with this name, its gap is returned.
    fn reason(
        &self,
        path: &str,
        wanted: &HashMap<&str, &str>,
        elsewhere: bool,
        is_meant: &dyn Fn(&Promised) -> bool,
    ) -> Lookup {
        let meant: Vec<&Promised> = self.promised.iter().filter(|one| is_meant(one)).collect();
        let here = |one: &&&Promised| one.allowed(wanted);
        if !meant.is_empty() && !meant.iter().any(|one| here(&one)) {
            return Lookup::Elsewhere;
        }
        let own = self.gaps.iter().find(|gap| {
            holds_in(&gap.parameters, wanted) && meant.iter().filter(here).any(|one| one.lacks(gap))
        });
        let gap = own.or_else(|| {
            self.gap_by_name(path, wanted).filter(|gap| {
                meant.is_empty()
                    || gap.measure.is_none()
                    || meant
                        .iter()
                        .any(|one| Some(&one.measure) == gap.measure.as_ref())
            })
        });
        match gap {
            Some(gap) if gap.cause == Cause::NotMeasured => Lookup::NotMeasured(gap.reason.clone()),
            Some(gap) => Lookup::Gap(gap.reason.clone()),
            None if elsewhere => Lookup::Elsewhere,
            None => Lookup::Unknown,
        }
    }

    /// Returns the first gap that matches the words of a name.
    fn gap_by_name(&self, path: &str, wanted: &HashMap<&str, &str>) -> Option<&Gap> {
        let readings = readings(path);
        self.gaps.iter().find(|gap| {
            holds_in(&gap.parameters, wanted)
                && readings.iter().any(|&(measure, metric, subject)| {
                    let measure_fits = match (&gap.measure, measure) {
                        (Some(gap), Some(named)) => gap == named,
                        _ => true,
                    };
                    let subject_fits = match &gap.subject {
                        Some(gap) => subject == Some(gap),
                        // `MEASURE.METRIC`, or `METRIC.MEASURE` for a whole pipeline.
                        None => {
                            gap.measure.is_none()
                                || subject == gap.measure.as_deref()
                                || metric.is_some()
                        }
                    };
                    measure_fits && subject_fits
                })
        })
    }

    /// Returns the gap of a value of the machine, which is that of a measure without subjects, if the file
    /// defines one.
    pub fn gap_of_machine(&self) -> Option<&Gap> {
        let gaps = || self.gaps.iter().filter(|gap| gap.subject.is_none());
        let of_machine = |gap: &&Gap| {
            let mut promised = self.promised.iter();
            promised.any(|one| one.metric == "?" && one.lacks(gap))
        };
        gaps().find(of_machine).or_else(|| gaps().next())
    }

    /// Returns the findings of `why` about a subject.
    ///
    /// # Errors
    /// The reason why there are none.
    pub fn findings_of(
        &self,
        subject: &str,
        combination: &Combination,
        selectors: &[(String, String)],
    ) -> Result<&Findings, Lookup> {
        let wanted = overlay(combination, selectors);
        let matches_name = |findings: &&Findings| {
            findings.subject == subject
                || format!("{}.{}", findings.measure, findings.subject) == subject
        };
        let named: Vec<&Findings> = self.findings.iter().filter(matches_name).collect();
        let here = named
            .iter()
            .find(|findings| holds_in(&findings.parameters, &wanted));
        match here {
            Some(findings) => Ok(findings),
            None => {
                let promised = |promised: &Promised| {
                    let own = promised.subject.as_deref().unwrap_or_default();
                    promised.metric == FINDINGS
                        && (own == subject || format!("{}.{own}", promised.measure) == subject)
                };
                Err(self.reason(subject, &wanted, !named.is_empty(), &promised))
            }
        }
    }

    /// Returns every name that could have been meant.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for samples in &self.samples {
            match &samples.subject {
                Some(subject) => {
                    names.push(format!("{}.{subject}", samples.metric));
                    names.push(format!("{}.{}.{subject}", samples.measure, samples.metric));
                    if samples.primary {
                        names.push(subject.clone());
                    }
                }
                None => names.push(format!("{}.{}", samples.measure, samples.metric)),
            }
        }
        names.sort();
        names.dedup();
        names
    }
}

fn fits(samples: &Samples, name: Parts<'_>) -> bool {
    let parts = (
        samples.measure.as_str(),
        samples.metric.as_str(),
        samples.subject.as_deref(),
        samples.primary,
    );
    fit(parts, name)
}

/// Returns whether a split name means this measure, metric and subject. The last argument says whether the
/// metric is meant if only a subject's name is given.
fn fit(
    (own_measure, own_metric, own_subject, primary): (&str, &str, Option<&str>, bool),
    (measure, metric, subject): Parts<'_>,
) -> bool {
    measure.is_none_or(|measure| own_measure == measure)
        && match metric {
            Some(metric) => own_metric == metric || alias(own_metric) == Some(metric),
            None => primary,
        }
        && own_subject == subject
}

/// Returns the other name of a metric, if it has one.
fn alias(metric: &str) -> Option<&'static str> {
    Some(match metric {
        "read_bytes" => "bytes_read",
        "written_bytes" => "bytes_written",
        "account_user_code" => "account_user",
        _ => return None,
    })
}
