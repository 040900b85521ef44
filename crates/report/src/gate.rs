//! Reports on whether a suite is worse: on a terminal, as a comment, as annotations, for test reports.
//!
//! Names and reasons are untrusted: each form escapes whatever it could interpret.

mod annotations;
mod junit;
mod markdown;
mod table;
mod terminal;

use crate::quantity::{Scale, apart, signed, signed_with_interval};
pub use annotations::{gate_github, gate_gitlab};
use fathom_model::{
    ExactChange, FloorSource, GateBenchmark, GateRecord, GateRule, GateVerdict, Metric, Unit,
};
pub use junit::gate_junit;
pub use markdown::gate_markdown;
pub(crate) use table::table as gate_table;
pub use terminal::gate_terminal;

/// Returns the answer in a sentence, without untrusted text.
pub(crate) fn gate_answer(record: &GateRecord) -> String {
    if record.null_arm.failed {
        return "No verdict: a program differed from itself by more than the margin. The cause is the machine or the \
             benchmark; try again when nothing else is running"
            .to_owned();
    }
    let count = |verdict| {
        let rows = record.benchmarks.iter();
        rows.filter(|row| row.verdict == verdict && row.waived.is_none())
            .count()
    };
    let all = record.benchmarks.len();
    let waived = record
        .benchmarks
        .iter()
        .filter(|row| row.waived.is_some())
        .count();
    let waived = match waived {
        0 => String::new(),
        count => format!(", {count} waived"),
    };
    let partial = if record.complete {
        ""
    } else {
        " (measuring ended early)"
    };
    let text = match record.verdict {
        GateVerdict::Worse => match count(GateVerdict::Worse) {
            0 => format!("Worse: the geometric mean of {all}{waived}"),
            worse => format!("Worse: {worse} of {all}{waived}"),
        },
        GateVerdict::NotWorse => format!(
            "Not worse: {} of {all}{waived}",
            count(GateVerdict::NotWorse)
        ),
        GateVerdict::CannotTell => {
            format!(
                "Cannot tell: {} of {all} undecided, none worse{waived}",
                count(GateVerdict::CannotTell)
            )
        }
    };
    format!("{text}{partial}")
}

/// Formats the change of a row: `+8.1 % (+7.2 to +9.0)`.
fn ratio(row: &GateBenchmark) -> String {
    let Some(ratio) = &row.ratio else {
        return String::new();
    };
    // The rule that takes the fastest run has no interval.
    if ratio.level == 0.0 {
        return signed(ratio.value);
    }
    signed_with_interval(ratio)
}

/// Formats the ratio, preceded by the name of its metric if that isn't time.
fn change(row: &GateBenchmark) -> String {
    of_metric(row, &ratio(row))
}

/// Puts the name of the row's metric before a text, unless it is time, the metric that is judged by default.
fn of_metric(row: &GateBenchmark, text: &str) -> String {
    let clocks = [Metric::Wall, Metric::Undisturbed];
    match clocks.iter().any(|clock| clock.name() == row.metric) {
        true => text.to_owned(),
        false => format!("{} {text}", row.metric).trim_end().to_owned(),
    }
}

/// Returns the unit of a row; a record of an earlier version only contains the metric.
fn unit_of<'u>(metric: &str, unit: &'u str) -> &'u str {
    let known = Metric::ALL.into_iter().find(|known| known.name() == metric);
    match (unit, known) {
        ("", Some(known)) => known.unit().name(),
        ("", None) if metric.ends_with("size") => Unit::Bytes.name(),
        ("", None) => Unit::Count.name(),
        (unit, _) => unit,
    }
}

/// Formats `12.31 ms -> 13.32 ms`; a unit may be untrusted.
fn levels(row: &GateBenchmark) -> String {
    let (Some(base), Some(head)) = (&row.base, &row.head) else {
        return String::new();
    };
    let unit = unit_of(&row.metric, &row.unit);
    let sides = [base, head];
    let written = apart(&[base.value, head.value], &|side, more| {
        let of = sides[side];
        let scale = Scale::beside(base.value, of.value, unit);
        scale.with_unit(of.value, of.low, of.high, more)
    });
    written.join(" -> ")
}

/// Formats `4 KiB -> 5 KiB to 6 KiB` for a value that was the same in all runs of base.
fn exact_levels(one: &ExactChange) -> String {
    let values = [one.base, one.head_low, one.head_high];
    let unit = unit_of(&one.metric, "");
    let written = apart(&values, &|at, more| {
        let scale = Scale::beside(one.base, values[at], unit);
        scale.with_unit(values[at], values[at], values[at], more)
    });
    let [base, low, high] = &written[..] else {
        return String::new();
    };
    match low == high {
        true => format!("{base} -> {low}"),
        false => format!("{base} -> {low} to {high}"),
    }
}

