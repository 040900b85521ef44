//! What `fathom pipe` prints: one screen.

use fathom_model::{PipeExplaining, PipeModel, PipeNote, PipeRecord};

use super::view::{drawn, gains, holding_up, name};
use super::{chart, statements, tables};
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, format_level};
use crate::text::JOIN;
use crate::why::{share_text, time};

/// How the report is to look on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipeOptions {
    /// Columns of the terminal; at least 32 are used.
    pub width: usize,
    /// Whether colour may be used: false when piped and under `NO_COLOR`.
    pub color: bool,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
}

impl Default for PipeOptions {
    /// A pipe: 80 columns, no colour.
    fn default() -> Self {
        PipeOptions {
            width: 80,
            color: false,
            unicode: true,
        }
    }
}

/// The record as text: medians, the bottleneck, the chart, the tables, and what would mislead. No
/// line is wider than `options.width` and no text from outside can act on the terminal. Ends with a
/// line end.
pub fn pipe_terminal(record: &PipeRecord, options: &PipeOptions) -> String {
    let mut page = Page::new(options.width, options.color, options.unicode);
    summary(&mut page, record);
    if let Some(round) = drawn(&record.explained, &record.rounds) {
        chart::write(&mut page, record, round, &chart_title(record));
    }
    if let Some(delayed) = &record.delayed
        && let Some(round) = drawn(&delayed.explained, &delayed.rounds)
    {
        chart::write(&mut page, record, round, &late(record, &delayed.delay_ns));
    }
    for table in tables::all(record) {
        tables::write(&mut page, record, &table);
    }
    notes(&mut page, &record.notes);
    page.finish()
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

fn summary(page: &mut Page, record: &PipeRecord) {
    let commands: Vec<&str> = record
        .stages
        .iter()
        .map(|stage| stage.command.as_str())
        .collect();
    let title = page.fit(&commands.join(" | "), page.width());
    page.push(Line::new().add(Tone::Strong, title));
    for (label, text) in facts(record) {
        let tone = match label {
            "median wall" => Tone::Strong,
            "not seen" => Tone::Quiet,
            "lost" => Tone::Notice,
            _ => Tone::Plain,
        };
        let text = page.clean(&text);
        page.field(label, tone, &text);
    }
}

/// What stands above the chart: label and text.
pub(super) fn facts(record: &PipeRecord) -> Vec<(&'static str, String)> {
    let mut facts = vec![("median wall", median(record))];
    facts.extend(bottleneck(record).map(|text| ("bottleneck", text)));
    if let Some(explaining) = &record.explaining {
        facts.push(("observed", how_observed(explaining)));
        let texts = explaining.not_visible.iter();
        facts.extend(texts.map(|text| ("not seen", text.clone())));
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
        "perf" => "switches recorded by the kernel, threads looked at (tier perf)",
        "sample" => "threads looked at 1,000 times a second (tier sample)",
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

/// From here on it is said how far the model is off.
const MODEL_FAR: f64 = 0.1;

fn bottleneck(record: &PipeRecord) -> Option<String> {
    let stage = record.bottleneck?;
    let model = record.model.as_ref()?;
    if statements::model_misses(record) {
        return Some(missed(record, stage));
    }
    let wall = record.summary.wall.value;
    let how = how_modelled(model, wall);
    if !gains(record, stage) {
        return Some(format!(
            "no single stage: without any one of them the pipeline would take about as long ({how}). Stage {}, \
             {}, has the most time of its own",
            stage + 1,
            name(record, stage),
        ));
    }
    let stages = holding_up(record);
    let free = model.if_free.iter();
    let of_them = free.filter(|free| stages.contains(&free.stage));
    let walls: Vec<f64> = of_them.map(|free| free.wall_seconds).collect();
    let text = match &stages[..] {
        [stage] => format!(
            "stage {}, {}: if it took no time of its own, the pipeline would take",
            stage + 1,
            name(record, *stage),
        ),
        several => format!(
            "stages {} alike: if one of them took no time of its own, the pipeline would take",
            listed(record, several)
        ),
    };
    Some(format!(
        "{text} about {} instead of {} ({how})",
        range(&walls),
        time(wall)
    ))
}

/// Where the model does not even give what was measured.
fn missed(record: &PipeRecord, stage: usize) -> String {
    let misses = "the model misses what was measured, so what would be gained is not known";
    let name = name(record, stage);
    match &holding_up(record)[..] {
        _ if !gains(record, stage) => format!(
            "not known: the model misses what was measured. Stage {}, {name}, has the most time of its own",
            stage + 1
        ),
        [_] => format!("probably stage {}, {name}; {misses}", stage + 1),
        several => format!(
            "probably stages {} alike; {misses}",
            listed(record, several)
        ),
    }
}

/// By which means, and how good they are where they are not good.
fn how_modelled(model: &PipeModel, wall: f64) -> String {
    let how = match model.method.as_str() {
        "phases" => "modelled from when bytes came and went",
        _ => "modelled from the own times of the stages",
    };
    match model.off_by(wall) {
        off if off > MODEL_FAR => format!(
            "{how}; for the pipeline as it is the model gives {}, {} off",
            time(model.as_is_seconds),
            share_text(off)
        ),
        _ => how.to_owned(),
    }
}

/// `1 (cat), 2 (gzip) and 3 (wc)`.
fn listed(record: &PipeRecord, stages: &[usize]) -> String {
    let named = |stage: &usize| format!("{} ({})", stage + 1, name(record, *stage));
    let names: Vec<String> = stages.iter().map(named).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `1.2 s`, or `1.2 s to 1.4 s` where they differ.
fn range(seconds: &[f64]) -> String {
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = seconds.iter().copied().fold(0.0, f64::max);
    match most > least * 1.02 {
        true => format!("{} to {}", time(least), time(most)),
        false => time(least),
    }
}

fn notes(page: &mut Page, notes: &[PipeNote]) {
    if notes.is_empty() {
        return;
    }
    page.gap();
    page.push(Line::new().add(Tone::Strong, "What to know"));
    for note in notes {
        let tone = match note.id.as_str() {
            "failures" | "partial" => Tone::Bad,
            "misleading_wall_time" | "differs_alone" | "skips_file_input" | "model_inaccurate" => {
                Tone::Notice
            }
            _ => Tone::Plain,
        };
        page.prose(2, tone, &page.clean(&note.message));
    }
}
