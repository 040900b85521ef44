//! What `fathom why` prints: one screen.

use fathom_model::{Explanation, TimeCategory};

use super::account::{self, Entry};
use super::quote::{Quote, share_text};
use super::{bar, findings, own_code, processes, startup, summary, tables};
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
    /// Adds the table of all system calls.
    pub syscalls: bool,
    /// Adds the table of functions that the program's own code is in.
    pub functions: bool,
    /// Adds the account of each thread.
    pub threads: bool,
    /// Shows the whole process tree, and adds the account of each process.
    pub processes: bool,
}

impl Default for WhyOptions {
    /// A pipe: 80 columns, no colour, nothing added.
    fn default() -> Self {
        WhyOptions {
            width: 80,
            color: false,
            unicode: true,
            syscalls: false,
            functions: false,
            threads: false,
            processes: false,
        }
    }
}

/// The explanation as text: the timed runs, where the time goes, the findings, what was read and
/// written, the processes and the start. No line is wider than `options.width` and no text from
/// outside can act on the terminal. Ends with a line end.
pub fn explain_terminal(explanation: &Explanation, options: &WhyOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.unicode);
    let quote = Quote::of(explanation);
    summary::write(&mut page, explanation);
    write_account(&mut page, explanation, quote);
    findings::write(&mut page, explanation);
    tables::io(&mut page, explanation, quote);
    if options.syscalls {
        tables::calls(&mut page, explanation, quote);
    }
    if options.functions {
        own_code::table(&mut page, explanation);
    }
    let run = Quote::of_run(explanation);
    processes::tree(&mut page, explanation, run, options.processes);
    if options.processes {
        processes::accounts(&mut page, explanation, run);
    }
    if options.threads {
        processes::threads(&mut page, explanation, run);
    }
    startup::write(&mut page, explanation, run);
    summary::footer(&mut page, explanation);
    page.finish()
}

/// The bar and its parts.
fn write_account(page: &mut Page, explanation: &Explanation, quote: Quote) {
    let entries = account::entries(&explanation.account);
    page.gap();
    if entries.is_empty() {
        page.prose(
            0,
            Tone::Notice,
            "Where the time goes is not known: the account is empty.",
        );
        return;
    }
    let whole = summary::whole(explanation);
    let whole = if quote.times {
        format!(
            "of the {whole}, {}",
            quote.show(explanation.account.wall_ns)
        )
    } else {
        format!("shares of the {whole}, modelled")
    };
    let title = "Where the time goes";
    let end = (page.width().min(80)).saturating_sub(2 + whole.len());
    let line = Line::new().add(Tone::Strong, title);
    if end > title.len() {
        page.push(line.pad_to(end).add(Tone::Quiet, whole));
    } else {
        page.push(line);
    }
    bar::write(page, &entries);
    let widest = entries
        .iter()
        .map(|entry| entry.name.len())
        .max()
        .unwrap_or(0);
    for (index, entry) in entries.iter().enumerate() {
        let line = part(page, index, entry, widest, quote);
        page.push(line);
        if entry.spent == Some(TimeCategory::UserCode) {
            own_code::write(page, explanation);
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
