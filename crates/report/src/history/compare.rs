//! What was stored of two sides, compared.

use fathom_model::{
    CompareRecord, DriftSource, StoredComparison, Verdict, listed, with_parameters,
};

use super::scale::Scale;
use super::{HistoryOptions, named_in, say_shared, shared};
use crate::line::{Line, Page, Tone};
use crate::quantity::format_level;

/// Comparisons and reasons that are shown without `-v`.
const SHOWN: usize = 8;

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
                format!("{}, {}", one.word(), change(one.ratio.value))
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
    // The columns beside it take 66.
    let room = page.width().saturating_sub(66).max(12);
    let shared = shared(comparisons.iter().map(|one| &one.parameters));
    let name = |one: &StoredComparison| name(one, &shared);
    let width = comparisons
        .iter()
        .map(|one| crate::columns(&page.clean(&name(one))))
        .max()
        .unwrap_or(0)
        .clamp("benchmark".len(), room);
    let head = format!(
        "{:<width$}  {:>10}  {:>10}  {:>8}  {:<18}  verdict",
        "benchmark", "base", "head", "change", "interval"
    );
    page.push(Line::new().add(Tone::Quiet, head));
    for one in comparisons {
        let scale = Scale::of(one.base.value, &one.unit);
        let base = scale.with_unit(one.base.value, one.base.low, one.base.high);
        let head = scale.with_unit(one.head.value, one.head.low, one.head.high);
        let interval = format!("{} to {}", change(one.ratio.low), change(one.ratio.high));
        let name = page.fit(&name(one), width);
        let line = Line::new()
            .add(Tone::Plain, name)
            .pad_to(width + 2)
            .add(
                Tone::Plain,
                format!("{:>10}  {:>10}  ", page.fit(&base, 10), page.fit(&head, 10)),
            )
            .add(Tone::Strong, format!("{:>8}  ", change(one.ratio.value)))
            .add(Tone::Plain, format!("{interval:<18}  "))
            .add(tone(one), one.word());
        page.push(line);
    }
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

/// `+12.0 %` of a ratio, `x2.6` from two on.
fn change(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "?".to_owned(),
        r if r >= 2.0 => format!("x{r:.2}"),
        r => format!("{:+.1} %", (r - 1.0) * 100.0),
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
