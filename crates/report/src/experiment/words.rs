//! Numbers and verdicts of claims as text.

use fathom_model::{
    ClaimResult, ClaimVerdict, Estimate, ExperimentRecord, Layer, Measured, Published,
};

use crate::line::Tone;
use crate::quantity::{TimeUnit, decimals_for, fixed, supported_decimals};
use crate::{format_bytes, format_count, format_time};

/// Formats the duration of an experiment, always in seconds, so that rows can be compared.
pub(super) fn seconds(seconds: f64) -> String {
    format_time(seconds, Some(TimeUnit::Second), 1)
}

/// Returns the heading of a layer.
pub(super) fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Arithmetic => "Arithmetic of the published figures",
        Layer::Mechanism => "Mechanism",
        Layer::Size => "Size of the effect",
    }
}

/// Returns the name of the column with a layer's own figures.
pub(super) fn here(layer: Layer) -> &'static str {
    match layer {
        Layer::Arithmetic => "recomputed",
        Layer::Mechanism | Layer::Size => "measured here",
    }
}

/// Returns where the result was published.
pub(super) fn source(record: &ExperimentRecord) -> Option<String> {
    let source = record.source.as_ref()?;
    let mut text = source.title.clone();
    for part in [source.by.clone(), source.year.map(|year| year.to_string())] {
        text.extend(part.map(|part| format!(", {part}")));
    }
    Some(text)
}

/// Returns the tone of a verdict.
pub(super) fn tone(verdict: ClaimVerdict) -> Tone {
    match verdict {
        ClaimVerdict::Reproduced => Tone::Good,
        ClaimVerdict::NotReproduced | ClaimVerdict::Contradicted => Tone::Bad,
        ClaimVerdict::DirectionOnly | ClaimVerdict::IllPosed => Tone::Notice,
        ClaimVerdict::Undecided | ClaimVerdict::NotRunnableHere => Tone::Quiet,
    }
}

/// Formats the published figure: the number with its unit, or the figures in words. A limit is marked as
/// such.
pub(super) fn published(published: Option<&Published>) -> String {
    let Some(published) = published else {
        return String::new();
    };
    match (published.value, &published.figures) {
        (Some(value), _) => {
            let number = with_unit(value, published.unit.as_deref().unwrap_or(""));
            match published.limit {
                true => format!("limit {number}"),
                false => number,
            }
        }
        (None, Some(figures)) => figures.clone(),
        (None, None) => String::new(),
    }
}

/// Formats a time in the unit that fits, like the measured times next to it, and any other figure as it was
/// written.
pub(super) fn with_unit(value: f64, unit: &str) -> String {
    if let Some(written) = TimeUnit::of_symbol(unit) {
        let seconds = value * written.seconds();
        let fitting = TimeUnit::fitting(seconds);
        return format!(
            "{} {}",
            plain(seconds / fitting.seconds()),
            fitting.symbol()
        );
    }
    let number = plain(value);
    match unit {
        "" => number,
        "%" => format!("{number} %"),
        "x" => format!("{number}x"),
        unit => format!("{number} {unit}"),
    }
}

/// The maximum number of quantities shown: more would fill the column and hide the verdict. The JSON has all
/// of them.
const MOST_SHOWN: usize = 3;

/// Returns the measured quantities of the claim.
pub(super) fn measured(claim: &ClaimResult) -> Vec<String> {
    quantities(&claim.judged.measured)
}

/// Formats quantities with their values. If there are several, at most [`MOST_SHOWN`] are shown, each with
/// its name.
pub(super) fn quantities(all: &[Measured]) -> Vec<String> {
    // If there is a ratio of two results, it is the answer and comes first.
    match all {
        [] => Vec::new(),
        [one] => vec![value(one)],
        several => {
            let shown = several.iter().take(MOST_SHOWN);
            let mut lines: Vec<String> = shown
                .map(|one| format!("{}: {}", one.what, value(one)))
                .collect();
            if several.len() > MOST_SHOWN {
                lines.push(format!("…, {} more", several.len() - MOST_SHOWN));
            }
            lines
        }
    }
}

/// Formats one quantity with its interval.
pub(super) fn value(measured: &Measured) -> String {
    match (&measured.text, &measured.estimate) {
        (Some(text), _) => text.clone(),
        (None, Some(estimate)) => with_interval(estimate, &measured.unit),
        (None, None) => String::new(),
    }
}

/// `34.2 (33.8 to 34.9)`, in the unit that fits.
pub(super) fn with_interval(estimate: &Estimate, unit: &str) -> String {
    let has_width = estimate.low != estimate.high;
    match unit {
        "s" => {
            let unit = TimeUnit::fitting(estimate.value.abs());
            let decimals = supported_decimals(estimate, unit.seconds());
            let number = |seconds: f64| fixed(seconds / unit.seconds(), decimals);
            let interval = match has_width {
                true => format!(" ({} to {})", number(estimate.low), number(estimate.high)),
                false => String::new(),
            };
            format!("{} {}{interval}", number(estimate.value), unit.symbol())
        }
        "B" if !has_width => format_bytes(estimate.value),
        "B" => format!(
            "{} ({} to {})",
            format_bytes(estimate.value),
            format_bytes(estimate.low),
            format_bytes(estimate.high)
        ),
        "" => number_with_interval(estimate, 1.0, ""),
        unit => {
            let (scale, prefix) = match estimate.value.abs() {
                v if v >= 1e9 => (1e9, "G"),
                v if v >= 1e6 => (1e6, "M"),
                v if v >= 1e4 => (1e3, "k"),
                _ => (1.0, ""),
            };
            // A rate in plain seconds has no unit that could take a prefix.
            let unit = match unit.strip_prefix("1/") {
                Some(rest) => format!(" {prefix}/{rest}"),
                None => format!(" {prefix}{unit}"),
            };
            number_with_interval(estimate, scale, &unit)
        }
    }
}

