//! Measures whether `fathom why 'A' 'B'` shows why B takes longer.
//!
//! Two commands of `known` differ in one step. Both write down how long each part really took, during the
//! same runs that Fathom times. The table compares the difference with each of Fathom's rows, and with the
//! part that Fathom leaves unexplained.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::account::{Parts, middling, ms, of_truth, parts_of_truth, scratch_file, shorter};
use crate::compile::compile;
use crate::options::Options;
use crate::table::{Table, percent, result};
use crate::tools::Tools;

/// Requirement: each row and the unexplained part differ by at most this share of the longer command's time.
const ASKED: f64 = 0.02;

/// The scenarios: a name, and the steps of A and of B.
const SCENARIOS: [(&str, &str, &str); 8] = [
    ("nothing", "spin=200", "spin=200"),
    ("an added sleep", "spin=200", "spin=200 sleep=60"),
    ("more reads", "spin=150 mix=50", "spin=150 mix=150"),
    ("larger reads", "spin=200 kernel=20", "spin=200 kernel=80"),
    ("fsync", "spin=200", "spin=200 sync=80"),
    ("a child", "spin=200", "spin=200 child=80"),
    ("a slower function", "spin=200", "spin=240"),
    ("page faults", "spin=200", "spin=200 touch=60"),
];

/// Number of rounds; an odd number.
const ROUNDS: usize = 31;

/// Runs each pair and compares the results.
///
/// # Errors
/// If a program can't be built or run.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let folder = tools.scratch_folder();
    let known = compile("subjects/known.c", &["-pthread"], folder)?;
    let scratch = scratch_file(folder)?;
    let mut table = Table::new(
        "Differences: what B takes more, the truth and what fathom why 'A' 'B' reports",
        &[
            "difference",
            "part",
            "truth",
            "Fathom",
            "error / longer",
            "result",
        ],
    );
    for (name, a, b) in SCENARIOS {
        let steps = |steps: &str| match options.quick {
            true => shorter(steps),
            false => steps.to_owned(),
        };
        let compared = compare(tools, &known, &scratch, [&steps(a), &steps(b)])?;
        write_rows(&mut table, name, &compared);
    }
    table.note("Truth: of each command the means of the three of 31 timed runs whose length is in the middle, B's less A's. A child's parts are one row of Fathom's, and of the truth where it has that row.");
    table.note("Fathom leaves out what is smaller than its interval allows; that, and what the truth doesn't know (start and end), is in 'not explained'.");
    Ok(table)
}

/// The result of one pair.
struct Compared {
    truth: Parts,
    /// Fathom's rows, by the known parts.
    rows: Parts,
    not_explained_ns: f64,
    longer_ns: f64,
}

fn write_rows(table: &mut Table, name: &str, compared: &Compared) {
    let longer = compared.longer_ns;
    let mut row = |part: &str, truth: Option<f64>, fathom: f64| {
        let error = (fathom - truth.unwrap_or(0.0)) / longer;
        table.row([
            name.to_string(),
            part.replace('_', " "),
            truth.map_or("-".to_string(), ms),
            ms(fathom),
            percent(error),
            result(error.abs() <= ASKED),
        ]);
    };
    let of = |parts: &Parts, part: &str| parts.get(part).copied().unwrap_or(0.0);
    let parts: BTreeMap<&String, ()> = compared
        .truth
        .keys()
        .chain(compared.rows.keys())
        .map(|part| (part, ()))
        .collect();
    for part in parts.into_keys() {
        let (truth, fathom) = (of(&compared.truth, part), of(&compared.rows, part));
        // A part below two thousandths on both sides is omitted.
        if truth.abs().max(fathom.abs()) >= 0.002 * longer {
            row(part, Some(truth), fathom);
        }
    }
    row("not explained", None, compared.not_explained_ns);
}

