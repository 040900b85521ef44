//! Explains what additional work one command does compared with another.
//!
//! Both commands were timed in the same rounds, and each was observed once or several times. The account of
//! an observed run adds up to the median of its command's timed runs. Therefore the differences between the
//! parts of the two accounts add up to the difference between the medians.
//!
//! The rows of the wall time are a selection of these parts. A program that only one of the commands starts,
//! or that it starts more often, is one row with its time on the path; for everything else, each category is
//! one row. The calls or functions of a row are listed below it. Time that is in no row is unexplained. A row
//! must either exceed its interval or be counted: 100,000 additional calls exist however much the times vary
//! from run to run.

mod parts;
mod paths;
mod spread;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fathom_model::{
    AccountPart, Difference, DifferenceBy, DifferenceCount, DifferenceRow, Estimate, OF_WALL, Run,
    TimeAccount, TimeCategory, WallDifference,
};

use crate::observation::Observation;
use parts::{Key, Parts, Who};
pub use paths::paths;
use spread::{Interval, Kind, Spread};
use table::{Candidate, Table, children, middle};

/// The minimum part of a row that an inner row must have to be listed.
const OF_ROW: f64 = 0.1;
/// The maximum number of inner rows in a row.
const MOST_IN_ROW: usize = 8;
/// The confidence level of the interval of the wall time, and of all rows' intervals together.
const LEVEL: f64 = 0.95;
/// Differences below this part of the longer median aren't tested, because each test takes a part of the
/// level of all others.
const SMALLEST: f64 = 0.0005;

/// One of the two commands, observed once or several times, all with the same timed runs.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The observations; at least one.
    pub observations: &'a [Observation],
}

impl Side<'_> {
    fn runs(&self) -> &[Run] {
        self.observations
            .first()
            .map_or(&[], |observation| &observation.timed)
    }
}

/// Returns what additional work B does compared with A, and the mean accounts of both.
///
/// This function is pure: the same observations give the same difference. Returns `None` unless both have an
/// observation.
pub fn difference(a: Side<'_>, b: Side<'_>) -> Option<(Difference, [TimeAccount; 2])> {
    let sides =
        [a, b].map(|side| -> Vec<Parts> { side.observations.iter().map(Parts::of).collect() });
    let accounts = [mean_account(&sides[0])?, mean_account(&sides[1])?];
    let wall = wall(a.runs(), b.runs(), &accounts);
    let table = Table::of(&sides);
    let longer = accounts.iter().map(|account| account.wall_ns).max()? as f64;
    let tops = table.tops();
    let asked = tops.iter().filter(|top| top.size() >= SMALLEST * longer);
    // The two rows for the remainder add two tests.
    let asked = asked.count() + 2;
    let level = 1.0 - (1.0 - LEVEL) / asked as f64;
    let spread = Spread::of(a.runs(), b.runs(), level);
    let mut rows = Vec::new();
    let mut explained = 0;
    let mut left_out = Vec::new();
    for top in &tops {
        let by_times = spread.half(&top.series).around(top.value());
        let known = known(by_times, || table.counted(top, &spread));
        let Some(interval) = known.filter(|_| top.size() >= SMALLEST * longer) else {
            left_out.push(top);
            continue;
        };
        let ns = top.value().round() as i64;
        explained += ns;
        rows.push(row(&table, top, OF_WALL, ns as f64, interval, a, b));
        rows.extend(inner_rows(&table, top, &spread, a, b));
    }
    for kind in [Kind::OnCpu, Kind::Waits] {
        let row = together(&table, &left_out, kind, &spread);
        if let Some(row) = row.filter(|row| row.milliseconds.abs() >= SMALLEST * longer / 1e6) {
            explained += (row.milliseconds * 1e6).round() as i64;
            rows.push(row);
        }
    }
    let whole = accounts[1].wall_ns as i64 - accounts[0].wall_ns as i64;
    let left = whole - explained;
    Some((
        Difference {
            wall,
            rows,
            not_explained: left as f64 / 1e6,
            not_explained_share: left.unsigned_abs() as f64 / longer.max(1.0),
            intervals: in_words(a, b, asked),
        },
        accounts,
    ))
}

/// Returns the interval of a row by times, or by counts if the times don't show a difference; `None` if
/// neither does.
fn known(by_times: Interval, by_counts: impl FnOnce() -> Option<Interval>) -> Option<Interval> {
    let known = match by_times.leaves_out_nothing() {
        true => Some(by_times),
        false => by_counts(),
    };
    known.filter(|interval| interval.leaves_out_nothing())
}

