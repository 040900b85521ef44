//! An explanation with the routes through the code.

use fathom_model::{CodePath, CodePaths, CodePlace, Explanation, PathStep, TimeCategory};

use super::findings;

fn step(parent: Option<u32>, ns: u64, function: &str) -> PathStep {
    PathStep {
        parent,
        ns,
        place: CodePlace {
            function: Some(function.to_owned()),
            source_file: Some("/src/p.js".to_owned()),
            line: Some(7),
            binary: Some("//anon".to_owned()),
            ..CodePlace::default()
        },
        ..PathStep::default()
    }
}

/// CPU time in a program with a recursion, and one wait.
pub(crate) fn with_paths() -> Explanation {
    let mut explanation = findings();
    let waits = PathStep {
        parent: Some(0),
        ns: 40_000_000,
        kind: Some(TimeCategory::Disk),
        call: Some("read".to_owned()),
        object: Some("/data/in;1".to_owned()),
        ..PathStep::default()
    };
    explanation.paths = vec![
        CodePaths {
            of: CodePath::Cpu,
            ns: 90_000_000,
            steps: vec![
                step(None, 80_000_000, "main"),
                step(Some(0), 50_000_000, "parse"),
                step(Some(1), 10_000_000, "parse"),
                step(Some(0), 20_000_000, "print"),
                step(None, 10_000_000, "start"),
            ],
        },
        CodePaths {
            of: CodePath::Waits,
            ns: 40_000_000,
            steps: vec![step(None, 40_000_000, "load"), waits],
        },
    ];
    explanation
}
