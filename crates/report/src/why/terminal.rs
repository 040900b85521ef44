//! What `fathom why` prints: the answer first, in 20 lines; tables where they are asked for.

use fathom_model::{Explanation, TimeCategory};

use super::account::{self, Entry};
use super::quote::{Quote, share_text};
use super::{bar, findings, own_code, processes, startup, summary, tables, whereabouts};
use crate::Screen;
use crate::line::{Line, Page, Tone};

/// How the explanation is to look on a terminal, and what is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhyOptions {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether colour may be used: false when piped and under `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// Adds what is known beside the answer: findings in full, the account as a table, what was
    /// read and written, the processes, the start, and all that limits what can be said.
    pub verbose: bool,
    /// Adds the table of all system calls.
    pub syscalls: bool,
    /// Adds the table of functions that the program's own code is in.
    pub functions: bool,
    /// Adds the account of each thread.
    pub threads: bool,
    /// Adds the whole process tree, and the account of each process.
    pub processes: bool,
}

impl Default for WhyOptions {
    /// A pipe: 80 columns, no colour, nothing added.
    fn default() -> Self {
        WhyOptions {
            width: 80,
            color: false,
            unicode: true,
            verbose: false,
            syscalls: false,
            functions: false,
            threads: false,
            processes: false,
        }
    }
}

/// The explanation as text: the time, the findings, where the time goes, how it was observed; then
/// the tables that `options` ask for. No line is wider than `options.width` and no text from
/// outside can act on the terminal. Ends with a line end.
///
/// At 80 columns without tables it is at most 20 lines with one finding or none, 4 more for each
/// further one, and the rows of where.
pub fn explain_terminal(explanation: &Explanation, options: &WhyOptions) -> String {
    let mut page = Page::new(&Screen {
        width: options.width,
        color: options.color,
        unicode: options.unicode,
        verbose: options.verbose,
    });
    let (quote, run) = (Quote::of(explanation), Quote::of_run(explanation));
    summary::time(&mut page, explanation);
    findings::write(&mut page, explanation, options.verbose);
    in_two_lines(&mut page, explanation);
    summary::observed(&mut page, explanation, options.verbose);
    if options.verbose {
        table(&mut page, explanation, quote);
        tables::io(&mut page, explanation, quote);
    }
    if options.syscalls {
        tables::calls(&mut page, explanation, quote);
    }
    if options.functions {
        own_code::table(&mut page, explanation);
    }
    if options.verbose || options.processes {
        processes::tree(&mut page, explanation, run, options.processes);
    }
    if options.processes {
        processes::accounts(&mut page, explanation, run);
    }
    if options.threads {
        processes::threads(&mut page, explanation, run);
    }
    if options.verbose {
        startup::write(&mut page, explanation, run);
    }
    page.finish()
}

/// The bar, a line that names its parts, and where most of the time is.
fn in_two_lines(page: &mut Page, explanation: &Explanation) {
    let entries = account::entries(&explanation.account);
    page.gap();
    if entries.is_empty() {
        let text = "Where the time goes is not known: the account is empty.";
        page.prose(0, Tone::Notice, text);
        return;
    }
    bar::write(page, &entries);
    bar::legend(page, &entries);
    whereabouts::write(page, explanation);
}

/// Each part with its time and share.
fn table(page: &mut Page, explanation: &Explanation, quote: Quote) {
    let entries = account::entries(&explanation.account);
    if entries.is_empty() {
        return;
    }
    let whole = summary::whole(explanation);
    let whole = if quote.times {
        format!(
            "of the {whole}, {}",
            quote.show(explanation.account.wall_ns)
        )
    } else {
        format!("shares of the {whole}, predicted")
    };
    page.gap();
    let title = "Where the time goes";
    let end = (page.width().min(80)).saturating_sub(2 + whole.len());
    let line = Line::new().add(Tone::Strong, title);
    if end > title.len() {
        page.push(line.pad_to(end).add(Tone::Quiet, whole));
    } else {
        page.push(line);
    }
    let widest = entries
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    for (index, entry) in entries.iter().enumerate() {
        let line = part(page, index, entry, widest, quote);
        page.push(line);
        if entry.spent == Some(TimeCategory::UserCode) {
            own_code::below_its_part(page, explanation);
        }
    }
}

/// Filling, name, time and share of one part.
fn part(page: &Page, index: usize, entry: &Entry, widest: usize, quote: Quote) -> Line {
    let glyph = bar::glyph(page, index, entry);
    let width = widest.min(page.width().saturating_sub(26));
    let mut line = Line::new()
        .add(Tone::Plain, "  ")
        .add(bar::tone(entry), format!("{glyph}{glyph}"))
        .add(Tone::Plain, "  ")
        .add(Tone::Plain, page.fit(&entry.name, width))
        .pad_to(6 + width);
    if quote.times {
        let time = quote.show(entry.ns);
        let missing = 10usize.saturating_sub(crate::columns(&time));
        line = line.add(Tone::Plain, format!("{}{time}", " ".repeat(missing)));
    }
    let share = share_text(entry.share);
    line.add(Tone::Strong, format!("{share:>10}"))
}
