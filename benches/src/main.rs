//! Measures Fathom's performance goals together with hyperfine 2 and a bare C loop in the same run.
//!
//! There is one file for each figure; the two figures that compare commands share `pairs` and `sample_tests`.
//! Nothing here passes or fails, because times depend as much on the machine as on the program.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tables and progress are what it is for"
)]

mod aa;
mod aa_stored;
mod account;
mod changes;
mod compile;
mod differences;
mod find;
mod floor;
mod gate_coverage;
mod gate_live;
mod gate_project;
mod gates;
mod growth;
mod hellos;
mod import;
mod large;
mod machine;
mod memory;
mod names;
mod options;
mod own_cost;
mod pairs;
mod pipe;
mod power;
mod ppbert;
mod prove;
mod python;
#[path = "../../crates/trace/tests/common/pythons.rs"]
mod pythons;
mod random;
mod recorded;
mod report;
mod sample_tests;
mod sampling;
mod serve;
mod share;
mod stacks;
mod startup;
mod store;
mod subjects;
mod table;
mod tools;
mod tracing;
mod why_repeats;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use fathom_machine::environment;
use fathom_measure::now_rfc3339;
use options::{Figure, Options, USAGE};
use share::Share;
use tools::Tools;

/// A result whose errors are sentences for the user who runs this program.
pub type Result<T> = std::result::Result<T, String>;

