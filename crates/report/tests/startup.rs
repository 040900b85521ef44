//! Output of `fathom startup`: text, page and JSON.

mod fingerprinted;
mod schemas;
mod started;

use fathom_model::{Cache, PhaseTime, StartupMetric, StartupPhase, StartupRecord};
use fathom_report::{Screen, columns, json, startup_html, startup_terminal};
use schemas::{assert_fits, assert_refused};
use serde_json::Value;
use started::{full, hostile, sparse};

fn written(record: &StartupRecord) -> Value {
    let out = json(record).into_bytes();
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

/// Returns the report with all details.
fn shown(record: &StartupRecord, width: usize) -> String {
    startup_terminal(
        record,
        &Screen {
            width,
            verbose: true,
            ..Screen::default()
        },
    )
}

/// Returns the report without details, 80 columns wide.
fn short(record: &StartupRecord) -> String {
    startup_terminal(record, &Screen::default())
}

/// Returns the text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_record_fits_the_schema() {
    let values = [full(), sparse(), hostile()].map(|record| written(&record));
    assert_fits("startup", values);
}

#[test]
fn what_was_written_can_be_read_again() {
    for record in [full(), sparse()] {
        let again: StartupRecord = serde_json::from_value(written(&record)).expect("a record");
        assert_eq!(again.runs, record.runs);
        assert_eq!(again.traces, record.traces);
        assert_eq!(again.stop, record.stop);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let spoil: [&dyn Fn(&mut Value); 3] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["runs"][0]["cache"] = Value::from("tepid"),
        &|value| value["runs"][0]["exit_ns"] = Value::from(-1),
    ];
    assert_refused("startup", &written(&full()), &spoil);
}

#[test]
fn the_screen_has_both_states_the_phases_what_stayed_and_the_budget() {
    let text = shown(&full(), 100);
    for wanted in [
        "From exec to the first byte of output",
        "From exec to the exit",
        "1: cold ./hello-c",
        "p99",
        "by the time to the first byte of output, round by round",
        "2.00x slower",
        "1.06x the time of the timed runs to the first byte of output",
        "loader and libraries",
        "libc.so.6: 471 of 471 pages, mapped by bash, sshd",
        "/etc/ld.so.preload",
        "/home/me/hello > /usr/bin/dash",
        "within the budget",
        "could not be shown",
        "left processes running",
    ] {
        assert!(
            text.contains(wanted) || flat(&text).contains(wanted),
            "{wanted:?} is missing in\n{text}"
        );
    }
}

#[test]
fn shares_of_runs_that_were_far_slower_are_only_shown_where_waits_are_measured() {
    let mut record = full();
    record.traces[0].slowdown = Some(3.63);
    record.traces[0].slowdown_metric = Some(StartupMetric::Exit);
    let text = shown(&record, 80);
    assert!(text.contains("no shares: the observed runs"), "{text}");
    assert!(
        flat(&text).contains("3.63x the time of the timed runs to"),
        "{text}"
    );
    assert!(!text.contains("59 %"), "{text}");
    record.traces[0].phases.push(PhaseTime {
        phase: StartupPhase::WaitingForCpu,
        ns: 506_000,
    });
    let text = shown(&record, 80);
    assert!(!text.contains("no shares"), "{text}");
    let wait = text.lines().find(|line| line.contains("waiting for a CPU"));
    assert!(wait.is_some_and(|line| line.ends_with("50 %")), "{text}");
    assert!(startup_html(&record).contains("<rect class=\"starved\""));
}

#[test]
fn shares_of_runs_that_were_far_faster_are_never_shown() {
    let mut record = full();
    record.traces[0].phases.push(PhaseTime {
        phase: StartupPhase::WaitingForCpu,
        ns: 506_000,
    });
    record.traces[0].slowdown = Some(0.69);
    let text = shown(&record, 80);
    assert!(
        flat(&text).contains("no shares: the observed runs were far faster than the timed ones"),
        "{text}"
    );
    assert!(!text.contains("50 %"), "{text}");
    let page = startup_html(&record);
    assert!(!page.contains("<rect class=\"starved\" x="), "{page}");
    assert!(page.contains("No phases are drawn of"), "{page}");
    record.traces[0].slowdown = Some(0.71);
    assert!(!shown(&record, 80).contains("no shares"));
}

