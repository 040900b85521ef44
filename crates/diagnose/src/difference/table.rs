//! Collects the parts of all observed runs of both commands, and the possible rows.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::{DifferenceBy, TimeCategory};

use super::parts::{Key, Parts, What, Who};
use super::spread::{self, Interval, Kind, Spread};

/// A file is named if at least this part of the time in a call is spent on it.
const MOSTLY: f64 = 0.8;

/// The factor by which a count must exceed the other to be clearly larger, if all observed runs agree on it.
const TWICE: u64 = 2;
/// The same factor if there is only a single run of each command.
const ONCE: u64 = 10;

/// The values of a part in each observed run of A and of B, with the quantities that determine the part's
/// share of the spread of the timed runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// The times of A and of B, in ns.
    pub ns: [Vec<f64>; 2],
    /// The mean in ns by category, of A and of B.
    pub by: BTreeMap<TimeCategory, [f64; 2]>,
    /// The numbers of samples, of A and of B, on which the part is based; `None` if it was timed.
    pub samples: Option<[u64; 2]>,
}

impl Series {
    pub(super) fn means(&self) -> [f64; 2] {
        [0, 1].map(|side| {
            let all = &self.ns[side];
            all.iter().sum::<f64>() / all.len().max(1) as f64
        })
    }

    pub(super) fn value(&self) -> f64 {
        let [a, b] = self.means();
        b - a
    }

    /// Returns whether each command was observed only once.
    fn is_of_one_run(&self) -> bool {
        self.ns.iter().any(|runs| runs.len() < 2)
    }
}

/// A possible row.
pub(super) struct Candidate {
    pub who: Who,
    /// The category; `None` means all categories of a child.
    pub spent: Option<TimeCategory>,
    pub series: Series,
}

impl Candidate {
    pub(super) fn value(&self) -> f64 {
        self.series.value()
    }

    pub(super) fn size(&self) -> f64 {
        self.value().abs()
    }

    pub(super) fn has(&self, key: &Key, table: &Table<'_>) -> bool {
        match self.spent {
            None => key.who == self.who,
            Some(spent) => key.spent == spent && !table.stands_alone(&key.who),
        }
    }
}

/// The parts of all observed runs.
pub(super) struct Table<'a> {
    /// The observed runs of A and of B.
    pub sides: &'a [Vec<Parts>; 2],
    /// The programs that one command starts more often than the other.
    alone: BTreeSet<String>,
}

