//! What was stored of two sides, compared.

use fathom_model::{
    CompareRecord, DriftSource, StoredComparison, Verdict, listed, with_parameters,
};

use super::scale::Scale;
use super::{HistoryOptions, named_in, say_shared, shared};
use crate::grid::{Column, rows_of};
use crate::line::{Line, Page, Tone};
use crate::quantity::{apart, format_level, signed, signed_apart, signed_interval};

/// Comparisons and reasons that are shown without `-v`.
const SHOWN: usize = 8;

/// A change and the ratio of the values beside it print alike up to this difference of their logarithms.
const ROUNDING: f64 = 0.002;

/// The verdicts first, then what they rest on and what decides the others. Ends with a line end.
pub fn compare_terminal(record: &CompareRecord, options: &HistoryOptions) -> String {
    let mut page = options.page();
    let (base, head) = (
        page.clean(&record.base.asked),
        page.clean(&record.head.asked),
    );
    page.prose(0, Tone::Strong, &answer(record, &base, &head));
    let shown = match options.verbose {
        true => record.comparisons.len(),
        false => record.comparisons.len().min(SHOWN),
    };
    if shown > 0 {
        page.gap();
        table(&mut page, &record.comparisons[..shown]);
        if record.comparisons.len() > shown {
            let more = format!("{} more with -v", record.comparisons.len() - shown);
            page.push(Line::new().add(Tone::Quiet, more));
        }
    }
    drifts(&mut page, record);
    how(&mut page, &record.comparisons[..shown]);
    for warning in &record.warnings {
        let warning = page.clean(warning);
        page.note(
            Tone::Notice,
            &crate::text::wrap(&warning, options.width.max(32) - 4),
        );
    }
    left_out(&mut page, record, options);
    together(&mut page, record, options);
    page.finish()
}

fn answer(record: &CompareRecord, base: &str, head: &str) -> String {
    let count = |word: &str| {
        let of = record.comparisons.iter();
        of.filter(|one| one.word() == word).count()
    };
    if let [one] = record.comparisons.as_slice() {
        let by = match one.verdict {
            Verdict::Faster | Verdict::Slower => {
                format!("{}, {}", one.word(), signed(one.ratio.value))
            }
            Verdict::Same => format!("the same, within {}", share(one.margin)),
            Verdict::Undecided => one.word().to_owned(),
        };
        return format!("{head} against {base}: {by}");
    }
    if record.comparisons.is_empty() {
        return format!("{head} against {base}: nothing could be compared");
    }
    let words = ["slower", "faster", "more", "less", "same", "undecided"];
    let parts: Vec<String> = words
        .into_iter()
        .filter(|word| count(word) > 0)
        .map(|word| format!("{} {word}", count(word)))
        .collect();
    format!("{head} against {base}: {}", parts.join(", "))
}

fn table(page: &mut Page, comparisons: &[StoredComparison]) {
    let shared = shared(comparisons.iter().map(|one| &one.parameters));
    let names: Vec<String> = comparisons.iter().map(|one| name(one, &shared)).collect();
    let ratios: Vec<f64> = comparisons.iter().map(|one| one.ratio.value).collect();
    let rows = comparisons.len();
    let side = |row: usize| match row < rows {
        true => &comparisons[row].base,
        false => &comparisons[row - rows].head,
    };
    // Both sides of all rows together: the two of one row may not print alike either.
    let values: Vec<f64> = (0..2 * rows).map(|row| side(row).value).collect();
    let figures = apart(&values, &|row, more| {
        let one = &comparisons[row % rows];
        let (scale, of) = (Scale::of(one.base.value, &one.unit), side(row));
        scale.with_unit(of.value, of.low, of.high, more)
    });
    let intervals = comparisons.iter().map(|one| signed_interval(&one.ratio).1);
    // A unit may be from outside.
    let figures: Vec<String> = figures.iter().map(|figure| page.clean(figure)).collect();
    let columns = [
        Column::figures("base", figures[..rows].to_vec()),
        Column::figures("head", figures[rows..].to_vec()),
        Column::figures("change", signed_apart(&ratios)),
        Column::words("interval", intervals.collect()),
        Column::words(
            "verdict",
            comparisons
                .iter()
                .map(|one| one.word().to_owned())
                .collect(),
        ),
    ];
    let tones = |row: usize, column: usize| match column {
        2 => Tone::Strong,
        4 => tone(&comparisons[row]),
        _ => Tone::Plain,
    };
    rows_of(page, "benchmark", &names, &columns, &tones);
    say_shared(page, &shared);
}

/// The name, with the metric where it isn't the usual one.
fn name(one: &StoredComparison, shared: &[(String, String)]) -> String {
    let name = named_in(&one.benchmark, &one.parameters, shared);
    match one.metric.as_str() {
        "wall" => name,
        metric => format!("{name} {metric}"),
    }
}

