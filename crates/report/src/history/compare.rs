//! Comparison of the stored values of two sides.

use fathom_model::{
    CompareRecord, DriftSource, Estimate, StoredComparison, Verdict, listed, with_parameters,
};

use super::{named_in, say_shared, shared};
use crate::Screen;
use crate::document::{Cell, Kind, Table};
use crate::line::{Line, Page, Tone};
use crate::quantity::{
    Scale, apart, format_level, format_share, signed_interval, signed_intervals,
};
use crate::text::JOIN;

/// The maximum number of comparisons and reasons shown without `-v`.
const SHOWN: usize = 8;

/// If the logarithms of a change and of the ratio of the values next to it differ by at most this, both print
/// the same.
const ROUNDING: f64 = 0.002;

/// Formats the verdicts first, then their basis, and how to decide undecided comparisons. Ends with a
/// newline.
pub fn compare_terminal(record: &CompareRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (base, head) = (
        page.clean(&record.base.asked),
        page.clean(&record.head.asked),
    );
    page.prose(0, Tone::Strong, &answer(record, &base, &head));
    for failed in failed_requests(record) {
        page.prose(0, Tone::Bad, &failed);
    }
    let shown = match screen.verbose {
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
            &crate::text::wrap(&warning, screen.width.max(32) - 4),
        );
    }
    left_out(&mut page, record, screen);
    together(&mut page, record, screen);
    page.finish()
}

/// A smaller share of failed requests isn't reported.
const FAILED: f64 = 0.001;

/// Returns a warning for each load test in which requests failed: `All requests of b.txt failed`.
pub fn failed_requests(record: &CompareRecord) -> Vec<String> {
    let mut said = Vec::new();
    for one in &record.comparisons {
        for (side, about) in [(&one.base, &record.base), (&one.head, &record.head)] {
            let Some(share) = side.failed_share.filter(|share| *share >= FAILED) else {
                continue;
            };
            let asked = &about.asked;
            let text = match share {
                all if all >= 1.0 => {
                    format!(
                        "All requests in {asked} failed: its figures show only how fast the server returns errors."
                    )
                }
                share => format!(
                    "{} of the requests in {asked} failed.",
                    format_share(share).replace(JOIN, " ")
                ),
            };
            if !said.contains(&text) {
                said.push(text);
            }
        }
    }
    said
}

/// Returns the first sentence.
pub(crate) fn answer(record: &CompareRecord, base: &str, head: &str) -> String {
    let count = |word: &str| {
        let of = record.comparisons.iter();
        of.filter(|one| one.word() == word).count()
    };
    if let [one] = record.comparisons.as_slice() {
        let by = match one.verdict {
            Verdict::Faster | Verdict::Slower => {
                format!("{}, {}", one.word(), signed_interval(&one.ratio).0)
            }
            Verdict::Same => format!("the same, within {}", share(one.margin)),
            Verdict::Undecided => one.word().to_owned(),
        };
        return format!("{head} against {base}: {by}");
    }
    if record.comparisons.is_empty() {
        return format!("{head} against {base}: no comparison was possible");
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
    let ratios: Vec<Estimate> = comparisons.iter().map(|one| one.ratio).collect();
    let changes = signed_intervals(&ratios);
    let rows = comparisons.len();
    let side = |row: usize| match row < rows {
        true => &comparisons[row].base,
        false => &comparisons[row - rows].head,
    };
    // The values of both sides are formatted together, because the two values of one row must not print the
    // same either.
    let values: Vec<f64> = (0..2 * rows).map(|row| side(row).value).collect();
    let figures = apart(&values, &|row, more| {
        let one = &comparisons[row % rows];
        let of = side(row);
        let scale = Scale::beside(one.base.value, of.value, &one.unit);
        scale.with_unit(of.value, of.low, of.high, more)
    });
    let mut table = Table::new("Comparisons")
        .column("benchmark", Kind::Name)
        .column("base", Kind::Number)
        .column("head", Kind::Number)
        .column("change", Kind::Number)
        .column("interval", Kind::Words)
        .column("verdict", Kind::Words);
    for (row, (one, (change, interval))) in comparisons.iter().zip(changes).enumerate() {
        let cells = vec![
            Cell::name(&name(one, &shared)),
            Cell::words(&figures[row]),
            Cell::words(&figures[row + rows]),
            Cell::words(&change).toned(Tone::Strong),
            Cell::words(&interval.unwrap_or_default()),
            Cell::words(one.word()).toned(tone(one)),
        ];
        table.row("", cells);
    }
    table.terminal(page, 0);
    say_shared(page, &shared);
}

/// Returns the name of a comparison, with the metric if it isn't the usual one.
fn name(one: &StoredComparison, shared: &[(String, String)]) -> String {
    let name = named_in(&one.benchmark, &one.parameters, shared);
    match one.metric.as_str() {
        "wall" => name,
        metric => format!("{name} {metric}"),
    }
}

/// The maximum number of rows named in a sentence.
const NAMED: usize = 2;

/// Returns the rows that a sentence is about, as in `of a and b: `; empty if it is about every row of the
/// table.
fn about(page: &Page, of: &[&StoredComparison], all: &[StoredComparison]) -> String {
    if of.len() == all.len() {
        return String::new();
    }
    let names: Vec<String> = of
        .iter()
        .take(NAMED)
        .map(|one| page.clean(&name(one, &[])))
        .collect();
    let more = match of.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "of {}{more}: ",
        names.join(if more.is_empty() { " and " } else { ", " })
    )
}

