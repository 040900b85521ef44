//! Writes every page from the records of the tests, to look at.
//!
//! `cargo run -p fathom-report --example pages -- FOLDER`
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

#[path = "../tests/experimented/mod.rs"]
mod experimented;
#[path = "../tests/explained/mod.rs"]
mod explained;
#[path = "../tests/fingerprinted/mod.rs"]
mod fingerprinted;
#[path = "../tests/piped/mod.rs"]
mod piped;
#[path = "../tests/probed/mod.rs"]
mod probed;
#[path = "../tests/started/mod.rs"]
mod started;

use std::path::Path;
use std::process::ExitCode;

use fathom_model::Explanation;
use fathom_report::{experiment_html, explain_html, machine_html, pipe_html, startup_html};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: pages FOLDER");
        return ExitCode::from(2);
    };
    for (name, page) in pages() {
        let path = Path::new(&folder).join(format!("{name}.html"));
        if let Err(error) = std::fs::write(&path, &page) {
            eprintln!("{} can't be written: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{}: {} bytes", path.display(), page.len());
    }
    ExitCode::SUCCESS
}

fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("why", explain_html(&explained::findings())),
        ("why-clean", explain_html(&explained::clean())),
        ("why-shares", explain_html(&shares_only())),
        ("why-many", explain_html(&explained::tree::many(120))),
        ("why-most", explain_html(&explained::tree::many(4000))),
        ("why-hostile", explain_html(&hostile())),
        ("pipe", pipe_html(&piped::delayed())),
        ("startup", startup_html(&started::full())),
        ("machine", machine_html(&probed::results(), false)),
        (
            "run",
            experiment_html(&[experimented::record(), experimented::record()]),
        ),
    ]
}

/// Traced so slowly that only shares may be quoted.
fn shares_only() -> Explanation {
    let mut explanation = explained::tree::many(120);
    explanation.explaining.times_are_quoted = false;
    explanation.explaining.slowdown = 13.4;
    explanation
}

/// Names that would be markup.
fn hostile() -> Explanation {
    let mut explanation = explained::tree::many(120);
    explained::hostile::spoil(&mut explanation);
    explanation
}
