//! Whether the machine is quiet enough to measure on, in 80 columns: the answer and the one thing
//! to do, then what isn't as it should be, and all of it with `-v`.

use fathom_model::quantity::{counted, short_time};
use fathom_model::{CheckItem, CheckReport, CheckState, Fitness, SelfComparison};

use super::terminal::wrapped;

/// Where other programs are the matter, whatever shows it.
const QUIETEN: &str = "wait, or stop the other programs";

/// Fit or not and what to do, then each check that isn't ok with what it does to results and what
/// mends it. `verbose`: all checks and the noise of a spinning core.
pub fn machine_check_terminal(report: &CheckReport, verbose: bool) -> String {
    let mut out = String::new();
    answer(&mut out, report);
    if let Some(by) = &report.noise.against_itself {
        smallest_difference(&mut out, report.noise.smallest_difference, by);
    }
    let wanted =
        |item: &&CheckItem| verbose || matches!(item.state, CheckState::Warning | CheckState::Bad);
    let mut items = report.items.iter().filter(wanted).peekable();
    if items.peek().is_some() {
        out.push('\n');
    }
    for item in items {
        row(&mut out, item);
    }
    if verbose {
        noise(&mut out, report);
    } else {
        rest(&mut out, report);
    }
    out
}

/// Whether the machine is fit to measure on, and why, in a sentence or two.
pub fn machine_check_sentence(report: &CheckReport) -> String {
    let lost = report.noise.gaps.lost.percent();
    let worst = worst(report);
    let lost = format!("{lost:.1} % of a core goes to others");
    let why = match worst {
        Some(item) => format!("{}: {}", name(item), item.found),
        None => lost.clone(),
    };
    match report.fitness {
        Fitness::Quiet => format!("Fit to measure on: {lost}."),
        Fitness::Usable => format!(
            "Fit with care: {lost}, so medians are wide; the smallest times and comparisons hold."
        ),
        Fitness::Unfit => format!("Not fit to measure on: {why}. Wall times would be worthless."),
    }
}

/// Fit or not, why, and what to do.
fn answer(out: &mut String, report: &CheckReport) {
    paragraph(out, &machine_check_sentence(report));
    if report.fitness != Fitness::Quiet {
        paragraph(out, &format!("Do this: {}.", remedy(worst(report))));
    }
}

fn remedy(worst: Option<&CheckItem>) -> &str {
    worst
        .and_then(|item| item.remedy.as_deref())
        .unwrap_or(QUIETEN)
}

/// What disturbs most: the gravest that something can be done about. The load average and what is
/// waited for only follow from other programs, which have a name of their own.
fn worst(report: &CheckReport) -> Option<&CheckItem> {
    let follows = |item: &CheckItem| item.id == "load" || item.id.starts_with("pressure_");
    let disturbing = report.items.iter().filter(|item| match report.fitness {
        Fitness::Unfit => item.state == CheckState::Bad,
        _ => item.state >= CheckState::Warning && item.remedy.is_some(),
    });
    disturbing.min_by_key(|item| {
        (
            std::cmp::Reverse(item.state),
            follows(item),
            item.remedy.is_none(),
        )
    })
}

/// The check's name as people read it.
fn name(item: &CheckItem) -> String {
    match item.id.as_str() {
        "shared_core" => "sibling hyperthread".to_owned(),
        id => id.replace('_', " "),
    }
}

fn row(out: &mut String, item: &CheckItem) {
    let head = format!("{:<20} {:<8} ", name(item), state(item.state));
    out.push_str(&head);
    let room = 80 - head.chars().count();
    let found: String = item.found.chars().take(room).collect();
    out.push_str(&found);
    out.push('\n');
    if let Some(effect) = &item.effect {
        wrapped(out, effect);
    }
    if let Some(remedy) = &item.remedy {
        wrapped(out, &format!("-> {remedy}"));
    }
}

/// What is not shown.
fn rest(out: &mut String, report: &CheckReport) {
    let of = |state| report.items.iter().filter(move |item| item.state == state);
    let unknown: Vec<String> = of(CheckState::Unknown).map(name).collect();
    out.push('\n');
    if !unknown.is_empty() {
        paragraph(out, &format!("Not known here: {}.", unknown.join(", ")));
    }
    let ok = counted(of(CheckState::Ok).count() as u64, "check is", "checks are");
    out.push_str(&format!("{ok} ok; all of them: -v\n"));
}

fn noise(out: &mut String, report: &CheckReport) {
    let gaps = &report.noise.gaps;
    out.push_str(&format!(
        "\nnoise: {:.2} % of a spinning core lost in {:.1} s, {} gaps, the longest {}\n",
        gaps.lost.percent(),
        gaps.seconds,
        gaps.count,
        short_time(gaps.longest_ns / 1e9)
    ));
}