/// Duration of the compared command, in seconds.
const WORK: f64 = 0.006;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        [word, bytes, file, program] if word == growth::BALLAST_SESSION => bytes
            .parse()
            .map_err(|error| format!("{bytes}: {error}"))
            .and_then(|bytes| growth::ballast_session(bytes, Path::new(file), Path::new(program))),
        _ => match Options::parse(arguments) {
            Ok(options) => everything(&options),
            Err(problem) if problem.is_empty() => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            Err(problem) => {
                eprintln!("error: {problem}\n\n{USAGE}");
                return ExitCode::from(2);
            }
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn everything(options: &Options) -> Result<()> {
    let mut page = Page::new(options)?;
    let began = Instant::now();
    let whole = Share::of(options.time);
    eprintln!("{}", plan(options));
    let tools = Tools::prepare()?;
    page.add(&header(&tools, options))?;
    let compares = options
        .figures
        .iter()
        .any(|figure| ["aa", "power"].contains(&figure.name));
    let iterations = if compares {
        subjects::iterations_for(&tools, WORK)?
    } else {
        0
    };
    let mut left = shares(&options.figures);
    for figure in &options.figures {
        let (name, own) = (figure.name, f64::from(figure.share));
        let share = whole.part(own, left);
        left -= own;
        eprintln!("measuring {name} …");
        let figure_began = Instant::now();
        let tables = match name {
            "floor" => vec![floor::measure(&tools, options, share)?],
            "own-cost" => vec![own_cost::measure(&tools, options, share)?],
            "growth" => vec![growth::measure(&tools, options, share)?],
            "memory" => vec![memory::measure(&tools, options)?],
            "changes" => changes::measure(options)?,
            "gates" => gates::measure(options)?,
            "aa-stored" => aa_stored::measure(&tools, options)?,
            "gate-coverage" => vec![gate_coverage::measure(&tools, options)?],
            "gate-live" => gate_live::measure(&tools, options)?,
            "large" => vec![large::measure(&tools)?],
            "account" => vec![account::measure(&tools, options)?],
            "differences" => vec![differences::measure(&tools, options)?],
            "tracing" => vec![tracing::measure(&tools, options, share)?],
            "ppbert" => vec![ppbert::measure(&tools, options)?],
            "pipe" => vec![pipe::measure(&tools, options, share)?],
            "startup" => startup::measure(&tools, options, share)?,
            "serve" => serve::measure(&tools, options)?,
            "machine" => vec![machine::measure(&tools, options, share)?],
            "machine-stability" => vec![machine::measure_stability(&tools, options, share)?],
            "import" => vec![import::measure(&tools, options)?],
            "report" => vec![report::measure(&tools, options)?],
            "stacks" => stacks::measure(&tools, options)?,
            "names" => vec![names::measure(&tools, options)?],
            "prove" => prove::measure(&tools, options)?,
            "why-repeats" => vec![why_repeats::measure(&tools, options)?],
            "python" => vec![python::measure(options)?],
            "store" => store::measure(&tools, options.quick)?,
            "power" => vec![power::measure(&tools, options, share, iterations)?],
            _ => vec![aa::measure(&tools, options, share, iterations)?],
        };
        for table in tables {
            page.add(&format!("\n{}", table.render()))?;
        }
        eprintln!("{name} took {:.0} s", figure_began.elapsed().as_secs_f64());
    }
    let load = environment()
        .load_average
        .map_or("unknown".to_string(), |l| format!("{l:.2}"));
    page.add(&format!(
        "\nMeasured in {:.0} s; one-minute load average at the end {load}.\n",
        began.elapsed().as_secs_f64()
    ))
}

fn shares(figures: &[Figure]) -> f64 {
    figures.iter().map(|figure| f64::from(figure.share)).sum()
}

/// Returns the expected duration, printed before anything is measured.
fn plan(options: &Options) -> String {
    let seconds = options.time.as_secs_f64();
    let all = shares(&options.figures);
    let limit =
        |figure: &Figure| f64::from(figure.whole).min(seconds * f64::from(figure.share) / all);
    let each = options.figures.iter();
    let each = each.map(|figure| format!("{} {:.0} s", figure.name, limit(figure)));
    let total: f64 = options.figures.iter().map(limit).sum();
    format!(
        "takes some {:.0} s, and the builds: {}",
        total,
        each.collect::<Vec<_>>().join(", ")
    )
}

/// Returns the date, the machine and the versions.
fn header(tools: &Tools, options: &Options) -> String {
    let machine = environment();
    let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_string());
    let hyperfine = match &tools.hyperfine {
        Some(path) => known(find::version(path)),
        None => "hyperfine not found: cargo install hyperfine".to_string(),
    };
    let memory = machine
        .memory_bytes
        .map(|bytes| format!("{:.0} GiB", bytes as f64 / 1e9 * 0.931));
    let mut text = format!("# Measured {}\n\n", now_rfc3339());
    for (name, value) in [
        (
            "CPU",
            format!("{} × {}", machine.cpus, known(machine.cpu_model)),
        ),
        (
            "virtual machine",
            known(machine.virtual_machine.map(|v| v.to_string())),
        ),
        ("memory", known(memory)),
        ("kernel", machine.kernel),
        (
            "load average",
            known(
                machine
                    .load_average
                    .map(|load| format!("{load:.2} at the start")),
            ),
        ),
        ("Fathom", known(find::version(&tools.fathom))),
        ("hyperfine", hyperfine),
    ] {
        text.push_str(&format!("- {name}: {value}\n"));
    }
    if options.quick {
        text.push_str("- **quick run: a tenth of the measurements, proves nothing**\n");
    }
    text
}

/// Standard output and, if requested, a file. Figures are written one by one, so earlier output is kept if a
/// later figure fails.
struct Page(Option<std::fs::File>);

impl Page {
    fn new(options: &Options) -> Result<Page> {
        let file = options.markdown.as_ref().map(|path| {
            std::fs::File::create(path).map_err(|e| format!("can't write {}: {e}", path.display()))
        });
        Ok(Page(file.transpose()?))
    }

    fn add(&mut self, text: &str) -> Result<()> {
        print!("{text}");
        match &mut self.0 {
            Some(file) => file
                .write_all(text.as_bytes())
                .map_err(|e| format!("--markdown: {e}")),
            None => Ok(()),
        }
    }
}
