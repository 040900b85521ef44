//! Whether the machine is quiet enough for measuring, in 80 columns: first the answer and the most important
//! remedy, then the checks that are not ok, and with `-v` all checks.

use fathom_model::quantity::{counted, short_time};
use fathom_model::{CheckItem, CheckReport, CheckState, Fitness, SelfComparison};

use crate::Screen;
use crate::document::{Cell, Kind, Table};
use crate::line::{Page, Tone};

/// The remedy if other programs are the problem, whichever check shows it.
const QUIETEN: &str = "wait, or stop the other programs";

/// Formats whether the machine is fit and what to do, then each check that isn't ok, with its effect on
/// results and its remedy. If `verbose`, formats all checks and the noise of a spinning core.
pub fn machine_check_terminal(report: &CheckReport, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    answer(&mut page, report);
    if let Some(by) = &report.noise.against_itself {
        smallest_difference(&mut page, report.noise.smallest_difference, by);
    }
    let wanted = |item: &&CheckItem| {
        screen.verbose || matches!(item.state, CheckState::Warning | CheckState::Bad)
    };
    let mut table = Table::new("Checks")
        .column("", Kind::Name)
        .column("", Kind::Words)
        .column("", Kind::Words);
    for item in report.items.iter().filter(wanted) {
        table.row("", row(item));
    }
    page.gap();
    table.terminal(&mut page, 0);
    if screen.verbose {
        noise(&mut page, report);
    } else {
        rest(&mut page, report);
    }
    page.finish()
}

/// Returns whether the machine is fit for measuring, and why, in a sentence or two.
pub fn machine_check_sentence(report: &CheckReport) -> String {
    let lost = report.noise.gaps.lost.percent();
    let worst = worst(report);
    let lost = format!("other programs take {lost:.1} % of a core");
    let why = match worst {
        Some(item) => format!("{}: {}", name(item), item.found),
        None => lost.clone(),
    };
    match report.fitness {
        Fitness::Quiet => format!("Fit to measure on: {lost}."),
        Fitness::Usable => format!(
            "Usable with care: {lost}, so medians have wide intervals; minima and comparisons are reliable."
        ),
        Fitness::Unfit => format!("Not fit to measure on: {why}. Wall times would be worthless."),
    }
}

/// Writes whether the machine is fit, why, and what to do.
fn answer(page: &mut Page, report: &CheckReport) {
    page.prose(0, Tone::Plain, &machine_check_sentence(report));
    if report.fitness != Fitness::Quiet {
        page.prose(
            0,
            Tone::Plain,
            &format!("Do this: {}.", remedy(worst(report))),
        );
    }
}

fn remedy(worst: Option<&CheckItem>) -> &str {
    worst
        .and_then(|item| item.remedy.as_deref())
        .unwrap_or(QUIETEN)
}

/// Returns the most serious disturbance that can be remedied. The load average and waiting times are only
/// consequences of other programs, which have their own check.
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

/// Returns the display name of the check.
fn name(item: &CheckItem) -> String {
    match item.id.as_str() {
        "shared_core" => "sibling hyperthread".to_owned(),
        id => id.replace('_', " "),
    }
}

/// Returns the check with its effect on results and its remedy.
fn row(item: &CheckItem) -> Vec<Cell> {
    let mends = item.remedy.iter().map(|remedy| format!("-> {remedy}"));
    let remarks = item.effect.iter().cloned().chain(mends).collect();
    let (state, tone) = match item.state {
        CheckState::Ok => ("ok", Tone::Plain),
        CheckState::Unknown => ("unknown", Tone::Quiet),
        CheckState::Warning => ("warning", Tone::Notice),
        CheckState::Bad => ("bad", Tone::Bad),
    };
    vec![
        Cell::name(&name(item)).with_small(remarks),
        Cell::words(state).toned(tone),
        Cell::words(&item.found),
    ]
}

/// Writes what is not shown.
fn rest(page: &mut Page, report: &CheckReport) {
    let of = |state| report.items.iter().filter(move |item| item.state == state);
    let unknown: Vec<String> = of(CheckState::Unknown).map(name).collect();
    page.gap();
    if !unknown.is_empty() {
        page.prose(
            0,
            Tone::Plain,
            &format!("Not known here: {}.", unknown.join(", ")),
        );
    }
    let ok = counted(of(CheckState::Ok).count() as u64, "check is", "checks are");
    page.prose(0, Tone::Plain, &format!("{ok} ok; -v lists them all"));
}

fn noise(page: &mut Page, report: &CheckReport) {
    let gaps = &report.noise.gaps;
    page.gap();
    let text = format!(
        "noise: a spinning core lost {:.2} % of {:.1} s, in {} gaps, the longest {}",
        gaps.lost.percent(),
        gaps.seconds,
        gaps.count,
        short_time(gaps.longest_ns / 1e9)
    );
    page.prose(0, Tone::Plain, &text);
}

fn smallest_difference(page: &mut Page, smallest: Option<f64>, by: &SelfComparison) {
    let runs = format!(
        "{} rounds of a {} program against itself",
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
            format!("'fathom bench' would detect no difference here, by {clock}, in {runs}.")
        }
    };
    page.prose(0, Tone::Plain, &text);
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
        let text = machine_check_terminal(&report(Fitness::Unfit, items()), &Screen::default());
        let first = "Not fit to measure on: other programs: cc 80 %. Wall times would be worthless.\n\
                     Do this: stop them.\nSmallest difference that 'fathom bench' detects here: 2.0 % of";
        assert!(text.starts_with(first), "{text}");
        let text = machine_check_terminal(&report(Fitness::Usable, Vec::new()), &Screen::default());
        assert!(
            text.starts_with("Usable with care: other programs take 3.4 % of a core, so"),
            "{text}"
        );
        assert!(
            text.contains("\nDo this: wait, or stop the other programs.\n"),
            "{text}"
        );
        let text = machine_check_terminal(&report(Fitness::Quiet, Vec::new()), &Screen::default());
        assert!(
            text.starts_with("Fit to measure on: other programs take 3.4 %"),
            "{text}"
        );
        assert!(!text.contains("Do this"), "{text}");
    }

    #[test]
    fn what_is_ok_is_shown_only_if_all_is_asked_for() {
        let report = report(Fitness::Unfit, items());
        let text = machine_check_terminal(&report, &Screen::default());
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
            text.ends_with("Not known here: governor.\n1 check is ok; -v lists them all\n"),
            "{text}"
        );
        let verbose = Screen {
            verbose: true,
            ..Screen::default()
        };
        let all = machine_check_terminal(&report, &verbose);
        assert!(
            all.contains("swap                 ok       none\n"),
            "{all}"
        );
        assert!(
            all.contains("governor             unknown") && all.contains("lost 3.40 % of"),
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
        let mut detected = Page::new(&Screen::default());
        smallest_difference(&mut detected, Some(0.02), &by);
        assert_eq!(
            detected.finish(),
            "Smallest difference that 'fathom bench' detects here: 2.0 % of CPU-wait-free\ntime (in four of five \
             tries: 50 rounds of a 5.21 ms program against itself).\n"
        );
        let mut none = Page::new(&Screen::default());
        smallest_difference(&mut none, None, &by);
        let none = none.finish().replace('\n', " ");
        assert!(
            none.contains("no difference") && none.contains("50 rounds"),
            "{none}"
        );
    }
}
