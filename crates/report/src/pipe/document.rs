//! The description of a record, independent of its medium.

use fathom_model::{PipeExplaining, PipeNote, PipeRecord, PipeRound};

use super::answer::{answer, how_modelled};
use super::view::{drawn, name};
use super::{chart, svg, tables};
use crate::Screen;
use crate::document::{Document, Form, html, write};
use crate::line::{Page, Tone};
use crate::page::{Head, Origin, figure, page};
use crate::quantity::{counted, format_level};
use crate::text::{JOIN, bounded, wrap};
use crate::why::time;

/// Formats the record as text. It begins with the stage that holds the pipeline up; the chart, the times, and
/// notes that matter for decisions follow. No line is wider than the screen, and untrusted text can't affect
/// the terminal. Ends with a newline.
pub fn pipe_terminal(record: &PipeRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.prose(0, Tone::Strong, &answer(record));
    if screen.verbose {
        page.prose(0, Tone::Plain, &pipeline(record));
    }
    write(&mut page, &document(record, Form::on(screen)));
    page.finish()
}

/// Formats the record as one page: the answer, the chart next to the chart of a late start, the tables, and
/// anything that may mislead.
///
/// Untrusted texts are escaped for terminals and for HTML.
pub fn pipe_html(record: &PipeRecord) -> String {
    let pipeline = pipeline(record);
    let head = Head {
        verb: "pipe",
        of: &pipeline,
        answer: bounded(&answer(record), 600),
        tone: Tone::Strong,
        basis: String::new(),
        commands: vec![&pipeline],
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    };
    page(&head, &html(&document(record, Form::Page)))
}

/// The maximum width of a command, in columns.
const COMMAND: usize = 200;

/// Returns all commands.
fn pipeline(record: &PipeRecord) -> String {
    let stages = record.stages.iter();
    let commands: Vec<String> = stages
        .map(|stage| bounded(&stage.command, COMMAND))
        .collect();
    commands.join(" | ")
}

fn document(record: &PipeRecord, form: Form) -> Document<'_> {
    let mut out = Document::default();
    if form == Form::Full {
        facts(&mut out, record);
    }
    let first = drawn(&record.explained, &record.rounds).map(|round| (round, title(record)));
    match (late(record), form) {
        // A requested late start is always shown.
        (Some((round, title)), Form::Brief) => chart(&mut out, record, round, title, form),
        (None, Form::Brief) => {
            if let Some((round, _)) = first {
                chart(&mut out, record, round, String::new(), form);
            }
        }
        (late, _) => {
            for (round, title) in first.into_iter().chain(late) {
                chart(&mut out, record, round, title, form);
            }
        }
    }
    for (title, table, note) in tables::all(record, form) {
        out.headed(form, title, |part| {
            part.table(table);
            if form != Form::Brief && !note.is_empty() {
                part.prose(2, Tone::Quiet, note);
            }
        });
    }
    match form {
        Form::Brief => out.drawn(|page| end_of_screen(page, record)),
        Form::Full => out.section("What to know", |part| {
            for note in &record.notes {
                part.prose(2, tone(note), &note.message);
            }
        }),
        _ => {
            for note in &record.notes {
                out.note("note", tone(note), &note.message);
            }
            out.section("How it was measured", |part| facts(part, record));
        }
    }
    out
}

fn chart<'a>(
    out: &mut Document<'a>,
    record: &'a PipeRecord,
    round: &'a PipeRound,
    title: String,
    form: Form,
) {
    match form {
        Form::Page => out.section(title, |part| {
            part.picture(figure(&svg::chart(record, round), svg::MARKS));
        }),
        _ => out.drawn(move |page| chart::write(page, record, round, &title)),
    }
}

/// Returns the title of the chart.
fn title(record: &PipeRecord) -> String {
    let how = match record.explained.is_empty() {
        true => "a timed",
        false => "an observed",
    };
    format!("Each stage over time, in {how} round")
}

/// Returns the round with late starts, and its title: `With 2 gzip 200 ms late`.
fn late(record: &PipeRecord) -> Option<(&PipeRound, String)> {
    let delayed = record.delayed.as_ref()?;
    let round = drawn(&delayed.explained, &delayed.rounds)?;
    let late = delayed.delay_ns.iter().enumerate();
    let late = late.filter(|(_, delay)| **delay > 0);
    let late = late.map(|(stage, delay)| {
        let delay = time(*delay as f64 / 1e9);
        format!("{} {} {delay} late", stage + 1, name(record, stage))
    });
    let late: Vec<String> = late.collect();
    Some((round, format!("With {}", late.join(", "))))
}

