//! A record of `run` for tests: a claim for each verdict and layer.

use fathom_model::{
    AnswerResult, ClaimResult, ClaimVerdict, CpuWaits, Environment, Estimate, ExperimentRecord,
    Judged, Layer, MeasureResult, Measured, Picture, Published, ResultRow, Source, ToolResult,
};

use super::fingerprinted::fingerprint;

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

/// A run that was cut short, with an untrusted text that could become markup.
pub(crate) fn record() -> ExperimentRecord {
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
        schema_version: fathom_model::SCHEMA_VERSION,
        kind: "run".to_string(),
        fathom_version: "0.1.0".to_string(),
        started_at: "2026-11-21T00:00:00Z".to_string(),
        jobs: Vec::new(),
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
                missing: Some("go is missing (run apt-get install golang)".to_string()),
                without: Some("the Go subjects are not run".to_string()),
            },
        ],
        measures: vec![MeasureResult {
            id: "time".to_string(),
            how: "bench".to_string(),
            complete: true,
            seconds: 1.0,
            records: vec!["records/time.json".to_string()],
            notes: vec!["5 rounds instead of 20, to stay within the time limit".to_string()],
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
                judged(V::Contradicted, "1/2.00 of the claimed size", ratio()),
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