fn compare(tools: &Tools, known: &Path, scratch: &Path, steps: [&str; 2]) -> Result<Compared> {
    let folder = tools.scratch_folder();
    let truths = ["a", "b"].map(|side| folder.join(format!("differs.{side}.truth")));
    for truth in &truths {
        let _ = std::fs::remove_file(truth);
        let mut rounds = truth.clone().into_os_string();
        rounds.push(".rounds");
        let _ = std::fs::remove_file(rounds);
    }
    let line = |index: usize| {
        let paths = [known, &truths[index], scratch].map(|path| path.display().to_string());
        format!("'{}' {}", paths.join("' '"), steps[index])
    };
    let run = Command::new(&tools.fathom)
        .args(["why", "--runs", &ROUNDS.to_string(), "--json", "-"])
        .args([line(0), line(1)])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    if !run.status.success() {
        let errors = String::from_utf8_lossy(&run.stderr);
        return Err(format!("fathom why failed on {steps:?}: {errors}"));
    }
    let record: Value = serde_json::from_slice(&run.stdout).map_err(|error| error.to_string())?;
    let [a, b] = [of_runs(&truths[0])?, of_runs(&truths[1])?];
    let truth = b
        .iter()
        .map(|(part, ns)| (part.clone(), ns - a.get(part).copied().unwrap_or(0.0)));
    let (truth, rows) = as_reported(truth.collect(), &record["difference"]["rows"]);
    let walls = record["commands"].as_array().into_iter().flatten();
    let walls = walls.filter_map(|command| command["account"]["wall_ns"].as_f64());
    Ok(Compared {
        truth,
        rows,
        not_explained_ns: record["difference"]["not_explained"]
            .as_f64()
            .unwrap_or(f64::NAN)
            * 1e6,
        longer_ns: walls.fold(f64::NAN, f64::max),
    })
}

/// Returns the known parts of the timed runs, which have one line each after that of the warm-up.
fn of_runs(truth: &Path) -> Result<Parts> {
    let lines = std::fs::read_to_string(truth).map_err(|error| format!("known: {error}"))?;
    let lines = lines.lines().skip(1).take(ROUNDS);
    let parsed =
        lines.map(|line| serde_json::from_str::<Value>(line).map_err(|error| error.to_string()));
    let parsed: Result<Vec<Value>> = parsed.collect();
    Ok(middling(
        parsed?
            .iter()
            .map(|line| parts_of_truth(&line["path"]))
            .collect(),
    ))
}

/// Returns Fathom's rows of the wall time by the known parts, and the known parts. If Fathom has a row
/// `child`, the latter have such a part too: a child computes for half of its time and sleeps for the other
/// half.
fn as_reported(mut truth: Parts, rows: &Value) -> (Parts, Parts) {
    let mut reported = Parts::new();
    let rows = rows.as_array().into_iter().flatten();
    for row in rows.filter(|row| row["of"] == "wall") {
        let name = match row["by"].as_str() {
            Some("child") => "child",
            _ => of_truth(row["part"].as_str().unwrap_or_default()),
        };
        *reported.entry(name.to_owned()).or_default() +=
            row["milliseconds"].as_f64().unwrap_or(0.0) * 1e6;
    }
    if reported.contains_key("child") {
        let parts = ["user_code", "sleeping"].map(|part| truth.remove(part).unwrap_or(0.0));
        truth.insert("child".to_owned(), parts.iter().sum());
    }
    (truth, reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_wall_time_are_in_the_parts_of_the_truth() {
        let rows = serde_json::json!([
            {"of": "wall", "by": "category", "part": "kernel_io", "milliseconds": 5.0},
            {"of": "kernel_io", "by": "call", "part": "read", "milliseconds": 4.0},
            {"of": "wall", "by": "category", "part": "kernel_files", "milliseconds": 1.0},
            {"of": "wall", "by": "child", "part": "known (forked)", "milliseconds": 80.0},
        ]);
        let truth = [("user_code", 40e6), ("sleeping", 40e6), ("kernel", 6e6)];
        let truth = truth
            .map(|(part, ns)| (part.to_owned(), ns))
            .into_iter()
            .collect();
        let (truth, reported) = as_reported(truth, &rows);
        assert_eq!(reported["kernel"], 6e6);
        assert_eq!((reported["child"], truth["child"]), (80e6, 80e6));
        assert!(!truth.contains_key("sleeping"));
    }
}
