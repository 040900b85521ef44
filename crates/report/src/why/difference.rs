//! How much more one command takes than another: the difference first, then its parts.

mod page;

use fathom_model::{
    CodePlace, Difference, DifferenceBy, DifferenceCommand, DifferenceCount, DifferenceRecord,
    DifferenceRow, OF_WALL, OnlyFinding, TimeCategory,
};

use super::code_name;
use super::quote::{share_text, time};
use super::summary::{estimate, explained_by, warnings};
use super::whereabouts::laid_out;
use super::words;
use crate::Screen;
use crate::TimeUnit;
use crate::document::{Cell, Kind, Table};
use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, decimals_for, fixed, format_count, format_level, signed};
use crate::text::{JOIN, columns as width_of, wrap};

pub use page::difference_html;

/// The maximum number of lines for rows, including the rows that they are divided into.
const ROWS: usize = 8;
/// The maximum number of lines of a row. Names that people choose don't need more.
const LINES_OF_ROW: usize = 2;
/// The maximum number of rows that a row is divided into.
const ROWS_OF_ROW: usize = 2;
/// The maximum number of findings that are shown.
const FINDINGS: usize = 2;
/// The maximum number of lines of warnings.
const WARNINGS: usize = 1;
/// The part of the longer command's time up to which an unexplained rest isn't mentioned.
const EXPLAINED: f64 = 0.02;
/// Width of a time.
const TIME: usize = 11;

/// Formats the record as text: by how much B takes more, the parts of this difference, what is not explained,
/// findings that only one of them has, and how it was observed. At 80 columns it takes at most 20 lines.
/// Untrusted text can't affect the terminal. Ends with a newline.
pub fn difference_terminal(record: &DifferenceRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let difference = &record.difference;
    let scale = Scale::of(difference);
    let (tone, answer) = answer(record, scale);
    page.prose(0, tone, &answer);
    for (name, command) in ["A", "B"].into_iter().zip(&record.commands) {
        write_command(&mut page, name, command);
    }
    page.gap();
    rows(&mut page, record, scale, screen.verbose);
    if screen.verbose {
        accounts(&mut page, record);
    }
    page.gap();
    findings(&mut page, record, screen.verbose);
    observed(&mut page, record, screen.verbose);
    page.finish()
}

/// Describes the first rows, for verbs that summarize a difference in a line or two: `+100 ms sleeping
/// (clock_nanosleep, 1 call more)`. Returns at most `most` rows, and the unexplained rest if it is too large.
/// Untrusted texts are not escaped: the caller must do that.
pub fn difference_parts(difference: &Difference, most: usize) -> Vec<String> {
    let scale = Scale::of(difference);
    let parts = difference.parts().take(most);
    let line = |row: &DifferenceRow| {
        let inner = difference.rows.iter().find(|inner| inner.of == row.part);
        let inner = inner.map(|inner| format!(" ({})", what(inner)));
        format!(
            "{} {}{}",
            scale.signed(row.milliseconds),
            what(row),
            inner.unwrap_or_default()
        )
    };
    let mut lines: Vec<String> = parts.map(line).collect();
    if difference.not_explained_share > EXPLAINED || lines.is_empty() {
        let left = scale.signed(difference.not_explained);
        lines.push(format!("{left} not explained"));
    }
    lines
}

/// Returns the total of the parts, with its own interval and ratio, for verbs whose headline uses another
/// metric or level: `wall time +128 ms (126 to 130 ms, 2.28x), the same 14 rounds`.
pub fn difference_whole(difference: &Difference) -> String {
    let scale = Scale::of(difference);
    let wall = &difference.wall;
    let interval = match wall.level > 0.0 {
        true => format!(
            "{} to {} {}, ",
            scale.number(wall.low),
            scale.number(wall.high),
            scale.unit.symbol()
        ),
        false => String::new(),
    };
    format!(
        "wall time {} ({interval}{}), in the same {}",
        scale.signed(wall.milliseconds),
        signed(wall.ratio.value),
        counted(wall.rounds as u64, "round", "rounds")
    )
}

/// The unit and number of decimals for all times, so that the displayed values add up.
#[derive(Debug, Clone, Copy)]
struct Scale {
    unit: TimeUnit,
    decimals: usize,
}

