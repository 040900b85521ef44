//! Sessions with requested metrics other than time.

mod support;

use fathom_model::{BenchRecord, Metric};
use fathom_report::{Screen, TerminalOptions, asciidoc, bench_html, markdown, orgmode, terminal};
use support::program::Program;
use support::{asked, estimate, outcome_of, session};

fn two() -> BenchRecord {
    let programs = [
        Program {
            memory: 214_958_080,
            ..Program::new("sort big.txt", 0.0431)
        },
        Program {
            memory: 9_958_080,
            read_calls: 9204,
            ..Program::new("sort -S 1M big.txt", 0.0612)
        },
    ];
    session(&programs, 40)
}

fn print(record: &BenchRecord, verbose: bool, brief: bool) -> String {
    let options = TerminalOptions {
        screen: Screen {
            verbose,
            ..Screen::default()
        },
        brief,
        ..TerminalOptions::default()
    };
    terminal(record, &options)
}

#[test]
fn one_metric_has_the_figures_the_verdict_and_the_picture() {
    let record = asked(two(), &[(Metric::PeakMemory, 0.05)]);
    insta::assert_snapshot!(print(&record, false, false));
}

#[test]
fn several_metrics_have_a_table_and_a_verdict_each() {
    let metrics = [(Metric::ReadCalls, 0.0), (Metric::Wall, 0.01)];
    let record = asked(two(), &metrics);
    insta::assert_snapshot!(format!(
        "{}\n-- brief\n{}",
        print(&record, false, false),
        print(&record, false, true)
    ));
    let known = print(&record, true, false);
    for text in [
        "compared by read calls, paired by round",
        "no margin for read calls; margin 1 % for wall time",
        "counted, the same in all runs",
    ] {
        let known = known.replace('\u{a0}', " ");
        let known = known.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(known.contains(text), "{text}: {known}");
    }
}

#[test]
fn the_rate_of_false_claims_is_of_what_was_sampled() {
    let rate = |metrics: &[(Metric, f64)]| {
        let known = print(&asked(two(), metrics), true, false).replace('\u{a0}', " ");
        let line = known
            .lines()
            .find(|line| line.contains("false discovery rate"));
        line.map(|line| line.trim().to_owned())
    };
    let [calls, writes] = [Metric::ReadCalls, Metric::WriteCalls].map(|metric| (metric, 0.0));
    let [wall, memory] = [Metric::Wall, Metric::PeakMemory].map(|metric| (metric, 0.01));
    assert_eq!(rate(&[calls, writes]), None);
    assert_eq!(rate(&[calls, wall]), None);
    let two = rate(&[calls, wall, memory]);
    assert!(two.is_some_and(|line| line.starts_with("2 comparisons: ")));
}

#[test]
fn too_few_rounds_for_two_metrics_are_said() {
    let metrics = [(Metric::PeakMemory, 0.05), (Metric::Wall, 0.01)];
    let mut record = asked(two(), &metrics);
    for one in &mut outcome_of(&mut record).comparisons {
        (one.rounds, one.claim_level) = (8, 0.995);
        one.verdict = fathom_model::Verdict::Undecided;
    }
    let known = print(&record, false, false).replace('\u{a0}', " ");
    for metric in ["peak memory", "wall time"] {
        let said = format!("{metric}: too few rounds (8 of 9); so far 2 ");
        assert!(known.contains(&said), "{said}: {known}");
    }
}

#[test]
fn of_many_commands_the_least_is_named() {
    let programs = [3_u64, 2, 9].map(|mib| Program {
        memory: mib << 20,
        ..Program::new(&format!("tool --cache {mib}"), 0.02)
    });
    let record = asked(session(&programs, 20), &[(Metric::PeakMemory, 0.01)]);
    insta::assert_snapshot!(print(&record, false, false));
}

#[test]
fn exports_and_the_page_are_of_the_metric() {
    let record = asked(two(), &[(Metric::PeakMemory, 0.05)]);
    let table = markdown(&record, None);
    assert!(table.contains("Median peak memory [MiB]"), "{table}");
    assert!(table.contains(", less |"), "{table}");
    let both = asked(two(), &[(Metric::PeakMemory, 0.05), (Metric::Wall, 0.01)]);
    for (form, rows) in [
        (markdown(&both, None), "| `sort"),
        (asciidoc(&both, None), "| `sort"),
        (orgmode(&both, None), "| =sort"),
    ] {
        for title in ["Median peak memory [MiB]", "Median wall time [ms]"] {
            assert_eq!(form.matches(title).count(), 1, "{form}");
        }
        assert_eq!(form.matches(rows).count(), 4, "{form}");
    }
    let page = bench_html(&record);
    for text in [
        "peak memory: 2 has",
        "<h2>Peak memory</h2>",
        "Peak memory as a multiple of that of 1, with its interval; values left of 1x are less.",
        " MiB</text>",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn what_differs_besides_time_is_one_line() {
    let mut record = two();
    let besides = [Metric::PeakMemory, Metric::ReadCalls];
    let found = besides.map(|metric| estimate::compare(&record, 1, metric).unwrap());
    outcome_of(&mut record).also_differ = found.into();
    let text = print(&record, false, false).replace('\u{a0}', " ");
    let lines: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("besides time"))
        .collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(
        lines[0].contains("peak memory 21.6x less, read calls "),
        "{text}"
    );
}
