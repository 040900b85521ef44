//! The reports of an experiment, and `docs/json-schema/run.schema.json`.

mod fingerprinted;
mod walker;

use fathom_model::{
    AnswerResult, CatalogueRecord, CatalogueRow, ClaimResult, ClaimVerdict, CpuWaits, Environment,
    Estimate, ExperimentRecord, Judged, Layer, MeasureResult, Measured, Picture, PlanRecord,
    PlanStep, Published, ResultRow, Source, ToolResult,
};
use fathom_report::{
    catalogue_json, experiment_html, experiment_json, experiment_markdown, experiment_terminal,
    plan_json, summary_terminal,
};
use fingerprinted::fingerprint;
use serde_json::Value;
use walker::{assert_covered, undescribed};

fn estimate(value: f64) -> Option<Estimate> {
    Some(Estimate {
        value,
        low: value * 0.97,
        high: value * 1.04,
        level: 0.95,
    })
}

fn measured(what: &str, estimate: Option<Estimate>, unit: &str, text: Option<&str>) -> Measured {
    Measured {
        what: what.to_string(),
        estimate,
        unit: unit.to_string(),
        text: text.map(str::to_string),
    }
}

fn judged(verdict: ClaimVerdict, reason: &str, measured: Vec<Measured>) -> Judged {
    Judged {
        parameters: Vec::new(),
        verdict,
        reason: reason.to_string(),
        measured,
    }
}

fn claim(id: &str, layer: Layer, judged: Judged) -> ClaimResult {
    ClaimResult {
        id: id.to_string(),
        text: format!("The claim that is called {id}"),
        layer,
        holds: Some("ratio(wall.a, wall.b) >= 10".to_string()),
        published: Some(Published {
            value: Some(34.9),
            unit: Some("x".to_string()),
            limit: false,
            figures: Some("2024 us against 58 us".to_string()),
            source: None,
        }),
        budget: false,
        judged,
        elsewhere: Vec::new(),
        flips: Vec::new(),
        note: None,
    }
}

fn record() -> ExperimentRecord {
    use ClaimVerdict as V;
    let ratio = || vec![measured("ratio(wall.a, wall.b)", estimate(31.4), "", None)];
    let mut swept = claim(
        "swept",
        Layer::Size,
        judged(V::DirectionOnly, "10 % less than claimed", ratio()),
    );
    swept.judged.parameters = vec![("sink".to_string(), "null".to_string())];
    swept.elsewhere = vec![Judged {
        parameters: vec![("sink".to_string(), "file".to_string())],
        ..judged(V::NotReproduced, "no effect beyond 1 %", ratio())
    }];
    swept.flips = vec!["sink=file: not reproduced".to_string()];
    swept.budget = true;
    swept.note = Some("a note".to_string());
    let mut bare = claim(
        "bare",
        Layer::Mechanism,
        judged(V::Undecided, "", Vec::new()),
    );
    bare.published = None;
    bare.holds = None;
    let several = vec![
        measured("wall.a", estimate(0.0123), "s", None),
        measured("size.a", estimate(123_456.0), "B", None),
        measured("ops.a", estimate(1_234_567.0), "ops/s", None),
        measured(
            "finding(a, \"x\")",
            None,
            "",
            Some("unbuffered-input, sleeping"),
        ),
    ];
    ExperimentRecord {
        schema_version: 1,
        kind: "run".to_string(),
        fathom_version: "0.1.0".to_string(),
        started_at: "2026-11-21T00:00:00Z".to_string(),
        environment: Environment {
            kernel: "Linux 6.18".to_string(),
            architecture: "x86_64".to_string(),
            cpu_model: Some("A processor".to_string()),
            cpus: 2,
            fingerprint: Some(fingerprint()),
            ..Environment::default()
        },
        file: "experiment.toml".to_string(),
        file_sha256: "00".to_string(),
        work_folder: "/tmp/work".to_string(),
        title: "A title <script>alert(1)</script> \u{1b}[31m @me".to_string(),
        question: Some("Why?".to_string()),
        source: Some(Source {
            title: "A page".to_string(),
            by: Some("someone".to_string()),
            year: Some(2024),
            url: Some("https://example.org".to_string()),
            rows: vec!["a-row".to_string()],
        }),
        quick: true,
        complete: false,
        seconds: 12.3,
        cpu_waits: Some(CpuWaits {
            runs: 40,
            waited: 38,
            wall_ns: 1_000_000_000,
            waited_ns: 340_000_000,
        }),
        tools: vec![
            ToolResult {
                name: "cc".to_string(),
                version: Some("cc 12".to_string()),
                missing: None,
                without: None,
            },
            ToolResult {
                name: "go".to_string(),
                version: None,
                missing: Some("go is missing (apt-get install golang)".to_string()),
                without: Some("the Go subjects are not run".to_string()),
            },
        ],
        measures: vec![MeasureResult {
            id: "time".to_string(),
            how: "bench".to_string(),
            complete: true,
            seconds: 1.0,
            records: vec!["records/time.json".to_string()],
            notes: vec!["5 rounds instead of 20, to keep to the time".to_string()],
        }],
        results: [
            ("a-1", "null", 0.0123),
            ("a-2", "null", 0.0041),
            ("a-1", "file", 0.0205),
            ("a-2", "file", 0.0102),
        ]
        .map(|(subject, sink, seconds)| ResultRow {
            measure: "time".to_string(),
            metric: "wall".to_string(),
            subject: Some(subject.to_string()),
            parameters: vec![
                ("sink".to_string(), sink.to_string()),
                ("size".to_string(), "1".to_string()),
            ],
            unit: "s".to_string(),
            runs: 20,
            median: estimate(seconds),
        })
        .into(),
        pictures: vec![Picture {
            title: "Time over <releases>".to_string(),
            metric: "wall".to_string(),
            subjects: ["a-1", "a-2", "a-3"].map(str::to_string).into(),
        }],
        claims: vec![
            claim(
                "arithmetic",
                Layer::Arithmetic,
                judged(
                    V::IllPosed,
                    "its own figures give 26 % less than claimed",
                    ratio(),
                ),
            ),
            claim(
                "several",
                Layer::Mechanism,
                judged(V::Reproduced, "", several),
            ),
            bare,
            swept,
            claim(
                "opposite",
                Layer::Size,
                judged(V::Contradicted, "1/2.00 of what is claimed", ratio()),
            ),
            claim(
                "nothing",
                Layer::Size,
                judged(V::NotReproduced, "no effect beyond 1 %", ratio()),
            ),
            claim(
                "elsewhere",
                Layer::Size,
                judged(V::NotRunnableHere, "go is missing", Vec::new()),
            ),
        ],
        answers: vec![
            AnswerResult {
                question: "Why does it help?".to_string(),
                answer: Some("It starts late.".to_string()),
                status: "answered".to_string(),
                tried: None,
                evidence: vec![("several".to_string(), V::Reproduced)],
            },
            AnswerResult {
                question: "And why not?".to_string(),
                answer: None,
                status: "open".to_string(),
                tried: Some("Pinning it.".to_string()),
                evidence: Vec::new(),
            },
        ],
        warnings: vec!["b failed (exit code 1)".to_string()],
    }
}