/// Writes the allowance for changes between measurements, once for each reason, with the rows it applies to.
fn drifts(page: &mut Page, record: &CompareRecord) {
    let Some(first) = record.comparisons.first() else {
        return;
    };
    page.gap();
    let mut said: Vec<(String, Vec<&StoredComparison>)> = Vec::new();
    for one in &record.comparisons {
        let text = drift(one);
        match said.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(one),
            None => said.push((text, vec![one])),
        }
    }
    let shown = said.len().min(2);
    let more = match said.len() - shown {
        0 => String::new(),
        1 => "; --json shows another reason".to_owned(),
        more => format!("; --json shows {more} other reasons"),
    };
    let texts = said[..shown].iter();
    let texts =
        texts.map(|(text, rows)| format!("{}{text}", about(page, rows, &record.comparisons)));
    let text = texts.collect::<Vec<_>>().join("; ");
    let level = format_level(first.ratio.level);
    page.prose(
        0,
        Tone::Quiet,
        &format!("{level} intervals, including drift: {text}{more}"),
    );
}

/// Describes how much a row allows for changes between measurements.
fn drift(one: &StoredComparison) -> String {
    let by = share(one.drift.share);
    let earlier = one.drift.measurements;
    match one.drift.source {
        DriftSource::SameRevision => format!(
            "separate measurements of the same revision differ by up to {by} here (from {earlier} earlier ones)"
        ),
        DriftSource::Successive => {
            format!("successive measurements differ by up to {by} here (from {earlier} earlier ones)")
        }
        DriftSource::Assumed => format!(
            "{by} between separate measurements is assumed, since this environment has fewer than four earlier ones"
        ),
        DriftSource::Waits => format!(
            "{by} is allowed for the time that the runs waited for a CPU, which can't be subtracted completely"
        ),
        DriftSource::None => {
            "a metric has no interval if it is counted exactly, or was measured only once on each side"
                .to_owned()
        }
        DriftSource::NoiseFloor => format!(
            "{by} between separate measurements is assumed: the noise floor that `fathom machine --check` measured \
             here"
        ),
    }
}

/// Explains why a change differs from the ratio of the two values next to it, and why an interval that
/// excludes zero is not a verdict.
fn how(page: &mut Page, shown: &[StoredComparison]) {
    let of_rows = |is_so: &dyn Fn(&StoredComparison) -> bool| -> Vec<&StoredComparison> {
        shown.iter().filter(|one| is_so(one)).collect()
    };
    let mut say = |rows: &[&StoredComparison], text: &str| {
        if !rows.is_empty() {
            let text = format!("{}{text}", about(page, rows, shown));
            page.prose(0, Tone::Quiet, &text);
        }
    };
    let differs = |one: &StoredComparison| {
        let of_values = one.head.value / one.base.value;
        (one.ratio.value / of_values).ln().abs() > ROUNDING
    };
    let several = |one: &StoredComparison| one.base.measurements.max(one.head.measurements) > 1;
    say(
        &of_rows(&|one| differs(one) && !several(one)),
        "a change is the median ratio over all pairs of runs, not the ratio of the medians",
    );
    say(
        &of_rows(&|one| differs(one) && several(one)),
        "a change is the mean ratio over all pairs of measurements, not the ratio of the values shown, which are \
         those of the median measurements",
    );
    let is_open = |one: &StoredComparison| {
        one.verdict == Verdict::Undecided
            && (one.ratio.low > 1.0 || one.ratio.high < 1.0)
            && !one.base.is_of_failures()
            && !one.head.is_of_failures()
    };
    let open = of_rows(&is_open);
    if let Some(one) = open.first() {
        let level = format_level(one.ratio.level);
        let text = format!(
            "a comparison may be undecided although its {level} interval excludes zero: claiming a difference takes \
             99 % confidence, and more with several series"
        );
        say(&open, &text);
    }
}

fn left_out(page: &mut Page, record: &CompareRecord, screen: &Screen) {
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
    let shown = if screen.verbose {
        said.len()
    } else {
        said.len().min(SHOWN)
    };
    for (why, count, name) in &said[..shown] {
        let what = match count {
            1 => name.clone(),
            count => format!("{count} series"),
        };
        page.prose(0, Tone::Notice, &format!("not compared: {what}: {why}"));
    }
}

/// Writes the command that decides the first undecided comparison.
fn together(page: &mut Page, record: &CompareRecord, screen: &Screen) {
    let undecided = record
        .comparisons
        .iter()
        .filter(|one| one.verdict == Verdict::Undecided || screen.verbose);
    let mut said = Vec::new();
    for command in undecided.filter_map(|one| one.together.as_ref()) {
        if !said.contains(command) {
            said.push(command.clone());
        }
    }
    let shown = if screen.verbose {
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
        "If both are measured together, in the same rounds, the drift cancels out:",
    );
    for command in &said[..shown] {
        // The command is not shortened, so that it can be copied.
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