fn number_with_interval(estimate: &Estimate, scale: f64, unit: &str) -> String {
    let is_count = |value: f64| value.fract() == 0.0 && value.abs() >= 1000.0;
    if estimate.low == estimate.high {
        if scale == 1.0 {
            return format!("{}{unit}", plain(estimate.value));
        }
        return format!("{}{unit}", plain(estimate.value / scale));
    }
    if scale == 1.0 && is_count(estimate.low) && is_count(estimate.high) {
        return format!(
            "{} ({} to {}){unit}",
            format_count(estimate.value),
            format_count(estimate.low),
            format_count(estimate.high)
        );
    }
    let decimals = supported_decimals(estimate, scale);
    let number = |value: f64| fixed(value / scale, decimals);
    format!(
        "{}{unit} ({} to {})",
        number(estimate.value),
        number(estimate.low),
        number(estimate.high)
    )
}

/// Formats a number without an interval: whole numbers as they are, others with four digits.
pub(super) fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format_count(value);
    }
    let text = format!("{value:.*}", decimals_for(value, 5));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Returns the text of the verdict, with its consequence.
pub(super) fn verdict(claim: &ClaimResult) -> &'static str {
    claim.judged.verdict.name()
}

/// Returns the lines below a claim: the reason, where the verdict changes, and notes.
pub(super) fn remarks(claim: &ClaimResult) -> Vec<String> {
    let mut all = Vec::new();
    if !claim.judged.reason.is_empty() {
        all.push(claim.judged.reason.clone());
    }
    if !claim.flips.is_empty() {
        all.push(format!("another verdict with {}", claim.flips.join("; ")));
    }
    if claim.flips.is_empty() && !claim.elsewhere.is_empty() {
        let same = claim
            .elsewhere
            .iter()
            .all(|other| other.verdict == claim.judged.verdict);
        all.push(match same {
            true => format!(
                "the same verdict under {} of parameters",
                crate::quantity::counted(
                    claim.elsewhere.len() as u64,
                    "other combination",
                    "other combinations"
                )
            ),
            false => "a different verdict under some combinations of parameters".to_string(),
        });
    }
    if let Some(note) = &claim.note {
        all.push(note.clone());
    }
    all
}

/// Returns the number of claims for each verdict, in words.
pub(super) fn tally(claims: &[ClaimResult]) -> String {
    let parts: Vec<String> = ClaimVerdict::ALL
        .iter()
        .filter_map(|verdict| {
            let count = claims
                .iter()
                .filter(|claim| claim.judged.verdict == *verdict)
                .count();
            (count > 0).then(|| format!("{count} {}", verdict.name()))
        })
        .collect();
    match parts.is_empty() {
        true => "no claims".to_string(),
        false => parts.join(", "),
    }
}

/// Returns a line with the machine and the date, since the figures apply only to them.
pub(super) fn machine(record: &ExperimentRecord) -> String {
    let environment = &record.environment;
    let mut parts = Vec::new();
    parts.extend(environment.cpu_model.clone());
    parts.push(match environment.cpus {
        1 => "1 CPU".to_string(),
        n => format!("{n} CPUs"),
    });
    if environment.virtual_machine == Some(true) {
        parts.push("virtual machine".to_string());
    }
    parts.push(environment.kernel.clone());
    format!("machine: {}; {}", parts.join(", "), record.started_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, unit: Option<&str>, limit: bool) -> String {
        published(Some(&Published {
            value: Some(value),
            unit: unit.map(str::to_string),
            limit,
            figures: Some("words".to_string()),
            source: None,
        }))
    }

    #[test]
    fn a_published_time_stands_in_the_unit_that_a_measured_one_would() {
        for (value, unit, expected) in [
            (150.0, "us", "150 µs"),
            (5.009, "s", "5.009 s"),
            (0.008, "s", "8 ms"),
            (0.0005, "s", "500 µs"),
            (14.1, "ns", "14.1 ns"),
            (2400.0, "ms", "2.4 s"),
            (5.0, "min", "300 s"),
        ] {
            assert_eq!(shown(value, Some(unit), false), expected);
        }
    }

    #[test]
    fn other_published_numbers_stand_as_they_were_written() {
        assert_eq!(shown(34.9, None, false), "34.9");
        assert_eq!(shown(2.6, Some("x"), false), "2.6x");
        assert_eq!(shown(16.0, Some("%"), false), "16 %");
        assert_eq!(shown(3.719, Some("MiB"), false), "3.719 MiB");
        assert_eq!(shown(15.0, Some("GB/s"), false), "15 GB/s");
    }

    #[test]
    fn a_published_limit_is_called_one() {
        assert_eq!(shown(0.1, Some("ms"), true), "limit 100 µs");
    }
}