impl<'a> Table<'a> {
    pub(super) fn of(sides: &'a [Vec<Parts>; 2]) -> Table<'a> {
        let names = sides
            .iter()
            .flatten()
            .flat_map(|parts| parts.children.keys());
        let names: BTreeSet<&String> = names.collect();
        let differs = |name: &&String| {
            let [a, b] = [0, 1].map(|side| children(&sides[side], name));
            a != b
        };
        Table {
            alone: names.into_iter().filter(differs).cloned().collect(),
            sides,
        }
    }

    pub(super) fn stands_alone(&self, who: &Who) -> bool {
        matches!(who, Who::Child(program) if self.alone.contains(program))
    }

    /// Returns the possible rows of the wall time, largest first. Together they make up the accounts.
    pub(super) fn tops(&self) -> Vec<Candidate> {
        let children = self
            .alone
            .iter()
            .map(|program| (Who::Child(program.clone()), None));
        let named = TimeCategory::ALL.into_iter();
        let named = named.filter(|spent| *spent != TimeCategory::Unaccounted);
        let categories = named.map(|spent| (Who::Command, Some(spent)));
        let all = children.chain(categories).map(|(who, spent)| {
            let mut candidate = Candidate {
                who,
                spent,
                series: Series::default(),
            };
            candidate.series = self.series(|key| candidate.has(key, self));
            candidate
        });
        let mut all: Vec<Candidate> = all.collect();
        all.sort_by(|one, other| other.size().total_cmp(&one.size()));
        all
    }

    /// Returns the time of the matching keys in each observed run.
    pub(super) fn series(&self, fits: impl Fn(&Key) -> bool) -> Series {
        let mut series = Series::default();
        for (side, runs) in self.sides.iter().enumerate() {
            for parts in runs {
                let mut sum = 0.0;
                for (key, ns) in parts.ns.iter().filter(|(key, _)| fits(key)) {
                    sum += ns;
                    series.by.entry(key.spent).or_default()[side] += ns / runs.len() as f64;
                }
                series.ns[side].push(sum);
            }
        }
        series
    }

    /// Returns the samples in the matching keys, over all observed runs.
    pub(super) fn samples(&self, fits: impl Fn(&Key) -> bool) -> [u64; 2] {
        [0, 1].map(|side| {
            let all = self.sides[side].iter().flat_map(|parts| &parts.samples);
            all.filter(|(key, _)| fits(key))
                .map(|(_, samples)| samples)
                .sum()
        })
    }

    /// Returns the number of calls with this name by the process of a candidate, in a median run; `None` if
    /// they aren't all counted.
    pub(super) fn calls(&self, top: &Candidate, call: &str) -> Option<[u64; 2]> {
        let of = |side: usize| -> Option<u64> {
            let counts = self.sides[side].iter();
            let counts = counts.map(|parts| self.calls_in(parts, top, call));
            Some(middle(counts.collect::<Option<_>>()?))
        };
        Some([of(0)?, of(1)?])
    }

    /// Like [`Self::calls`], for one observed run.
    fn calls_in(&self, parts: &Parts, top: &Candidate, call: &str) -> Option<u64> {
        let is_whose = |who: &Who| match top.spent {
            None => *who == top.who,
            Some(_) => !self.stands_alone(who),
        };
        let rows = parts.calls.as_ref()?.iter();
        let rows = rows.filter(|((who, name), _)| name == call && is_whose(who));
        Some(rows.map(|(_, count)| count).sum())
    }

    /// Returns the interval of a candidate's difference if counts alone show it: the counts of a child, or of
    /// calls that make up most of the difference. A busy machine changes the times, but not these counts.
    pub(super) fn counted(&self, top: &Candidate, spread: &Spread) -> Option<Interval> {
        if let (Who::Child(program), None) = (&top.who, top.spent) {
            let counts = self.agreed(|parts| Some(started(parts, program)))?;
            return is_more(counts, top.value(), TWICE).then(|| by_count(&top.series, counts));
        }
        let keys = self.sides.iter().flatten();
        let keys = keys.flat_map(|parts| parts.ns.keys());
        let keys = keys.filter(|key| top.has(key, self));
        let calls: BTreeSet<&What> = keys.filter_map(|key| key.what.as_ref()).collect();
        let counted = calls.into_iter().filter_map(|what| {
            let series = self.series_in(top, what);
            Some((what, self.counted_call(top, what, &series)?, series.value()))
        });
        let counted: Vec<(&What, Interval, f64)> = counted.collect();
        let value: f64 = counted.iter().map(|(.., value)| value).sum();
        if 2.0 * value * top.value().signum() < top.size() {
            return None;
        }
        let is_counted = |what: &What| counted.iter().any(|(of, ..)| *of == what);
        let rest = self.series(|key| {
            let is_counted = key.what.as_ref().is_some_and(is_counted);
            top.has(key, self) && !is_counted
        });
        let rest = spread.half(&rest).around(rest.value());
        let sum = |end: fn(&Interval) -> f64| {
            let counted = counted.iter().map(|(_, interval, _)| end(interval));
            counted.sum::<f64>() + end(&rest)
        };
        Some(Interval {
            low: sum(|it| it.low),
            high: sum(|it| it.high),
        })
    }

    /// Like [`Self::counted`], for one call of a category.
    pub(super) fn counted_call(
        &self,
        top: &Candidate,
        what: &What,
        series: &Series,
    ) -> Option<Interval> {
        let (DifferenceBy::Call, Some(spent)) = (what.by, top.spent) else {
            return None;
        };
        let counts = self.agreed(|parts| self.calls_in(parts, top, &what.name))?;
        // If there is only one run of each command, the counts may differ by chance, so the factor must be
        // larger.
        let factor = if series.is_of_one_run() { ONCE } else { TWICE };
        let is_more = is_more(counts, series.value(), factor);
        let is_known = match spread::kind(spent) {
            Kind::OnCpu => is_more,
            // The duration of a wait depends on what the wait is for, so the other command must not have any
            // such wait.
            Kind::Waits => counts.contains(&0) && is_more,
            Kind::ForCpu => false,
        };
        is_known.then(|| by_count(series, counts))
    }

    /// Returns the time of a call or function within a candidate.
    pub(super) fn series_in(&self, top: &Candidate, what: &What) -> Series {
        self.series(|key| top.has(key, self) && key.what.as_ref() == Some(what))
    }

    /// Returns the counts of A and of B if all observed runs of each agree.
    fn agreed(&self, count: impl Fn(&Parts) -> Option<u64>) -> Option<[u64; 2]> {
        let of = |side: usize| -> Option<u64> {
            let (first, others) = self.sides[side].split_first()?;
            let count_of_first = count(first)?;
            let agree = others.iter().all(|one| count(one) == Some(count_of_first));
            agree.then_some(count_of_first)
        };
        Some([of(0)?, of(1)?])
    }

    /// Returns the single file on which most of a call's time was spent, in whichever command has more of
    /// that time.
    pub(super) fn file(&self, fits: impl Fn(&Key) -> bool, more: usize) -> Option<String> {
        let mut by_file: BTreeMap<&String, f64> = BTreeMap::new();
        let mut all = 0.0;
        for parts in &self.sides[more] {
            let own = parts.ns.iter().filter(|(key, _)| fits(key));
            all += own.map(|(_, ns)| ns).sum::<f64>();
            for ((key, file), ns) in &parts.files {
                if fits(key) {
                    *by_file.entry(file).or_default() += ns;
                }
            }
        }
        let most = by_file.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, ns)| *ns >= MOSTLY * all)
            .map(|(file, _)| file.clone())
    }
}

