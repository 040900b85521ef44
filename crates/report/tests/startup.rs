//! What `fathom startup` writes: words, page and JSON.

mod started;
mod walker;

use std::collections::BTreeSet;

use fathom_model::StartupRecord;
use fathom_report::{StartupOptions, columns, startup_html, startup_json, startup_terminal};
use serde_json::Value;
use started::{full, hostile, sparse};
use walker::{Walker, offered, undescribed};

fn schema() -> Value {
    let text = include_str!("../../../docs/json-schema/startup.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

fn written(record: &StartupRecord) -> Value {
    let mut out = Vec::new();
    startup_json(record, &mut out).expect("a vector takes everything");
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

fn shown(record: &StartupRecord, width: usize) -> String {
    startup_terminal(
        record,
        &StartupOptions {
            width,
            ..StartupOptions::default()
        },
    )
}

#[test]
fn every_record_fits_the_schema_and_no_key_in_the_schema_is_idle() {
    let schema = schema();
    let mut walker = Walker::new(&schema);
    for record in [full(), sparse(), hostile()] {
        walker
            .check(&written(&record), &schema, "startup")
            .expect("the record fits the schema");
    }
    let mut all = BTreeSet::new();
    offered(&schema, "startup", &mut all);
    // Alternatives are names; keys must all be used.
    let idle: Vec<&String> = all
        .difference(&walker.used)
        .filter(|path| !path.contains('|'))
        .collect();
    assert!(idle.is_empty(), "no record uses {idle:?}");
    assert_eq!(undescribed(&schema), Vec::<String>::new());
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
    let schema = schema();
    let spoil: [&dyn Fn(&mut Value); 3] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["runs"][0]["cache"] = Value::from("tepid"),
        &|value| value["runs"][0]["exit_ns"] = Value::from(-1),
    ];
    for spoil in spoil {
        let mut value = written(&full());
        spoil(&mut value);
        assert!(
            Walker::new(&schema)
                .check(&value, &schema, "startup")
                .is_err()
        );
    }
}

#[test]
fn the_screen_has_both_states_the_phases_what_stayed_and_the_budget() {
    let text = shown(&full(), 100);
    for wanted in [
        "From exec to the first byte of output",
        "From exec to the exit",
        "1: cold ./hello-c",
        "p99",
        "2.00x slower",
        "loader and libraries",
        "libc.so.6: 471 of 471 pages, mapped by bash, sshd",
        "/etc/ld.so.preload",
        "/home/me/hello > /usr/bin/dash",
        "within the budget",
        "nothing shows that it holds",
        "left processes running",
    ] {
        assert!(text.contains(wanted), "{wanted:?} is missing in\n{text}");
    }
}

#[test]
fn a_cut_short_record_says_so_and_shows_what_is_there() {
    let text = shown(&sparse(), 80);
    assert!(text.contains("PARTIAL: interrupted"), "{text}");
    assert!(text.contains("From exec to the exit"), "{text}");
    assert!(!text.contains("first byte of output"), "{text}");
}

#[test]
fn no_line_is_too_wide_and_no_text_from_outside_acts() {
    for record in [full(), sparse(), hostile()] {
        for width in [32, 60, 80, 120] {
            let text = shown(&record, width);
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
    assert!(page.contains("default-src 'none'"));
    let nasty = startup_html(&hostile());
    assert!(!nasty.contains("<script"), "no script of anyone");
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
