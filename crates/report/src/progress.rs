//! The line that is redrawn during a session.

use crate::quantity::{InUnit, Words, change};
use crate::text::{JOIN, columns, escape, prefix, shorten};
use fathom_model::Metric;

/// The progress of a session, between two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// The current round, from 1.
    pub round: u32,
    /// Number of rounds that will be made, if known.
    pub rounds_planned: Option<u32>,
    /// The benchmark that runs next, as the user named it.
    pub benchmark_name: &'a str,
    /// The first metric that is compared.
    pub metric: Metric,
    /// The median of each benchmark in that metric so far, with its interval (value, low, high).
    pub medians: &'a [Option<(f64, f64, f64)>],
    /// The first comparison so far: index of the subject, and subject / reference (value, low, high).
    pub ratio: Option<(usize, (f64, f64, f64))>,
    /// Time since the session began, in seconds.
    pub elapsed_seconds: f64,
    /// The estimated remaining time, in seconds.
    pub remaining_seconds: Option<f64>,
    /// Whether `remaining_seconds` is a limit: the session ends as soon as there is an answer.
    pub may_end_sooner: bool,
    /// A hint on how to shorten the session, or an empty text.
    pub advice: &'static str,
}

/// Formats `p` in one line of at most `width` columns, without color and without a newline. If there is not
/// enough room, the least important parts are dropped first: the hint, the medians, the ratio, the name.
pub fn progress_line(p: &Progress, width: usize) -> String {
    let round = match p.rounds_planned {
        Some(planned) => format!("round {}/{planned}", p.round),
        None => format!("round {}", p.round),
    };
    let clock = match p.remaining_seconds {
        Some(left) => format!(
            "{}, {} {} left",
            minutes(p.elapsed_seconds),
            if p.may_end_sooner { "at most" } else { "about" },
            minutes(left)
        ),
        None => minutes(p.elapsed_seconds),
    };
    let mut parts = vec![round, clock];
    let advice = (!p.advice.is_empty()).then(|| p.advice.to_owned());
    let optional = [
        p.ratio.map(|one| ratio(one, p.metric)),
        medians(p.medians, p.metric),
        advice,
    ];
    // A name cut to fewer columns than this isn't useful.
    let least_name = columns(&escape(p.benchmark_name)).min(8) + 2;
    for part in optional.into_iter().flatten() {
        let used: usize = parts.iter().map(|part| columns(part) + 2).sum();
        if used + columns(&part) + least_name <= width {
            parts.insert(parts.len() - 1, part);
        }
    }
    let line = parts.join("  ");
    let room = width.saturating_sub(columns(&line) + 2);
    if room == 0 || p.benchmark_name.is_empty() {
        return prefix(&line, width).trim_end().to_owned();
    }
    format!("{line}  {}", shorten(&escape(p.benchmark_name), room))
}

fn estimate((value, low, high): (f64, f64, f64), metric: Metric) -> String {
    let time = in_digits(metric, value, 4);
    let half = (high - low) / 2.0 / value * 100.0;
    if half.is_finite() {
        format!("{time} ±{half:.1} %")
    } else {
        time
    }
}

/// Formats the median with its precision if there is one command. For several commands, formats the medians
/// in a row if that stays readable.
fn medians(all: &[Option<(f64, f64, f64)>], metric: Metric) -> Option<String> {
    const MOST: usize = 4;
    match all {
        [one] => one.map(|one| estimate(one, metric)),
        _ if all.len() > MOST => None,
        _ => {
            let known = all.iter().enumerate().filter_map(|(index, median)| {
                let (value, ..) = (*median)?;
                Some(format!("{}: {}", index + 1, in_digits(metric, value, 3)))
            });
            let known: Vec<String> = known.collect();
            (!known.is_empty()).then(|| known.join("  "))
        }
    }
}

fn in_digits(metric: Metric, value: f64, digits: i32) -> String {
    let unit = InUnit::fitting(metric, value);
    unit.with_symbol(&unit.digits(value, digits))
}

fn ratio((subject, (value, low, high)): (usize, (f64, f64, f64)), metric: Metric) -> String {
    let words = Words::of(metric);
    let text = if low < 1.0 && high > 1.0 {
        format!("{} to {}", change(low, words), change(high, words))
    } else {
        change(value, words)
    };
    let verb = match metric {
        Metric::Wall | Metric::Undisturbed => "is",
        _ => "has",
    };
    format!("{subject} {verb} {text}").replace(JOIN, " ")
}

/// Formats a duration: `0:07`, `12:30`, `1:02:03`.
fn minutes(seconds: f64) -> String {
    let all = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> Progress<'static> {
        Progress {
            round: 12,
            rounds_planned: Some(50),
            benchmark_name: "sort --parallel=2 input.txt",
            metric: Metric::Wall,
            medians: &[
                Some((0.012_04, 0.011_98, 0.012_10)),
                Some((0.005_18, 0.005_1, 0.005_2)),
            ],
            ratio: Some((2, (0.43, 0.41, 0.45))),
            elapsed_seconds: 7.2,
            remaining_seconds: Some(22.6),
            may_end_sooner: false,
            advice: "",
        }
    }

    #[test]
    fn a_wide_line_says_everything() {
        assert_eq!(
            progress_line(&progress(), 100),
            "round 12/50  2 is 2.33x faster  1: 12.0 ms  2: 5.18 ms  0:07, about 0:23 left  sort --par… input.txt"
        );
    }

    #[test]
    fn one_command_shows_how_well_its_median_is_known() {
        let line = progress_line(
            &Progress {
                medians: &[Some((0.012_04, 0.011_98, 0.012_10))],
                ratio: None,
                ..progress()
            },
            100,
        );
        assert_eq!(
            line,
            "round 12/50  12.04 ms ±0.5 %  0:07, about 0:23 left  sort --parallel=2 input.txt"
        );
    }

    #[test]
    fn a_narrow_line_keeps_round_and_clock() {
        assert_eq!(
            progress_line(&progress(), 48),
            "round 12/50  0:07, about 0:23 left  sort -…t.txt"
        );
        assert_eq!(progress_line(&progress(), 8), "round 12");
        assert_eq!(progress_line(&progress(), 0), "");
    }

    #[test]
    fn an_open_comparison_shows_both_ends() {
        let line = progress_line(
            &Progress {
                ratio: Some((2, (1.0, 0.98, 1.03))),
                ..progress()
            },
            120,
        );
        assert!(line.contains("2 is 2.0 % faster to 3.0 % slower"), "{line}");
    }

    #[test]
    fn what_may_end_sooner_is_a_limit_and_says_how_to_lower_it() {
        let limited = Progress {
            rounds_planned: None,
            may_end_sooner: true,
            advice: "(--time 30s: sooner)",
            ..progress()
        };
        let line = progress_line(&limited, 130);
        assert!(
            line.contains("(--time 30s: sooner)  0:07, at most 0:23 left"),
            "{line}"
        );
        assert!(!progress_line(&limited, 60).contains("--time"));
    }

    #[test]
    fn hours_are_shown_when_there_are_any() {
        assert_eq!(minutes(3723.0), "1:02:03");
        assert_eq!(minutes(-1.0), "0:00");
    }

    proptest::proptest! {
        #[test]
        fn never_wider_than_asked_and_always_one_line(name in ".*", width in 0usize..160, remaining in proptest::option::of(0.0f64..1e7)) {
            let line = progress_line(&Progress { benchmark_name: &name, remaining_seconds: remaining, ..progress() }, width);
            assert!(columns(&line) <= width, "{line:?}");
            assert!(!line.contains('\n') && !line.chars().any(char::is_control));
        }
    }
}