/// Adds what was measured and how.
fn facts(out: &mut Document, record: &PipeRecord) {
    out.fact("median wall", Tone::Strong, median(record));
    if let (Some(model), false) = (&record.model, record.model_misses()) {
        let how = how_modelled(model, record.summary.wall.value);
        out.fact("model", Tone::Plain, how);
    }
    if let Some(explaining) = &record.explaining {
        out.fact("observed", Tone::Plain, how_observed(explaining));
        for text in &explaining.not_visible {
            out.fact("not observed", Tone::Quiet, text);
        }
        for text in &explaining.lost {
            out.fact("lost", Tone::Notice, text);
        }
    }
}

fn median(record: &PipeRecord) -> String {
    let wall = &record.summary.wall;
    let interval = match wall.level > 0.0 {
        true => format!(
            ", {} interval {} to {}",
            format_level(wall.level).replace(JOIN, " "),
            time(wall.low),
            time(wall.high)
        ),
        false => String::new(),
    };
    let rounds = counted(record.rounds.len() as u64, "timed round", "timed rounds");
    format!("{}{interval}, {rounds}", time(wall.value))
}

fn how_observed(explaining: &PipeExplaining) -> String {
    let how = match explaining.tier.as_str() {
        "kernel" => "counted in the kernel (tier kernel)",
        "perf" => "switches recorded by the kernel, threads sampled (tier perf)",
        "sample" => "threads sampled 1,000 times a second (tier sample)",
        _ => {
            return "none: this tier (accounts) has only the accounting records of processes that have exited, which \
                 don't include waits"
                .to_owned();
        }
    };
    let slowdown = explaining.slowdown;
    match explaining.times_are_quoted {
        true => format!("{how}, {slowdown:.2}x the timed rounds"),
        false => format!(
            "{how}, {slowdown:.2}x the timed rounds: over 1.1x, so waits are given as shares of the stage's \
             wall time"
        ),
    }
}

/// Writes the notes that fit, and how it was measured.
fn end_of_screen(page: &mut Page, record: &PipeRecord) {
    let shown = shown_first(page, &record.notes);
    page.gap();
    for note in &shown {
        page.prose(0, tone(note), &note.message);
    }
    page.gap();
    let more = match record.notes.len() - shown.len() {
        0 => String::new(),
        more => format!(", {}", counted(more as u64, "more note", "more notes")),
    };
    let rounds = counted(record.rounds.len() as u64, "timed round", "timed rounds");
    let observed = match &record.explaining {
        None => String::new(),
        Some(_) if record.explained.is_empty() => {
            ", none observed, so the waits are unknown".to_owned()
        }
        Some(explaining) => format!(
            ", waits from one round observed by tier {} ({:.2}x)",
            explaining.tier, explaining.slowdown
        ),
    };
    let text = format!(
        "medians of {rounds}{observed}; -v shows more: byte counts, times of the first and last bytes{more}"
    );
    page.prose(0, Tone::Quiet, &text);
}

/// The height of a screen, and the number of lines around the notes: two empty lines, and two lines at the
/// end.
const SCREEN: usize = 24;
const AROUND: usize = 4;

/// Returns the notes that affect what to believe or to do, most important first: at least one, and as many
/// more as fit the screen. The result of a late start is always included, since it was requested.
fn shown_first<'a>(page: &Page, notes: &'a [PipeNote]) -> Vec<&'a PipeNote> {
    const IN_ORDER: [&[&str]; 5] = [
        &["partial", "failures", "left_behind"],
        &["holds_output"],
        &["delay", "delay_writer", "delay_pipeline"],
        &["waiting_for_cpu", "differs_alone", "skips_file_input"],
        &["misleading_wall_time"],
    ];
    let rank = |note: &PipeNote| {
        IN_ORDER
            .iter()
            .position(|ids| ids.contains(&note.id.as_str()))
    };
    let mut shown: Vec<&PipeNote> = notes.iter().filter(|note| rank(note).is_some()).collect();
    shown.sort_by_key(|note| rank(note));
    let mut lines = page.lines() + AROUND;
    let mut is_first = true;
    shown.retain(|note| {
        let more = wrap(&page.own(&note.message), page.width()).len();
        let fits = std::mem::take(&mut is_first) || lines + more <= SCREEN;
        lines += if fits { more } else { 0 };
        fits || note.id.starts_with("delay")
    });
    shown
}

/// Returns the tone of a note: an error, something misleading, or a plain note.
fn tone(note: &PipeNote) -> Tone {
    match note.id.as_str() {
        "failures" | "partial" => Tone::Bad,
        "misleading_wall_time"
        | "differs_alone"
        | "skips_file_input"
        | "model_inaccurate"
        | "holds_output" => Tone::Notice,
        _ => Tone::Plain,
    }
}
