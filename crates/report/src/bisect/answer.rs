//! The answer that is read first: the revision, or why none can be named.

use fathom_model::{BisectReason, BisectRecord, BisectVerdict};

use crate::line::Tone;
use crate::quantity::{Words, bound, change, counted};
use crate::text::JOIN;
use crate::versions::{called, change_in_words};

/// The number of digits of a displayed revision.
const SHORT: usize = 10;

/// Returns the answer in a sentence or two, and its tone.
pub(super) fn answer(record: &BisectRecord) -> (Tone, String) {
    let words = Words::of(record.metric);
    let (tone, text) = match (&record.culprit, record.verdict) {
        (Some(culprit), BisectVerdict::Found) => {
            let (change, interval) = change_in_words(&culprit.ratio, record.metric);
            let interval = interval.map_or_else(String::new, |text| format!(" ({text})"));
            let what = match words == Words::of(fathom_model::Metric::Wall) {
                true => String::new(),
                false => format!(" {}", record.metric.name()),
            };
            (
                Tone::Strong,
                format!(
                    "{}: {change}{what} than its parent{interval}.",
                    short(&culprit.commit.revision)
                ),
            )
        }
        (_, BisectVerdict::NoDifference) => {
            let within = record.ends.as_ref().map_or_else(String::new, |ends| {
                format!(" within {}", bound(&ends.ratio))
            });
            (
                Tone::Strong,
                format!(
                    "{} and {} are the same{within}: there is no change to find.",
                    called(&record.good),
                    called(&record.bad)
                ),
            )
        }
        _ => (Tone::Notice, format!("Undecided: {}", why(record))),
    };
    (tone, text.replace(JOIN, " "))
}

/// Says that the revision caused only a part of the change, with the command that searches the later
/// revisions for the rest. `None` if it caused the whole change.
pub(super) fn more(record: &BisectRecord) -> Option<String> {
    let (culprit, ends) = (record.culprit.as_ref()?, record.ends.as_ref()?);
    let (part, whole) = (&culprit.ratio, &ends.ratio);
    let is_part = match whole.value > 1.0 {
        true => part.high < whole.low,
        false => part.low > whole.high,
    };
    if !is_part || culprit.commit.revision.starts_with(&record.bad) {
        return None;
    }
    let words = Words::of(record.metric);
    let build = record.build.as_deref().map_or_else(String::new, |build| {
        format!(" --build '{}'", build.replace('\'', "'\\''"))
    });
    let text = format!(
        "This is only part of the change: {} is {} than {}. To find the rest: fathom bisect {} {}{build} -- {}",
        called(&record.bad),
        change(whole.value, words),
        called(&record.good),
        short(&culprit.commit.revision),
        record.bad,
        record.command
    );
    Some(text.replace(JOIN, " "))
}

fn why(record: &BisectRecord) -> String {
    let (good, bad) = (called(&record.good), called(&record.bad));
    let left = counted(record.remaining.len() as u64, "revision", "revisions");
    match record.reason {
        Some(BisectReason::Ends) => {
            let words = Words::of(record.metric);
            let between = record.ends.as_ref().map_or_else(String::new, |ends| {
                format!(
                    " ({bad} is between {} and {})",
                    change(ends.ratio.low, words),
                    change(ends.ratio.high, words)
                )
            });
            format!(
                "it is not clear whether {good} and {bad} differ{between}. More time (--time) or a larger input may \
                 show it."
            )
        }
        Some(BisectReason::Step) => format!(
            "the last revision tried can't be told apart from {good} or from {bad}; {left} may have made the \
             change. More time (--time) may show which."
        ),
        Some(BisectReason::NotConfirmed) => format!(
            "the search ended at {}, but no difference from its parent was shown. The change may have come in small \
             steps: 'fathom versions' plots them.",
            record
                .remaining
                .first()
                .map_or("a revision", |id| short(id))
        ),
        Some(BisectReason::NothingRuns) => format!(
            "{left} may have made the change, but they can't be built or run. To decide, give a --build that works \
             for them."
        ),
        Some(BisectReason::NoRatio) => format!(
            "{} is 0 or unknown in one of the revisions, so no ratio can be computed; choose another --metric.",
            record.metric.name()
        ),
        Some(BisectReason::Interrupted) => {
            format!("interrupted; {left} may have made the change. The builds are kept.")
        }
        None => format!("{left} may have made the change."),
    }
}

/// Returns the beginning of an id.
pub(super) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}
