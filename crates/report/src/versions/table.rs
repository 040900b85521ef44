//! The versions with their medians as bars: time over versions.

use std::collections::BTreeSet;

use fathom_model::{Version, VersionState, VersionsRecord};

use super::answer::is_real;
use super::{Figures, change_in_words};
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};
use crate::quantity::counted;

/// The maximum number of rows that fit a screen.
const MOST_ROWS: usize = 24;
/// The minimum width of a version's name. Before the name gets shorter, the date is dropped, then the
/// interval.
const NAME: usize = 16;
/// The longest bar takes one part in `BAR` of the screen.
const BAR: usize = 6;

/// Writes the table; with `verbose`, all versions.
pub(super) fn write(page: &mut Page, record: &VersionsRecord, verbose: bool) {
    let known = || record.versions.iter().filter_map(|one| one.estimate);
    let medians = || known().map(|estimate| estimate.value);
    let figures = Figures::of(record.metric, medians());
    let highest = medians().fold(0.0, f64::max);
    let longest = (page.width() / BAR) as f64;
    let first = record.versions.iter().find(|one| one.estimate.is_some());
    let since = first.map_or_else(String::new, |one| format!("since {}", one.version));
    let mut table = Table::new("Versions")
        .column("version", Kind::Name)
        .column("date", Kind::Words)
        .expendable(2)
        .column("median", Kind::Number)
        .column("95 % interval", Kind::Words)
        .expendable(1)
        .column("", Kind::Words)
        .column(&since, Kind::Words)
        .spaced(2, NAME);
    let shown = shown(record, verbose);
    let mut hidden = 0;
    for (index, version) in record.versions.iter().enumerate().rev() {
        if !shown.contains(&index) {
            hidden += 1;
            continue;
        }
        let mut remarks = absent(version, verbose);
        if hidden > 0 {
            let versions = counted(std::mem::take(&mut hidden), "version", "versions");
            remarks.push(format!("{versions} without a real step; -v shows them"));
        }
        let date = version
            .date
            .as_deref()
            .filter(|_| version.estimate.is_some());
        let date = date.unwrap_or_default();
        let since = version.since_first.filter(|_| version.benchmark != Some(0));
        let since = since.map(|ratio| change_in_words(&ratio, record.metric).0);
        let [median, interval, bar] = version.estimate.map_or_else(Default::default, |one| {
            let bar = drawn(one.value / highest * longest, page.unicode());
            [figures.value(one.value), figures.interval(&one), bar]
        });
        let cells = vec![
            Cell::name(&version.version).with_small(remarks),
            Cell::words(date.get(..10).unwrap_or(date)).toned(Tone::Quiet),
            Cell::words(&median).toned(Tone::Strong),
            Cell::words(&interval).toned(Tone::Quiet),
            Cell::drawn(bar).toned(Tone::OwnTime),
            Cell::words(&since.unwrap_or_default()),
        ];
        table.row("", cells);
    }
    table.rows.reverse();
    page.gap();
    table.terminal(page, 2);
}

/// Returns why a version has no result; with `verbose`, the complete message.
fn absent(version: &Version, verbose: bool) -> Vec<String> {
    let what = match version.state {
        VersionState::DoesNotBuild => "does not build",
        VersionState::LeftOut => "left out",
        VersionState::Measured if version.estimate.is_some() => return Vec::new(),
        VersionState::Measured => "no result",
    };
    let error = version.error.as_deref().unwrap_or_default();
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    match verbose {
        true => [what].into_iter().chain(lines).map(str::to_owned).collect(),
        // The first line tells how the build or run ended, the last usually why.
        false => vec![
            lines
                .next_back()
                .map_or(what.to_owned(), |said| format!("{what}: {said}")),
        ],
    }
}

/// Returns the rows to show: all that fit a screen; else both ends, both sides of each real step, and
/// versions without a result.
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

/// Returns a bar that is `cells` columns wide, with eighths if the terminal supports them.
fn drawn(cells: f64, unicode: bool) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !unicode {
        return "#".repeat((cells.round() as usize).max(1));
    }
    let eighths = (cells * 8.0).round().max(1.0) as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}
