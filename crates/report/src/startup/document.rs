//! The description of a record, independent of its medium.

use fathom_model::{Budget, Cache, StartupComparison, StartupMetric, StartupRecord, StartupTrace};

use super::answer::answer;
use super::verdicts::verdict;
use super::{cold, cores, distributions, phases, pictures, programs, standstill, waits, words};
use crate::Screen;
use crate::document::{Cell, Document, Form, Kind, Place, Table, html, write};
use crate::line::{Page, Tone};
use crate::page::{Head, Origin, page};
use crate::quantity::counted;

/// Formats the record as text. It begins with how soon the programs write their first byte of output; the
/// distributions, where the time of a start goes, and notes on how far to trust the numbers follow. No line
/// is wider than the screen, and untrusted text can't affect the terminal. Ends with a newline.
pub fn startup_terminal(record: &StartupRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    page.prose(0, tone, &text);
    write(&mut page, &document(record, Form::on(screen)));
    page.finish()
}

/// Formats the record as one page: the answer, the distributions, the phases as stacked bars, the verdicts,
/// and what each program opened.
///
/// Untrusted texts are only inserted as escaped text.
pub fn startup_html(record: &StartupRecord) -> String {
    let (tone, answer) = answer(record);
    let head = Head {
        verb: "startup",
        of: record.programs.first().map_or("", |p| p.name.as_str()),
        answer,
        tone,
        basis: made(record),
        commands: record.programs.iter().map(|p| p.name.as_str()).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    };
    page(&head, &html(&document(record, Form::Page)))
}

/// Describes how it was measured: `20 rounds in random order (seed 7)`.
fn made(record: &StartupRecord) -> String {
    let conditions = &record.conditions;
    let rounds = counted(u64::from(conditions.rounds), "round", "rounds");
    format!("{rounds} in random order (seed {})", conditions.seed)
}

fn document(record: &StartupRecord, form: Form) -> Document<'_> {
    let mut out = Document::default();
    if form == Form::Full {
        let programs = counted(record.programs.len() as u64, "program", "programs");
        out.gap();
        out.prose(0, Tone::Plain, format!("{programs}, {}", made(record)));
    }
    distributions::add(&mut out, record, form);
    match form {
        Form::Brief => where_it_goes(&mut out, record),
        Form::Full => {}
        Form::Page | Form::Excerpt | Form::Markdown => {
            out.section("Phases", |part| part.picture(pictures::phases(record)));
        }
    }
    if form == Form::Brief {
        cold::add_short(&mut out, record);
    } else {
        comparisons(&mut out, record);
        programs::add(&mut out, record, form);
        cold::add(&mut out, record);
        if let Some(budget) = &record.budget {
            out.headed(form, "Budget", |part| held(part, record, budget));
        }
        if let Some(floor) = &record.floor {
            out.gap();
            let text = format!(
                "an empty static program takes {} from exec to its exit here",
                words::time(floor.value)
            );
            out.fact("floor", Tone::Quiet, text);
        }
    }
    notes(&mut out, record);
    if form == Form::Brief {
        let more = match record.conditions.cold_by {
            None => "the time to exit and the files opened",
            Some(_) => "the time to exit, the files opened, the pages that stayed cached, and why",
        };
        let rounds = counted(u64::from(record.conditions.rounds), "round", "rounds");
        out.gap();
        let text = format!("{rounds} in random order; -v also shows {more}");
        out.prose(0, Tone::Quiet, text);
    }
    out
}

/// Adds the phases: for a single program with the files that it opened, for several programs one line each.
fn where_it_goes<'a>(out: &mut Document<'a>, record: &'a StartupRecord) {
    let with_phases = |trace: &&StartupTrace| !trace.phases.is_empty();
    let traces: Vec<&StartupTrace> = record.traces.iter().filter(with_phases).collect();
    out.section("Time of a warm start by phase", |part| {
        if let ([program], [trace]) = (&record.programs[..], &traces[..]) {
            part.drawn(|page| phases::write(page, trace));
            // If a script or a shim was called, another program ran.
            if program.ran.len() > 1 {
                programs::ran(part, program);
            }
            programs::opened_in_short(part, trace);
            programs::causes(part, trace);
            return;
        }
        for trace in traces {
            let text = format!("{}: {}", trace.program + 1, phases::in_a_line(trace));
            part.prose(2, Tone::Plain, text);
        }
    });
}

