//! Prints what this machine can do: `machine [--quick|--full|--canaries] [--check] [--json]
//! [--methods] [--curves] [--directory DIR]`.

use std::process::ExitCode;
use std::time::Instant;

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
        match serde_json::to_string_pretty(&results) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("the results can't be written as JSON: {error}");
                return ExitCode::from(2);
            }
        }
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