impl Scale {
    fn of(difference: &Difference) -> Scale {
        let all = difference.parts().map(|row| row.milliseconds.abs());
        let largest = all.fold(difference.wall.milliseconds.abs(), f64::max) / 1e3;
        let unit = TimeUnit::fitting(largest);
        Scale {
            unit,
            decimals: decimals_for(largest / unit.seconds(), 3),
        }
    }

    fn number(self, milliseconds: f64) -> String {
        fixed(milliseconds / 1e3 / self.unit.seconds(), self.decimals)
    }

    /// Returns whether all digits of the formatted time are 0.
    fn is_nothing(self, milliseconds: f64) -> bool {
        let number = self.number(milliseconds.abs());
        number.chars().all(|c| c == '0' || c == '.')
    }

    /// Formats a time with its sign: `+100 ms`.
    fn signed(self, milliseconds: f64) -> String {
        let number = self.number(milliseconds.abs());
        let sign = match milliseconds < 0.0 {
            _ if self.is_nothing(milliseconds) => "",
            true => "-",
            false => "+",
        };
        format!("{sign}{number} {}", self.unit.symbol())
    }
}

/// Returns the first sentence on its own.
pub(crate) fn difference_answer(record: &DifferenceRecord) -> String {
    answer(record, Scale::of(&record.difference)).1
}

/// Returns the first sentence: `B takes 128 ms more than A (2.30x; 95 % interval 126 to 130 ms)`.
fn answer(record: &DifferenceRecord, scale: Scale) -> (Tone, String) {
    let wall = &record.difference.wall;
    let ratio = &wall.ratio;
    let level = format_level(wall.level).replace(JOIN, " ");
    let unit = scale.unit.symbol();
    let interval = |low: f64, high: f64| {
        let (low, high) = (scale.number(low), scale.number(high));
        match wall.level > 0.0 {
            true => format!("{level} interval {low} to {high} {unit}"),
            false => "a single round has no interval".to_owned(),
        }
    };
    if !wall.is_clear() {
        // Compares the farther end of the interval with A's wall time as printed.
        let reference = record.commands.first().map(|a| a.timed.wall.value * 1e3);
        let reference = reference.filter(|milliseconds| *milliseconds > 0.0);
        let farther = wall.high.max(-wall.low).max(0.0);
        let within = reference.map(|of| format!("within {}, ", share_text(farther / of)));
        let text = match wall.level > 0.0 {
            true => format!(
                "no difference: {}{}",
                within.unwrap_or_default(),
                interval(wall.low, wall.high)
            ),
            false => "no difference".to_owned(),
        };
        return (Tone::Strong, text);
    }
    let is_more = wall.milliseconds > 0.0;
    let (word, tone) = if is_more {
        ("more", Tone::Bad)
    } else {
        ("less", Tone::Good)
    };
    let interval = match is_more {
        true => interval(wall.low, wall.high),
        false => interval(-wall.high, -wall.low),
    };
    let text = format!(
        "B takes {} {unit} {word} than A ({}; {interval})",
        scale.number(wall.milliseconds.abs()),
        signed(ratio.value),
    );
    (tone, text)
}

/// Writes a command with its time: `  A  gzip -1 f   412 ms`.
fn write_command(page: &mut Page, name: &str, command: &DifferenceCommand) {
    let runs = command.timed.runs;
    let mut fact = match runs {
        0 => "no run was timed".to_owned(),
        _ => time(command.timed.wall.value),
    };
    if !command.end.is_empty() {
        fact.push_str(&format!(", {}", page.clean(&command.end)));
    }
    let fact = page.begin(&fact, page.width() / 2);
    let room = page.width().saturating_sub(5 + 3 + width_of(&fact));
    let line = Line::new()
        .add(Tone::Plain, "  ")
        .add(Tone::Quiet, format!("{name}  "))
        .add(Tone::Strong, page.fit(&command.command, room))
        .add(Tone::Plain, "   ")
        .add(Tone::Plain, fact);
    page.push(line);
}