/// Compares each program with the first.
fn comparisons(out: &mut Document, record: &StartupRecord) {
    for cache in [Cache::Warm, Cache::Cold] {
        let mine = record.comparisons.iter().filter(|one| one.cache == cache);
        let mine: Vec<&StartupComparison> = mine.collect();
        let state = words::state(record, cache, ", ", "");
        let clock = common_clock(&mine);
        let by = clock.map_or(String::new(), |metric| {
            format!(", by the time to the {}", words::metric(metric))
        });
        let mut table = Table::new("Comparisons")
            .column("program", Kind::Name)
            .placed("state", Kind::Words, Place::Page)
            .placed("by the time to the", Kind::Words, Place::Page)
            .placed("", Kind::Words, Place::Terminal(0))
            .column("verdict", Kind::Words)
            .stacked();
        for one in mine {
            let its = words::metric(one.metric);
            let by = match clock {
                Some(_) => String::new(),
                None => format!("by the time to the {its}"),
            };
            let cells = vec![
                Cell::name(&words::numbered(record, one.subject)),
                Cell::words(words::cache(cache)),
                Cell::words(its),
                Cell::words(&by),
                Cell::words(&verdict(one)).toned(Tone::of(one.verdict)),
            ];
            table.row("", cells);
        }
        let heading = format!("Against program 1{state}{by}, round by round");
        out.section(heading, |part| part.table(table));
    }
    if record.comparisons.len() > 1 {
        let count = counted(record.comparisons.len() as u64, "comparison", "comparisons");
        let text = format!("{count}: the false discovery rate is controlled (Benjamini-Hochberg)");
        out.prose(2, Tone::Quiet, text);
    }
}

/// Returns the metric of all comparisons; `None` if they have different ones.
fn common_clock(comparisons: &[&StartupComparison]) -> Option<StartupMetric> {
    let first = comparisons.first()?.metric;
    let same = comparisons.iter().all(|other| other.metric == first);
    same.then_some(first)
}

fn held(out: &mut Document, record: &StartupRecord, budget: &Budget) {
    let limit = words::time(budget.seconds);
    for result in &budget.results {
        let name = words::name(record, result.program);
        let state = words::state(record, result.cache, " (", ")");
        let quantile = &budget.quantile;
        let clock = words::metric(result.metric);
        let found = match (result.seconds, result.held) {
            (None, _) => format!(
                "the {quantile} is unknown, because runs were void or ended by --timeout, so it could not be shown \
                 that the budget is met"
            ),
            (Some(seconds), held) => {
                let seconds = words::time(seconds);
                let how = if held { "within" } else { "OVER" };
                format!("{quantile} to the {clock} is {seconds}, {how} the budget of {limit}")
            }
        };
        let tone = if result.held { Tone::Good } else { Tone::Bad };
        out.fact("budget", tone, format!("{name}{state}: {found}"));
    }
}

/// Adds notes on the runs, and on how the machine affected them.
fn notes(out: &mut Document, record: &StartupRecord) {
    let programs = || 0..record.programs.len();
    let waited = programs().filter_map(|program| waits::of(record, program));
    let shared = programs().filter_map(|program| cores::of(record, program));
    let stood = programs().filter_map(|program| standstill::of(record, program));
    for (label, text) in waited.chain(shared).chain(stood) {
        out.note(label, Tone::Notice, text);
    }
    for warning in &record.warnings {
        let who = warning.benchmark.map(|index| waits::number(record, index));
        let text = who.unwrap_or_default() + &warning.message;
        out.note("note", Tone::Notice, text);
    }
}