#[test]
fn the_first_sentence_answers_and_a_screen_has_the_rest() {
    let text = short(&full());
    let first = "It could not be shown that the budget of 600 µs is met: the p90 of cold ./hello is unknown. \
                 ./hello-c writes its first byte of output after 550 µs (p90 700 µs), cold after 550 µs; 2 \
                 (./hello) is 2.00x slower.";
    assert!(flat(&text).starts_with(first), "{text}");
    assert!(flat(&shown(&full(), 80)).starts_with(first), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    assert!(
        text.contains("1: 59 % loader and libraries, 29 % exec, in the kernel, 8 % runtime"),
        "{text}"
    );
    assert!(
        flat(&text).contains("1.84 MiB of 2.00 MiB stayed cached"),
        "{text}"
    );
    assert!(text.contains("left processes running"), "{text}");
    assert!(
        !text.contains("From exec to the exit") && !text.contains("libc.so.6"),
        "{text}"
    );
    assert!(
        flat(&text).ends_with("the pages that stayed cached, and why"),
        "{text}"
    );
}

#[test]
fn one_program_gets_its_phases_and_one_without_output_its_exit() {
    let mut record = full();
    record.programs.truncate(1);
    record.comparisons.clear();
    record.warnings.clear();
    record.budget = None;
    let text = short(&record);
    assert!(
        text.starts_with("./hello-c writes its first byte of output after"),
        "{text}"
    );
    assert!(
        flat(&text).contains("loader and libraries 300 µs 59 %"),
        "{text}"
    );
    assert!(
        text.contains("2 libraries, 1 other file, 1 failed lookup"),
        "{text}"
    );
    assert!(text.lines().count() <= 24, "{text}");
    record
        .summaries
        .retain(|summary| summary.metric == StartupMetric::Exit);
    let text = short(&record);
    assert!(text.starts_with("./hello-c ends after 550 µs"), "{text}");
    assert!(text.contains("From exec to the exit"), "{text}");
}

#[test]
fn a_static_program_has_no_loader() {
    let mut record = full();
    record.traces[0].phases[1].phase = StartupPhase::Entry;
    let text = shown(&record, 80);
    assert!(text.contains("to its entry (static)"), "{text}");
    assert!(!text.contains("loader and libraries"), "{text}");
}

#[test]
fn a_neighbour_on_the_other_hyperthread_is_said_with_what_it_did() {
    let mut record = full();
    assert!(!shown(&record, 80).contains("hyperthread"));
    for summary in record.summaries.iter_mut().filter(|it| it.program == 1) {
        let by_core = summary.by_core.as_mut().expect("it is known");
        (by_core.alone_runs, by_core.shared_runs) = (12, 8);
    }
    let text = shown(&record, 120);
    let said = "program 2: other work used the sibling hyperthread in 8 of 20 runs";
    assert!(
        text.contains("hyperthread") && flat(&text).contains(said),
        "{text}"
    );
    assert!(fathom_report::startup_html(&record).contains("sibling hyperthread"));
}

#[test]
fn runs_that_stood_still_are_said_unless_the_program_always_waits() {
    let mut record = full();
    assert!(!shown(&record, 80).contains("stood still"));
    let warm = |run: &&mut fathom_model::StartupRun| run.program == 1 && run.cache == Cache::Warm;
    for run in record.runs.iter_mut().filter(warm).take(2) {
        run.exit_ns += 12_000_000;
    }
    let text = flat(&shown(&record, 120));
    let said = "program 2: 2 of 20 runs, for 12.";
    assert!(
        text.contains("stood still") && text.contains(said),
        "{text}"
    );
    for run in record.runs.iter_mut().filter(warm) {
        run.exit_ns += 5_000_000;
    }
    assert!(!shown(&record, 120).contains("stood still"));
}

#[test]
fn a_busy_machine_is_said_in_the_words_of_bench() {
    let mut record = full();
    assert!(!shown(&record, 80).contains("busy machine"));
    for run in record.runs.iter_mut().filter(|run| run.program == 1) {
        run.run_queue_wait_ns = Some(run.exit_ns / 2);
        run.wait_is_exact = false;
    }
    let text = shown(&record, 120);
    let said =
        "program 2: 40 of 40 runs waited in the main thread more than 1 % of their time for a CPU";
    assert!(
        text.contains("busy machine") && flat(&text).contains(said),
        "{text}"
    );
    assert!(startup_html(&record).contains("40 of 40 runs waited in the main"));
}

#[test]
fn verdicts_by_different_clocks_each_name_theirs() {
    let mut record = full();
    let mut by_exit = record.comparisons[0].clone();
    by_exit.metric = StartupMetric::Exit;
    record.comparisons.push(by_exit);
    let text = shown(&record, 120);
    assert!(
        text.contains("Against program 1, warm, round by round"),
        "{text}"
    );
    assert!(
        text.contains("by the time to the exit: 2.00x slower"),
        "{text}"
    );
    assert!(
        text.contains("by the time to the first byte of output: 2.00x"),
        "{text}"
    );
}

#[test]
fn a_cut_short_record_says_so_and_shows_what_is_there() {
    for text in [shown(&sparse(), 80), short(&sparse())] {
        assert!(text.starts_with("PARTIAL: interrupted. "), "{text}");
        assert!(text.contains("From exec to the exit"), "{text}");
        assert!(!text.contains("first byte of output"), "{text}");
    }
}

#[test]
fn no_line_is_too_wide_and_no_text_from_outside_acts() {
    for record in [full(), sparse(), hostile()] {
        for width in [32, 60, 80, 120] {
            let options = Screen {
                width,
                ..Screen::default()
            };
            let text = shown(&record, width) + &startup_terminal(&record, &options);
            assert!(
                !text.contains('\x1b') && !text.contains('\u{202e}'),
                "{text}"
            );
            for line in text.lines() {
                assert!(columns(line) <= width, "{line:?} is wider than {width}");
            }
        }
    }
}

#[test]
fn the_page_has_stacked_bars_and_lets_nothing_in() {
    let page = startup_html(&full());
    for class in ["exec", "loader", "main", "write", "exit"] {
        assert!(
            page.contains(&format!("<rect class=\"{class}\"")),
            "{class}"
        );
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    let nasty = startup_html(&hostile());
    assert_eq!(nasty.matches("<script").count(), 1, "the page's own");
    assert!(!nasty.contains('\x1b') && !nasty.contains('\u{202e}'));
    assert_eq!(
        nasty.matches("</title>").count(),
        page.matches("</title>").count(),
        "no element ends early"
    );
    assert!(
        !page.contains("style=\""),
        "the policy allows no inline style"
    );
}

#[test]
fn a_page_without_phases_says_why() {
    assert!(startup_html(&sparse()).contains("No way to observe"));
}
