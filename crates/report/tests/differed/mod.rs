//! The differences between two artificial commands.

#![allow(dead_code, reason = "each of the tests uses a part")]

use fathom_model::{
    AccountPart, CodePath, CodePlace, Difference, DifferenceBy, DifferenceCommand, DifferenceCount,
    DifferenceRecord, DifferenceRow, Estimate, Explaining, OF_WALL, OnlyFinding, PathStep,
    PathsDifference, SCHEMA_VERSION, StepDifference, TimeAccount, TimeCategory, TimedRuns,
    WallDifference,
};

use super::explained::{MS, environment, findings};

pub(crate) fn known(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.99,
        high: value * 1.01,
        level: 0.95,
    }
}

fn command(text: &str, parts: &[(TimeCategory, u64)]) -> DifferenceCommand {
    let wall_ns = parts.iter().map(|(_, ms)| ms * MS).sum();
    DifferenceCommand {
        command: text.to_owned(),
        arguments: text.split(' ').map(str::to_owned).collect(),
        end: String::new(),
        timed: TimedRuns {
            runs: 30,
            wall: known(wall_ns as f64 / 1e9),
            cpu: known(0.09),
            peak_memory: known(2e6),
            floor: None,
        },
        observed_runs: 5,
        observation: Explaining {
            added: None,
            names_by: None,
            tier: "kernel".to_owned(),
            wall_ns,
            slowdown: 1.02,
            times_are_quoted: true,
            not_visible: Vec::new(),
            lost: Vec::new(),
        },
        account: TimeAccount {
            wall_ns,
            parts: parts
                .iter()
                .map(|(spent, ms)| AccountPart {
                    spent: *spent,
                    ns: ms * MS,
                })
                .collect(),
        },
    }
}

fn row(of: &str, by: DifferenceBy, part: &str, milliseconds: f64) -> DifferenceRow {
    DifferenceRow {
        part: part.to_owned(),
        of: of.to_owned(),
        by,
        category: None,
        file: None,
        callers: Vec::new(),
        milliseconds,
        low: milliseconds - 0.4,
        high: milliseconds + 0.4,
        count: None,
    }
}

pub(crate) fn category(spent: TimeCategory, milliseconds: f64) -> DifferenceRow {
    DifferenceRow {
        category: Some(spent),
        ..row(OF_WALL, DifferenceBy::Category, spent.key(), milliseconds)
    }
}

fn counted(what: &str, a: u64, b: u64) -> Option<DifferenceCount> {
    let what = what.to_owned();
    Some(DifferenceCount { what, a, b })
}

/// B sleeps, reads byte by byte, starts a child and is slower in one function.
pub(crate) fn record() -> DifferenceRecord {
    let a = command(
        "./count words.txt",
        &[(TimeCategory::UserCode, 90), (TimeCategory::KernelIo, 10)],
    );
    let b = command(
        "./count --check words.txt",
        &[
            (TimeCategory::UserCode, 105),
            (TimeCategory::Sleeping, 60),
            (TimeCategory::KernelIo, 50),
            (TimeCategory::PageFaults, 13),
        ],
    );
    let mut reads = row("kernel_io", DifferenceBy::Call, "read", 40.1);
    reads.category = Some(TimeCategory::KernelIo);
    reads.file = Some("/data/words.txt".to_owned());
    reads.count = counted("calls", 12, 100_012);
    let mut naps = row("sleeping", DifferenceBy::Call, "clock_nanosleep", 59.9);
    naps.category = Some(TimeCategory::Sleeping);
    naps.count = counted("calls", 0, 1);
    let mut function = row("user_code", DifferenceBy::Function, "check_words", 14.0);
    function.category = Some(TimeCategory::UserCode);
    function.file = Some("/opt/bin/count".to_owned());
    let mut child = row(OF_WALL, DifferenceBy::Child, "sort", 11.2);
    child.count = counted("processes", 0, 1);
    let mut faults = category(TimeCategory::PageFaults, -2.1);
    faults.count = counted("page faults", 5_000, 3_976);
    let rows = vec![
        category(TimeCategory::Sleeping, 59.9),
        naps,
        category(TimeCategory::KernelIo, 40.2),
        reads,
        category(TimeCategory::UserCode, 17.7),
        function,
        child,
        faults,
        DifferenceRow {
            low: 0.1,
            high: 0.7,
            ..row(OF_WALL, DifferenceBy::Together, "other_cpu_time", 0.4)
        },
    ];
    let finding = findings().findings[0].clone();
    DifferenceRecord {
        schema_version: SCHEMA_VERSION,
        kind: "difference".to_owned(),
        fathom_version: "0.1.0".to_owned(),
        started_at: "2026-11-26T00:00:00Z".to_owned(),
        environment: environment(),
        commands: vec![a, b],
        difference: Difference {
            wall: WallDifference {
                milliseconds: 128.0,
                low: 126.4,
                high: 129.9,
                level: 0.95,
                ratio: known(2.28),
                rounds: 30,
            },
            rows,
            not_explained: 0.7,
            not_explained_share: 0.0031,
            intervals: "95 % for all 6 parts".to_owned(),
        },
        paths: paths(),
        findings: vec![OnlyFinding {
            command: 1,
            finding,
        }],
        warnings: vec!["the machine was busy: A waited for a CPU in 4 of 30 runs".to_owned()],
    }
}

