//! Programs whose stacks are sampled as `fathom why` samples short programs.

use std::ffi::OsString;
use std::time::Duration;

use fathom_trace::detect::detect;
use fathom_trace::{Io, StackPool, Stacks, Tier, Trace, TraceCommand, TraceOptions, trace};

use crate::Result;

/// CPU time between two samples.
pub(crate) const PERIOD: Duration = Duration::from_micros(997);

/// Returns the tiers available on this machine whose samples have stacks.
pub(crate) fn tiers() -> Vec<Tier> {
    let verdicts = detect();
    let available = |tier: &Tier| verdicts.iter().any(|it| it.tier == *tier && it.available);
    [Tier::Kernel, Tier::Perf]
        .into_iter()
        .filter(available)
        .collect()
}

/// Returns a command that has no input and whose output is discarded.
pub(crate) fn silent<S: Into<OsString>>(argv: impl IntoIterator<Item = S>) -> TraceCommand {
    TraceCommand {
        stdin: Io::Null,
        stdout: Io::Null,
        stderr: Io::Null,
        ..TraceCommand::new(argv)
    }
}

/// Runs a command once and returns its trace and stacks.
pub(crate) fn sampled(command: &TraceCommand, tier: Tier) -> Result<(Trace, Stacks)> {
    let pool = StackPool::of_one_run();
    let options = TraceOptions {
        profile: Some(PERIOD),
        stacks: Some(pool.clone()),
        ..TraceOptions::default()
    };
    let seen = trace(command, tier, &options).map_err(|error| error.to_string())?;
    let stacks = pool.named(&seen).ok_or("no stacks were taken")?;
    Ok((seen, stacks))
}
