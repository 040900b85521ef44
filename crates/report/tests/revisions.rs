//! Output of `fathom versions` and `fathom bisect`. Every snapshot was reviewed as a user would read it.

mod schemas;
mod support;

use fathom_model::{
    BisectEnds, BisectReason, BisectRecord, BisectVerdict, ChosenBy, Commit, Culprit, Estimate,
    Metric, SCHEMA_VERSION, TestedRevision, TestedState, Verdict, Version, VersionState,
    VersionStep, VersionsRecord,
};
use fathom_report::{Screen, bisect_terminal, columns, json, versions_terminal};
use schemas::assert_fits;
use serde_json::Value;
use support::program::Program;
use support::session;

fn estimate(value: f64, half: f64) -> Estimate {
    Estimate {
        value,
        low: value - half,
        high: value + half,
        level: 0.95,
    }
}

fn claim(value: f64, half: f64) -> Estimate {
    Estimate {
        level: 0.99,
        ..estimate(value, half)
    }
}

fn id(digit: usize) -> String {
    format!("{digit:x}").repeat(40)[..40].to_owned()
}

/// Releases that become faster in two steps; the fourth doesn't build, the sixth lacks an option.
fn releases() -> VersionsRecord {
    let names = [
        "v0.1",
        "v0.2",
        "v0.3",
        "v0.4",
        "v0.5",
        "v0.6",
        "v1.0.0-rc.1",
    ];
    let medians = [2.63, 2.61, 1.26, 0.0, 1.25, 0.0, 0.248];
    let mut benchmark = 0;
    let mut versions = Vec::new();
    for (index, (name, median)) in names.into_iter().zip(medians).enumerate() {
        let measured = median > 0.0;
        versions.push(Version {
            version: name.to_owned(),
            revision: Some(id(index + 1)),
            date: Some(format!("2026-0{}-17T10:00:00+02:00", index + 1)),
            subject: Some(format!("Release {name}")),
            state: match (measured, index) {
                (true, _) => VersionState::Measured,
                (false, 3) => VersionState::DoesNotBuild,
                (false, _) => VersionState::LeftOut,
            },
            error: match index {
                3 => Some(
                    "exit code 101\n   Compiling tool v0.4.0\nerror: could not compile `tool` (lib)"
                        .to_owned(),
                ),
                5 => Some("the command failed: exit code 2\nunknown option --fast".to_owned()),
                _ => None,
            },
            benchmark: measured.then_some(benchmark),
            estimate: measured.then(|| estimate(median, median * 0.01)),
            since_first: measured.then(|| claim(median / 2.63, 0.002)),
        });
        benchmark += usize::from(measured);
    }
    let step = |from: &str, to: &str, ratio: f64, verdict| VersionStep {
        from: from.to_owned(),
        to: to.to_owned(),
        ratio: estimate(ratio, 0.015 * ratio),
        verdict,
        rounds: 12,
    };
    let programs = ["v0.1", "v0.2", "v0.3", "v0.5", "v1.0.0-rc.1"];
    let programs = programs.map(|name| Program::new(name, 0.01));
    let measured = session(&programs, 12);
    VersionsRecord {
        schema_version: SCHEMA_VERSION,
        kind: "versions".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        started_at: "2026-11-25T22:00:00Z".to_owned(),
        jobs: Vec::new(),
        environment: measured.environment.clone(),
        command: "./target/release/tool --fast input.txt".to_owned(),
        build: Some("cargo build --release".to_owned()),
        repository: Some("/home/ada/tool".to_owned()),
        chosen_by: ChosenBy::Tags,
        every: None,
        metric: Metric::Wall,
        complete: true,
        versions,
        steps: vec![
            step("v0.1", "v0.2", 0.99, Verdict::Undecided),
            step("v0.2", "v0.3", 0.483, Verdict::Faster),
            step("v0.3", "v0.5", 0.999, Verdict::Same),
            step("v0.5", "v1.0.0-rc.1", 0.198, Verdict::Faster),
        ],
        notes: vec!["the working tree has uncommitted changes: they are not measured".to_owned()],
        measured: Some(measured),
    }
}

/// More releases than fit a screen.
fn many() -> VersionsRecord {
    let mut record = releases();
    let kept = record.versions[0].clone();
    record.notes.clear();
    record.versions = (0..60)
        .map(|index| {
            let median = if index < 40 { 0.0102 } else { 0.0123 };
            Version {
                version: format!("v1.{index}"),
                benchmark: Some(index),
                estimate: Some(estimate(median, 0.0001)),
                since_first: Some(claim(median / 0.0102, 0.005)),
                ..kept.clone()
            }
        })
        .collect();
    record.steps = (1..60)
        .map(|index| VersionStep {
            from: format!("v1.{}", index - 1),
            to: format!("v1.{index}"),
            ratio: estimate(if index == 40 { 1.206 } else { 1.0 }, 0.004),
            verdict: if index == 40 {
                Verdict::Slower
            } else {
                Verdict::Same
            },
            rounds: 30,
        })
        .collect();
    record
}