#[test]
fn the_terminal_has_all_of_it_in_80_columns() {
    let text = experiment_terminal(&record(), 80, false, true);
    assert!(text.lines().all(|line| fathom_report::columns(line) <= 80));
    insta::assert_snapshot!(text);
}

#[test]
fn a_narrow_terminal_is_kept_to_as_well() {
    for width in [40, 60, 120] {
        let text = experiment_terminal(&record(), width, false, true);
        assert!(
            text.lines()
                .all(|line| fathom_report::columns(line) <= width)
        );
    }
    let ascii = experiment_terminal(&record(), 80, false, false);
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn a_picture_has_a_line_for_each_combination_and_leaves_gaps() {
    let page = experiment_html(&[record()]);
    let drawing = &page[page.find("<svg").unwrap()..page.find("</svg>").unwrap()];
    assert_eq!(drawing.matches("<circle").count(), 4);
    assert_eq!(drawing.matches("<g class=\"c").count(), 2);
    assert!(drawing.contains(">sink=null</text>") && !drawing.contains("size=1"));
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
    insta::assert_snapshot!(summary_terminal(&records, 80, false, true));
}

#[test]
fn markdown_has_a_table_for_each_layer() {
    insta::assert_snapshot!(experiment_markdown(&[record()]));
}

#[test]
fn the_page_runs_nothing_and_loads_nothing() {
    let page = experiment_html(&[record(), record()]);
    for forbidden in [
        "<script",
        "\u{1b}",
        " src=",
        " style=",
        "onerror",
        "javascript:",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
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

fn schema() -> Value {
    let text = include_str!("../../../docs/json-schema/run.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

#[test]
fn every_record_fits_the_schema_and_nothing_in_the_schema_is_idle() {
    let schema = schema();
    let mut bare = record();
    bare.source = None;
    bare.question = None;
    bare.cpu_waits = None;
    bare.results[0].median = None;
    let values = [record(), bare].map(|record| {
        let mut bytes = Vec::new();
        experiment_json(&[record], &mut bytes).expect("written");
        serde_json::from_slice(&bytes).expect("JSON")
    });
    assert_covered(&schema, "record", values, |_| true);
    assert_eq!(undescribed(&schema), Vec::<String>::new());
    let mut more = Vec::new();
    experiment_json(&[record(), record()], &mut more).expect("written");
    let list: Value = serde_json::from_slice(&more).expect("JSON");
    assert_eq!(list.as_array().map(Vec::len), Some(2));
}

/// What is written fits the schema, and the schema has no key beside it.
fn fits(schema: &str, bytes: &[u8]) {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let value = serde_json::from_slice(bytes).expect("JSON");
    assert_covered(&schema, "record", [value], |_| true);
    assert_eq!(undescribed(&schema), Vec::<String>::new());
}

#[test]
fn a_plan_and_a_list_fit_their_schemas() {
    let mut plan = Vec::new();
    let record = PlanRecord {
        schema_version: 1,
        kind: "plan".to_string(),
        file: "experiment.toml".to_string(),
        title: "A title".to_string(),
        quick: true,
        steps: vec![PlanStep {
            title: "build a".to_string(),
            commands: vec!["cc -o a a.c".to_string()],
        }],
    };
    plan_json(&[record], &mut plan).expect("written");
    fits(
        include_str!("../../../docs/json-schema/plan.schema.json"),
        &plan,
    );
    let mut list = Vec::new();
    let record = CatalogueRecord {
        schema_version: 1,
        kind: "catalogue".to_string(),
        experiments: vec![CatalogueRow {
            name: "a".to_string(),
            file: "a/experiment.toml".to_string(),
            title: "A title".to_string(),
            rows: vec!["row".to_string()],
            missing: vec!["cc is missing".to_string()],
        }],
    };
    catalogue_json(&record, &mut list).expect("written");
    fits(
        include_str!("../../../docs/json-schema/catalogue.schema.json"),
        &list,
    );
}
