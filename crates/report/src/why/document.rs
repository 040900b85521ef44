//! The description of an explanation, independent of its medium.

use fathom_model::Explanation;

use super::quote::Quote;
use super::summary::{counted_runs, estimate, explained_by, process_title, slowdown};
use super::tables::Extent;
use super::{account, bar, findings, paths, processes, startup, summary, tables, whereabouts};
use crate::document::{Document, Form, Table};
use crate::line::{Page, Tone};
use crate::text::JOIN;

pub(super) fn document(explanation: &Explanation, extent: Extent) -> Document<'_> {
    let Extent { form, asked, .. } = extent;
    let verbose = asked.screen.verbose;
    let mut out = Document::default();
    match form {
        Form::Markdown => in_words(&mut out, explanation),
        Form::Brief | Form::Full => {
            out.drawn(|page| summary::time(page, explanation));
            out.drawn(move |page| findings::write(page, explanation, verbose));
            out.drawn(|page| picture(page, explanation));
            out.drawn(move |page| summary::observed(page, explanation, verbose));
        }
        // A page draws the pictures with its script.
        Form::Page | Form::Excerpt => {}
    }
    if matches!(form, Form::Full | Form::Markdown) {
        out.gap();
        out.table(tables::account(explanation, extent));
    }
    if matches!(form, Form::Page | Form::Markdown) {
        out.headed(form, "Where in the code", |part| {
            part.table(tables::places(explanation, extent));
        });
    }
    if form == Form::Markdown {
        findings::items(&mut out, explanation);
        for warning in &explanation.warnings {
            out.fact("Warning", Tone::Notice, warning);
        }
        return out;
    }
    if verbose {
        out.headed(form, "Read and written", |part| {
            tables::io(part, explanation, extent);
        });
    }
    let or_why = |part: &mut Document, table: Table, why: &str| match table.is_empty() {
        true if !form.has_pictures() => part.prose(0, Tone::Quiet, why),
        _ => part.table(table),
    };
    if asked.syscalls {
        out.headed(form, "System calls", |part| {
            let why = "This tier counts no system calls.";
            or_why(part, tables::calls(explanation, extent), why);
        });
    }
    if asked.functions {
        out.headed(form, "The program\u{2019}s own code", |part| {
            let why = "This tier doesn't see which functions the program's own time is spent in.";
            or_why(part, tables::functions(explanation, extent), why);
        });
        out.drawn(|page| paths::write(page, explanation));
    }
    let run = Quote::of_run(explanation);
    if verbose || asked.processes {
        out.drawn(move |page| processes::tree(page, explanation, run, asked.processes));
    }
    if asked.processes {
        out.headed(form, "Processes", |part| {
            part.table(tables::processes(explanation, extent));
        });
    }
    if asked.threads {
        out.headed(form, "Threads", |part| {
            part.table(tables::threads(explanation, extent));
        });
    }
    if verbose && !explanation.phases.is_empty() && !form.has_pictures() {
        out.gap();
        out.fact("phases", Tone::Plain, startup::phases(explanation, run));
    }
    out
}

/// Writes the bar, a line that names its parts, and where most of the time is spent.
fn picture(page: &mut Page, explanation: &Explanation) {
    let entries = account::entries(&explanation.account);
    page.gap();
    if entries.is_empty() {
        let text = "The time can't be attributed: the account is empty.";
        page.prose(0, Tone::Notice, text);
        return;
    }
    bar::write(page, &entries);
    bar::legend(page, &entries);
    whereabouts::write(page, explanation);
}

/// Adds what was timed and observed.
fn in_words(out: &mut Document, explanation: &Explanation) {
    let explaining = &explanation.explaining;
    let (by, slowdown) = (explained_by(&explaining.tier), slowdown(explanation));
    let text = match &explanation.process {
        Some(process) => {
            let title = process_title(explanation, process);
            format!("{title}. Observed {by}; {slowdown}.")
        }
        None => format!(
            "Wall time {}, median of {}. Observed in another run, {by}; {slowdown}.",
            estimate(&explanation.timed.wall).replace(JOIN, " "),
            counted_runs(&explanation.timed),
        ),
    };
    out.prose(0, Tone::Plain, text);
    if !explanation.end.is_empty() {
        out.fact("The run ended", Tone::Bad, &explanation.end);
    }
    for lost in &explaining.lost {
        out.fact("Lost", Tone::Bad, lost);
    }
}