fn commit(digit: usize, subject: &str) -> Commit {
    Commit {
        revision: id(digit),
        date: "2026-11-20T10:00:00+01:00".to_owned(),
        author: "Ada Lovelace".to_owned(),
        subject: subject.to_owned(),
    }
}

fn found() -> BisectRecord {
    let tested = |digit, subject: &str, state, ratio: Option<f64>| TestedRevision {
        commit: commit(digit, subject),
        state,
        ratio: ratio.map(|ratio| estimate(ratio, 0.01)),
        rounds: ratio.map_or(0, |_| 14),
        error: match ratio {
            None => Some("exit code 2\nmake: *** No rule to make target 'tool'.  Stop.".to_owned()),
            Some(_) => None,
        },
    };
    let sessions = vec![session(
        &[Program::new("v1.4", 0.012), Program::new("main", 0.018)],
        12,
    )];
    BisectRecord {
        schema_version: SCHEMA_VERSION,
        kind: "bisect".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        started_at: "2026-11-25T22:00:00Z".to_owned(),
        jobs: Vec::new(),
        environment: sessions[0].environment.clone(),
        command: "./tool input.txt".to_owned(),
        build: Some("make".to_owned()),
        repository: "/home/ada/tool".to_owned(),
        good: "v1.4".to_owned(),
        bad: "main".to_owned(),
        metric: Metric::Wall,
        candidates: 14,
        error_rate: 0.05,
        verdict: BisectVerdict::Found,
        reason: None,
        culprit: Some(Culprit {
            commit: commit(0xc, "Copy each line before it is parsed"),
            parent: id(0xb),
            ratio: estimate(1.52, 0.03),
        }),
        ends: Some(BisectEnds {
            good: Some(estimate(0.0120, 0.0001)),
            bad: Some(estimate(0.0184, 0.0001)),
            ratio: estimate(1.53, 0.02),
            verdict: Verdict::Slower,
            rounds: 12,
        }),
        tested: vec![
            tested(7, "Read the file at once", TestedState::Good, Some(0.998)),
            tested(0xa, "Move the parser", TestedState::DoesNotBuild, None),
            tested(
                0xc,
                "Copy each line before it is parsed, so that a line may be changed",
                TestedState::Bad,
                Some(1.53),
            ),
            tested(0xb, "Name the columns", TestedState::Good, Some(1.002)),
        ],
        remaining: Vec::new(),
        why: vec![
            "+6.1 ms own code (copy_line in tool)".to_owned(),
            "+0.3 ms page faults (74 page faults more)".to_owned(),
        ],
        sessions,
    }
}

fn undecided(reason: BisectReason) -> BisectRecord {
    BisectRecord {
        verdict: BisectVerdict::Undecided,
        reason: Some(reason),
        culprit: None,
        why: Vec::new(),
        remaining: (1..=14).map(id).collect(),
        ..found()
    }
}

fn same() -> BisectRecord {
    let mut record = BisectRecord {
        verdict: BisectVerdict::NoDifference,
        culprit: None,
        why: Vec::new(),
        tested: Vec::new(),
        ..found()
    };
    if let Some(ends) = &mut record.ends {
        ends.ratio = estimate(1.001, 0.006);
        ends.verdict = Verdict::Same;
    }
    record
}

fn print(record: &VersionsRecord) -> String {
    versions_terminal(record, &Screen::default())
}

fn verbose() -> Screen {
    Screen {
        verbose: true,
        ..Screen::default()
    }
}

#[test]
fn releases_that_became_faster() {
    insta::assert_snapshot!(print(&releases()));
}

#[test]
fn all_that_is_known_of_releases() {
    insta::assert_snapshot!(versions_terminal(&releases(), &verbose()));
}

#[test]
fn sixty_releases_with_one_step() {
    insta::assert_snapshot!(print(&many()));
}

#[test]
fn a_revision_that_was_found() {
    insta::assert_snapshot!(bisect_terminal(&found(), &Screen::default()));
}

#[test]
fn a_search_that_is_undecided() {
    let record = undecided(BisectReason::NothingRuns);
    insta::assert_snapshot!(bisect_terminal(&record, &Screen::default()));
}

