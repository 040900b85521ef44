//! The screen of text, and the rest with `-v`.

use fathom_model::{StartupRecord, StartupTrace};

use super::answer::answer;
use super::{cold, machine_notes, phases, programs, tables, verdicts, waits, words};
use crate::Screen;
use crate::line::{Page, Tone};
use crate::quantity::counted;

/// The record as text: first how soon the programs have their first byte of output; then the
/// distributions, where a start goes, and what must be known to trust the numbers. No line is wider
/// than `screen.width` and no text from outside can act on the terminal. Ends with a line end.
pub fn startup_terminal(record: &StartupRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    let text = page.clean(&text);
    page.prose(0, tone, &text);
    match screen.verbose {
        true => all(&mut page, record),
        false => short(&mut page, record),
    }
    page.finish()
}

fn short(page: &mut Page, record: &StartupRecord) {
    tables::write_short(page, record);
    where_it_goes(page, record);
    cold::write_short(page, record);
    notes(page, record);
    page.gap();
    let more = match record.conditions.cold_by {
        None => "the time to the exit, files",
        Some(_) => "the time to the exit, files, what stayed cached, and why",
    };
    page.prose(0, Tone::Quiet, &format!("{}; {more}: -v", made(record)));
}

/// The phases: of one program with what it opened, of several a line each.
fn where_it_goes(page: &mut Page, record: &StartupRecord) {
    let traces: Vec<&StartupTrace> = record
        .traces
        .iter()
        .filter(|trace| !trace.phases.is_empty())
        .collect();
    if traces.is_empty() {
        return;
    }
    page.gap();
    page.prose(0, Tone::Strong, "Where a warm start goes");
    if let ([program], [trace]) = (&record.programs[..], &traces[..]) {
        phases::write(page, trace);
        // A script, a shim: what was called is not what ran.
        if program.ran.len() > 1 {
            programs::ran(page, program);
        }
        programs::opened_in_short(page, trace);
        return;
    }
    for trace in traces {
        let text = format!("{}: {}", trace.program + 1, phases::in_a_line(trace));
        page.prose(2, Tone::Plain, &text);
    }
}

fn all(page: &mut Page, record: &StartupRecord) {
    page.gap();
    let text = format!(
        "{}, {} (seed {})",
        counted(record.programs.len() as u64, "program", "programs"),
        made(record),
        record.conditions.seed
    );
    page.prose(0, Tone::Plain, &text);
    tables::write(page, record);
    verdicts::write(page, record);
    programs::write(page, record);
    cold::write(page, record);
    budget(page, record);
    page.gap();
    if let Some(floor) = &record.floor {
        let text = format!(
            "an empty static program takes {} from exec to its exit here",
            words::time(floor.value)
        );
        page.field("floor", Tone::Quiet, &text);
    }
    notes(page, record);
}

/// `20 rounds in random order`.
fn made(record: &StartupRecord) -> String {
    let rounds = counted(u64::from(record.conditions.rounds), "round", "rounds");
    format!("{rounds} in random order")
}

fn budget(page: &mut Page, record: &StartupRecord) {
    let Some(budget) = &record.budget else { return };
    page.gap();
    let asked = words::time(budget.seconds);
    for result in &budget.results {
        let state = match record.conditions.cold_by {
            None => String::new(),
            Some(_) => format!(" ({})", words::cache(result.cache)),
        };
        let name = record
            .programs
            .get(result.program)
            .map_or("?", |program| program.name.as_str());
        let name = page.fit(name, 40);
        let (tone, text) = match result.seconds {
            None => (
                Tone::Bad,
                format!(
                    "{name}{state}: the {} is not known, so nothing shows that it holds: runs were void or \
                     were ended by --timeout",
                    budget.quantile
                ),
            ),
            Some(seconds) => {
                let found = format!(
                    "{} to the {} is {}",
                    budget.quantile,
                    words::metric(result.metric),
                    words::time(seconds)
                );
                match result.held {
                    true => (
                        Tone::Good,
                        format!("{name}{state}: {found}, within the budget of {asked}"),
                    ),
                    false => (
                        Tone::Bad,
                        format!("{name}{state}: {found}, OVER the budget of {asked}"),
                    ),
                }
            }
        };
        page.field("budget", tone, &text);
    }
}

/// What the machine did to the runs, and what must be known of them.
fn notes(page: &mut Page, record: &StartupRecord) {
    for (label, text) in machine_notes(record) {
        page.field(label, Tone::Notice, &text);
    }
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map_or(String::new(), |index| waits::number(record, index));
        let text = page.clean(&warning.message);
        page.field("note", Tone::Notice, &format!("{who}{text}"));
    }
}
