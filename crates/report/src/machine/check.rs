//! Whether the machine is quiet enough to measure on, in 80 columns.

use fathom_model::quantity::short_time;
use fathom_model::{CheckReport, CheckState, Fitness, SelfComparison};

use super::terminal::wrapped;

/// The checks, what each does to results and what mends it, and the sum.
pub fn machine_check_terminal(report: &CheckReport) -> String {
    let mut out = format!("{:<20} {:<8} found\n", "check", "state");
    for item in &report.items {
        let head = format!("{:<20} {:<8} ", item.id, state(item.state));
        out.push_str(&head);
        let room = 80 - head.chars().count();
        let found: String = item.found.chars().take(room).collect();
        out.push_str(&found);
        out.push('\n');
        if let Some(effect) = &item.effect {
            wrapped(&mut out, effect);
        }
        if let Some(remedy) = &item.remedy {
            wrapped(&mut out, &format!("-> {remedy}"));
        }
    }
    let gaps = &report.noise.gaps;
    out.push_str(&format!(
        "\nnoise: {:.2} % of a spinning core lost in {:.1} s, {} gaps, the longest {}\n",
        gaps.lost.percent(),
        gaps.seconds,
        gaps.count,
        short_time(gaps.longest_ns / 1e9)
    ));
    if let Some(by) = &report.noise.against_itself {
        smallest_difference(&mut out, report.noise.smallest_difference, by);
    }
    out.push_str(match report.fitness {
        Fitness::Quiet => "quiet: fit to measure on\n",
        Fitness::Usable => "usable: short chunks and low quantiles hold, medians are wide\n",
        Fitness::Unfit => "unfit: wall times would not be worth printing\n",
    });
    out
}

fn smallest_difference(out: &mut String, smallest: Option<f64>, by: &SelfComparison) {
    let runs = format!(
        "{} rounds of a program of {}, against itself",
        by.rounds,
        short_time(by.program_seconds)
    );
    let clock = match by.clock.as_str() {
        "wall" => "wall time",
        "cpu_wait_free" => "undisturbed time",
        other => other,
    };
    match smallest {
        Some(smallest) => {
            out.push_str(&format!(
                "smallest difference that 'fathom bench' detects here: {:.1} % of {clock}\n",
                smallest * 100.0
            ));
            wrapped(out, &format!("in four of five tries of {runs}"));
        }
        None => {
            out.push_str("no difference that 'fathom bench' would detect here\n");
            wrapped(out, &format!("by {clock}, in {runs}"));
        }
    }
}

fn state(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Unknown => "unknown",
        CheckState::Warning => "warning",
        CheckState::Bad => "bad",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_difference_says_what_it_rests_on() {
        let by = SelfComparison {
            rounds: 50,
            clock: "cpu_wait_free".into(),
            program_seconds: 0.005_21,
        };
        let mut detected = String::new();
        smallest_difference(&mut detected, Some(0.02), &by);
        assert_eq!(
            detected,
            "smallest difference that 'fathom bench' detects here: 2.0 % of undisturbed time\n    in four of \
             five tries of 50 rounds of a program of 5.21 ms, against itself\n"
        );
        let mut none = String::new();
        smallest_difference(&mut none, None, &by);
        assert!(
            none.contains("no difference") && none.contains("50 rounds"),
            "{none}"
        );
    }
}
