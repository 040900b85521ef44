//! Measures whether `fathom why` names the cause that made ppbert 0.8.3 slow, and predicts how much time
//! 0.8.4 saves.
//!
//! The releases differ by one line: 0.8.4 buffers its output. The gain that `unbuffered-output` predicts for
//! the first release can therefore be compared with the time of the second.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::options::Options;
use crate::table::{Table, percent, result};
use crate::tools::Tools;

/// Largest accepted difference between the predicted gain and the real one, as a fraction.
const ASKED: f64 = 0.25;
/// The finding that must be the first one for the first release.
const FINDING: &str = "unbuffered-output";
const MIB: u64 = 1 << 20;

/// A release: its number, and the variable that may contain the path of its program.
const BEFORE: (&str, &str) = ("0.8.3", "PPBERT_0_8_3");
const AFTER: (&str, &str) = ("0.8.4", "PPBERT_0_8_4");

/// The report of `fathom why` on a program.
#[derive(Debug, PartialEq)]
struct Explained {
    /// The ids of the findings, in order.
    findings: Vec<String>,
    /// Predicted savings of the first finding, in seconds.
    savings: f64,
    /// Median of the timed runs, in seconds.
    wall: f64,
    cpu: f64,
}

/// Runs `fathom why` on both releases.
///
/// # Errors
/// If the data can't be created, or an installed program can't be run.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let mut table = Table::new(
        "ppbert: the cause that is named and the gain that is predicted",
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

fn compare(table: &mut Table, before: &Explained, after: &Explained) {
    let first = |explained: &Explained| {
        explained
            .findings
            .first()
            .cloned()
            .unwrap_or("none".to_string())
    };
    let right = first(before) == FINDING && after.findings.is_empty();
    table.row([
        "first finding".to_string(),
        first(before),
        first(after),
        format!("{FINDING}, none"),
        result(right),
    ]);
    for (name, of) in [
        ("wall time", wall as fn(&Explained) -> f64),
        ("CPU time", cpu),
    ] {
        table.row([name.to_string(), ms(of(before)), ms(of(after))]);
    }
    let real = before.cpu - after.cpu;
    let error = (before.savings - real) / real;
    table.row([
        "gain: predicted, real".to_string(),
        ms(before.savings),
        ms(real),
        format!("within {:.0} %", 100.0 * ASKED),
        format!("{}, {}", percent(error), result(error.abs() <= ASKED)),
    ]);
}

fn wall(explained: &Explained) -> f64 {
    explained.wall
}

fn cpu(explained: &Explained) -> f64 {
    explained.cpu
}

fn ms(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1e3)
}

/// Returns the path of the release's program: from its variable, or from where the experiment about all
/// releases installed it.
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

/// Creates a file of Erlang terms that has `mib` MiB, with the same content each time.
fn terms(folder: &Path, mib: u64) -> Result<PathBuf> {
    let path = folder.join(format!("terms-{mib}.bert"));
    if std::fs::metadata(&path).is_ok_and(|file| file.len() >= mib * MIB) {
        return Ok(path);
    }
    let output = Command::new("python3")
        .arg(experiment().join("src/terms.py"))
        .args(["structure", "1", &(mib * MIB).to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start python3 to make terms: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("can't make terms: {errors}"));
    }
    std::fs::write(&path, output.stdout).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn ask(tools: &Tools, program: &Path, data: &Path, runs: &str) -> Result<Explained> {
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
    explained(&json).ok_or(format!("can't read the record of fathom why: {json}"))
}

fn explained(json: &Value) -> Option<Explained> {
    let findings = json["findings"].as_array()?;
    let ids = findings.iter().map(|finding| finding["id"].as_str());
    Some(Explained {
        findings: ids.map(|id| Some(id?.to_string())).collect::<Option<_>>()?,
        savings: findings
            .first()
            .and_then(|finding| finding["saving_ns"].as_f64())
            .unwrap_or(0.0)
            / 1e9,
        wall: json["timed"]["wall"]["value"].as_f64()?,
        cpu: json["timed"]["cpu"]["value"].as_f64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(findings: &[&str], savings: f64, cpu: f64) -> Explained {
        Explained {
            findings: findings
                .iter()
                .map(std::string::ToString::to_string)
                .collect(),
            savings,
            wall: cpu,
            cpu,
        }
    }

    #[test]
    fn the_record_of_why_is_read() {
        let json = serde_json::json!({
            "findings": [{"id": FINDING, "saving_ns": 1_500_000_000u64}],
            "timed": {"wall": {"value": 2.5}, "cpu": {"value": 2.0}},
        });
        let read = explained(&json).unwrap();
        assert_eq!(read.findings, [FINDING]);
        assert_eq!((read.savings, read.wall, read.cpu), (1.5, 2.5, 2.0));
        assert_eq!(explained(&serde_json::json!({})), None);
    }

    #[test]
    fn a_gain_that_is_a_third_off_fails_and_a_fifth_passes() {
        let judged = |predicted: f64| {
            let mut table = Table::new("", &["what", "0.8.3", "0.8.4", "asked", "result"]);
            compare(
                &mut table,
                &of(&[FINDING], predicted, 2.0),
                &of(&[], 0.0, 1.0),
            );
            table.render()
        };
        assert!(judged(1.33).contains(&result(false)));
        assert!(!judged(1.2).contains(&result(false)));
    }
}
