//! The points at which series changed their level: as text in 80 columns, and as JSON.

use fathom_model::quantity::counted;
use fathom_model::{
    ChangeDirection, ChangeKind, ChangePoint, ChangesRecord, EarlyWarning, SeriesChanges,
};

use crate::history::NOTHING_SAVED;
use crate::quantity::{Scale, apart, signed, signed_with_interval};
use crate::text::{columns, escape, shorten, wrap};

/// The maximum number of lines for series with changes, chosen so that the output fits on one screen. The
/// remaining series are only counted.
const LINES: usize = 18;
/// The number of newest change points shown for a series.
const POINTS: usize = 4;
/// The width of a line in columns.
const WIDTH: usize = 80;
/// The width of a name in columns.
const NAME: usize = 60;

/// How much to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesOptions {
    /// Whether to show all series, all change points, and the spikes.
    pub all: bool,
}

/// Formats the answer, then each series that changed with its newest change points. Ends with a newline.
pub fn changes_terminal(record: &ChangesRecord, options: ChangesOptions) -> String {
    let mut out = answer(record);
    let speaks = |series: &&SeriesChanges| {
        let found = &series.found;
        !found.change_points.is_empty()
            || found.early_warning.is_some()
            || !found.withdrawn.is_empty()
            || options.all
    };
    let speaking: Vec<&SeriesChanges> = record.series.iter().filter(speaks).collect();
    let (mut shown, mut lines) = (0, 0);
    for series in &speaking {
        let block = one(series, options);
        lines += 1 + block.len();
        if !options.all && shown > 0 && lines > LINES {
            break;
        }
        shown += 1;
        out.push_str(&format!("\n{}\n", block.join("\n")));
    }
    if speaking.len() > shown {
        let more = (speaking.len() - shown) as u64;
        out.push_str(&format!(
            "\n{} changed; --all shows them\n",
            counted(more, "more series", "more series")
        ));
    }
    let spikes: usize = record
        .series
        .iter()
        .map(|series| series.found.spikes.len())
        .sum();
    if spikes > 0 && !options.all {
        let spikes = counted(spikes as u64, "spike", "spikes");
        out.push_str(&format!(
            "\n{spikes} (points far from both neighbours, same level); --all shows them\n"
        ));
    }
    out
}

fn answer(record: &ChangesRecord) -> String {
    let points: usize = record
        .series
        .iter()
        .map(|series| series.found.change_points.len())
        .sum();
    let changed = record
        .series
        .iter()
        .filter(|series| !series.found.change_points.is_empty());
    let all = counted(record.series.len() as u64, "series", "series");
    match points {
        0 if record.series.is_empty() => wrap(NOTHING_SAVED, WIDTH).join("\n") + "\n",
        0 => format!("No change point in {all}.\n"),
        _ => format!(
            "{} in {} of {all}.\n",
            counted(points as u64, "change point", "change points"),
            changed.count()
        ),
    }
}

/// Returns the lines for one series, none wider than [`WIDTH`].
fn one(series: &SeriesChanges, options: ChangesOptions) -> Vec<String> {
    let points = counted(series.points as u64, "point", "points");
    let name = shorten(&escape(&series.name), NAME);
    let mut out = vec![format!("{name}  ({points})")];
    let found = &series.found;
    let skip = if options.all {
        0
    } else {
        found.change_points.len().saturating_sub(POINTS)
    };
    if skip > 0 {
        let earlier = counted(skip as u64, "earlier change point", "earlier change points");
        out.push(format!("  {earlier}: --all"));
    }
    for point in &found.change_points[skip..] {
        out.extend(line(series, point));
        if let Some(from) = point.moved_from {
            let from = label(series, from);
            out.push(format!("      moved: previously at {from}"));
        }
    }
    for point in &found.withdrawn {
        let (kind, place) = (kind(point.kind), label(series, point.index));
        let text = format!("withdrawn: the {kind} at {place}; newer points contradict it");
        out.extend(indented(&text));
    }
    if let Some(warning) = &found.early_warning {
        out.extend(indented(&early(series, warning)));
    }
    if options.all && !found.spikes.is_empty() {
        let spikes: Vec<String> = found.spikes.iter().map(|at| label(series, *at)).collect();
        out.extend(indented(&format!("spikes: {}", spikes.join(", "))));
    }
    out
}

/// Formats a sentence with its continuation lines indented.
fn indented(text: &str) -> Vec<String> {
    let lines = wrap(text, WIDTH - 4).into_iter().enumerate();
    lines
        .map(|(number, line)| format!("{}{line}", if number == 0 { "  " } else { "    " }))
        .collect()
}

/// Formats a change point: `  +8.1 % (+7.2 to +9.0)  step at 120      12.3 ms -> 13.3 ms  slower`.
fn line(series: &SeriesChanges, point: &ChangePoint) -> Vec<String> {
    let size = match &point.ratio {
        Some(ratio) => signed_with_interval(ratio),
        None => match point.direction {
            ChangeDirection::Up => "up".to_owned(),
            ChangeDirection::Down => "down".to_owned(),
        },
    };
    let place = match point.kind {
        ChangeKind::Step => format!("step at {}", label(series, point.index)),
        ChangeKind::Drift => format!(
            "drift from {} to {}",
            first_word(&label(series, point.index)),
            first_word(&label(series, point.until))
        ),
    };
    let levels = levels(series, point);
    let judged = better(series, point.direction)
        .map_or("", |better| if better { "better" } else { "worse" });
    let line = |text: String| text.trim_end().to_owned();
    let whole = line(format!("  {size:<26} {place:<22} {levels:<20} {judged}"));
    if columns(&whole) <= WIDTH {
        return vec![whole];
    }
    // Labels from a store are long.
    let below = line(format!("  {:<26} {levels:<20} {judged}", ""));
    let first = format!("  {size:<26} {place}");
    match columns(&first) <= WIDTH {
        true => vec![first, below],
        false => vec![format!("  {size}"), format!("    {place}"), below],
    }
}

fn early(series: &SeriesChanges, warning: &EarlyWarning) -> String {
    let size = match (warning.ratio, warning.direction) {
        (Some(ratio), _) => format!("by {}", signed(ratio)),
        (None, ChangeDirection::Up) => "upwards".to_owned(),
        (None, ChangeDirection::Down) => "downwards".to_owned(),
    };
    format!(
        "early warning: the newest {} points (from {} on) may be at a new level, {size}; they are too few to be \
         sure: measure more",
        warning.points,
        label(series, warning.index)
    )
}

fn kind(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Step => "step",
        ChangeKind::Drift => "drift",
    }
}

fn better(series: &SeriesChanges, direction: ChangeDirection) -> Option<bool> {
    Some(series.higher_is_better? == (direction == ChangeDirection::Up))
}

fn label(series: &SeriesChanges, position: usize) -> String {
    match series.labels.get(position) {
        Some(label) => shorten(&escape(label), 26),
        None => position.to_string(),
    }
}

/// Returns the first word of a label: for a point from a store, its revision.
fn first_word(label: &str) -> &str {
    label.split(' ').next().unwrap_or(label)
}

/// Formats the levels before and after: `12.31 ms -> 13.32 ms`.
fn levels(series: &SeriesChanges, point: &ChangePoint) -> String {
    let values = [point.before, point.after];
    let unit = escape(series.unit.as_deref().unwrap_or_default());
    let written = apart(&values, &|side, more| {
        let value = values[side];
        Scale::beside(point.before, value, &unit).with_unit(value, value, value, more)
    });
    written.join(" -> ")
}