/// Writes the rows of the wall time, each followed by the rows it is divided into, and what is not explained.
fn rows(page: &mut Page, record: &DifferenceRecord, scale: Scale, all: bool) {
    let difference = &record.difference;
    let mut left = if all { usize::MAX } else { ROWS };
    let (mut more, mut of_more) = (0, 0.0);
    let parts = difference.parts().count();
    for (index, row) in difference.parts().enumerate() {
        // The last line is reserved for the rows that don't fit.
        if left == 0 || (left == 1 && index + 1 < parts) {
            more += 1;
            of_more += row.milliseconds;
            continue;
        }
        left = left.saturating_sub(write_row(page, row, scale, all));
        let inner = difference.rows.iter().filter(|inner| inner.of == row.part);
        // Use as many lines as the remaining parts don't need.
        let free = left.saturating_sub(parts - index - 1);
        let inner = inner.filter(|inner| all || !scale.is_nothing(inner.milliseconds));
        let inner = inner.take(if all {
            usize::MAX
        } else {
            free.min(ROWS_OF_ROW)
        });
        for inner in inner {
            left = left.saturating_sub(write_row(page, inner, scale, all));
        }
    }
    if more > 0 {
        let text = counted(more, "smaller part", "smaller parts");
        page.push(at(scale.signed(of_more)).add(Tone::Quiet, text));
    }
    let share = share_text(difference.not_explained_share);
    let walls = record
        .commands
        .iter()
        .map(|command| command.account.wall_ns);
    let longer = match walls.collect::<Vec<_>>()[..] {
        [a, b] if a > b => "A",
        _ => "B",
    };
    let line = at(scale.signed(difference.not_explained));
    page.push(line.add(Tone::Quiet, format!("not explained: {share} of {longer}")));
}

/// Starts a line with a time.
fn at(time: String) -> Line {
    Line::new().add(Tone::Plain, format!("{time:>TIME$}  "))
}

/// Writes a row, and returns its number of lines. Names are never truncated: a long name continues on the
/// next line.
fn write_row(page: &mut Page, row: &DifferenceRow, scale: Scale, interval: bool) -> usize {
    let is_inner = row.of != OF_WALL;
    let indent = if is_inner { "    " } else { "" };
    let mut pieces = pieces(row);
    if interval {
        let (low, high) = (scale.number(row.low), scale.number(row.high));
        if let Some(last) = pieces.last_mut() {
            last.push_str(&format!("; {low} to {high}"));
        }
    }
    let pieces: Vec<String> = pieces.iter().map(|piece| page.clean(piece)).collect();
    let from = TIME + 2 + indent.len();
    let tone = match (is_inner, row.category) {
        (true, _) => Tone::Quiet,
        (false, Some(spent)) => words::kind(spent).tone(),
        (false, None) => Tone::Strong,
    };
    let time = scale.signed(row.milliseconds);
    let mut line = Line::new().add(Tone::Plain, format!("{indent}{time:>TIME$}  "));
    let mut texts = laid_out(&pieces, page.width().saturating_sub(from), 1);
    if !interval {
        texts.truncate(LINES_OF_ROW);
    }
    let lines = texts.len();
    for text in texts {
        page.push(line.add(tone, text));
        line = Line::new().pad_to(from);
    }
    lines
}

/// Describes a row: `clock_nanosleep, 1 call more`. The text is not escaped.
fn what(row: &DifferenceRow) -> String {
    pieces(row).join(" ")
}

/// Returns the pieces of a row's description: what it is with its count, then the file or the callers.
fn pieces(row: &DifferenceRow) -> Vec<String> {
    let name = match (row.by, row.category) {
        (DifferenceBy::Category, Some(spent)) => words::name(spent).to_owned(),
        (DifferenceBy::Child, _) => format!("child {}", row.part),
        (DifferenceBy::Together, _) => match row.part.as_str() {
            "other_cpu_time" => "CPU time in parts too small to be shown one by one".to_owned(),
            _ => "waits too short to be shown one by one".to_owned(),
        },
        (DifferenceBy::Function, _) => {
            let function = CodePlace {
                function: Some(row.part.clone()),
                binary: row.file.clone(),
                ..CodePlace::default()
            };
            code_name::place(&function).unwrap_or_else(|| row.part.clone())
        }
        _ => row.part.clone(),
    };
    let callers = code_name::pieces(&CodePlace::default(), &row.callers);
    let file = match (row.by, &row.file) {
        // The caller is more informative than the file.
        (DifferenceBy::Function, _) if !callers.is_empty() => Some(callers.concat()),
        (DifferenceBy::Function, Some(file)) => Some(format!("in {}", code_name::file_name(file))),
        (_, Some(file)) => Some(format!("on {file}")),
        _ => None,
    };
    let count = row.count.as_ref().map(count).unwrap_or_default();
    [Some(format!("{name}{count}")), file]
        .into_iter()
        .flatten()
        .collect()
}