#[test]
fn each_end_of_a_search_is_answered() {
    let answers: Vec<String> = [
        same(),
        undecided(BisectReason::Ends),
        undecided(BisectReason::Step),
        undecided(BisectReason::NotConfirmed),
        undecided(BisectReason::NoRatio),
        undecided(BisectReason::Interrupted),
    ]
    .iter()
    .map(|record| {
        let text = bisect_terminal(record, &Screen::default());
        let answer = text.split("\n\n").next().unwrap_or_default();
        format!("{answer}\n")
    })
    .collect();
    insta::assert_snapshot!(answers.concat());
}

#[test]
fn a_record_without_a_result_says_so() {
    let mut record = releases();
    record.versions.truncate(1);
    record.steps.clear();
    let text = print(&record);
    assert!(text.starts_with("Only v0.1 could be measured"), "{text}");
    record.versions.clear();
    record.measured = None;
    record.complete = false;
    let text = print(&record);
    assert!(
        text.starts_with("PARTIAL: the measurement was cut short. No version has a result."),
        "{text}"
    );
}

#[test]
fn other_metrics_are_written_in_their_units() {
    let mut record = releases();
    record.metric = Metric::PeakMemory;
    for version in &mut record.versions {
        version.estimate = version.estimate.map(|_| estimate(3_500_000.0, 0.0));
    }
    let text = print(&record);
    assert!(text.contains("3.34 MiB"), "{text}");
    assert!(text.contains("peak_memory became"), "{text}");
}

#[test]
fn no_width_breaks_a_line_and_no_name_acts_on_the_terminal() {
    let hostile = "v1\u{1b}[31m;\u{202e}\n日本語日本語日本語";
    let mut versions = releases();
    versions.versions[1].version = hostile.to_owned();
    versions.versions[3].error = Some(format!("{hostile}\n{hostile}"));
    versions.steps[1].from = hostile.to_owned();
    versions.command = hostile.to_owned();
    let mut bisect = found();
    bisect.good = hostile.to_owned();
    bisect.tested[1].error = Some(hostile.to_owned());
    bisect.tested[0].commit.subject = hostile.to_owned();
    if let Some(culprit) = &mut bisect.culprit {
        culprit.commit.author = hostile.to_owned();
    }
    for width in [32, 50, 80, 120] {
        for unicode in [true, false] {
            let options = Screen {
                width,
                unicode,
                ..verbose()
            };
            for text in [
                versions_terminal(&versions, &options),
                bisect_terminal(&bisect, &options),
            ] {
                assert!(
                    text.lines().all(|line| columns(line) <= width),
                    "{width}\n{text}"
                );
                assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
                assert!(unicode || text.is_ascii(), "{text}");
            }
        }
    }
}

#[test]
fn records_fit_their_schemas() {
    let mut installed = many();
    installed.chosen_by = ChosenBy::Named;
    installed.repository = None;
    installed.build = None;
    installed.measured = None;
    installed.versions.truncate(1);
    installed.versions[0].revision = None;
    installed.versions[0].date = None;
    installed.versions[0].subject = None;
    let mut every = releases();
    every.chosen_by = ChosenBy::Every;
    every.every = Some(3);
    every.steps[0].verdict = Verdict::Slower;
    let written = |record: &VersionsRecord| {
        let out = json(record).into_bytes();
        let again: VersionsRecord = serde_json::from_slice(&out).expect("a record");
        assert_eq!(again.versions, record.versions);
        serde_json::from_slice::<Value>(&out).expect("what was written is JSON")
    };
    let values = [releases(), many(), installed, every].map(|record| written(&record));
    assert_fits("versions", values);

    let mut odd = found();
    odd.build = None;
    odd.ends = odd.ends.map(|ends| BisectEnds {
        good: None,
        bad: None,
        ..ends
    });
    odd.tested[0].state = TestedState::Undecided;
    odd.tested[1].state = TestedState::LeftOut;
    let mut nothing = undecided(BisectReason::Ends);
    nothing.ends = None;
    let reasons = [
        BisectReason::Step,
        BisectReason::NotConfirmed,
        BisectReason::NothingRuns,
        BisectReason::NoRatio,
        BisectReason::Interrupted,
    ];
    let records = [found(), same(), odd, nothing]
        .into_iter()
        .chain(reasons.map(undecided));
    let values = records.map(|record| {
        let out = json(&record).into_bytes();
        let again: BisectRecord = serde_json::from_slice(&out).expect("a record");
        assert_eq!(again, record);
        serde_json::from_slice::<Value>(&out).expect("what was written is JSON")
    });
    assert_fits("bisect", values);
}
