//! The figures of the machine on a terminal.

mod probed;

use fathom_model::ProbeResult;
use fathom_report::{MachineOptions, Screen, machine_terminal};
use probed::{result, results};
use serde_json::json;

fn shown(results: &[ProbeResult]) -> String {
    machine_terminal(results, MachineOptions::default(), &Screen::default())
}

#[test]
fn a_figure_of_disturbance_does_not_read_as_a_machine_that_is_fine() {
    let row = |id: &str, value: f64| {
        let text = shown(&[result(id, "time lost to others", "%", value, json!({}))]);
        text.lines().nth(1).unwrap().to_owned()
    };
    assert!(row("noise_lost", 83.8).ends_with("busy"));
    assert!(row("noise_lost", 0.4).ends_with("quiet"));
    assert!(row("another", 83.8).ends_with("measured"));
}

#[test]
fn what_was_not_reached_is_named_once_and_first() {
    let absent = |id: &str, title: &str, verdict: &str, note: &str| {
        let differs = json!({ "value": null, "verdict": verdict, "note": note });
        result(id, title, "ns", 0.0, differs)
    };
    let text = shown(&[
        absent("a", "energy", "not_measurable", "no meter"),
        absent("b", "memory nodes", "no_answer", ProbeResult::NOT_REACHED),
        absent(
            "c",
            "pipe round trip",
            "no_answer",
            ProbeResult::NOT_REACHED,
        ),
    ]);
    let first = "not reached: the machine was too busy for 2 of 3 probes";
    assert!(text.starts_with(first), "{text}");
    let names = "    memory nodes, pipe round trip\n\nprobe";
    assert!(text.contains(names), "{text}");
    assert_eq!(text.matches("memory nodes").count(), 1, "{text}");
    assert!(text.contains("energy"), "{text}");
}

#[test]
fn reported_and_measured_stand_side_by_side() {
    let text = shown(&results());
    assert!(text.contains("32 KiB"), "{text}");
    let reported = "reported by the system: 48 KiB (differs)";
    assert!(text.contains(reported), "{text}");
}

#[test]
fn no_line_is_wider_than_80_columns() {
    let mut all = results();
    all[0].note = Some("why ".repeat(50));
    let options = MachineOptions {
        methods: true,
        curves: true,
    };
    let text = machine_terminal(&all, options, &Screen::default());
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(text.contains("not measurable here"), "{text}");
}
