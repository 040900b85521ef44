//! Plots of a series in text.

use crate::line::{Line, Page, Tone};

/// Height of a plot in rows.
const ROWS: usize = 8;
/// Width of the numbers next to a plot.
const LABELS: usize = 10;

/// Returns one character for each value, taller for higher values.
pub(super) fn spark(values: &[f64], unicode: bool) -> String {
    let levels: Vec<char> = match unicode {
        true => "▁▂▃▄▅▆▇█".chars().collect(),
        false => "_.-:=+*#".chars().collect(),
    };
    let (low, high) = range(values.iter().copied());
    let level = |value: &f64| {
        let share = match high > low {
            true => (value - low) / (high - low),
            false => 0.5,
        };
        levels[((share * levels.len() as f64) as usize).min(levels.len() - 1)]
    };
    values.iter().map(level).collect()
}

/// A value in a plot, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bar {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether a line is drawn before the value because the environment changed.
    pub(super) cut: bool,
    /// Whether the value begins a new level (a change point).
    pub(super) marked: bool,
}

/// Returns the mark of a value that begins a new level.
pub(super) fn change_mark(unicode: bool) -> char {
    if unicode { '◆' } else { '@' }
}

/// Draws values from left to right with their intervals. If there are more values than columns, each column
/// shows the last of its values and the extremes of all. `label` formats a value.
pub(super) fn draw(page: &mut Page, bars: &[Bar], label: impl Fn(f64) -> String) {
    let room = page.width().saturating_sub(LABELS + 2).max(8);
    let bars = &gathered(bars, room);
    let (low, high) = range(bars.iter().flat_map(|bar| [bar.low, bar.high]));
    let pad = if high > low {
        0.0
    } else {
        low.abs().max(1e-9) * 0.05
    };
    let (low, high) = (low - pad, high + pad);
    let row_of = |value: f64| {
        let share = (value - low) / (high - low);
        ROWS - 1 - ((share * (ROWS - 1) as f64).round() as usize).min(ROWS - 1)
    };
    let change = change_mark(page.unicode());
    let marks = match page.unicode() {
        true => ['●', '│', '┊', '┤'],
        false => ['o', '|', ':', '|'],
    };
    // A few points get one column each, with space between them.
    let step = (room / bars.len().max(1)).clamp(1, 3);
    for row in 0..ROWS {
        let at = high - (high - low) * row as f64 / (ROWS - 1) as f64;
        let text = match row {
            0 => label(at),
            row if row == ROWS - 1 => label(at),
            row if row == ROWS / 2 => label(at),
            _ => String::new(),
        };
        let mut line = Line::new().add(Tone::Quiet, format!("{text:>LABELS$} {}", marks[3]));
        for bar in bars {
            let sign = match () {
                () if row_of(bar.value) == row && bar.marked => (Tone::Notice, change),
                () if row_of(bar.value) == row => (Tone::Strong, marks[0]),
                () if (row_of(bar.high)..=row_of(bar.low)).contains(&row) => {
                    (Tone::Quiet, marks[1])
                }
                () => (Tone::Plain, ' '),
            };
            let before = match (bar.cut, step) {
                (true, 1) if sign.1 == ' ' => {
                    line = line.add(Tone::Quiet, marks[2]);
                    continue;
                }
                (true, 2..) => format!("{}{}", marks[2], " ".repeat(step - 2)),
                (_, step) => " ".repeat(step - 1),
            };
            line = line
                .add(Tone::Quiet, before)
                .add(sign.0, sign.1.to_string());
        }
        page.push(line);
    }
}

/// Merges bars so that at most `room` remain.
fn gathered(bars: &[Bar], room: usize) -> Vec<Bar> {
    let each = bars.len().div_ceil(room).max(1);
    bars.chunks(each)
        .filter_map(|some| {
            let last = *some.last()?;
            Some(Bar {
                low: some.iter().map(|bar| bar.low).fold(last.low, f64::min),
                high: some.iter().map(|bar| bar.high).fold(last.high, f64::max),
                cut: some.iter().any(|bar| bar.cut),
                marked: some.iter().any(|bar| bar.marked),
                ..last
            })
        })
        .collect()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spark_has_a_character_for_each_value() {
        assert_eq!(spark(&[1.0, 2.0, 3.0], true), "▁▅█");
        assert_eq!(spark(&[2.0, 2.0], true), "▅▅");
        assert_eq!(spark(&[1.0, 8.0], false), "_#");
        assert_eq!(spark(&[], true), "");
    }

    #[test]
    fn no_extreme_is_lost_where_values_share_a_column() {
        let bar = |value: f64| Bar {
            value,
            low: value,
            high: value,
            cut: false,
            marked: false,
        };
        let many: Vec<Bar> = (0..1000)
            .map(|i| bar(if i == 500 { 9.0 } else { 1.0 }))
            .collect();
        let few = gathered(&many, 60);
        assert!(few.len() <= 60);
        assert_eq!(few.iter().filter(|bar| bar.high == 9.0).count(), 1);
    }
}
