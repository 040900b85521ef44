//! Measures how much more CPU time a program takes when it is observed with its stacks.

use std::path::Path;
use std::time::Duration;

use fathom_trace::{StackPool, Tier, TimelineOptions, TraceOptions, trace};

use crate::Result;
use crate::random::Random;
use crate::sampling::silent;
use crate::table::Table;
use crate::tools::Tools;
use crate::tracing::verdict;

use super::programs::{BUILDS, CallTree};

/// The period at which `fathom why` samples programs longer than a quarter of a second: 250 Hz.
const PERIOD: Duration = Duration::from_nanos(3_989_000);
/// The interval of time at which `fathom why` samples calls, waits and faults.
const CALL_STACKS: Duration = Duration::from_nanos(65_536);
/// Required limit of the ratio of the observed CPU time to that of an unobserved run right before or after.
const ASKED: f64 = 1.02;
/// Number of pairs of runs of 0.7 s.
const PAIRS: usize = 40;
const SECONDS: f64 = 1.0;
const DEPTH: usize = 20;

pub(super) fn measure(tools: &Tools, tiers: &[Tier], quick: bool, folder: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Stacks: CPU time of a program that is observed at 250 Hz, by that of one that isn't",
        &[
            "tier",
            "unobserved",
            "pairs",
            "ratio",
            "95 %",
            "asked",
            "result",
        ],
    );
    let tree = CallTree::of_depth(DEPTH, &mut Random::new(51));
    let program = BUILDS[0].program(&tree, SECONDS, folder)?.path;
    for tier in tiers {
        let observed = || -> Result<f64> {
            let options = TraceOptions {
                timeline: Some(TimelineOptions::default()),
                profile: Some(PERIOD),
                stacks: Some(StackPool::default()),
                call_stacks: Some(CALL_STACKS),
                ..TraceOptions::default()
            };
            let seen = trace(&silent([&program]), *tier, &options);
            let accounts = seen.map_err(|error| error.to_string())?.accounts;
            Ok((accounts.user_ns + accounts.system_ns) as f64 / 1e9)
        };
        let alone = || tools.run::<&str>(&program, &[]).map(|usage| usage.cpu_s);
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for pair in 0..if quick { PAIRS / 10 } else { PAIRS } {
            if pair % 2 == 0 {
                without.push(alone()?);
                with.push(observed()?);
            } else {
                with.push(observed()?);
                without.push(alone()?);
            }
        }
        let Some(paired) = fathom_stats::paired_ratio(&without, &with, 0.95) else {
            continue;
        };
        let ratio = paired.ratio;
        table.row([
            tier.name().to_owned(),
            format!("{:.0} ms", 1e3 * crate::tools::median(&without)),
            with.len().to_string(),
            format!("{:.3}x", ratio.value),
            format!("{:.3} to {:.3}", ratio.low, ratio.high),
            format!("{ASKED}x"),
            verdict(&ratio, ASKED),
        ]);
    }
    table.note("User and system time by wait4, of a generated program that computes, and of all that runs in the kernel for it: samples, stacks, and in the kernel tier Fathom's programs. Pairs begin with either by turns. Reached: the estimate is within what was asked; not reached: the whole interval is beyond it.");
    Ok(table)
}
