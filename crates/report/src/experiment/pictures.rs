//! Plots of one metric over several subjects, such as time over releases.

use fathom_model::{Combination, Estimate, ExperimentRecord, Picture, pairs};

use super::words;
use crate::axis::{Axis, Ticks};
use crate::document::{Cell, Document, Form, Kind, Table};
use crate::line::{Line, Page, Tone};
use crate::page::{
    BOTTOM, LEFT, Lines, Point, RIGHT, Series as Drawn, TOP, colour, figure, legend, lines,
};
use crate::text::bounded;

/// One line of a picture: the results under one combination of parameters.
#[derive(Debug, PartialEq)]
pub(super) struct Series {
    /// The parameters that distinguish it from the others; empty if there are no others.
    pub(super) name: String,
    pub(super) unit: String,
    /// One point for each subject of the picture, if measured.
    pub(super) points: Vec<Option<Estimate>>,
}

/// The maximum number of lines in a picture; the record has all of them.
const MOST_SERIES: usize = 12;

/// Returns the lines of a picture that have at least two points, in the order of the results.
pub(super) fn series(record: &ExperimentRecord, picture: &Picture) -> Vec<Series> {
    let mut combinations: Vec<&Combination> = Vec::new();
    for row in record
        .results
        .iter()
        .filter(|row| row.metric == picture.metric)
    {
        if !combinations.contains(&&row.parameters) {
            combinations.push(&row.parameters);
        }
    }
    let point = |subject: &String, parameters: &Combination| {
        record.results.iter().find(|row| {
            let same = row.metric == picture.metric && row.subject.as_ref() == Some(subject);
            same && row.parameters == *parameters && row.median.is_some()
        })
    };
    let mut found: Vec<(&Combination, Series)> = Vec::new();
    for parameters in combinations {
        let rows: Vec<_> = picture
            .subjects
            .iter()
            .map(|subject| point(subject, parameters))
            .collect();
        if let Some(first) = rows.iter().flatten().next()
            && rows.iter().flatten().count() >= 2
        {
            let series = Series {
                name: String::new(),
                unit: first.unit.clone(),
                points: rows
                    .iter()
                    .map(|row| row.and_then(|row| row.median))
                    .collect(),
            };
            found.push((parameters, series));
        }
    }
    let all: Vec<&Combination> = found.iter().map(|(parameters, _)| *parameters).collect();
    let differs = |pair: &&(String, String)| all.iter().any(|other| !other.contains(pair));
    let names: Vec<String> = all
        .iter()
        .map(|parameters| {
            let differing = parameters.iter().filter(differs);
            pairs(differing.map(|(name, value)| (name, value)), ", ")
        })
        .collect();
    let named = found.into_iter().zip(names);
    named
        .map(|((_, series), name)| Series { name, ..series })
        .take(MOST_SERIES)
        .collect()
}

/// Returns the subjects without their common prefix: `0.8.3` for `ppbert-0.8.3`.
fn labels(subjects: &[String]) -> Vec<&str> {
    let first = subjects.first().map_or("", String::as_str);
    let ends = first
        .match_indices(['-', '_', ' ', '/', '@'])
        .map(|(at, _)| at + 1);
    let common = ends.filter(|end| {
        subjects
            .iter()
            .all(|s| s.len() > *end && s.starts_with(&first[..*end]))
    });
    let cut = common.max().unwrap_or(0);
    subjects.iter().map(|subject| &subject[cut..]).collect()
}

/// Returns an axis for all intervals; `None` if there is nothing to draw.
fn axis(all: &[Series]) -> Option<Axis> {
    let points = all.iter().flat_map(|series| series.points.iter().flatten());
    let ends = points.flat_map(|p| [p.low, p.value, p.high]);
    let ends: Vec<f64> = ends.filter(|value| *value > 0.0).collect();
    (!ends.is_empty()).then(|| Axis::decades(ends.into_iter(), BOTTOM, TOP))
}

/// Adds all pictures of the record: line plots on a page, tables elsewhere, and also bars on a terminal.
pub(super) fn add<'a>(out: &mut Document<'a>, record: &'a ExperimentRecord, form: Form) {
    for picture in &record.pictures {
        let all = series(record, picture);
        if all.is_empty() {
            continue;
        }
        match form {
            Form::Page => out.section(&picture.title, |part| part.picture(lines_of(picture, &all))),
            Form::Markdown => out.section(&picture.title, |part| part.table(table(picture, &all))),
            _ => out.drawn(move |page| bars(page, picture, &all)),
        }
    }
}

/// Draws a line for each combination of parameters.
fn lines_of(picture: &Picture, all: &[Series]) -> String {
    let Some(axis) = axis(all) else {
        return String::new();
    };
    let names: Vec<String> = all.iter().map(|series| bounded(&series.name, 80)).collect();
    let entries = names.iter().enumerate();
    let entries = entries.filter(|(_, name)| !name.is_empty());
    let entries = entries.map(|(index, name)| (colour(index), name.as_str()));
    let drawing = draw(picture, all, &axis) + &legend(entries);
    let caption = format!(
        "{}: medians with their intervals, on a logarithmic scale",
        crate::escape(&picture.metric)
    );
    figure(&drawing, &caption)
}

