//! Measures whether the figures of `fathom machine` agree with those of established tools, and with each
//! other from run to run.

mod build;
mod call;
mod comparisons;
mod stability;
mod words;

pub(crate) use stability::measure as measure_stability;

use std::path::Path;

use serde_json::Value;

use crate::Result;
use crate::compile::empty_static;
use crate::options::Options;
use crate::share::Share;
use crate::table::{Table, ratio, result};
use crate::tools::{Tools, median};
use build::Built;
use call::{Reported, RoundOutputs};
use comparisons::{ALL, Comparison};

/// Largest accepted difference between Fathom's figure and the other tool's, as a fraction.
const ASKED: f64 = 0.1;
/// Minimum number of valid rounds: one or two pairs that were measured while neighbours were busy prove
/// nothing (the ratio was 1.225 in one case).
const FEWEST: usize = 3;
/// Maximum number of rounds. In each, Fathom and the other tool measure every figure, one right after the
/// other.
const ROUNDS: usize = 7;

/// Returns the results of `fathom machine` with these arguments, as JSON.
fn profile(tools: &Tools, choice: &[&str]) -> Result<Vec<Value>> {
    let file = tools.file("machine.json");
    let mut words = vec!["machine".to_string()];
    words.extend(choice.iter().map(ToString::to_string));
    words.extend(["--json".to_string(), file.display().to_string()]);
    tools.run(&tools.fathom, &words)?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("fathom machine: {e}"))?;
    let whole: Value = serde_json::from_str(&text).map_err(|e| format!("fathom machine: {e}"))?;
    match whole["results"].as_array() {
        Some(results) if !results.is_empty() => Ok(results.clone()),
        _ => Err("fathom machine wrote no results".into()),
    }
}

fn probe<'a>(results: &'a [Value], id: &str) -> Option<&'a Value> {
    results.iter().find(|probe| probe["id"] == id)
}

/// Returns the value of a probe, or of its curve at `at`.
fn figure(results: &[Value], id: &str, at: Option<f64>) -> Option<f64> {
    let probe = probe(results, id)?;
    match at {
        None => probe["value"].as_f64(),
        Some(at) => probe["points"]
            .as_array()?
            .iter()
            .find_map(|point| (point[0].as_f64()? == at).then(|| point[1].as_f64())?),
    }
}

/// Returns a figure in cycles, by the clock of the core at that time.
fn cycles(results: &[Value], id: &str) -> Option<f64> {
    probe(results, id)?["cycles"].as_f64()
}

/// Both figures of one round; `None` for a side without a result.
type Pair = (Option<f64>, Option<Reported>);

/// Compares each figure with those of the other tools, in rounds.
///
/// # Errors
/// If Fathom fails; missing tools are named below the table.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let floor = empty_static(&tools.file(""))?;
    let built = Built::prepare(&tools.file("rivals"))?;
    let mut pairs: Vec<Vec<Pair>> = vec![Vec::new(); ALL.len()];
    let mut done = 0;
    for round in share.rounds(options.scaled(ROUNDS), 1) {
        eprintln!("machine: round {} …", round + 1);
        done += 1;
        let mut outputs = RoundOutputs::default();
        for (index, comparison) in ALL.iter().enumerate() {
            // A tool without a result in any earlier round is missing.
            if round > 0 && pairs[index].iter().all(|pair| pair.1.is_none()) {
                continue;
            }
            eprintln!("  {}: {}", comparison.id, comparison.command());
            let own = || -> Result<Option<f64>> {
                let results = profile(tools, &["--only", comparison.id])?;
                Ok(figure(&results, comparison.id, comparison.at))
            };
            let mut other = || run(tools, &built, comparison, &floor, &mut outputs);
            // The order alternates from round to round.
            let pair = if round % 2 == 0 {
                let other = other()?;
                (own()?, other)
            } else {
                (own()?, other()?)
            };
            pairs[index].push(pair);
        }
    }
    let headers = [
        "figure",
        "Fathom",
        "other tool",
        "its figure",
        "ratio",
        "from, to",
        "rounds",
        "asked",
        "result",
    ];
    let mut table = Table::new("Machine: figures beside the field's own tools", &headers);
    for (comparison, pairs) in ALL.iter().zip(&pairs) {
        table.row(row(comparison, pairs, &built));
    }
    table.note(format!(
        "{done} rounds; in each, `fathom machine --only` with this figure and the other tool run one right after the other, in alternating order. 'From, to' are the least and the largest of the rounds' own ratios. Of rates, and between cores, the ratio is their median: what the host does for minutes is in both sides. Fathom's other times are the least of its samples, or nearly, and the other tools' are means or medians: of them the least of all rounds stands beside the least."
    ));
    table.note("A round counts if Fathom has a figure and the other tool had CPU time over wall time of at least 0.9 for each thread that it runs: the other tools have no gate of their own against other programs.");
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
    outputs: &mut RoundOutputs,
) -> Result<Option<Reported>> {
    if comparison.tool == "C loop" {
        // Fathom starts its program on its own CPU, so the loop does the same.
        let measured = tools.c_loop_on(0, 10, 1000, floor)?;
        let (least, _) = range(&measured.commands[0].wall_s);
        return Ok(Some(Reported {
            value: least * 1e6,
            had_cpu: true,
        }));
    }
    Ok(built.measure(comparison, outputs))
}

