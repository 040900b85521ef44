//! What each program did to start: what ran, what it opened, and what it did not find.

use fathom_model::{StartupProgram, StartupRecord, StartupTrace};

use super::{phases, words};
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::{format_bytes, format_count};

/// Names of libraries that are written out; the JSON has all.
const MOST_NAMES: usize = 12;
/// Paths that were not found that are written out.
const MOST_MISSING: usize = 3;

/// One block for each program.
pub(super) fn write(page: &mut Page, record: &StartupRecord) {
    for (index, program) in record.programs.iter().enumerate() {
        let trace = record.traces.iter().find(|trace| trace.program == index);
        if program.ran.is_empty() && trace.is_none() {
            continue;
        }
        page.gap();
        let number = match record.programs.len() {
            1 => String::new(),
            _ => format!("{}: ", index + 1),
        };
        let name = page.fit(&program.name, page.width() - number.len());
        page.push(Line::new().add(Tone::Quiet, number).add(Tone::Strong, name));
        ran(page, program);
        if let Some(trace) = trace {
            phases::write(page, trace);
            opened(page, trace);
            observed(page, trace);
        }
    }
}

pub(super) fn ran(page: &mut Page, program: &StartupProgram) {
    let names: Vec<String> = program.ran.iter().map(|path| page.clean(path)).collect();
    if !names.is_empty() {
        page.field("ran", Tone::Plain, &names.join(" > "));
    }
}

/// How much it opened, in a line.
pub(super) fn opened_in_short(page: &mut Page, trace: &StartupTrace) {
    let text = format!(
        "{}, {}, {}",
        counted(trace.libraries.len() as u64, "library", "libraries"),
        counted(trace.files.len() as u64, "other file", "other files"),
        counted(trace.failed_lookups, "failed lookup", "failed lookups"),
    );
    page.field("opened", Tone::Plain, &text);
}

fn opened(page: &mut Page, trace: &StartupTrace) {
    let libraries: Vec<String> = trace
        .libraries
        .iter()
        .map(|path| page.clean(path.rsplit('/').next().unwrap_or(path)))
        .collect();
    let mut text = counted(libraries.len() as u64, "library", "libraries");
    if !libraries.is_empty() {
        let shown = &libraries[..libraries.len().min(MOST_NAMES)];
        text.push_str(&format!(": {}", shown.join(", ")));
        if libraries.len() > shown.len() {
            text.push_str(&format!(" and {} more", libraries.len() - shown.len()));
        }
    }
    page.field("libraries", Tone::Plain, &text);
    let mut parts = vec![
        format!(
            "{} opened",
            counted(trace.files.len() as u64, "other file", "other files")
        ),
        format!("{} read", format_bytes(trace.bytes_read as f64)),
        counted(trace.failed_lookups, "failed lookup", "failed lookups"),
    ];
    let first: Vec<String> = trace
        .missing
        .iter()
        .take(MOST_MISSING)
        .map(|missing| page.clean(&missing.path))
        .collect();
    if !first.is_empty() {
        let last = parts.pop().unwrap_or_default();
        parts.push(format!("{last} ({})", first.join(", ")));
    }
    page.field("files", Tone::Plain, &parts.join(", "));
    let faults = format!(
        "{} from memory, {} from the device",
        format_count(trace.minor_faults as f64),
        format_count(trace.major_faults as f64)
    );
    page.field("page faults", Tone::Plain, &faults);
}

fn observed(page: &mut Page, trace: &StartupTrace) {
    let mut text = format!(
        "{} in tier {}",
        counted(trace.runs as u64, "further run", "further runs"),
        page.clean(&trace.tier)
    );
    if let Some(slowdown) = trace.slowdown {
        text.push_str(&format!(", {slowdown:.2}x the time of the timed ones"));
    }
    if let Some(metric) = trace.slowdown_metric {
        text.push_str(&format!(" to the {}", words::metric(metric)));
    }
    if let Some(agreement) = &trace.agreement {
        text.push_str(&format!(
            "; observed by the parent {} {} than by the kernel, {} at most",
            words::time_ns(agreement.median_difference_ns.unsigned_abs()),
            match agreement.median_difference_ns < 0 {
                true => "earlier",
                false => "later",
            },
            words::time_ns(agreement.largest_difference_ns)
        ));
    }
    page.field("observed", Tone::Quiet, &text);
}
