//! One picture of a run in a separate file, for the page next to an experiment: a GitHub page shows it in
//! light and dark mode, without a script or an external style sheet.

use fathom_model::{ClaimResult, ClaimVerdict, Estimate, ExperimentRecord, Layer};

use super::pictures;
use super::words;
use crate::axis::{Axis, Ticks};
use crate::page::{Svg, colour};
use crate::quantity::TimeUnit;
use crate::text::bounded;

const WIDTH: f64 = 760.0;
/// Ends of the axis: names are before it, texts after it.
const LEFT: f64 = 310.0;
const RIGHT: f64 = 610.0;
const ROW: f64 = 24.0;
/// The longest names and texts in characters, at 12 pixels per letter.
const NAME: usize = 46;
const TEXT: usize = 22;
/// The maximum number of rows in a picture; the table below it has all of them.
const MOST_ROWS: usize = 24;

/// The picture's own style, matching the style sheet of the pages.
const STYLE: &str = "<style>
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;fill:#1d2129}
.soft{fill:#5b6472}.end{text-anchor:end}.middle{text-anchor:middle}.strong{font-weight:600}
.grid{stroke:#dfe1e6}.published{stroke:#1d2129;stroke-dasharray:4 3}line{stroke-width:1.5}
.good{fill:#1c7a43;stroke:#1c7a43}.notice{fill:#9a5b00;stroke:#9a5b00}.bad{fill:#b3261e;stroke:#b3261e}.quiet{fill:#5b6472;stroke:#5b6472}
.c0{fill:#3f7ee8;stroke:#3f7ee8}.c1{fill:#d96a1d;stroke:#d96a1d}.c2{fill:#2a9564;stroke:#2a9564}.c3{fill:#8a4bc9;stroke:#8a4bc9}.c4{fill:#c2479b;stroke:#c2479b}.c5{fill:#1c8f98;stroke:#1c8f98}
@media (prefers-color-scheme:dark){text{fill:#e6e9ee}.soft{fill:#9aa4b2}.grid{stroke:#323843}.published{stroke:#e6e9ee}
.good{fill:#6fd39a;stroke:#6fd39a}.notice{fill:#f0b45a;stroke:#f0b45a}.bad{fill:#ff8a80;stroke:#ff8a80}.quiet{fill:#9aa4b2;stroke:#9aa4b2}
.c0{fill:#6b9df5;stroke:#6b9df5}.c1{fill:#f0954f;stroke:#f0954f}.c2{fill:#62c295;stroke:#62c295}.c3{fill:#b184e6;stroke:#b184e6}.c4{fill:#e07cc0;stroke:#e07cc0}.c5{fill:#56c0c8;stroke:#56c0c8}}
</style>
";

/// A row: its name, its dots, and the text after the axis.
struct Row {
    name: String,
    dots: Vec<Dot>,
    text: String,
}

struct Dot {
    at: Estimate,
    class: String,
    title: String,
}

/// A drawing: rows over one logarithmic axis.
struct Drawing {
    title: String,
    rows: Vec<Row>,
    ticks: fn(&Axis, &str) -> Ticks,
    unit: String,
    /// The position of the published figures, if it is the same for all of them.
    published: Option<f64>,
    legend: Vec<(String, String)>,
}

/// Draws the first picture defined by the experiment, or else its claims about sizes compared with the
/// published figures, as a complete SVG file. `None` if nothing was measured that can be drawn.
pub fn experiment_picture(record: &ExperimentRecord) -> Option<String> {
    let asked = record
        .pictures
        .iter()
        .find_map(|picture| over_subjects(record, picture));
    asked.or_else(|| beside_published(record)).map(draw)
}

fn over_subjects(record: &ExperimentRecord, picture: &fathom_model::Picture) -> Option<Drawing> {
    let all = pictures::series(record, picture);
    let unit = all.first()?.unit.clone();
    let class = |index: usize| colour(index).to_owned();
    let rows = picture.subjects.iter().enumerate();
    let rows = rows.map(|(place, subject)| {
        let dots = all.iter().enumerate().filter_map(|(index, series)| {
            let at = series.points[place].filter(|at| at.low > 0.0)?;
            let title = format!(
                "{subject} {}: {}",
                series.name,
                words::with_interval(&at, &series.unit)
            );
            Some(Dot {
                at,
                class: class(index),
                title,
            })
        });
        Row {
            name: subject.clone(),
            dots: dots.collect(),
            text: String::new(),
        }
    });
    let legend = all.iter().enumerate();
    let legend = legend.filter(|(_, series)| !series.name.is_empty());
    Some(Drawing {
        title: picture.title.clone(),
        rows: rows.take(MOST_ROWS).collect(),
        ticks: |axis, unit| match unit {
            "s" => axis.times(),
            unit => axis.written(|tick| words::with_unit(tick, unit)),
        },
        unit,
        published: None,
        legend: legend
            .map(|(index, series)| (class(index), series.name.clone()))
            .collect(),
    })
}

fn beside_published(record: &ExperimentRecord) -> Option<Drawing> {
    let sizes = record.claims.iter();
    let sizes = sizes.filter(|claim| claim.layer == Layer::Size);
    let rows: Vec<Row> = sizes.filter_map(row_of).take(MOST_ROWS).collect();
    (!rows.is_empty()).then(|| Drawing {
        title: "Measured here / published".to_owned(),
        rows,
        ticks: |axis, _| axis.written(|tick| words::with_unit(tick, "x")),
        unit: String::new(),
        published: Some(1.0),
        legend: Vec::new(),
    })
}

/// Returns a claim as the ratio of measured to published number, if both are of the same kind.
fn row_of(claim: &ClaimResult) -> Option<Row> {
    let published = claim.published.as_ref()?;
    let measured = claim.judged.measured.first()?;
    let found = measured.estimate.filter(|found| found.low > 0.0)?;
    let unit = published.unit.as_deref().unwrap_or("");
    let scale = match (TimeUnit::of_symbol(unit), unit, measured.unit.as_str()) {
        (Some(unit), _, "s") => unit.seconds(),
        (None, "" | "x", "" | "x") => 1.0,
        (None, unit, other) if unit == other => 1.0,
        _ => return None,
    };
    let size = published.value.filter(|size| *size > 0.0)? * scale;
    let class = match claim.judged.verdict {
        ClaimVerdict::Reproduced => "good",
        ClaimVerdict::NotReproduced | ClaimVerdict::Contradicted => "bad",
        ClaimVerdict::DirectionOnly | ClaimVerdict::IllPosed => "notice",
        ClaimVerdict::Undecided | ClaimVerdict::NotRunnableHere => "quiet",
    };
    let shown = words::with_interval(&found, &measured.unit);
    let median = Estimate {
        low: found.value,
        high: found.value,
        ..found
    };
    Some(Row {
        name: claim.text.clone(),
        dots: vec![Dot {
            at: Estimate {
                value: found.value / size,
                low: found.low / size,
                high: found.high / size,
                ..found
            },
            class: class.to_owned(),
            title: format!(
                "published {}, measured {shown}: {}",
                words::published(Some(published)),
                claim.judged.verdict.name()
            ),
        }],
        text: format!(
            "{} → {}",
            words::with_unit(published.value?, unit),
            words::with_interval(&median, &measured.unit)
        ),
    })
}

fn draw(what: Drawing) -> String {
    let ends = what.rows.iter().flat_map(|row| &row.dots);
    let ends = ends.flat_map(|dot| [dot.at.low, dot.at.high]);
    let axis = Axis::decades(ends.chain(what.published), LEFT, RIGHT);
    let (top, bottom) = (34.0, 40.0 + ROW * what.rows.len() as f64);
    let height = bottom + 26.0 + 20.0 * what.legend.len().div_ceil(2) as f64;
    let title = bounded(&what.title, 90);
    let mut svg = Svg::alone();
    svg.text(0.0, 16.0, "strong", &title);
    for (tick, text) in (what.ticks)(&axis, &what.unit) {
        let x = axis.place(tick);
        svg.line((x, top), (x, bottom), "grid", "");
        svg.text(x, bottom + 16.0, "soft middle", &text);
    }
    if let Some(published) = what.published {
        let x = axis.place(published);
        svg.line((x, top), (x, bottom), "published", "");
        svg.text(x, 28.0, "soft middle", "as published");
    }
    for (index, row) in what.rows.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5) + 3.0;
        svg.titled_text(0.0, y + 4.0, "", &bounded(&row.name, NAME), &row.name);
        for dot in &row.dots {
            let (low, high) = (axis.place(dot.at.low), axis.place(dot.at.high));
            svg.line((low, y), (high, y), &dot.class, "");
            svg.dot((axis.place(dot.at.value), y), 4.0, &dot.class, &dot.title);
        }
        if !row.text.is_empty() {
            svg.text(WIDTH, y + 4.0, "soft end", &bounded(&row.text, TEXT));
        }
    }
    for (index, (class, name)) in what.legend.iter().enumerate() {
        let x = if index % 2 == 0 { 6.0 } else { WIDTH / 2.0 };
        let y = bottom + 40.0 + 20.0 * (index / 2) as f64;
        svg.dot((x, y - 4.0), 4.0, class, "");
        svg.text(x + 10.0, y, "", &bounded(name, 2 * TEXT));
    }
    svg.finish_alone((WIDTH, height), STYLE, &title)
}
