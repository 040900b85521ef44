//! Ramps, whose rate grows steadily: the rate up to which a server stays within its limits, and its latency
//! along the way.

use fathom_model::{RampLimit, RampResult, RampWindow, ServeRecord};

use super::pictures::point;
use super::{tables, words};
use crate::axis::Axis;
use crate::document::{Document, Form};
use crate::line::Tone;
use crate::page::{BOTTOM, LEFT, Lines, Mark, RIGHT, Series, TOP, colour, figure, legend, lines};
use crate::quantity::{counted, fixed, format_count, short_time};
use crate::text::bounded;

/// The maximum number of rows on a screen.
const SHOWN: usize = 8;

/// Returns the ramps with the index of their server.
pub(super) fn all(record: &ServeRecord) -> Vec<(usize, &RampResult)> {
    let servers = record.servers.iter().enumerate();
    let ramps = servers.filter_map(|(index, server)| Some((index, server.ramp.as_ref()?)));
    ramps.collect()
}

/// Adds the results of the ramps.
pub(super) fn add(out: &mut Document, record: &ServeRecord, form: Form) {
    let ramps = all(record);
    let Some((_, first)) = ramps.first() else {
        return;
    };
    out.section(title(first), |part| {
        for (server, ramp) in &ramps {
            let number = words::number(record, *server);
            for limit in &ramp.limits {
                let text = format!("{number}{}", sentence(ramp, limit));
                part.prose(2, tone(limit), text);
            }
        }
        part.table(tables::ramp(record, form));
        for (server, ramp) in &ramps {
            if let Some(text) = late(ramp) {
                let number = words::number(record, *server);
                part.prose(2, Tone::Bad, format!("{number}{text}"));
            }
        }
        if form.has_pictures() {
            let drawn: Vec<String> = ramps.iter().map(|(_, ramp)| picture(ramp)).collect();
            part.picture(drawn.concat());
        }
    });
}

fn title(ramp: &RampResult) -> String {
    let rounds = counted(u64::from(ramp.rounds), "round", "rounds");
    format!(
        "Increasing rate ({} to {} requests/s in {} s, {rounds}; open loop)",
        per_second(ramp.from_per_second),
        per_second(ramp.to_per_second),
        fixed(ramp.seconds, usize::from(ramp.seconds.fract() != 0.0)),
    )
}

/// Formats a rate with three digits, as precise as it is.
fn per_second(rate: f64) -> String {
    let step = 10f64.powf((rate.max(1.0).log10().floor() - 2.0).max(0.0));
    format_count((rate / step).round() * step)
}

fn tone(limit: &RampLimit) -> Tone {
    match (limit.left_in, limit.worst) {
        (_, None) => Tone::Notice,
        (Some(_), _) => Tone::Strong,
        (None, _) => Tone::Good,
    }
}

/// Describes the rate up to which a limit is kept; the limit is untrusted.
pub(super) fn sentence(ramp: &RampResult, limit: &RampLimit) -> String {
    let is_knee = limit.limit == "knee";
    let what = match is_knee {
        true => "the p90 stays below 3 times its minimum",
        false => &limit.limit,
    };
    let holds = if is_knee { "" } else { " holds" };
    let by_round = by_round(limit);
    let text = match (limit.left_in, limit.kept_up_to_per_second) {
        _ if limit.worst.is_none() => {
            let what = if is_knee { "the knee" } else { what };
            format!("{what} can't be judged: no part of the ramp has enough answers")
        }
        (None, _) => format!(
            "{what}{holds} to the end of the ramp, {} requests/s",
            per_second(ramp.to_per_second)
        ),
        (Some(_), Some(rate)) => {
            format!(
                "{what}{holds} up to {} requests/s{by_round}",
                per_second(rate)
            )
        }
        (Some(_), None) => format!("{what}{holds} at no rate of the ramp"),
    };
    match limit.broken_before {
        0 => text,
        count => format!(
            "{text}; {} before that exceeded it",
            counted(count as u64, "part", "parts")
        ),
    }
}

/// Formats the results of the rounds, if they differ: ` (2,900 to 3,100 in the rounds)`.
fn by_round(limit: &RampLimit) -> String {
    let known = || limit.kept_up_to_by_round.iter().flatten().copied();
    let (low, high) = (known().reduce(f64::min), known().reduce(f64::max));
    match (low, high) {
        (Some(low), Some(high)) if low < high => {
            let (low, high) = (per_second(low), per_second(high));
            format!(" ({low} to {high} in the rounds)")
        }
        _ => String::new(),
    }
}