fn draw(picture: &Picture, all: &[Series], up: &Axis) -> String {
    let last = picture.subjects.len().saturating_sub(1) as f64;
    // Leave room at both ends for the names of the first and the last subject.
    let across = Axis::even([0.0, last].into_iter(), LEFT + 4.0, RIGHT - 4.0);
    let unit = all.first().map_or("", |series| series.unit.as_str());
    let series: Vec<Drawn> = all
        .iter()
        .map(|series| Drawn {
            points: points(picture, series),
        })
        .collect();
    lines(
        &picture.title,
        &Lines {
            series: &series,
            marks: &[],
            across: &across,
            across_ticks: names(&picture.subjects, &across),
            up,
            up_ticks: up.written(|tick| words::with_unit(tick, unit)),
            over: "",
            stops: true,
        },
    )
}

fn points(picture: &Picture, series: &Series) -> Vec<Point> {
    let mut points = Vec::new();
    for (index, estimate) in series.points.iter().enumerate() {
        let Some(estimate) = estimate else { continue };
        points.push(Point {
            x: index as f64,
            value: estimate.value,
            interval: Some((estimate.low, estimate.high)),
            // A release that was not measured leaves a gap.
            joined: index > 0 && series.points[index - 1].is_some(),
            hollow: false,
            title: format!(
                "{}: {}",
                picture.subjects[index],
                words::with_interval(estimate, &series.unit)
            ),
        });
    }
    points
}

/// Returns the names of the subjects at the ticks of the axis. Each point also names its own subject.
fn names(subjects: &[String], across: &Axis) -> Ticks {
    let labels = labels(subjects);
    let ticks = across.ticks().into_iter();
    ticks
        .filter_map(|at| Some((at, bounded(labels.get(at as usize)?, 9))))
        .collect()
}

/// Builds a table with a row for each subject.
fn table(picture: &Picture, all: &[Series]) -> Table {
    let mut table = Table::new("Medians").column("", Kind::Name);
    for series in all {
        let head = match series.name.as_str() {
            "" => &picture.metric,
            name => name,
        };
        table = table.column(head, Kind::Words);
    }
    for (index, subject) in picture.subjects.iter().enumerate() {
        let mut cells = vec![Cell::name(subject)];
        cells.extend(all.iter().map(|series| match &series.points[index] {
            Some(point) => Cell::words(&words::with_interval(point, &series.unit)),
            None => Cell::words(""),
        }));
        table.row("", cells);
    }
    table
}

/// Draws only the first line, as bars: the others are on the page.
fn bars(page: &mut Page, picture: &Picture, all: &[Series]) {
    let Some(series) = all.first() else { return };
    page.gap();
    let title = match series.name.is_empty() {
        true => picture.title.clone(),
        false => format!("{} ({})", picture.title, series.name),
    };
    page.prose(0, Tone::Strong, &title);
    let most = series
        .points
        .iter()
        .flatten()
        .map(|p| p.value)
        .fold(0.0, f64::max);
    let bar = if page.unicode() { "█" } else { "#" };
    // Names, values and bars from left to right; a narrow page is too small for the bars.
    let values_at = 3 + (page.width() / 3).min(20);
    let bars_at = values_at + 30.min(page.width().saturating_sub(values_at));
    let room = page.width().saturating_sub(bars_at) as f64;
    for (label, point) in labels(&picture.subjects).iter().zip(&series.points) {
        let label = page.fit(label, values_at - 3);
        let line = Line::new()
            .pad_to(2)
            .add(Tone::Plain, label)
            .pad_to(values_at);
        let Some(point) = point else {
            let gap = page.fit("not measured", bars_at - values_at);
            page.push(line.add(Tone::Quiet, gap));
            continue;
        };
        let text = page.fit(
            &words::with_interval(point, &series.unit),
            bars_at - values_at - 2,
        );
        let length = (room * point.value / most.max(f64::MIN_POSITIVE))
            .ceil()
            .min(room);
        let bar = bar.repeat(length as usize);
        page.push(
            line.add(Tone::Plain, text)
                .pad_to(bars_at)
                .add(Tone::Notice, bar),
        );
    }
    if all.len() > 1 {
        let more = match all.len() - 1 {
            1 => "--html shows one more line".to_owned(),
            several => format!("--html shows {several} more lines"),
        };
        page.prose(2, Tone::Quiet, &more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_begin_with_is_left_out() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            labels(&names).join(" ")
        };
        assert_eq!(of(&["ppbert-0.8.3", "ppbert-0.12.1"]), "0.8.3 0.12.1");
        assert_eq!(of(&["node", "node-20"]), "node node-20");
        assert_eq!(of(&["a b", "a c"]), "b c");
        assert_eq!(of(&[]), "");
    }
}