fn smallest_difference(out: &mut String, smallest: Option<f64>, by: &SelfComparison) {
    let runs = format!(
        "{} rounds of a program of {} against itself",
        by.rounds,
        short_time(by.program_seconds)
    );
    let clock = match by.clock.as_str() {
        "wall" => "wall time",
        "cpu_wait_free" => "CPU-wait-free time",
        other => other,
    };
    let text = match smallest {
        Some(smallest) => format!(
            "Smallest difference that 'fathom bench' detects here: {:.1} % of {clock} (in four of five tries: \
             {runs}).",
            smallest * 100.0
        ),
        None => {
            format!("No difference that 'fathom bench' would detect here, by {clock}, in {runs}.")
        }
    };
    paragraph(out, &text);
}

/// At most 80 columns wide, from the first.
fn paragraph(out: &mut String, text: &str) {
    for line in crate::text::wrap(text, 80) {
        out.push_str(&line);
        out.push('\n');
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
    use fathom_model::quantity::Ratio;
    use fathom_model::{Gaps, NoiseFloor};

    use super::*;

    fn report(fitness: Fitness, items: Vec<CheckItem>) -> CheckReport {
        CheckReport {
            items,
            noise: NoiseFloor {
                gaps: Gaps {
                    lost: Ratio(0.034),
                    ..Gaps::default()
                },
                smallest_difference: Some(0.02),
                against_itself: Some(SelfComparison {
                    rounds: 50,
                    clock: "cpu_wait_free".into(),
                    program_seconds: 0.005_21,
                }),
            },
            fitness,
        }
    }

    fn items() -> Vec<CheckItem> {
        vec![
            CheckItem::new(
                "governor",
                CheckState::Unknown,
                "the system does not report it",
            ),
            CheckItem::new("swap", CheckState::Ok, "none"),
            CheckItem::new("load", CheckState::Bad, "25.70 on 2 CPUs")
                .because("wall times include waiting")
                .mend("wait"),
            CheckItem::new("shared_core", CheckState::Warning, "64 % of the time"),
            CheckItem::new("other_programs", CheckState::Bad, "cc 80 %").mend("stop them"),
        ]
    }

    #[test]
    fn it_begins_with_fit_or_not_and_the_one_thing_to_do() {
        let text = machine_check_terminal(&report(Fitness::Unfit, items()), false);
        let first = "Not fit to measure on: other programs: cc 80 %. Wall times would be worthless.\n\
                     Do this: stop them.\nSmallest difference that 'fathom bench' detects here: 2.0 % of";
        assert!(text.starts_with(first), "{text}");
        let text = machine_check_terminal(&report(Fitness::Usable, Vec::new()), false);
        assert!(
            text.starts_with("Fit with care: 3.4 % of a core goes to others, so"),
            "{text}"
        );
        assert!(
            text.contains("\nDo this: wait, or stop the other programs.\n"),
            "{text}"
        );
        let text = machine_check_terminal(&report(Fitness::Quiet, Vec::new()), false);
        assert!(text.starts_with("Fit to measure on: 3.4 %"), "{text}");
        assert!(!text.contains("Do this"), "{text}");
    }

    #[test]
    fn what_is_ok_is_shown_only_if_all_is_asked_for() {
        let report = report(Fitness::Unfit, items());
        let text = machine_check_terminal(&report, false);
        assert!(!text.contains("swap") && !text.contains("noise:"), "{text}");
        assert!(
            text.contains("sibling hyperthread  warning  64 % of the time"),
            "{text}"
        );
        assert!(
            text.contains("load                 bad      25.70 on 2 CPUs\n    wall times"),
            "{text}"
        );
        assert!(
            text.ends_with("Not known here: governor.\n1 check is ok; all of them: -v\n"),
            "{text}"
        );
        let all = machine_check_terminal(&report, true);
        assert!(
            all.contains("swap                 ok       none\n"),
            "{all}"
        );
        assert!(
            all.contains("governor             unknown") && all.contains("noise: 3.40 %"),
            "{all}"
        );
        assert!(all.starts_with(text.lines().next().unwrap()), "{all}");
    }

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
            "Smallest difference that 'fathom bench' detects here: 2.0 % of CPU-wait-free\ntime (in four of five \
             tries: 50 rounds of a program of 5.21 ms against itself).\n"
        );
        let mut none = String::new();
        smallest_difference(&mut none, None, &by);
        assert!(
            none.contains("No difference") && none.contains("50 rounds"),
            "{none}"
        );
    }
}
