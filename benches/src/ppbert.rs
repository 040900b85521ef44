//! Does `fathom why` name what made ppbert 0.8.3 slow, and foretell what 0.8.4 won?
//!
//! The releases differ by one line: 0.8.4 buffers its output. So the gain that is foretold for
//! `unbuffered-output` on the first can be held against the second.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::options::Options;
use crate::table::{Table, percent, result};
use crate::tools::Tools;

/// What is asked: the gain that is foretold lies so close to the real one.
const ASKED: f64 = 0.25;
/// What the first release's first finding must be.
const FINDING: &str = "unbuffered-output";
const MIB: u64 = 1 << 20;

/// A release: its number, and the variable that may name its program.
const BEFORE: (&str, &str) = ("0.8.3", "PPBERT_0_8_3");
const AFTER: (&str, &str) = ("0.8.4", "PPBERT_0_8_4");

/// What `fathom why` said of a program.
#[derive(Debug, PartialEq)]
struct Told {
    /// Ids in their order.
    findings: Vec<String>,
    /// What the first would win, seconds.
    could_win: f64,
    /// Medians of the timed runs, seconds.
    wall: f64,
    cpu: f64,
}

/// Asks of both releases.
///
/// # Errors
/// When the data can't be made, or a program that is there can't be run.
pub fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let mut table = Table::new(
        "ppbert: the cause that is named and the gain that is foretold",
        &["what", "0.8.3", "0.8.4", "asked", "result"],
    );
    let (Some(before), Some(after)) = (find(BEFORE), find(AFTER)) else {
        for missing in [BEFORE, AFTER].iter().filter(|one| find(**one).is_none()) {
            let (release, variable) = missing;
            table.note(format!("Not measured: ppbert {release} is not there. `cargo install --locked --root FOLDER ppbert@{release}`, then {variable}=FOLDER/bin/ppbert."));
        }
        return Ok(table);
    };
    let data = terms(tools.scratch_folder(), if options.quick { 1 } else { 11 })?;
    let runs = if options.quick { "3" } else { "10" };
    let before = ask(tools, &before, &data, runs)?;
    let after = ask(tools, &after, &data, runs)?;
    compare(&mut table, &before, &after);
    table.note("Times are medians of the runs that fathom why timed, untraced. The program never waits, so its CPU time, which neighbours disturb least, judges the gain.");
    Ok(table)
}

fn compare(table: &mut Table, before: &Told, after: &Told) {
    let first = |told: &Told| told.findings.first().cloned().unwrap_or("none".to_string());
    let right = first(before) == FINDING && after.findings.is_empty();
    table.row([
        "first finding".to_string(),
        first(before),
        first(after),
        format!("{FINDING}, none"),
        result(right),
    ]);
    for (name, of) in [("wall time", wall as fn(&Told) -> f64), ("CPU time", cpu)] {
        table.row([name.to_string(), ms(of(before)), ms(of(after))]);
    }
    let real = before.cpu - after.cpu;
    let error = (before.could_win - real) / real;
    table.row([
        "gain: foretold, real".to_string(),
        ms(before.could_win),
        ms(real),
        format!("within {:.0} %", 100.0 * ASKED),
        format!("{}, {}", percent(error), result(error.abs() <= ASKED)),
    ]);
}

fn wall(told: &Told) -> f64 {
    told.wall
}

fn cpu(told: &Told) -> f64 {
    told.cpu
}

fn ms(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1e3)
}

/// Where the release is: by its variable, or where the experiment about all releases installed it.
fn find((release, variable): (&str, &str)) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = format!("ppbert-{}", release.replace('.', "_"));
    let installed = experiment()
        .join(".fathom/experiment/tools")
        .join(folder)
        .join("bin/ppbert");
    named
        .into_iter()
        .chain([installed])
        .find(|path| path.is_file())
}

fn experiment() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/ppbert-releases")
}

/// A file of Erlang terms of so many MiB, the same each time.
fn terms(folder: &Path, mib: u64) -> Result<PathBuf> {
    let path = folder.join(format!("terms-{mib}.bert"));
    if std::fs::metadata(&path).is_ok_and(|file| file.len() >= mib * MIB) {
        return Ok(path);
    }
    let made = Command::new("python3")
        .arg(experiment().join("src/terms.py"))
        .args(["structure", "1", &(mib * MIB).to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start python3 to make terms: {error}"))?;
    if !made.status.success() {
        let errors = String::from_utf8_lossy(&made.stderr);
        return Err(format!("can't make terms: {errors}"));
    }
    std::fs::write(&path, made.stdout).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn ask(tools: &Tools, program: &Path, data: &Path, runs: &str) -> Result<Told> {
    let run = Command::new(&tools.fathom)
        .args(["why", "--runs", runs, "--json", "-", "--"])
        .args([program, data])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!(
            "fathom why failed on {}: {errors}",
            program.display()
        ));
    }
    let json = serde_json::from_slice(&run.stdout).map_err(|error| error.to_string())?;
    told(&json).ok_or(format!("can't read what fathom why said: {json}"))
}

fn told(json: &Value) -> Option<Told> {
    let findings = json["findings"].as_array()?;
    let ids = findings.iter().map(|finding| finding["id"].as_str());
    Some(Told {
        findings: ids.map(|id| Some(id?.to_string())).collect::<Option<_>>()?,
        could_win: findings
            .first()
            .and_then(|finding| finding["could_win_ns"].as_f64())
            .unwrap_or(0.0)
            / 1e9,
        wall: json["timed"]["wall"]["value"].as_f64()?,
        cpu: json["timed"]["cpu"]["value"].as_f64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(findings: &[&str], could_win: f64, cpu: f64) -> Told {
        Told {
            findings: findings.iter().map(|id| id.to_string()).collect(),
            could_win,
            wall: cpu,
            cpu,
        }
    }

    #[test]
    fn what_fathom_said_is_read() {
        let json = serde_json::json!({
            "findings": [{"id": FINDING, "could_win_ns": 1_500_000_000u64}],
            "timed": {"wall": {"value": 2.5}, "cpu": {"value": 2.0}},
        });
        let told = told(&json).unwrap();
        assert_eq!(told.findings, [FINDING]);
        assert_eq!((told.could_win, told.wall, told.cpu), (1.5, 2.5, 2.0));
        assert_eq!(super::told(&serde_json::json!({})), None);
    }

    #[test]
    fn a_gain_that_is_a_third_off_fails_and_a_fifth_passes() {
        let judged = |foretold: f64| {
            let mut table = Table::new("", &["what", "0.8.3", "0.8.4", "asked", "result"]);
            compare(
                &mut table,
                &said(&[FINDING], foretold, 2.0),
                &said(&[], 0.0, 1.0),
            );
            table.render()
        };
        assert!(judged(1.33).contains(&result(false)));
        assert!(!judged(1.2).contains(&result(false)));
    }
}