/// Both commands parse, B also checks and sleeps, and only A loads.
fn paths() -> Vec<PathsDifference> {
    let step = |parent, name: &str, a_ms: u64, b_ms: u64, is_clear| StepDifference {
        step: PathStep {
            parent,
            ns: (a_ms + b_ms) * MS,
            place: CodePlace {
                function: Some(name.to_owned()),
                source_file: Some("/src/count.c".to_owned()),
                line: Some(7),
                binary: Some("/opt/bin/count".to_owned()),
                ..CodePlace::default()
            },
            ..PathStep::default()
        },
        a_ns: a_ms * MS,
        b_ns: b_ms * MS,
        is_clear: Some(is_clear),
    };
    let mut sleeps = step(Some(0), "", 0, 60, true);
    sleeps.step.place = CodePlace::default();
    sleeps.step.kind = Some(TimeCategory::Sleeping);
    sleeps.step.call = Some("clock_nanosleep".to_owned());
    let cpu = vec![
        step(None, "main", 100, 168, true),
        step(Some(0), "parse_words", 70, 72, false),
        step(Some(0), "check_words", 0, 90, true),
        step(Some(2), "regexec", 0, 40, true),
        step(Some(0), "load_words", 28, 0, true),
    ];
    let tree = |of, a_ms: u64, b_ms: u64, steps| PathsDifference {
        of,
        a_ns: a_ms * MS,
        b_ns: b_ms * MS,
        steps,
    };
    vec![
        tree(CodePath::Cpu, 100, 168, cpu),
        tree(
            CodePath::Waits,
            0,
            60,
            vec![step(None, "main", 0, 60, true), sleeps],
        ),
    ]
}

/// Returns a record in which every untrusted text is `evil`.
pub(crate) fn spoiled(evil: &str) -> DifferenceRecord {
    let mut record = record();
    for row in &mut record.difference.rows {
        if row.by != DifferenceBy::Category {
            row.part = evil.to_owned();
        }
        row.file = Some(evil.to_owned());
    }
    for command in &mut record.commands {
        command.command = evil.to_owned();
        command.end = evil.to_owned();
        command.observation.tier = evil.to_owned();
    }
    for one in record.paths.iter_mut().flat_map(|tree| &mut tree.steps) {
        one.step.place.function = Some(evil.to_owned());
        one.step.object = Some(evil.to_owned());
    }
    let mut finding = record.findings[0].clone();
    finding.finding.statement = evil.to_owned();
    finding.command = 0;
    record.findings = vec![finding; 5];
    record.warnings = vec![evil.to_owned(); 5];
    record
}
