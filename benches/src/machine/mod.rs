//! Do the figures of `fathom machine` agree with those of the field's own tools, and with each
//! other from run to run?

mod build;
mod call;
mod comparisons;
mod stability;
mod words;

pub use stability::measure as measure_stability;

use std::path::Path;

use serde_json::Value;

use crate::Result;
use crate::options::Options;
use crate::subjects::compile;
use crate::table::{Table, ratio, result};
use crate::tools::{Tools, median};
use build::Built;
use call::{Round, Said};
use comparisons::{ALL, Comparison, Wanted};

/// How far a figure may lie from the other tool's.
const ASKED: f64 = 0.1;
/// Rounds: each runs `fathom machine` and every other tool once.
const ROUNDS: usize = 5;

/// The profile of one run, as JSON.
fn profile(tools: &Tools, full: bool) -> Result<Vec<Value>> {
    let file = tools.file("machine.json");
    let mut words = vec!["machine".to_string()];
    words.extend((!full).then(|| "--quick".to_string()));
    words.extend(["--json".to_string(), file.display().to_string()]);
    tools.run(&tools.fathom, &words)?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("fathom machine: {e}"))?;
    let whole: Value = serde_json::from_str(&text).map_err(|e| format!("fathom machine: {e}"))?;
    match whole["results"].as_array() {
        Some(results) if !results.is_empty() => Ok(results.clone()),
        _ => Err("fathom machine wrote no results".into()),
    }
}

/// The value of a probe, or of its curve at `at`.
fn figure(results: &[Value], id: &str, at: Option<f64>) -> Option<f64> {
    let probe = results.iter().find(|probe| probe["id"] == id)?;
    match at {
        None => probe["value"].as_f64(),
        Some(at) => probe["points"]
            .as_array()?
            .iter()
            .find_map(|point| (point[0].as_f64()? == at).then(|| point[1].as_f64())?),
    }
}

/// Each figure beside the other tools', in rounds.
///
/// # Errors
/// When Fathom fails; tools that are not there are said to be not there.
pub fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let floor = compile(
        "subjects/floor.c",
        &["-static", "-nostdlib"],
        &tools.file(""),
    )?;
    let built = Built::prepare(&tools.file("rivals"))?;
    let rounds = options.scaled(ROUNDS);
    let mut own: Vec<Vec<f64>> = vec![Vec::new(); ALL.len()];
    let mut theirs: Vec<Vec<Said>> = vec![Vec::new(); ALL.len()];
    for round in 1..=rounds {
        eprintln!("machine: round {round} of {rounds} …");
        let results = profile(tools, true)?;
        let mut said = Round::default();
        for (index, comparison) in ALL.iter().enumerate() {
            eprintln!("  {}", comparison.command());
            own[index].extend(figure(&results, comparison.id, comparison.at));
            theirs[index].extend(run(tools, &built, comparison, &floor, &mut said)?);
        }
    }
    let headers = [
        "figure",
        "Fathom",
        "its range",
        "other tool",
        "its best",
        "ratio",
        "asked",
        "result",
    ];
    let mut table = Table::new("Machine: figures beside the field's own tools", &headers);
    for (index, comparison) in ALL.iter().enumerate() {
        table.row(row(comparison, &own[index], &theirs[index], &built));
    }
    table.note(format!(
        "{rounds} rounds; in each, `fathom machine` and every other tool once. Fathom: the median of its rounds, rounds without an answer left out. Other tools: their best round, because they have no gate against other programs: of a disturbed round only the direction is known."
    ));
    table.note("Rounds of another tool in which CPU time over wall time was at least 0.9 for each thread that it runs come first; where there is none, its best is 'disturbed' and can't be judged.");
    for note in built.notes() {
        table.note(note);
    }
    Ok(table)
}

fn run(
    tools: &Tools,
    built: &Built,
    comparison: &Comparison,
    floor: &Path,
    said: &mut Round,
) -> Result<Option<Said>> {
    if comparison.tool == "C loop" {
        // Fathom starts its program on the CPU that it runs on itself.
        let measured = tools.c_loop_on(0, 10, 200, floor)?;
        let least = measured.commands[0].wall_s.iter().copied();
        return Ok(Some(Said {
            value: least.fold(f64::INFINITY, f64::min) * 1e6,
            had_cpu: true,
        }));
    }
    Ok(built.measure(comparison, said))
}

fn row(comparison: &Comparison, own: &[f64], theirs: &[Said], built: &Built) -> Vec<String> {
    let unit = comparison.unit;
    let number = |value: f64| format!("{value:.0$} {unit}", digits(value));
    let mut cells = vec![format!("{} ({})", comparison.figure, comparison.id)];
    if own.is_empty() {
        cells.extend(["no answer".to_string(), String::new()]);
    } else {
        let (low, high) = range(own);
        let (a, b) = (digits(low), digits(high));
        cells.extend([
            number(median(own)),
            format!("{low:.a$} to {high:.b$}, {} of them", own.len()),
        ]);
    }
    cells.push(comparison.command());
    let Some((best, had_cpu)) = best(comparison.wanted, theirs) else {
        cells.push(built.absence(comparison).to_string());
        return cells;
    };
    let mark = if had_cpu { "" } else { " (disturbed)" };
    cells.push(format!("{}{mark}", number(best)));
    if !own.is_empty() {
        let found = median(own) / best;
        cells.extend([ratio(found), "0.9 to 1.1".to_string()]);
        cells.push(match had_cpu {
            true => result((found - 1.0).abs() <= ASKED),
            false => "can't tell".to_string(),
        });
    }
    cells
}

/// The best of the rounds that had the CPU, else the best of all, and which of both it is.
fn best(wanted: Wanted, theirs: &[Said]) -> Option<(f64, bool)> {
    let had_cpu = theirs.iter().any(|said| said.had_cpu);
    let values: Vec<f64> = theirs
        .iter()
        .filter(|said| said.had_cpu == had_cpu)
        .map(|said| said.value)
        .collect();
    let (low, high) = range(&values);
    let value = match wanted {
        Wanted::Least => low,
        Wanted::Most => high,
    };
    (!values.is_empty()).then_some((value, had_cpu))
}

fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
}

/// Decimals for three significant digits.
fn digits(value: f64) -> usize {
    match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_value_or_a_point_of_the_curve() {
        let results: Vec<Value> = serde_json::from_str(
            r#"[{"id":"a","value":3.0,"points":[[1.0,7.5],[2.0,9.0]]},{"id":"b","value":null}]"#,
        )
        .unwrap();
        assert_eq!(figure(&results, "a", None), Some(3.0));
        assert_eq!(figure(&results, "a", Some(1.0)), Some(7.5));
        assert_eq!(figure(&results, "a", Some(4.0)), None);
        assert_eq!(figure(&results, "b", None), None);
    }

    #[test]
    fn rounds_that_had_the_cpu_come_first() {
        let said = |value, had_cpu| Said { value, had_cpu };
        let both = [said(9.0, false), said(12.0, true), said(11.0, true)];
        assert_eq!(best(Wanted::Least, &both), Some((11.0, true)));
        assert_eq!(best(Wanted::Most, &both), Some((12.0, true)));
        assert_eq!(best(Wanted::Least, &both[..1]), Some((9.0, false)));
        assert_eq!(best(Wanted::Least, &[]), None);
    }

    #[test]
    fn three_digits_are_shown() {
        let shown = |value: f64| format!("{value:.0$}", digits(value));
        assert_eq!(
            [132.2, 21.43, 3.711, 0.185].map(shown),
            ["132", "21.4", "3.71", "0.185"]
        );
    }
}