/// Returns a note if the generator couldn't keep up with the requested rate.
fn late(ramp: &RampResult) -> Option<String> {
    let late = ramp.windows.iter().find(|window| window.generator_late)?;
    Some(format!(
        "the generator was late from {} requests/s on ({} on average): the server may not be the limit; raise \
         --generator-threads",
        per_second(late.from_per_second),
        words::us(late.generator_lag_us)
    ))
}

/// Returns the windows to show. A page shows all of them, a screen as many as fit, including those around the
/// point where a limit is exceeded.
pub(super) fn shown(ramp: &RampResult, form: Form) -> Vec<&RampWindow> {
    let count = ramp.windows.len();
    if matches!(form, Form::Page | Form::Full) || count <= SHOWN {
        return ramp.windows.iter().collect();
    }
    let left = ramp.limits.iter().find_map(|limit| limit.left_in);
    let mut places: Vec<usize> = (0..SHOWN)
        .map(|row| row * (count - 1) / (SHOWN - 1))
        .collect();
    if let Some(left) = left {
        // The windows around that point replace the nearest rows.
        for wanted in [left.saturating_sub(1), left] {
            if !places.contains(&wanted) {
                let near = |at: &usize| at.abs_diff(wanted);
                let inner = 1..places.len() - 1;
                let nearest = inner.min_by_key(|row| near(&places[*row]));
                if let Some(row) = nearest {
                    places[row] = wanted;
                }
            }
        }
        places.sort_unstable();
        places.dedup();
    }
    places
        .into_iter()
        .map(|place| &ramp.windows[place])
        .collect()
}

/// Formats the rates of a window: `1,200 to 1,300/s`.
pub(super) fn range(window: &RampWindow) -> String {
    format!(
        "{} to {}/s",
        per_second(window.from_per_second),
        per_second(window.to_per_second)
    )
}

type OfWindow = fn(&RampWindow) -> Option<f64>;
const LINES: [(&str, OfWindow); 5] = [
    ("p50", |window| window.response_ms.p50),
    ("p90", |window| window.response_ms.p90),
    ("p95", |window| window.response_ms.p95),
    ("p99", |window| window.response_ms.p99),
    ("slowest", |window| window.response_ms.max),
];

/// Draws latency over the rate, with a mark where each limit is exceeded.
fn picture(ramp: &RampResult) -> String {
    let middle = |window: &RampWindow| f64::midpoint(window.from_per_second, window.to_per_second);
    let series: Vec<Series> = LINES
        .iter()
        .map(|(name, of)| {
            let mut last = None;
            let points = ramp
                .windows
                .iter()
                .enumerate()
                .filter_map(|(place, window)| {
                    let seconds = of(window)? / 1e3;
                    let joined = last
                        .replace(place)
                        .is_some_and(|before| before + 1 == place);
                    let failed = match window.errors + window.dropped {
                        0 => String::new(),
                        failed => format!(", {} failed", format_count(failed as f64)),
                    };
                    let title =
                        format!("{}: {name} {}{failed}", range(window), short_time(seconds));
                    Some(point(middle(window), seconds, joined, &title))
                });
            Series {
                points: points.collect(),
            }
        })
        .collect();
    let values = || {
        let points = series.iter().flat_map(|one| &one.points);
        points.map(|point| point.value)
    };
    if values().next().is_none() {
        return String::new();
    }
    let ends = [ramp.from_per_second, ramp.to_per_second];
    let across = Axis::even(ends.into_iter(), LEFT, RIGHT);
    let up = Axis::decades(values(), BOTTOM, TOP);
    let left = ramp.limits.iter().filter(|limit| limit.left_in.is_some());
    let marks: Vec<Mark> = left
        .filter_map(|limit| {
            Some(Mark {
                at: limit.kept_up_to_per_second?,
                name: bounded(&limit.limit, 30),
                class: "reported",
            })
        })
        .collect();
    let drawing = lines(
        "Latency by rate",
        &Lines {
            series: &series,
            marks: &marks,
            across_ticks: across.written(format_count),
            across: &across,
            up_ticks: up.times(),
            up: &up,
            over: "scheduled requests per second",
            stops: true,
        },
    );
    let entries = LINES.iter().enumerate();
    let legend = legend(entries.map(|(index, (name, _))| (colour(index), *name)));
    let caption =
        "Response times by the scheduled rate of requests. A mark shows where a limit is exceeded.";
    figure(&(drawing + &legend), caption)
}
