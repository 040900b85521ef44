//! One metric over several subjects, drawn: time over releases.

use std::fmt::Write;

use fathom_model::{Combination, Estimate, ExperimentRecord, Picture};

use super::words;
use crate::axis::Axis;
use crate::line::{Line, Page, Tone};
use crate::text::html as text;

/// One line of a picture: what was measured under one combination of parameters.
#[derive(Debug, PartialEq)]
struct Series {
    /// The parameters in which it differs from the others; empty if there are no others.
    name: String,
    unit: String,
    /// One for each subject of the picture, where it was measured.
    points: Vec<Option<Estimate>>,
}

/// Lines that a picture shows; the record has all.
const MOST_SERIES: usize = 12;

/// The lines of a picture that have two points or more, in the order of the results.
fn series(record: &ExperimentRecord, picture: &Picture) -> Vec<Series> {
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
            words::parameters(differing)
        })
        .collect();
    let named = found.into_iter().zip(names);
    named
        .map(|((_, series), name)| Series { name, ..series })
        .take(MOST_SERIES)
        .collect()
}

/// The subjects without the words that all of them begin with: `0.8.3` of `ppbert-0.8.3`.
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

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 220.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 70.0;

/// The axis of all intervals; `None` where there is nothing to draw.
fn axis(all: &[Series]) -> Option<Axis> {
    let points = all.iter().flat_map(|series| series.points.iter().flatten());
    let ends = points.flat_map(|p| [p.low, p.value, p.high]);
    let ends: Vec<f64> = ends.filter(|value| *value > 0.0).collect();
    (!ends.is_empty()).then(|| Axis::decades(ends.into_iter(), HEIGHT - BOTTOM, TOP))
}

/// Writing to a String can't fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => { let _ = write!($out, $($argument)*); };
}

/// All pictures of the record as SVG: a line for each combination of parameters.
pub(super) fn html(out: &mut String, record: &ExperimentRecord) {
    for picture in &record.pictures {
        let all = series(record, picture);
        let Some(axis) = axis(&all) else {
            continue;
        };
        put!(out, "<h2>{}</h2>\n<figure>\n", text(&picture.title));
        draw(out, picture, &all, &axis);
        put!(
            out,
            "<figcaption>{}: medians with their intervals, on a logarithmic scale</figcaption>\n</figure>\n",
            text(&picture.metric)
        );
    }
}

fn draw(out: &mut String, picture: &Picture, all: &[Series], axis: &Axis) {
    let steps = (picture.subjects.len() - 1).max(1) as f64;
    let x = |index: usize| LEFT + index as f64 * (WIDTH - LEFT - RIGHT) / steps;
    put!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        text(&picture.title)
    );
    let unit = all.first().map_or("", |series| series.unit.as_str());
    for tick in axis.ticks() {
        let y = axis.place(tick);
        put!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            text(&words::with_unit(tick, unit))
        );
    }
    for (index, label) in labels(&picture.subjects).iter().enumerate() {
        let (x, y) = (x(index), HEIGHT - BOTTOM + 18.0);
        put!(
            out,
            "<text class=\"end\" x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-35 {x:.1} {y:.1})\">{}</text>\n",
            text(label)
        );
    }
    let mut names: Vec<(f64, usize)> = Vec::new();
    for (number, series) in all.iter().enumerate() {
        put!(out, "<g class=\"c{}\">\n", number % 6);
        let drawn = series.points.iter().enumerate();
        let drawn: Vec<(usize, Estimate)> = drawn
            .filter_map(|(index, point)| Some((index, (*point)?)))
            .collect();
        for pair in drawn.windows(2) {
            let [(from, a), (to, b)] = pair else { continue };
            // A release that was not measured leaves a gap.
            if to - from == 1 {
                put!(
                    out,
                    "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
                    x(*from),
                    axis.place(a.value),
                    x(*to),
                    axis.place(b.value)
                );
            }
        }
        for (index, point) in &drawn {
            put!(
                out,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\"/><circle cx=\"{0:.1}\" cy=\"{3:.1}\" r=\"3.5\"><title>{4}: {5}</title></circle>\n",
                x(*index),
                axis.place(point.low),
                axis.place(point.high),
                axis.place(point.value),
                text(&picture.subjects[*index]),
                text(&words::with_interval(point, &series.unit))
            );
        }
        if let Some((_, last)) = drawn.last() {
            names.push((axis.place(last.value), number));
        }
        out.push_str("</g>\n");
    }
    // Names beside the last points, pushed apart where they would lie on each other.
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    for (y, number) in names {
        let y = (y + 4.0).max(below + 14.0);
        below = y;
        put!(
            out,
            "<text class=\"c{}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n",
            number % 6,
            WIDTH - RIGHT + 12.0,
            text(&all[number].name)
        );
    }
    out.push_str("</svg>\n");
}

/// All pictures as tables: a row for each subject.
pub(super) fn markdown(out: &mut String, record: &ExperimentRecord, plain: fn(&str) -> String) {
    for picture in &record.pictures {
        let all = series(record, picture);
        if all.is_empty() {
            continue;
        }
        let heads: Vec<String> = all
            .iter()
            .map(|series| match series.name.is_empty() {
                true => plain(&picture.metric),
                false => plain(&series.name),
            })
            .collect();
        put!(
            out,
            "\n### {}\n\n| | {} |\n|:---|{}\n",
            plain(&picture.title),
            heads.join(" | "),
            ":---|".repeat(all.len())
        );
        for (index, subject) in picture.subjects.iter().enumerate() {
            let cells = all.iter().map(|series| {
                let point = series.points[index];
                point.map_or(String::new(), |point| {
                    words::with_interval(&point, &series.unit)
                })
            });
            let cells: Vec<String> = cells.collect();
            put!(out, "| {} | {} |\n", plain(subject), cells.join(" | "));
        }
    }
}

/// All pictures as bars, the first line of each: the others are in the page.
pub(super) fn terminal(page: &mut Page, record: &ExperimentRecord) {
    for picture in &record.pictures {
        let all = series(record, picture);
        let Some(series) = all.first() else { continue };
        page.gap();
        let title = match series.name.is_empty() {
            true => picture.title.clone(),
            false => format!("{} ({})", picture.title, series.name),
        };
        let title = page.clean(&title);
        page.prose(0, Tone::Strong, &title);
        let most = series
            .points
            .iter()
            .flatten()
            .map(|p| p.value)
            .fold(0.0, f64::max);
        let bar = if page.unicode() { "█" } else { "#" };
        // Names, values, bars from left to right; a narrow page has no room for the last.
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
                1 => "one more line: --html".to_owned(),
                several => format!("{several} more lines: --html"),
            };
            page.prose(2, Tone::Quiet, &more);
        }
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
