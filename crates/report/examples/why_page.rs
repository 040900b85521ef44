//! Writes the page of a made-up explanation.
//!
//! `cargo run -p fathom-report --example why_page -- /tmp/why.html [findings|clean|shares|hostile|crowd]`

#[path = "../tests/explained/mod.rs"]
mod explained;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: why_page FILE [findings|clean|shares|hostile|crowd]");
        return ExitCode::from(2);
    };
    let mut explanation = explained::tree::many(120);
    match arguments.next().as_deref() {
        Some("findings") => explanation = explained::findings(),
        Some("clean") => explanation = explained::clean(),
        Some("shares") => {
            explanation.explaining.times_are_quoted = false;
            explanation.explaining.slowdown = 13.4;
        }
        Some("crowd") => explanation = explained::tree::many(4000),
        Some("hostile") => explained::hostile::spoil(&mut explanation),
        _ => {}
    }
    let page = fathom_report::explain_html(&explanation);
    match std::fs::write(&path, &page) {
        Ok(()) => {
            println!("{path}: {} bytes", page.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path} can't be written: {error}");
            ExitCode::FAILURE
        }
    }
}
