//! Times a command, traces it, and prints its account and findings.
//!
//! `cargo run -p fathom-diagnose --example diagnose --release -- [--json FILE] [--stdin FILE]
//! [--stdout FILE] [--trace FILE] [--runs N] [--language NAME] -- COMMAND ARGS...`
//!
//! `--trace FILE` writes the trace; standard input and output are `/dev/null` unless given, and
//! those of this program with `-`, which needs `--runs 0`. The answer goes to standard error.

use std::ffi::OsString;
use std::fs::File;
use std::process::ExitCode;

use fathom_diagnose::{Language, Limits, Observation, diagnose};
use fathom_measure::{
    Attempt, CommandLine, Executor, Hooks, Input, Output, ProcessExecutor, ProcessOptions, lookup,
};
use fathom_trace::{Io, Tier, TimelineOptions, TraceCommand, TraceOptions, trace};

#[derive(Default)]
struct Arguments {
    stdin: Option<String>,
    stdout: Option<String>,
    trace: Option<String>,
    runs: usize,
    language: Option<Language>,
    command: Vec<OsString>,
}

fn arguments() -> Option<Arguments> {
    let mut parsed = Arguments {
        runs: 3,
        ..Arguments::default()
    };
    let mut words = std::env::args_os().skip(1);
    while let Some(word) = words.next() {
        let mut text = || words.next().and_then(|w| w.into_string().ok());
        match word.to_str()? {
            "--stdin" => parsed.stdin = text(),
            "--stdout" => parsed.stdout = text(),
            "--trace" => parsed.trace = text(),
            "--runs" => parsed.runs = text()?.parse().ok()?,
            "--language" => parsed.language = language(&text()?),
            "--" => break,
            _ => return None,
        }
    }
    parsed.command = words.collect();
    (!parsed.command.is_empty()).then_some(parsed)
}

fn language(name: &str) -> Option<Language> {
    match name {
        "c" => Some(Language::C),
        "rust" => Some(Language::Rust),
        "go" => Some(Language::Go),
        other => Language::from_program_name(other),
    }
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("usage: see the top of this example");
        return ExitCode::from(2);
    };
    match explain(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn explain(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let line = CommandLine {
        program: lookup::find(&arguments.command[0], &path, None)?,
        arguments: arguments.command.clone(),
        directory: None,
        variables: Vec::new(),
        input: arguments
            .stdin
            .as_ref()
            .map_or(Input::Null, |f| Input::File(f.into())),
        output: arguments
            .stdout
            .as_ref()
            .map_or(Output::Null, |f| Output::File(f.into())),
        expect: None,
    };
    let options = ProcessOptions {
        timeout: None,
        pin: Vec::new(),
        vary_environment_size: true,
        show_output: false,
        keep_daemons: false,
        seed: 1,
    };
    let mut executor = ProcessExecutor::new(vec![(line, Hooks::default())], options)?;
    let mut timed = Vec::new();
    for position in 0..arguments.runs as u32 {
        let attempt = Attempt {
            benchmark: 0,
            warmup: false,
            round: position,
            position,
        };
        timed.push(executor.run(&[attempt])?.run);
    }
    let mut command = TraceCommand::new(arguments.command.clone());
    command.stdin = match &arguments.stdin {
        Some(file) if file == "-" => Io::Inherit,
        Some(file) => Io::Fd(File::open(file)?.into()),
        None => Io::Null,
    };
    command.stdout = match &arguments.stdout {
        Some(file) if file == "-" => Io::Inherit,
        Some(file) => Io::Fd(File::create(file)?.into()),
        None => Io::Null,
    };
    let options = TraceOptions {
        timeline: Some(TimelineOptions::default()),
        ..TraceOptions::default()
    };
    let trace = trace(&command, Tier::Kernel, &options)?;
    if let Some(file) = &arguments.trace {
        serde_json::to_writer_pretty(File::create(file)?, &trace)?;
    }
    let walls: Vec<String> = timed
        .iter()
        .map(|r| format!("{:.1}", r.wall_ns as f64 / 1e6))
        .collect();
    eprintln!(
        "timed {} ms, traced {:.1} ms",
        walls.join(" "),
        trace.duration_ns as f64 / 1e6
    );
    let observation = Observation {
        trace,
        timed,
        floor_seconds: None,
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        limits: Limits::default(),
        language: arguments.language,
        languages: fathom_diagnose::Languages::new(),
        python_unbuffered: std::env::var_os("PYTHONUNBUFFERED").is_some_and(|it| !it.is_empty()),
    };
    let diagnosis = diagnose(&observation);
    for part in diagnosis.account.parts {
        eprintln!("  {:>10.3} ms {:?}", part.ns as f64 / 1e6, part.spent);
    }
    for warning in diagnosis.warnings {
        eprintln!("warning: {warning}");
    }
    for finding in diagnosis.findings {
        eprintln!(
            "{}: {} (could win {:.1} ms)",
            finding.id,
            finding.statement,
            finding.could_win_ns as f64 / 1e6
        );
        eprintln!("    {}", finding.advice);
    }
    Ok(())
}