/// Returns the mean of the accounts of one command's observed runs, which all have the same total.
fn mean_account(parts: &[Parts]) -> Option<TimeAccount> {
    let wall_ns = parts.first()?.account.wall_ns;
    let mean = |spent| {
        let all: u64 = parts.iter().map(|one| one.account.ns(spent)).sum();
        all / parts.len() as u64
    };
    let mut rows: Vec<AccountPart> = TimeCategory::ALL
        .into_iter()
        .map(|spent| AccountPart {
            spent,
            ns: mean(spent),
        })
        .filter(|part| part.ns > 0)
        .collect();
    rows.sort_by_key(|part| (std::cmp::Reverse(part.ns), part.spent));
    let sum: u64 = rows.iter().map(|part| part.ns).sum();
    if let Some(first) = rows.first_mut() {
        first.ns += wall_ns.saturating_sub(sum);
    }
    Some(TimeAccount {
        wall_ns,
        parts: rows,
    })
}

fn wall(a: &[Run], b: &[Run], accounts: &[TimeAccount; 2]) -> WallDifference {
    let (of_a, of_b) = spread::paired(a, b, |run| run.wall_ns as f64);
    let ratio = fathom_stats::paired_ratio(&of_a, &of_b, LEVEL).map(|paired| paired.ratio);
    let by_rounds = fathom_stats::paired_difference(&of_a, &of_b, LEVEL);
    let value = accounts[1].wall_ns as f64 - accounts[0].wall_ns as f64;
    let known = by_rounds.unwrap_or(without_interval(value));
    WallDifference {
        milliseconds: value / 1e6,
        // For skewed runs, the median of the differences is not the difference of the medians, so the
        // interval is made to include both.
        low: known.low.min(value) / 1e6,
        high: known.high.max(value) / 1e6,
        level: known.level,
        ratio: ratio.unwrap_or({
            let value = accounts[1].wall_ns as f64 / (accounts[0].wall_ns as f64).max(1.0);
            without_interval(value)
        }),
        rounds: of_a.len(),
    }
}

fn without_interval(value: f64) -> Estimate {
    Estimate {
        value,
        low: value,
        high: value,
        level: 0.0,
    }
}

/// Describes how the intervals of the rows were computed.
fn in_words(a: Side<'_>, b: Side<'_>, asked: usize) -> String {
    let observed = match (a.observations.len(), b.observations.len()) {
        (1, _) | (_, 1) => {
            "the run-to-run spread of CPU time and waits in the timed runs".to_owned()
        }
        (a, b) => format!("the spread of each part over {a} and {b} observed runs (Welch)"),
    };
    format!(
        "95 % for all {asked} parts together, computed from the interval for the difference between the medians \
         (paired by round, and divided by kind: CPU time, waits for a CPU, other waits), and from {observed}"
    )
}

fn row(
    table: &Table<'_>,
    top: &Candidate,
    of: &str,
    ns: f64,
    interval: Interval,
    a: Side<'_>,
    b: Side<'_>,
) -> DifferenceRow {
    let (part, by, count) = match (&top.who, top.spent) {
        (Who::Child(program), None) => {
            let [a, b] = [0, 1].map(|side| children(&table.sides[side], program));
            (
                program.clone(),
                DifferenceBy::Child,
                count("processes", a, b),
            )
        }
        (_, spent) => {
            let spent = spent.unwrap_or(TimeCategory::Unaccounted);
            let count = match spent {
                TimeCategory::PageFaults => count("page faults", faults(a), faults(b)),
                _ => None,
            };
            (spent.key().to_owned(), DifferenceBy::Category, count)
        }
    };
    DifferenceRow {
        part,
        of: of.to_owned(),
        by,
        category: top.spent,
        file: None,
        callers: Vec::new(),
        milliseconds: ns / 1e6,
        low: interval.low / 1e6,
        high: interval.high / 1e6,
        count,
    }
}

