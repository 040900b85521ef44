//! What each program did to start: what ran, what it opened, and what it didn't find.

use fathom_model::{StartupProgram, StartupRecord, StartupTrace};

use super::{phases, words};
use crate::document::{Document, Form};
use crate::line::Tone;
use crate::quantity::counted;
use crate::{format_bytes, format_count};

/// The maximum number of libraries that are named; the JSON has all of them.
const MOST_NAMES: usize = 12;
/// The maximum number of missing paths that are named.
const MOST_MISSING: usize = 3;

/// Adds a section for each program.
pub(super) fn add<'a>(out: &mut Document<'a>, record: &'a StartupRecord, form: Form) {
    for (index, program) in record.programs.iter().enumerate() {
        let trace = record.traces.iter().find(|trace| trace.program == index);
        out.section(words::numbered(record, index), |part| {
            ran(part, program);
            let Some(trace) = trace else { return };
            if form == Form::Full {
                part.drawn(|page| phases::write(page, trace));
            }
            opened(part, trace);
            causes(part, trace);
            observed(part, trace);
            if form == Form::Page {
                part.list("Libraries", trace.libraries.clone());
                part.list("Other files", trace.files.clone());
                let missing = trace.missing.iter().map(|missing| missing.path.clone());
                part.list("Not found", missing.collect());
            }
        });
    }
}

pub(super) fn ran(out: &mut Document, program: &StartupProgram) {
    if !program.ran.is_empty() {
        out.fact("ran", Tone::Plain, program.ran.join(" > "));
    }
}

/// Says what makes the start long, and what to change.
pub(super) fn causes(out: &mut Document, trace: &StartupTrace) {
    for finding in &trace.findings {
        out.fact("why", Tone::Plain, &*finding.statement);
        out.fact("change", Tone::Plain, &*finding.advice);
    }
}

/// Summarizes in one line what the program opened.
pub(super) fn opened_in_short(out: &mut Document, trace: &StartupTrace) {
    let text = format!(
        "{}, {}, {}",
        counted(trace.libraries.len() as u64, "library", "libraries"),
        counted(trace.files.len() as u64, "other file", "other files"),
        counted(trace.failed_lookups, "failed lookup", "failed lookups"),
    );
    out.fact("opened", Tone::Plain, text);
}

fn opened(out: &mut Document, trace: &StartupTrace) {
    let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let libraries: Vec<String> = trace.libraries.iter().map(name).collect();
    let mut text = counted(libraries.len() as u64, "library", "libraries");
    if !libraries.is_empty() {
        let shown = &libraries[..libraries.len().min(MOST_NAMES)];
        text.push_str(&format!(": {}", shown.join(", ")));
        if libraries.len() > shown.len() {
            text.push_str(&format!(" and {} more", libraries.len() - shown.len()));
        }
    }
    out.fact("libraries", Tone::Plain, text);
    let mut text = format!(
        "{} opened, {} read, {}",
        counted(trace.files.len() as u64, "other file", "other files"),
        format_bytes(trace.bytes_read as f64),
        counted(trace.failed_lookups, "failed lookup", "failed lookups"),
    );
    let first = trace.missing.iter().take(MOST_MISSING);
    let first: Vec<&str> = first.map(|missing| missing.path.as_str()).collect();
    if !first.is_empty() {
        text.push_str(&format!(" ({})", first.join(", ")));
    }
    out.fact("files", Tone::Plain, text);
    let faults = format!(
        "{} from memory, {} from the device",
        format_count(trace.minor_faults as f64),
        format_count(trace.major_faults as f64)
    );
    out.fact("page faults", Tone::Plain, faults);
}

fn observed(out: &mut Document, trace: &StartupTrace) {
    let mut text = format!(
        "{} in tier {}",
        counted(trace.runs as u64, "further run", "further runs"),
        trace.tier
    );
    if let Some(slowdown) = trace.slowdown {
        text.push_str(&format!(", {slowdown:.2}x the time of the timed runs"));
    }
    if let Some(metric) = trace.slowdown_metric {
        text.push_str(&format!(" to the {}", words::metric(metric)));
    }
    if let Some(agreement) = &trace.agreement {
        text.push_str(&format!(
            "; the parent's timestamps are {} {} than the kernel's, at most {}",
            words::time_ns(agreement.median_difference_ns.unsigned_abs()),
            match agreement.median_difference_ns < 0 {
                true => "earlier",
                false => "later",
            },
            words::time_ns(agreement.largest_difference_ns)
        ));
    }
    out.fact("observed", Tone::Quiet, text);
}
