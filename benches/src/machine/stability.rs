//! Measures how far the figures vary from run to run, on the machine as it is and next to a busy neighbour.

use super::{cycles, digits, figure, profile, range};
use crate::Result;
use crate::options::Options;
use crate::share::Share;
use crate::subjects::Condition;
use crate::table::{Table, percent, result};
use crate::tools::{Tools, median};

/// Maximum number of runs in each condition.
const RUNS: usize = 10;

/// The unit of figures in cycles of the clock at that time.
const CYCLES: &str = "cycles";

/// Figures with their required stability, which is the highest over the lowest value, minus 1.
const FIGURES: [(&str, &str, f64); 11] = [
    ("core_clock", "GHz", 0.03),
    ("l1_latency", "ns", 0.03),
    ("l1_latency", CYCLES, 0.03),
    ("l2_latency", "ns", 0.03),
    ("l2_latency", CYCLES, 0.03),
    ("system_call", "ns", 0.03),
    ("system_call", CYCLES, 0.03),
    ("l3_latency", "ns", 0.15),
    ("memory_latency", "ns", 0.15),
    ("read_bandwidth_1", "GB/s", 0.15),
    ("spawn_floor", "us", 0.15),
];

/// Measures ten quick profiles, then ten next to a neighbour that spins on another CPU.
///
/// # Errors
/// If Fathom fails.
pub(crate) fn measure(tools: &Tools, options: &Options, share: Share) -> Result<Table> {
    let headers = [
        "figure",
        "condition",
        "lowest",
        "median",
        "highest",
        "spread",
        "runs",
        "asked",
        "result",
    ];
    let mut table = Table::new("Machine: how far figures move from run to run", &headers);
    for (condition, parts) in [(Condition::Quiet, 2.0), (Condition::Neighbour, 1.0)] {
        let mut loads = condition.start(tools)?;
        let mut profiles = Vec::new();
        for run in share
            .part(1.0, parts)
            .rounds(options.scaled(RUNS).max(2), 2)
        {
            eprintln!("machine-stability: {}, run {} …", condition.name(), run + 1);
            profiles.push(profile(tools, &["--quick"])?);
        }
        loads.check()?;
        drop(loads);
        for (id, unit, asked) in FIGURES {
            let values: Vec<f64> = profiles
                .iter()
                .filter_map(|results| match unit {
                    CYCLES => cycles(results, id),
                    _ => figure(results, id, None),
                })
                .collect();
            let mut cells = vec![id.to_string(), condition.name().to_string()];
            if values.is_empty() {
                cells.extend([
                    "no answer".into(),
                    String::new(),
                    String::new(),
                    String::new(),
                ]);
            } else {
                let (low, high) = range(&values);
                let spread = high / low - 1.0;
                let show = |value: f64| format!("{value:.0$} {unit}", digits(value) + 1);
                cells.extend([
                    show(low),
                    show(median(&values)),
                    show(high),
                    percent(spread),
                ]);
                cells.extend([
                    format!("{} of {}", values.len(), profiles.len()),
                    format!("at most {:.0} %", asked * 100.0),
                    result(spread <= asked),
                ]);
            }
            table.row(cells);
        }
    }
    table.note("Each run knows what those before it showed: what lies more than 10 % under the second best of them is disturbed. The first two know nothing.");
    table.note("Runs in which a probe was disturbed or had no answer have no figure; the column 'runs' counts those that had one.");
    Ok(table)
}