/// Returns one row for everything that is too small to be known by category, if its total is known well
/// enough. The breakdown of a run of a few milliseconds varies between runs by more than two such programs
/// differ, whereas its CPU time is known well.
fn together(
    table: &Table<'_>,
    left_out: &[&Candidate],
    kind: Kind,
    spread: &Spread,
) -> Option<DifferenceRow> {
    let of_kind = left_out.iter().filter_map(|one| one.spent);
    let of_kind: BTreeSet<TimeCategory> = of_kind
        .filter(|spent| spread::kind(*spent) == kind)
        .collect();
    let series = table.series(|key| of_kind.contains(&key.spent) && !table.stands_alone(&key.who));
    let ns = series.value().round();
    let interval = spread.half(&series).around(ns);
    let part = match kind {
        Kind::OnCpu => "other_cpu_time",
        _ => "other_wait_time",
    };
    (series.by.len() > 1 && interval.leaves_out_nothing()).then(|| DifferenceRow {
        part: part.to_owned(),
        of: OF_WALL.to_owned(),
        by: DifferenceBy::Together,
        category: None,
        file: None,
        callers: Vec::new(),
        milliseconds: ns / 1e6,
        low: interval.low / 1e6,
        high: interval.high / 1e6,
        count: None,
    })
}

fn count(what: &str, a: u64, b: u64) -> Option<DifferenceCount> {
    (a != b).then(|| DifferenceCount {
        what: what.to_owned(),
        a,
        b,
    })
}

/// Returns the number of page faults of a median timed run.
fn faults(side: Side<'_>) -> u64 {
    let of = |run: &Run| run.minor_faults + run.major_faults;
    middle(side.runs().iter().map(of).collect())
}

/// Returns the rows inside a row that exceed their intervals or are counted. They are calls or functions or,
/// for a child, its categories.
fn inner_rows(
    table: &Table<'_>,
    top: &Candidate,
    spread: &Spread,
    a: Side<'_>,
    b: Side<'_>,
) -> Vec<DifferenceRow> {
    let name = match (&top.who, top.spent) {
        (Who::Child(program), None) => program.clone(),
        (_, spent) => spent.unwrap_or(TimeCategory::Unaccounted).key().to_owned(),
    };
    let mut rows: Vec<DifferenceRow> = match top.spent {
        None => TimeCategory::ALL
            .into_iter()
            .filter(|spent| *spent != TimeCategory::Unaccounted)
            .filter_map(|spent| {
                let series = table.series(|key| key.who == top.who && key.spent == spent);
                let inner = Candidate {
                    who: Who::Command,
                    spent: Some(spent),
                    series,
                };
                let interval = spread.half(&inner.series).around(inner.value());
                let mut row = row(table, &inner, &name, inner.value(), interval, a, b);
                row.count = None;
                interval.leaves_out_nothing().then_some(row)
            })
            .collect(),
        Some(_) => named_rows(table, top, spread, &name),
    };
    rows.retain(|row| row.milliseconds.abs() * 1e6 >= OF_ROW * top.size());
    rows.sort_by(|one, other| other.milliseconds.abs().total_cmp(&one.milliseconds.abs()));
    rows.truncate(MOST_IN_ROW);
    rows
}

/// Returns the calls or functions of a category.
fn named_rows(table: &Table<'_>, top: &Candidate, spread: &Spread, of: &str) -> Vec<DifferenceRow> {
    let keys = table
        .sides
        .iter()
        .flatten()
        .flat_map(|parts| parts.ns.keys());
    let keys = keys.filter(|key| top.has(key, table));
    let names: BTreeSet<_> = keys.filter_map(|key| key.what.as_ref()).collect();
    let row = |what: &parts::What| {
        let fits = |key: &Key| top.has(key, table) && key.what.as_ref() == Some(what);
        let mut series = table.series_in(top, what);
        if what.by == DifferenceBy::Function {
            series.samples = Some(table.samples(fits));
        }
        let value = series.value();
        let by_times = spread.half(&series).around(value);
        let interval = known(by_times, || table.counted_call(top, what, &series))?;
        let count = match what.by {
            DifferenceBy::Call => {
                let calls = table.calls(top, &what.name);
                calls.and_then(|[a, b]| count("calls", a, b))
            }
            _ => None,
        };
        Some(DifferenceRow {
            part: what.name.clone(),
            of: of.to_owned(),
            by: what.by,
            category: top.spent,
            file: match what.by {
                DifferenceBy::Call => table.file(fits, usize::from(value > 0.0)),
                _ => what.file.clone(),
            },
            callers: what.caller.iter().cloned().collect(),
            milliseconds: value / 1e6,
            low: interval.low / 1e6,
            high: interval.high / 1e6,
            count,
        })
    };
    names.into_iter().filter_map(row).collect()
}