/// What is allowed for between measurements, once for each reason.
fn drifts(page: &mut Page, record: &CompareRecord) {
    let Some(first) = record.comparisons.first() else {
        return;
    };
    page.gap();
    let level = format_level(first.ratio.level);
    let mut said = Vec::new();
    for one in &record.comparisons {
        let drift = &one.drift;
        let by = share(drift.share);
        let text = match drift.source {
            DriftSource::SameRevision => format!(
                "separate measurements of the same revision differ by up to {by} here ({} earlier ones)",
                drift.measurements
            ),
            DriftSource::Successive => format!(
                "successive measurements differ by up to {by} here ({} earlier ones)",
                drift.measurements
            ),
            DriftSource::Assumed => format!(
                "{by} between separate measurements is assumed: there are fewer than four earlier ones \
                 in this environment"
            ),
            DriftSource::Waits => format!(
                "{by} is allowed for what the runs waited for a CPU, which can't be taken off whole"
            ),
            DriftSource::None => {
                "what is counted exactly, or is one measurement on both sides, has no interval"
                    .to_owned()
            }
            DriftSource::NoiseFloor => format!(
                "{by} between separate measurements is assumed, the noise floor that `fathom machine \
                 --check` measured here"
            ),
        };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    let shown = said.len().min(2);
    let more = match said.len() - shown {
        0 => String::new(),
        more => format!("; {more} more series have a drift of their own"),
    };
    page.prose(
        0,
        Tone::Quiet,
        &format!(
            "{level} intervals, drift included: {}{more}",
            said[..shown].join("; ")
        ),
    );
}

/// Why a change isn't what the two values beside it make, and why an interval that leaves out zero is no verdict.
fn how(page: &mut Page, shown: &[StoredComparison]) {
    let differs = |one: &&StoredComparison| {
        let of_values = one.head.value / one.base.value;
        (one.ratio.value / of_values).ln().abs() > ROUNDING
    };
    if let Some(one) = shown.iter().find(differs) {
        let text = match one.base.measurements.max(one.head.measurements) {
            0 | 1 => {
                "a change is the median ratio over all pairs of runs, not the ratio of the medians"
            }
            _ => {
                "a change is the mean ratio over all pairs of measurements, not the ratio of the values beside it, which \
                 are those of the middle ones"
            }
        };
        page.prose(0, Tone::Quiet, text);
    }
    let is_open = |one: &&StoredComparison| {
        one.verdict == Verdict::Undecided && (one.ratio.low > 1.0 || one.ratio.high < 1.0)
    };
    if let Some(one) = shown.iter().find(is_open) {
        let level = format_level(one.ratio.level);
        page.prose(
            0,
            Tone::Quiet,
            &format!(
                "an interval of {level} that leaves out zero may be undecided: a difference is claimed at 99 %, and \
                 with several series at more"
            ),
        );
    }
}

fn left_out(page: &mut Page, record: &CompareRecord, options: &HistoryOptions) {
    let mut said: Vec<(String, usize, String)> = Vec::new();
    for one in &record.left_out {
        match said.iter_mut().find(|(why, ..)| *why == one.why) {
            Some((_, count, _)) => *count += 1,
            None => said.push((
                one.why.clone(),
                1,
                with_parameters(&one.benchmark, listed(&one.parameters)),
            )),
        }
    }
    let shown = if options.verbose {
        said.len()
    } else {
        said.len().min(SHOWN)
    };
    for (why, count, name) in &said[..shown] {
        let what = match count {
            1 => name.clone(),
            count => format!("{count} series"),
        };
        let text = page.clean(&format!("not compared: {what}: {why}"));
        page.prose(0, Tone::Notice, &text);
    }
}

/// The command that decides, of the first one that is undecided.
fn together(page: &mut Page, record: &CompareRecord, options: &HistoryOptions) {
    let undecided = record
        .comparisons
        .iter()
        .filter(|one| one.verdict == Verdict::Undecided || options.verbose);
    let mut said = Vec::new();
    for command in undecided.filter_map(|one| one.together.as_ref()) {
        if !said.contains(command) {
            said.push(command.clone());
        }
    }
    let shown = if options.verbose {
        said.len()
    } else {
        said.len().min(3)
    };
    if shown == 0 {
        return;
    }
    page.gap();
    page.prose(
        0,
        Tone::Plain,
        "Measured together, in the same rounds, the drift cancels:",
    );
    for command in &said[..shown] {
        // Whole, so that it can be copied.
        let command = page.clean(command);
        page.verbatim(&format!("  {command}"));
    }
}

fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 9.95 => format!("{p:.1} %").replace(".0 %", " %"),
        p => format!("{p:.0} %"),
    }
}

fn tone(one: &StoredComparison) -> Tone {
    match one.verdict {
        Verdict::Faster | Verdict::Slower if one.higher_is_better.is_none() => Tone::Strong,
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Same => Tone::Plain,
        Verdict::Undecided => Tone::Notice,
    }
}
