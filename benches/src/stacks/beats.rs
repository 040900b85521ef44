//! Measures whether a program that runs in step with the samples is seen at all of its places.

use std::path::Path;
use std::process::Command;

use fathom_stacks::Frame;
use fathom_trace::{Activity, Stacks, Tier};

use crate::Result;
use crate::sampling::{PERIOD, sampled, silent};
use crate::table::Table;

/// Fraction of each iteration spent in `more`.
const PART: f64 = 0.6;

/// Durations of an iteration, as multiples of the sample interval.
const TURNS: [f64; 6] = [0.5, 1.0, 1.5, 2.0, 4.0, 10.0];

/// The program of the tests. The duration of its iterations is measured by the clock that the samples follow:
/// that of the thread or of the machine.
const SOURCE: &str = include_str!("../../../crates/trace/tests/common/beat.c");

pub(super) fn measure(tiers: &[Tier], seconds: f64, folder: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Stacks of programs that keep time with the samples",
        &["tier", "started by", "periods a turn", "stacks", "off by"],
    );
    let (source, program) = (folder.join("beat.c"), folder.join("beat"));
    std::fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
    let built = Command::new("gcc")
        .args(["-O1", "-o"])
        .args([&program, &source])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        table.note("There is no gcc.");
        return Ok(table);
    }
    let program = program.to_string_lossy();
    let (mut all, mut within) = (0, 0);
    for tier in tiers {
        let clock = match tier {
            Tier::Kernel => "machine",
            _ => "cpu",
        };
        for periods in TURNS {
            let turn = PERIOD.as_nanos() as f64 * periods;
            let line = format!("{program} {clock} {turn:.0} {:.0}", seconds * 1e9 / turn);
            let inherited = format!("{line}; true");
            let alone: Vec<&str> = line.split(' ').collect();
            for (by, argv) in [
                ("Fathom", &alone[..]),
                ("a shell", &["sh", "-c", &inherited]),
            ] {
                let (_, seen) = sampled(&silent(argv.iter().copied()), *tier)?;
                let off = (share(&seen) - PART).abs();
                all += 1;
                within += u32::from(off <= 0.03);
                table.row([
                    tier.name().to_owned(),
                    by.to_owned(),
                    format!("{periods}"),
                    seen.taken.to_string(),
                    format!("{:.1} points", 100.0 * off),
                ]);
            }
        }
    }
    table.note(format!(
        "60 % of each turn is spent in one function, 40 % in another. Goal: within 3 points (reached by {within} of {all})."
    ));
    Ok(table)
}

/// Returns the share of the first function in the time of both functions.
fn share(seen: &Stacks) -> f64 {
    let own = seen.rows.iter();
    let own = own.filter(|row| row.activity == Activity::OwnCode);
    let (mut more, mut less) = (0, 0);
    for row in own {
        let Some(node) = row.node else { continue };
        let is = |frame: &Frame, name| frame.function.as_deref() == Some(name);
        for frame in seen.tree.path(node) {
            more += row.ns * u64::from(is(frame, "more"));
            less += row.ns * u64::from(is(frame, "less"));
        }
    }
    more as f64 / (more + less).max(1) as f64
}
