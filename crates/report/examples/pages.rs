//! Writes every page from the test records, for inspection.
//!
//! `cargo run -p fathom-report --example pages -- FOLDER` writes the pages; `cargo run -p fathom-report
//! --example pages -- --screenshots FOLDER` takes a screenshot of each at 400, 800 and 1280 pixels, light and
//! dark, with the installed Chromium.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example prints"
)]

#[path = "../tests/every_page/mod.rs"]
mod every_page;

use std::path::Path;
use std::process::ExitCode;

use fathom_test_browser::{Chromium, installed};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--screenshots", folder] => screenshots(Path::new(folder), ""),
        ["--screenshots", folder, only] => screenshots(Path::new(folder), only),
        [folder] if !folder.starts_with('-') => pages(Path::new(folder)),
        _ => Err("usage: pages FOLDER | pages --screenshots FOLDER [NAME]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content)
        .map_err(|error| format!("{} can't be written: {error}", path.display()))?;
    println!("{}: {} bytes", path.display(), content.len());
    Ok(())
}

fn pages(folder: &Path) -> Result<(), String> {
    for (name, page) in every_page::all() {
        write(&folder.join(format!("{name}.html")), page.as_bytes())?;
    }
    Ok(())
}

fn screenshots(folder: &Path, only: &str) -> Result<(), String> {
    let program = installed();
    let program = program.ok_or("no Chromium is installed (Debian: apt-get install chromium)")?;
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut browser = Chromium::start(&program, work.path());
    for (name, page) in every_page::all()
        .iter()
        .filter(|page| page.0.starts_with(only))
    {
        browser.open(name, page);
        for width in [400, 800, 1280] {
            for (dark, theme) in [(false, "light"), (true, "dark")] {
                browser.show(width, dark);
                let picture = browser.picture();
                write(
                    &folder.join(format!("{name}-{width}-{theme}.png")),
                    &picture,
                )?;
            }
        }
    }
    Ok(())
}