/// Formats a difference in counts: `, 1 call more`.
fn count(count: &DifferenceCount) -> String {
    let difference = count.a.abs_diff(count.b);
    let what = match (difference, count.what.as_str()) {
        (1, "calls") => "call",
        (1, "page faults") => "page fault",
        (1, "processes") => "process",
        (_, many) => many,
    };
    let word = if count.b > count.a { "more" } else { "fewer" };
    format!(", {} {what} {word}", format_count(difference as f64))
}

/// Writes both accounts side by side.
fn accounts(page: &mut Page, record: &DifferenceRecord) {
    let table = account_table(record);
    if !table.is_empty() {
        page.gap();
        table.terminal(page, 2);
    }
}

fn account_table(record: &DifferenceRecord) -> Table {
    let mut table = Table::new("Accounts")
        .column("the median wall time by part", Kind::Name)
        .column("A", Kind::Number)
        .column("B", Kind::Number);
    let [a, b] = &record.commands[..] else {
        return table;
    };
    for spent in TimeCategory::ALL {
        let of = [a, b].map(|command| command.account.ns(spent));
        if of.iter().any(|ns| *ns > 0) {
            let [a, b] = of.map(|ns| Cell::number(&time(ns as f64 / 1e9), ns as f64));
            table.row("", vec![Cell::name(words::name(spent)), a, b]);
        }
    }
    table
}

/// Writes the findings that only one of the commands has.
fn findings(page: &mut Page, record: &DifferenceRecord, all: bool) {
    let shown = if all { usize::MAX } else { FINDINGS };
    for OnlyFinding { command, finding } in record.findings.iter().take(shown) {
        let who = if *command == 0 { "only A" } else { "only B" };
        let statement = page.clean(&finding.statement);
        let text = format!("{}: {statement}", finding.id);
        let start = Line::new().add(Tone::Notice, format!("{who}  "));
        let room = page.width().saturating_sub(width_of(who) + 2);
        match all {
            true => {
                for (index, line) in wrap(&text, room).into_iter().enumerate() {
                    let start = if index == 0 {
                        start.clone()
                    } else {
                        Line::new().pad_to(8)
                    };
                    page.push(start.add(Tone::Plain, line));
                }
            }
            false => {
                let text = page.begin(&text, room);
                page.push(start.add(Tone::Plain, text));
            }
        }
    }
    let more = record.findings.len().saturating_sub(shown);
    if more > 0 {
        let text = counted(more as u64, "more finding", "more findings");
        page.push(Line::new().add(Tone::Quiet, format!("and {text} that only one command has")));
    }
}

/// Describes how the commands were timed and observed; `tier` must be safe for display.
fn observed_in_words(record: &DifferenceRecord, tier: &str) -> String {
    let rounds = record.difference.wall.rounds as u64;
    let runs = record.commands.iter().map(|command| command.observed_runs);
    let runs = runs.min().unwrap_or(0) as u64;
    format!(
        "{} in random order; observed {}, {} each",
        counted(rounds, "round", "rounds"),
        explained_by(tier),
        counted(runs, "run", "runs"),
    )
}

/// Writes how the commands were timed and observed, and notes on how far to trust the numbers.
fn observed(page: &mut Page, record: &DifferenceRecord, all: bool) {
    let tier = record.commands.first();
    let tier = tier.map_or("", |command| &command.observation.tier);
    let text = observed_in_words(record, &page.clean(tier));
    match all {
        true => page.prose(0, Tone::Quiet, &text),
        false => {
            let line = page.begin(&format!("{text}   details: -v"), page.width());
            page.push(Line::new().add(Tone::Quiet, line));
        }
    }
    let most = if all { usize::MAX } else { WARNINGS };
    warnings(page, &record.warnings, most);
    if !all {
        return;
    }
    for (name, command) in ["A", "B"].into_iter().zip(&record.commands) {
        let median = estimate(&command.timed.wall).replace(JOIN, " ");
        let text = format!("{name}: median {median}; {} timed", command.timed.runs);
        page.prose(0, Tone::Quiet, &text);
    }
    let intervals = &record.difference.intervals;
    page.prose(0, Tone::Quiet, &format!("intervals: {intervals}"));
}