/// Describes the source of the noise floor: `noise floor: 19 to 40 earlier gates`.
fn floor_source(record: &GateRecord) -> Option<String> {
    let sources = record.benchmarks.iter();
    let sources: Vec<FloorSource> = sources.filter_map(|row| row.floor_source).collect();
    let gates: Vec<usize> = sources
        .iter()
        .filter_map(|source| match source {
            FloorSource::History { gates } => Some(*gates),
            FloorSource::NullArm => None,
        })
        .collect();
    let own = sources.len() - gates.len();
    let earlier = match (gates.iter().min(), gates.iter().max()) {
        (Some(fewest), Some(most)) if fewest == most => format!("{most} earlier gates"),
        (Some(fewest), Some(most)) => format!("{fewest} to {most} earlier gates"),
        _ if sources.is_empty() => return None,
        _ => return Some("noise floor: base against base".to_owned()),
    };
    Some(match own {
        0 => format!("noise floor: {earlier}"),
        _ => format!(
            "noise floor: {earlier} for {}, base against base for {own}",
            gates.len()
        ),
    })
}

/// Returns notes on the verdict.
fn notes(record: &GateRecord) -> Vec<String> {
    let settings = record.settings_changed.iter();
    let settings =
        settings.map(|what| format!("head changes the gate's {what}; base's version applies"));
    let notes = settings.chain(record.notes.iter().cloned());
    notes.chain(false_failures(record)).collect()
}

/// Describes how often a rule fails falsely.
fn false_failures(record: &GateRecord) -> Option<String> {
    let GateRule::BestOf {
        best_of,
        max_regression,
        max_geomean,
        false_failures,
        ..
    } = &record.rule
    else {
        return None;
    };
    let rule = format!(
        "the fastest of {best_of} runs counts; each benchmark may be at most {:.0} % slower, and the geometric mean \
         at most {:.0} %",
        100.0 * max_regression,
        100.0 * max_geomean
    );
    Some(match false_failures {
        Some(share) => format!(
            "This rule ({rule}) currently fails identical code on this machine in {:.0} % of suites: that is the \
             share that failed among {} suites drawn from base measured against itself.",
            100.0 * share.failed as f64 / share.suites.max(1) as f64,
            share.suites
        ),
        None => {
            format!(
                "It is not known how often this rule ({rule}) fails identical code: there were too few runs."
            )
        }
    })
}

/// Returns the rows worth reading: all except those that are not worse.
fn notable(record: &GateRecord) -> Vec<&GateBenchmark> {
    let mut rows: Vec<&GateBenchmark> = record
        .benchmarks
        .iter()
        .filter(|row| row.verdict != GateVerdict::NotWorse)
        .collect();
    // Worse rows come first, the largest change at the top.
    rows.sort_by(|a, b| {
        let key = |row: &GateBenchmark| (row.verdict != GateVerdict::Worse, row.waived.is_some());
        let more = |row: &GateBenchmark| {
            row.ratio
                .as_ref()
                .map_or(f64::INFINITY, |ratio| ratio.value)
        };
        key(a).cmp(&key(b)).then(more(b).total_cmp(&more(a)))
    });
    rows
}

/// Returns benchmarks that are certainly slower, but by less than the margin. They are 'not worse', but they
/// add up over several changes, so they are shown.
fn inside_margin(record: &GateRecord) -> Vec<&GateBenchmark> {
    let is_inside = |row: &&GateBenchmark| {
        let Some(ratio) = row.ratio.as_ref().filter(|ratio| ratio.level > 0.0) else {
            return false;
        };
        let is_sure = match row.higher_is_better {
            false => ratio.low > 1.0,
            true => ratio.high < 1.0,
        };
        row.verdict == GateVerdict::NotWorse && row.budget.is_none() && is_sure
    };
    record.benchmarks.iter().filter(is_inside).collect()
}

/// Formats a change within the margin: `+2.5 % (+2.3 to +2.8), within the margin of 3 %`.
fn inside(row: &GateBenchmark) -> String {
    let margin = format!("{:.1}", 100.0 * row.margin);
    let margin = margin.strip_suffix(".0").unwrap_or(&margin);
    format!("{}, within the margin of {margin} %", change(row))
}

/// Returns benchmarks whose whole interval is beyond the margin, on the better side.
fn better(record: &GateRecord) -> Vec<&GateBenchmark> {
    let is_better = |row: &&GateBenchmark| {
        let Some(ratio) = row.ratio.as_ref().filter(|ratio| ratio.level > 0.0) else {
            return false;
        };
        let counts = 1.0 + row.margin;
        match (row.verdict, row.higher_is_better) {
            // For an undocumented score, lower is not necessarily better.
            (GateVerdict::Worse | GateVerdict::CannotTell, _) => false,
            (_, false) => ratio.high < 1.0 / counts,
            (_, true) => ratio.low > counts,
        }
    };
    record.benchmarks.iter().filter(is_better).collect()
}
