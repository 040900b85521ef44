//! What `fathom pipe` prints: one screen, and the rest with `-v`.

use fathom_model::{PipeExplaining, PipeNote, PipeRecord};

use super::answer::{answer, how_modelled};
use super::view::{drawn, name};
use super::{chart, tables};
use crate::Screen;
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, format_level};
use crate::text::{JOIN, wrap};
use crate::why::time;

/// The record as text: first which stage holds the pipeline up; then the chart, the times, and what
/// changes what to do. No line is wider than `screen.width` and no text from outside can act on
/// the terminal. Ends with a line end.
pub fn pipe_terminal(record: &PipeRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    page.prose(0, Tone::Strong, &answer(record));
    match screen.verbose {
        true => all(&mut page, record),
        false => short(&mut page, record),
    }
    page.finish()
}

fn short(page: &mut Page, record: &PipeRecord) {
    // Who asked for a late start wants to see that.
    match (late_chart(record), drawn(&record.explained, &record.rounds)) {
        (Some((round, title)), _) => chart::write(page, record, round, &title),
        (None, Some(round)) => chart::write(page, record, round, ""),
        (None, None) => {}
    }
    tables::write(page, record, &tables::times(record), false);
    let shown = shown_first(page, &record.notes);
    if !shown.is_empty() {
        page.gap();
    }
    for note in &shown {
        write_note(page, 0, note);
    }
    page.gap();
    let more = match record.notes.len() - shown.len() {
        0 => String::new(),
        more => format!(
            ", {}",
            counted(more as u64, "more thing to know", "more things to know")
        ),
    };
    let rounds = counted(record.rounds.len() as u64, "timed round", "timed rounds");
    let observed = record
        .explaining
        .as_ref()
        .map_or(String::new(), |explaining| {
            match record.explained.is_empty() {
                true => ", none observed: waits are not known".to_owned(),
                false => format!(
                    ", waits of one observed by tier {} ({:.2}x)",
                    explaining.tier, explaining.slowdown
                ),
            }
        });
    let observed = page.clean(&observed);
    page.prose(
        0,
        Tone::Quiet,
        &format!("medians of {rounds}{observed}; bytes, first and last bytes{more}: -v"),
    );
}

fn all(page: &mut Page, record: &PipeRecord) {
    let commands: Vec<&str> = record
        .stages
        .iter()
        .map(|stage| stage.command.as_str())
        .collect();
    let title = page.fit(&commands.join(" | "), page.width());
    page.push(Line::new().add(Tone::Plain, title));
    for (label, text) in facts(record) {
        let tone = match label {
            "median wall" => Tone::Strong,
            "not observed" => Tone::Quiet,
            "lost" => Tone::Notice,
            _ => Tone::Plain,
        };
        page.field(label, tone, &text);
    }
    first_chart(page, record);
    if let Some((round, title)) = late_chart(record) {
        chart::write(page, record, round, &title);
    }
    for table in tables::all(record) {
        tables::write(page, record, &table, true);
    }
    if record.notes.is_empty() {
        return;
    }
    page.gap();
    page.push(Line::new().add(Tone::Strong, "What to know"));
    for note in &record.notes {
        write_note(page, 2, note);
    }
}

fn first_chart(page: &mut Page, record: &PipeRecord) {
    if let Some(round) = drawn(&record.explained, &record.rounds) {
        chart::write(page, record, round, &chart_title(record));
    }
}

fn late_chart(record: &PipeRecord) -> Option<(&fathom_model::PipeRound, String)> {
    let delayed = record.delayed.as_ref()?;
    let round = drawn(&delayed.explained, &delayed.rounds)?;
    Some((round, late(record, &delayed.delay_ns)))
}

/// What the chart shows.
pub(super) fn chart_title(record: &PipeRecord) -> String {
    let how = match record.explained.is_empty() {
        true => "a timed",
        false => "an observed",
    };
    format!("Who did what when, in {how} round")
}

/// `With 2 gzip 200 ms late`.
pub(super) fn late(record: &PipeRecord, delays: &[u64]) -> String {
    let late: Vec<String> = delays
        .iter()
        .enumerate()
        .filter(|(_, delay)| **delay > 0)
        .map(|(stage, delay)| {
            format!(
                "{} {} {} late",
                stage + 1,
                name(record, stage),
                time(*delay as f64 / 1e9)
            )
        })
        .collect();
    format!("With {}", late.join(", "))
}

/// What was measured and how: label and text.
pub(super) fn facts(record: &PipeRecord) -> Vec<(&'static str, String)> {
    let mut facts = vec![("median wall", median(record))];
    if let (Some(model), false) = (&record.model, record.model_misses()) {
        facts.push(("model", how_modelled(model, record.summary.wall.value)));
    }
    if let Some(explaining) = &record.explaining {
        facts.push(("observed", how_observed(explaining)));
        let texts = explaining.not_visible.iter();
        facts.extend(texts.map(|text| ("not observed", text.clone())));
        let texts = explaining.lost.iter();
        facts.extend(texts.map(|text| ("lost", text.clone())));
    }
    facts
}

fn median(record: &PipeRecord) -> String {
    let wall = &record.summary.wall;
    let mut text = time(wall.value);
    if wall.level > 0.0 {
        let level = format_level(wall.level).replace(JOIN, " ");
        text.push_str(&format!(
            ", {level} interval {} to {}",
            time(wall.low),
            time(wall.high)
        ));
    }
    let rounds = record.rounds.len() as u64;
    text.push_str(&format!(
        ", {}",
        counted(rounds, "timed round", "timed rounds")
    ));
    text
}

fn how_observed(explaining: &PipeExplaining) -> String {
    let how = match explaining.tier.as_str() {
        "kernel" => "counted in the kernel (tier kernel)",
        "perf" => "switches recorded by the kernel, threads sampled (tier perf)",
        "sample" => "threads sampled 1,000 times a second (tier sample)",
        _ => {
            return "not: only the accounts of ended processes (tier accounts), so no waits"
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

/// Lines of a screen, and those of it that stand around the notes: two empty ones, two at the end.
const SCREEN: usize = 24;
const AROUND: usize = 4;

/// The notes that change what to believe or to do, most important first: one, and as many more as
/// fit the screen. What became of a late start was asked for.
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
        let more = wrap(&page.clean(&note.message), page.width()).len();
        let fits = std::mem::take(&mut is_first) || lines + more <= SCREEN;
        lines += if fits { more } else { 0 };
        fits || note.id.starts_with("delay")
    });
    shown
}

/// How a note is coloured: what is wrong, what would mislead, what is only to be known.
pub(super) fn tone(note: &PipeNote) -> Tone {
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

fn write_note(page: &mut Page, indent: usize, note: &PipeNote) {
    page.prose(indent, tone(note), &note.message);
}
