//! The reports of an experiment.

mod experimented;
mod fingerprinted;
mod schemas;

use experimented::record;
use fathom_model::{CatalogueRecord, CatalogueRow, PlanRecord, PlanStep};
use fathom_report::{
    Screen, experiment_html, experiment_markdown, experiment_terminal, json, json_of_all,
    summary_terminal,
};
use schemas::assert_fits;
use serde_json::Value;

#[test]
fn the_terminal_has_all_of_it_in_80_columns() {
    let text = experiment_terminal(&record(), &Screen::default());
    assert!(text.lines().all(|line| fathom_report::columns(line) <= 80));
    insta::assert_snapshot!(text);
}

#[test]
fn a_narrow_terminal_is_kept_to_as_well() {
    for width in [40, 60, 120] {
        let text = experiment_terminal(
            &record(),
            &Screen {
                width,
                ..Screen::default()
            },
        );
        assert!(
            text.lines()
                .all(|line| fathom_report::columns(line) <= width)
        );
    }
    let ascii = experiment_terminal(
        &record(),
        &Screen {
            unicode: false,
            ..Screen::default()
        },
    );
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn a_picture_has_a_line_for_each_combination_and_leaves_gaps() {
    let page = experiment_html(&[record()]);
    let begin = page.find("<div class=\"framed").expect("it is drawn");
    let drawing = &page[begin..begin + page[begin..].find("</figure>").expect("it ends")];
    assert_eq!(drawing.matches("<circle").count(), 4);
    assert_eq!(drawing.matches("<g class=\"c").count(), 2);
    assert!(drawing.contains("sink=null</li>") && !drawing.contains("size=1"));
    assert!(drawing.contains("Time over &lt;releases&gt;"));
    for label in [">1</text>", ">2</text>", ">3</text>"] {
        assert!(drawing.contains(label), "{label}");
    }
    assert!(drawing.contains("<title>a-2: 4.1"), "{drawing}");
    let mut empty = record();
    empty.results.clear();
    assert!(!experiment_html(&[empty]).contains("<svg"));
}

#[test]
fn a_catalogue_ends_with_a_sum() {
    let records = [("one".to_string(), record()), ("two".to_string(), record())];
    insta::assert_snapshot!(summary_terminal(&records, &Screen::default()));
}

#[test]
fn markdown_has_a_table_for_each_layer() {
    insta::assert_snapshot!(experiment_markdown(&[record()]));
}

#[test]
fn the_page_runs_nothing_and_loads_nothing() {
    let page = experiment_html(&[record(), record()]);
    for forbidden in [
        "<script>alert",
        "\u{1b}",
        " src=",
        " style=",
        "onerror",
        "javascript:",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    for word in [
        "direction only",
        "sink=file",
        "It starts late.",
        "go is missing",
        "a note",
        "busy machine: 38 of 40 runs",
    ] {
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn every_record_fits_the_schema() {
    let mut bare = record();
    bare.source = None;
    bare.question = None;
    bare.cpu_waits = None;
    bare.results[0].median = None;
    let values = [record(), bare].map(|record| {
        let bytes = json_of_all(&[record]).into_bytes();
        serde_json::from_slice(&bytes).expect("JSON")
    });
    assert_fits("run", values);
    let more = json_of_all(&[record(), record()]).into_bytes();
    let list: Value = serde_json::from_slice(&more).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(2));
}

#[test]
fn a_plan_and_a_list_fit_their_schemas() {
    let record = PlanRecord {
        schema_version: fathom_model::SCHEMA_VERSION,
        kind: "plan".to_string(),
        file: "experiment.toml".to_string(),
        title: "A title".to_string(),
        quick: true,
        steps: vec![PlanStep {
            title: "build a".to_string(),
            commands: vec!["cc -o a a.c".to_string()],
        }],
    };
    assert_fits(
        "plan",
        [serde_json::from_str(&json_of_all(&[record])).expect("JSON")],
    );
    let record = CatalogueRecord {
        schema_version: fathom_model::SCHEMA_VERSION,
        kind: "catalogue".to_string(),
        experiments: vec![CatalogueRow {
            name: "a".to_string(),
            file: "a/experiment.toml".to_string(),
            title: "A title".to_string(),
            rows: vec!["row".to_string()],
            missing: vec!["cc is missing".to_string()],
            unchecked: vec!["perf".to_string()],
        }],
    };
    assert_fits(
        "catalogue",
        [serde_json::from_str(&json(&record)).expect("JSON")],
    );
}

#[test]
fn the_picture_of_a_page_stands_alone() {
    let asked = record();
    let mut beside = record();
    beside.pictures.clear();
    for (record, expected) in [(&asked, "sink=null"), (&beside, "as published")] {
        let picture = fathom_report::experiment_picture(record).expect("something to draw");
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert!(picture.contains(expected), "{picture}");
        assert!(picture.contains("<circle class="), "{picture}");
        assert!(picture.contains("prefers-color-scheme:dark"));
        for forbidden in ["<script", "href", "<b>", "NaN"] {
            assert!(!picture.contains(forbidden), "{forbidden}: {picture}");
        }
    }
    beside.claims.clear();
    assert_eq!(fathom_report::experiment_picture(&beside), None);
    let figures = fathom_report::experiment_figures(
        &beside,
        Some("Fit to measure on: other programs take 1.0 % of a core."),
    );
    assert!(
        figures.starts_with("**No claims.** Measured by"),
        "{figures}"
    );
    assert!(!figures.contains("figures.svg"), "{figures}");
}
