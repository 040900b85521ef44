//! Output of `fathom serve`: text and JSON.

mod fingerprinted;
mod schemas;
mod served;

use fathom_model::{ServeRecord, StopReason};
use fathom_report::{Screen, columns, json, serve_terminal};
use schemas::{assert_fits, assert_refused};
use serde_json::Value;
use served::{full, hostile, knee, plain, ramp, sparse, unseen, websocket};

fn written(record: &ServeRecord) -> Value {
    let out = json(record).into_bytes();
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

fn shown(record: &ServeRecord, width: usize, verbose: bool) -> String {
    serve_terminal(
        record,
        &Screen {
            width,
            verbose,
            ..Screen::default()
        },
    )
}

/// Returns the text without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_record_fits_the_schema() {
    let values = [
        plain(),
        full(),
        sparse(),
        unseen(),
        websocket(),
        ramp(),
        knee(),
    ]
    .map(|record| written(&record));
    assert_fits("serve", values);
}

#[test]
fn what_was_written_can_be_read_again() {
    for record in [plain(), full(), sparse(), unseen(), websocket(), hostile()] {
        let again: ServeRecord = serde_json::from_value(written(&record)).expect("a record");
        assert_eq!(again, record);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let spoil: [&dyn Fn(&mut Value); 3] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["servers"][0]["cold"]["runs"][1]["slow"] = Value::from("lazy"),
        &|value| value["servers"][0]["load"][0]["completed"] = Value::from(-1),
    ];
    assert_refused("serve", &written(&full()), &spoil);
}

#[test]
fn one_server_fits_a_screen_of_80_columns() {
    let text = shown(&plain(), 80, false);
    assert!(text.lines().count() <= 25, "{text}");
    insta::assert_snapshot!("one_server", text);
}

#[test]
fn two_servers_with_everything() {
    let text = shown(&full(), 80, true);
    insta::assert_snapshot!("two_servers", text);
}

#[test]
fn a_growing_rate_says_up_to_which_one_each_limit_is_kept() {
    let text = shown(&ramp(), 80, false);
    insta::assert_snapshot!("ramp", text);
    let all = shown(&ramp(), 100, true);
    assert!(
        all.lines().filter(|line| line.contains("/s  ")).count() >= 16,
        "{all}"
    );
    let knee = flat(&shown(&knee(), 80, false));
    for said in [
        "answers more slowly from 1,200/s on",
        "the p90 stays below 3 times its minimum up to 1,200 requests/s (1,100 to 1,300 in the rounds)",
    ] {
        assert!(knee.contains(said), "{said}: {knee}");
    }
}

#[test]
fn two_servers_by_websocket() {
    insta::assert_snapshot!("websocket", shown(&websocket(), 80, false));
}

#[test]
fn no_line_is_too_wide_and_no_name_acts_on_the_terminal() {
    for width in [32, 60, 80, 120] {
        for record in [plain(), full(), sparse(), unseen(), websocket(), hostile()] {
            for verbose in [false, true] {
                let text = shown(&record, width, verbose);
                assert!(
                    text.lines().all(|line| columns(line) <= width),
                    "{width}:\n{text}"
                );
                assert!(!text.contains(['\x1b', '\u{202e}']), "{text}");
            }
        }
    }
}

#[test]
fn what_is_missing_is_said_and_not_made_up() {
    let text = flat(&shown(&sparse(), 100, true));
    for wanted in ["PARTIAL: interrupted.", "n/a", "share their CPUs"] {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
    let mut failed = unseen();
    (failed.complete, failed.stop) = (false, StopReason::Failed);
    let text = flat(&shown(&failed, 100, false));
    assert!(text.contains("PARTIAL: a server failed."), "{text}");
    assert!(
        text.contains("p99<5ms does not hold at any rate (1 rate was tried)"),
        "{text}"
    );
    assert!(!text.contains("listening"), "{text}");
}