/// Returns the interval of a difference in counts: the additional calls or starts, each as long as the
/// shortest and as the longest in any observed run. If there is only one run of each command, the range is
/// from half of that to twice as much.
fn by_count(series: &Series, counts: [u64; 2]) -> Interval {
    let each = (0..2).filter(|side| counts[*side] > 0);
    let each = each.flat_map(|side| {
        series.ns[side]
            .iter()
            .map(move |ns| ns / counts[side] as f64)
    });
    let (least, most) = each.fold((f64::MAX, 0.0_f64), |(least, most), ns| {
        (ns.min(least), ns.max(most))
    });
    let factor = if series.is_of_one_run() { 2.0 } else { 1.0 };
    let more = counts[1] as f64 - counts[0] as f64;
    let ends = [more * least / factor, more * most * factor, series.value()];
    Interval {
        low: ends.into_iter().fold(f64::MAX, f64::min),
        high: ends.into_iter().fold(f64::MIN, f64::max),
    }
}

/// Reports whether the command that spends more time has at least `factor` times as much to do.
fn is_more(counts: [u64; 2], value: f64, factor: u64) -> bool {
    let [few, many] = match value > 0.0 {
        true => counts,
        false => [counts[1], counts[0]],
    };
    // If the other command has a count of 0, a count of 1 is enough for the factor of two.
    many >= factor * few.max(1) || (few == 0 && many > 0 && factor == TWICE)
}

/// Returns how often a program was started in a median run.
pub(super) fn children(runs: &[Parts], program: &str) -> u64 {
    middle(runs.iter().map(|parts| started(parts, program)).collect())
}

fn started(parts: &Parts, program: &str) -> u64 {
    parts.children.get(program).copied().unwrap_or(0)
}

/// Returns the median of counts; for an even number of counts, the upper of the middle two.
pub(super) fn middle(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or(0)
}
