//! Measures whether `fathom why` shows where the time of a very short program's own code goes.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::random::Random;
use crate::table::{Table, percent, result};
use crate::tools::Tools;

use super::programs::{BUILDS, CallTree, Program};

/// Number of nested calls from `main` to the innermost function.
const DEPTH: usize = 5;
/// Intended durations of the programs, in seconds on the usual machine.
const SECONDS: [f64; 3] = [0.018, 0.054, 0.15];
/// Required fraction of the own code's time that must be in named functions.
const ASKED: f64 = 0.9;

pub(super) fn measure(tools: &Tools, quick: bool, folder: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Short programs: own code's time that has a function and a caller in the rows of fathom why",
        &[
            "language", "build", "tier", "wall", "own code", "named", "asked", "result",
        ],
    );
    let seconds = if quick { &SECONDS[1..2] } else { &SECONDS[..] };
    for build in BUILDS
        .iter()
        .filter(|build| !build.stripped && build.is_here())
    {
        let tree = CallTree::of_depth(DEPTH, &mut Random::new(51));
        for seconds in seconds {
            let program = build.program(&tree, *seconds, folder)?;
            let seen = explained(tools, &program, folder)?;
            let (own, named) = own_code(&seen);
            let share = named / own.max(1.0);
            let ms = |ns: f64| format!("{:.1} ms", ns / 1e6);
            table.row([
                build.language.to_owned(),
                build.words(),
                text(&seen["observation"]["tier"]),
                ms(seen["account"]["wall_ns"].as_f64().unwrap_or(f64::NAN)),
                ms(own),
                percent(share),
                percent(ASKED),
                result(share >= ASKED),
            ]);
        }
    }
    table.note("As whoever runs this, by default: timed, then observed as often as it takes to have 1,000 stacks.");
    Ok(table)
}

/// Returns the report of `fathom why` on a program.
fn explained(tools: &Tools, program: &Program, folder: &Path) -> Result<Value> {
    let output = Command::new(&tools.fathom)
        .args(["why", "--json", "-", "--"])
        .arg(&program.path)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {}: {error}", tools.fathom.display()))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("fathom why: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Returns the time of the account's own code, and the part of it in rows with a function and a named caller,
/// both in ns.
fn own_code(seen: &Value) -> (f64, f64) {
    let sum = |rows: &Value, kind: &str, fits: &dyn Fn(&Value) -> bool| -> f64 {
        let rows = rows.as_array().into_iter().flatten();
        rows.filter(|row| row[kind] == "user_code" && fits(row))
            .filter_map(|row| row["ns"].as_f64())
            .sum()
    };
    let is_named = |place: &Value| place["function"].is_string();
    let callers = |row: &Value| {
        row["callers"]
            .as_array()
            .is_some_and(|all| all.iter().any(is_named))
    };
    (
        sum(&seen["account"]["parts"], "category", &|_| true),
        sum(&seen["where"], "kind", &|row| is_named(row) && callers(row)),
    )
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_code_with_a_function_and_a_named_caller_counts() {
        let seen = serde_json::json!({
            "account": {"parts": [{"category": "user_code", "ns": 100}, {"category": "kernel_io", "ns": 50}]},
            "where": [
                {"kind": "user_code", "ns": 60, "function": "a", "callers": [{"binary": "b"}, {"function": "main"}]},
                {"kind": "user_code", "ns": 20, "function": "main"},
                {"kind": "user_code", "ns": 10, "callers": [{"function": "main"}]},
                {"kind": "kernel_io", "ns": 50, "function": "read", "callers": [{"function": "main"}]},
            ],
        });
        assert_eq!(own_code(&seen), (100.0, 60.0));
    }
}
