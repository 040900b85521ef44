//! The versions with their medians, drawn as bars: time over versions.

use std::collections::BTreeSet;

use fathom_model::{Version, VersionState, VersionsRecord};

use super::answer::is_real;
use super::{Figures, change_in_words};
use crate::line::{Line, Page, Tone};
use crate::quantity::counted;
use crate::text::columns;

/// More rows than this don't fit a screen.
const MOST_ROWS: usize = 24;
/// Columns of a version's name.
const NAME: usize = 16;
/// A bar that is shorter shows nothing.
const SHORTEST_BAR: usize = 8;
const LONGEST_BAR: usize = 30;

/// One row: its cells from left to right.
struct Row<'r> {
    version: &'r Version,
    name: String,
    date: &'r str,
    median: String,
    interval: String,
    since: String,
}

/// Writes the table; all versions if `verbose`.
pub(super) fn write(page: &mut Page, record: &VersionsRecord, verbose: bool) {
    let medians = || {
        let all = record.versions.iter();
        all.filter_map(|version| version.estimate.map(|estimate| estimate.value))
    };
    let figures = Figures::of(record.metric, medians());
    let highest = medians().fold(0.0, f64::max);
    let rows: Vec<Row<'_>> = record
        .versions
        .iter()
        .map(|version| row(page, record, version, figures))
        .collect();
    let width = |title: &str, cell: &dyn Fn(&Row<'_>) -> usize| {
        rows.iter().map(cell).max().unwrap_or(0).max(title.len())
    };
    let first = record.versions.iter().find(|one| one.estimate.is_some());
    let since_title = first.map_or_else(String::new, |one| {
        format!("since {}", page.fit(&one.version, NAME))
    });
    let name = width("version", &|row| columns(&row.name));
    let dated = rows.iter().any(|row| !row.date.is_empty());
    let median = width("median", &|row| columns(&row.median));
    let interval = width("95 % interval", &|row| columns(&row.interval));
    let since = width(&since_title, &|row| columns(&row.since));
    let taken = 2 + name + 2 + median + 2 + interval + 2 + since + 2;
    // The picture is what is looked at: the date gives way first, then the interval.
    let room = page.width().saturating_sub(taken);
    let dates = dated && room >= 12 + SHORTEST_BAR;
    let intervals = room >= SHORTEST_BAR;
    let room = match (dates, intervals) {
        (true, _) => room - 12,
        (false, true) => room,
        (false, false) => page.width().saturating_sub(taken - interval - 2),
    };
    let bar = room.min(LONGEST_BAR);
    let line = |cells: [&str; 4]| {
        let mut line = Line::new()
            .add(Tone::Plain, "  ")
            .add(Tone::Plain, cells[0]);
        let mut end = 2 + name;
        line = line.pad_to(end);
        if dates {
            end += 12;
            line = line.add(Tone::Quiet, format!("  {}", cells[1])).pad_to(end);
        }
        end += 2 + median;
        line = line
            .pad_to(end - columns(cells[2]))
            .add(Tone::Strong, cells[2]);
        if intervals {
            end += 2 + interval;
            line = line.add(Tone::Quiet, format!("  {}", cells[3])).pad_to(end);
        }
        (line.add(Tone::Plain, "  "), end + 2)
    };
    page.gap();
    let (head, end) = line(["version", "date", "median", "95 % interval"]);
    page.push(head.pad_to(end + bar + 2).add(Tone::Quiet, since_title));
    let shown = shown(record, verbose);
    let mut hidden = 0;
    for (index, row) in rows.iter().enumerate() {
        if !shown.contains(&index) {
            hidden += 1;
            continue;
        }
        gap(page, &mut hidden);
        let (start, end) = line([&row.name, row.date, &row.median, &row.interval]);
        match row.version.estimate {
            Some(estimate) => {
                let cells = estimate.value / highest * bar as f64;
                let picture = drawn(cells, page.unicode());
                page.push(
                    start
                        .add(Tone::OwnTime, picture)
                        .pad_to(end + bar + 2)
                        .add(Tone::Plain, row.since.as_str()),
                );
            }
            None => absent(page, row, name, verbose),
        }
    }
    gap(page, &mut hidden);
}

fn row<'r>(
    page: &Page,
    record: &VersionsRecord,
    version: &'r Version,
    figures: Figures,
) -> Row<'r> {
    let date = version.date.as_deref().unwrap_or_default();
    let since = version.since_first.filter(|_| version.benchmark != Some(0));
    Row {
        version,
        name: page.fit(&version.version, NAME),
        date: date.get(..10).unwrap_or(date),
        median: version
            .estimate
            .map_or_else(String::new, |estimate| figures.value(estimate.value)),
        interval: version
            .estimate
            .map_or_else(String::new, |estimate| figures.interval(&estimate)),
        since: since.map_or_else(String::new, |ratio| {
            change_in_words(&ratio, record.metric).0
        }),
    }
}

/// A version without a result: why.
fn absent(page: &mut Page, row: &Row<'_>, name: usize, verbose: bool) {
    let what = match row.version.state {
        VersionState::DoesNotBuild => "does not build",
        VersionState::LeftOut => "left out",
        VersionState::Measured => "no result",
    };
    let error = row.version.error.as_deref().unwrap_or_default();
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let start = Line::new()
        .add(Tone::Plain, "  ")
        .add(Tone::Plain, row.name.as_str())
        .pad_to(2 + name);
    if verbose {
        page.push(start.add(Tone::Notice, format!("  {what}")));
        for line in lines {
            page.prose(4 + name, Tone::Quiet, line);
        }
        return;
    }
    // The first line says how it ended, the last mostly why.
    let first = lines.next();
    let said = lines.next_back().or(first).unwrap_or_default();
    let said = page.clean(said);
    let room = page.width().saturating_sub(6 + name + what.len());
    let said = page.fit(&said, room);
    page.push(
        start
            .add(Tone::Notice, format!("  {what}: "))
            .add(Tone::Quiet, said),
    );
}

/// Rows that are shown: all that fit a screen; else the ends, both sides of each real step, and
/// what has no result.
fn shown(record: &VersionsRecord, verbose: bool) -> BTreeSet<usize> {
    let all = record.versions.len();
    if verbose || all <= MOST_ROWS {
        return (0..all).collect();
    }
    let real = |name: &str| {
        let steps = record.steps.iter().filter(|step| is_real(step.verdict));
        steps
            .into_iter()
            .any(|step| step.from == name || step.to == name)
    };
    let versions = record.versions.iter().enumerate();
    versions
        .filter(|(index, version)| {
            *index == 0 || index + 1 == all || version.estimate.is_none() || real(&version.version)
        })
        .map(|(index, _)| index)
        .collect()
}

fn gap(page: &mut Page, hidden: &mut usize) {
    if *hidden > 0 {
        let versions = counted(*hidden as u64, "version", "versions");
        page.prose(
            2,
            Tone::Quiet,
            &format!("{versions} without a real step: -v"),
        );
    }
    *hidden = 0;
}

/// A bar of so many columns, by eighths where the terminal has them.
fn drawn(cells: f64, unicode: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !unicode {
        return "#".repeat((cells.round() as usize).max(1));
    }
    let eighths = (cells * 8.0).round().max(1.0) as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}