fn row(comparison: &Comparison, pairs: &[Pair], built: &Built) -> Vec<String> {
    let number = |values: Vec<f64>| match values.is_empty() {
        true => "no answer".to_string(),
        false => {
            let value = median(&values);
            format!("{value:.0$} {1}", digits(value), comparison.unit)
        }
    };
    let mut cells = vec![
        format!("{} ({})", comparison.figure, comparison.id),
        number(pairs.iter().filter_map(|pair| pair.0).collect()),
        comparison.command(),
    ];
    let reported: Vec<Reported> = pairs.iter().filter_map(|pair| pair.1).collect();
    if reported.is_empty() {
        cells.push(built.absence(comparison).to_string());
        return cells;
    }
    cells.push(number(
        reported.iter().map(|reported| reported.value).collect(),
    ));
    let ratios = ratios(pairs);
    let found = match comparison.least {
        true => least(pairs),
        false => (!ratios.is_empty()).then(|| median(&ratios)),
    };
    let Some(found) = found else {
        cells.extend(["", "", "0", "0.9 to 1.1", "undecided"].map(String::from));
        return cells;
    };
    let (low, high) = range(&ratios);
    cells.extend([
        format!(
            "{}, {}",
            ratio(found),
            if comparison.least {
                "of the least"
            } else {
                "of pairs"
            }
        ),
        format!("{}, {}", ratio(low), ratio(high)),
        format!("{} of {}", ratios.len(), pairs.len()),
        "0.9 to 1.1".to_string(),
        match ratios.len() < FEWEST {
            true => "undecided".to_string(),
            false => result((found - 1.0).abs() <= ASKED),
        },
    ]);
    cells
}

/// Returns the ratio of Fathom's minimum to the other tool's minimum, over the valid rounds.
fn least(pairs: &[Pair]) -> Option<f64> {
    let own: Vec<f64> = pairs.iter().filter_map(|pair| pair.0).collect();
    let reported = pairs.iter().filter_map(|pair| pair.1);
    let reported: Vec<f64> = reported
        .filter(|reported| reported.had_cpu)
        .map(|reported| reported.value)
        .collect();
    (!own.is_empty() && !reported.is_empty()).then(|| range(&own).0 / range(&reported).0)
}

/// Returns the ratios of Fathom to the other tool in the valid rounds.
fn ratios(pairs: &[Pair]) -> Vec<f64> {
    let of = |pair: &Pair| match pair {
        (Some(own), Some(reported)) if reported.had_cpu => Some(own / reported.value),
        _ => None,
    };
    pairs.iter().filter_map(of).collect()
}

fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        })
}

/// Returns the number of decimals for three significant digits.
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
    fn rounds_count_in_which_both_sides_had_an_answer_and_the_cpu() {
        let reported = |value, had_cpu| Some(Reported { value, had_cpu });
        let pairs = [
            (Some(9.0), reported(10.0, true)),
            (Some(9.0), reported(90.0, false)),
            (None, reported(10.0, true)),
            (Some(9.0), None),
        ];
        assert_eq!(ratios(&pairs), [0.9]);
        assert_eq!(least(&pairs), Some(0.9));
        let better = [
            (Some(8.0), reported(16.0, true)),
            (Some(9.0), reported(10.0, true)),
        ];
        assert_eq!(least(&better), Some(0.8));
        assert_eq!(least(&[]), None);
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
