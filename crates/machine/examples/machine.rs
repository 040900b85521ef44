//! Prints what this machine can do: `machine [--quick|--full|--canaries] [--check] [--json]
//! [--methods] [--curves] [--directory DIR]`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use fathom_machine::{Options, ProbeResult, table};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let mut options = Options::default();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--directory")
        && let Some(directory) = arguments.get(at + 1)
    {
        options.directory = directory.into();
    }
    if has("--check") {
        return check(&options, has("--json"));
    }
    let start = Instant::now();
    let mut progress = |what: &str| eprintln!("{:6.2} s  {what}", start.elapsed().as_secs_f64());
    let results: Vec<ProbeResult> = if has("--canaries") {
        fathom_machine::canaries()
    } else if has("--full") {
        fathom_machine::full(&options, &mut progress)
    } else {
        fathom_machine::quick(&options, &mut progress)
    };
    if has("--json") {
        return print_json(&results);
    } else {
        let detail = table::Detail {
            methods: has("--methods"),
            curves: has("--curves"),
        };
        print!("{}", table::render(&results, detail));
        println!("{:.2} s", start.elapsed().as_secs_f64());
    }
    ExitCode::SUCCESS
}

/// Exit 0 if the machine is fit to measure on, 1 if not.
fn check(options: &Options, json: bool) -> ExitCode {
    let report = fathom_machine::check(Duration::from_secs(1), &options.directory, None);
    let fit = report.fitness != fathom_machine::Fitness::Unfit;
    if json {
        print_json(&report);
    } else {
        print!("{}", table::render_check(&report));
    }
    if fit {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    }
}

fn print_json(value: &impl serde::Serialize) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("the results can't be written as JSON: {error}");
            ExitCode::from(2)
        }
    }
}
