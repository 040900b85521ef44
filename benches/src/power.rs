//! Measures whether a small real difference is found.

use crate::Result;
use crate::options::Options;
use crate::pairs::{Claim, Series};
use crate::share::Share;
use crate::subjects::{Condition, iterations_longer_by};
use crate::table::{Table, percent, result};
use crate::tools::Tools;

/// Required fraction of the comparisons in which it is found.
const ASKED: f64 = 0.9;

/// Measures a difference of 2 % with all CPUs busy, and one of 1 % on a quiet machine.
///
/// # Errors
/// If a tool fails.
pub(crate) fn measure(
    tools: &Tools,
    options: &Options,
    share: Share,
    iterations: u64,
) -> Result<Table> {
    let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
    let cases = [
        (0.02, Condition::Busy, [("Fathom (-M 50)", words("-M 50"))]),
        (
            0.01,
            Condition::Quiet,
            [("Fathom (-M 50 --margin 0.5%)", words("-M 50 --margin 0.5%"))],
        ),
    ];
    let headers = [
        "true difference",
        "judged by",
        "found (95 % interval)",
        "wrong way",
        "median of the ratios",
        "asked",
        "result",
    ];
    let mut table = Table::new("Power: differences that are there", &headers);
    for (before, (difference, condition, fathom)) in cases.into_iter().enumerate() {
        eprintln!("  {}", condition.name());
        let more = iterations_longer_by(tools, difference, iterations)?;
        let series = Series {
            condition,
            commands: [tools.work_command(iterations), tools.work_command(more)],
            fathom: &fathom,
            repetitions: options.power_repetitions,
        };
        let share = share.part(1.0, (2 - before) as f64);
        for tally in series.measure(tools, share)? {
            let case = format!(
                "takes {:.0} % longer, {}",
                difference * 100.0,
                condition.name()
            );
            let mut row = vec![case, tally.method.clone()];
            if tally.comparisons() == 0 {
                row.push("not found".to_string());
                table.row(row);
                continue;
            }
            let (right, wrong) = (tally.count(Claim::Slower), tally.count(Claim::Faster));
            row.extend([tally.rate(right), wrong.to_string()]);
            row.push(format!("+{}", percent(tally.median_ratio() - 1.0)).replace("+-", "−"));
            if tally.is_fathom {
                let share = right as f64 / tally.comparisons() as f64;
                row.push("9 of 10, never the wrong way".to_string());
                row.push(result(share >= ASKED && wrong == 0));
                table.note(format!(
                    "{}, {}: {}.",
                    condition.name(),
                    tally.method,
                    tally.how()
                ));
            }
            table.row(row);
        }
    }
    table.note("The whole command takes 2 % (1 %) longer: its loop is longer by as much more as its start and exit, which stay the same, take of it.");
    table.note("1 % is measured with --margin 0.5%: with the standard margin of 1 % such a difference counts as none by definition.");
    Ok(table)
}
