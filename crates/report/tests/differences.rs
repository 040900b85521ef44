//! Output of `fathom why 'A' 'B'`. Every snapshot was reviewed as a user would read it.

mod differed;
mod explained;
mod schemas;

use differed::{category, known, record};
use explained::MS;
use fathom_diagnose::Observation;
use fathom_diagnose::difference::Side;
use fathom_model::{DifferenceRecord, Estimate, TimeCategory};
use fathom_report::{
    Screen, columns, difference_parts, difference_terminal, difference_whole, json,
};
use schemas::{assert_fits, assert_refused};
use serde_json::Value;

fn same() -> DifferenceRecord {
    let mut record = record();
    record.difference.wall.milliseconds = 0.2;
    (record.difference.wall.low, record.difference.wall.high) = (-0.4, 0.6);
    record.difference.wall.ratio = Estimate {
        value: 1.002,
        low: 0.996,
        high: 1.006,
        level: 0.95,
    };
    record.difference.rows.clear();
    record.difference.not_explained = 0.2;
    record.difference.not_explained_share = 0.002;
    record.findings.clear();
    record.warnings.clear();
    record.commands[0].end = "exit code 1 in 30 of 30 runs".to_owned();
    record
}

fn print(record: &DifferenceRecord) -> String {
    difference_terminal(record, &Screen::default())
}

#[test]
fn what_b_takes_more() {
    insta::assert_snapshot!(print(&record()));
}

#[test]
fn a_long_name_goes_on_in_the_next_line() {
    let mut record = record();
    record.difference.rows[3].file =
        Some("/srv/data/a-name-of-a-file-that-is-wider.txt".to_owned());
    let text = print(&record);
    let reads: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("read,"))
        .take(2)
        .collect();
    let expected = [
        "         +40 ms  read, 100,000 calls more",
        "                 on /srv/data/a-name-of-a-file-that-is-wider.txt",
    ];
    assert_eq!(reads, expected);
}

#[test]
fn no_difference() {
    insta::assert_snapshot!(print(&same()));
}

/// The ratio of the rounds may be less precise than the difference: 0.6 of 100 ms is 0.6 %.
#[test]
fn the_per_cent_and_the_interval_have_the_same_base() {
    let mut record = same();
    let ratio = &mut record.difference.wall.ratio;
    (ratio.low, ratio.high) = (0.96, 1.04);
    let text = print(&record);
    assert!(
        text.starts_with("no difference: within 0.6 %, 95 % interval -400 to 600 µs\n"),
        "{text}"
    );
}

#[test]
fn everything_that_is_known() {
    let verbose = Screen {
        verbose: true,
        ..Screen::default()
    };
    insta::assert_snapshot!(difference_terminal(&record(), &verbose));
}

#[test]
fn the_other_way_round_b_takes_less() {
    let mut record = record();
    record.commands.reverse();
    let wall = &mut record.difference.wall;
    wall.milliseconds = -wall.milliseconds;
    (wall.low, wall.high) = (-wall.high, -wall.low);
    wall.ratio = known(0.44);
    let text = print(&record);
    let first = text.lines().next().unwrap();
    assert_eq!(
        first,
        "B takes 128 ms less than A (0.44x; 95 % interval 126 to 130 ms)"
    );
}

#[test]
fn other_verbs_say_the_first_parts_in_a_line_each() {
    let parts = difference_parts(&record().difference, 2);
    let expected = [
        "+60 ms sleeping (clock_nanosleep, 1 call more)",
        "+40 ms kernel: reading and writing (read, 100,000 calls more on /data/words.txt)",
    ];
    assert_eq!(parts, expected);
    assert_eq!(
        difference_whole(&record().difference),
        "wall time +128 ms (126 to 130 ms, 2.28x), in the same 30 rounds"
    );
}

/// Returns a recorded run of a program with artificial functions. `of_check` is the number of samples in the
/// C library's functions called by `check`, in addition to those called by `load`.
fn revision(name: &str, program: &str, of_check: u64) -> Observation {
    let mut observation = explained::observation(name);
    let pid = observation.trace.processes[0].pid;
    let frame =
        |binary: &str, function: &str| serde_json::json!({"binary": binary, "function": function});
    let row = |node: u32, samples: u64| {
        serde_json::json!({
            "pid": pid, "tid": pid, "activity": "own_code", "node": node, "samples": samples,
            "ns": samples * MS,
        })
    };
    let stacks = serde_json::json!({
        "tree": {
            "frames": [
                frame(program, "main"), frame(program, "load"), frame(program, "check"),
                frame("/usr/lib/libc.so.6", "regexec"),
            ],
            "nodes": [
                {"parent": null, "frame": 0}, {"parent": 0, "frame": 1}, {"parent": 0, "frame": 2},
                {"parent": 1, "frame": 3}, {"parent": 2, "frame": 3},
            ],
        },
        "rows": [row(3, 40), row(4, of_check)],
        "taken": 40 + of_check, "whole": 40 + of_check, "cut_off": 0, "thinned": 0,
    });
    observation.trace.stacks = serde_json::from_value(stacks).expect("stacks");
    observation
}

#[test]
fn of_two_revisions_other_verbs_name_the_function_that_takes_more_and_who_calls_it() {
    let sides = [("fast", "/base/parse", 5), ("slow", "/head/parse", 600)].map(
        |(side, program, of_check)| {
            let name = format!("allocator-churn.c-nodes.{side}.kernel");
            revision(&name, program, of_check)
        },
    );
    let [a, b] = sides.each_ref().map(|one| Side {
        observations: std::slice::from_ref(one),
    });
    let (difference, _) = fathom_diagnose::difference::difference(a, b).expect("one of each");
    let lines = difference_parts(&difference, 3);
    let own = lines.iter().find(|line| line.contains("own code"));
    let own = own.unwrap_or_else(|| panic!("{lines:#?}"));
    let named = own.ends_with("own code (regexec <- check)");
    assert!(named, "{lines:#?}");
}

/// A record in which every untrusted text tries to affect the terminal, and there is more of everything.
fn hostile() -> DifferenceRecord {
    let evil = "a\u{1b}[31m\n<script>\u{202e}".repeat(9);
    let mut record = differed::spoiled(&evil);
    let more = TimeCategory::ALL.into_iter().skip(8).take(12);
    record
        .difference
        .rows
        .extend(more.map(|spent| category(spent, 1.0)));
    record
}

#[test]
fn it_fits_a_screen_and_no_text_acts_on_the_terminal() {
    for record in [record(), same(), hostile()] {
        for width in [32, 60, 80, 200] {
            let options = Screen {
                width,
                ..Screen::default()
            };
            let text = difference_terminal(&record, &options);
            assert!(text.lines().all(|line| columns(line) <= width), "{text}");
            let acts = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!text.contains(acts), "{text:?}");
            if width >= 80 {
                assert!(text.lines().count() <= 20, "{text}");
            }
        }
    }
}

fn written(record: &DifferenceRecord) -> Value {
    let out = json(record).into_bytes();
    serde_json::from_slice(&out).expect("what was written is JSON")
}

#[test]
fn every_record_fits_the_schema_and_spoiled_ones_do_not() {
    let values = [record(), same(), hostile()].map(|record| written(&record));
    assert_fits("difference", values);
    let spoil: [&dyn Fn(&mut Value); 4] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["difference"]["rows"][0]["by"] = Value::from("luck"),
        &|value| value["findings"][0]["command"] = Value::from(2),
        &|value| value["paths"][0]["of"] = Value::from("luck"),
    ];
    assert_refused("difference", &written(&record()), &spoil);
}
