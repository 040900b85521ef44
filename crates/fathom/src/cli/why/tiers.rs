//! `fathom why --tiers`: shows which ways of observing are allowed on this machine.

use fathom_report as report;
use fathom_trace::Tier;

use crate::cli::failure::Failure;
use crate::cli::write;

/// Tries each tier and prints the result. Returns the exit code.
///
/// # Errors
/// If standard output can't be written.
pub(super) fn print() -> Result<i32, Failure> {
    let mut text = String::new();
    for tier in fathom_conduct::tiers::detect() {
        let name = tier.tier.name();
        let what = description(tier.tier);
        if tier.available {
            text.push_str(&format!("{name:<8} yes  {what}\n"));
            continue;
        }
        text.push_str(&format!("{name:<8} no   {what}\n"));
        for line in [&tier.why_not, &tier.remedy] {
            if !line.is_empty() {
                text.push_str(&format!("              {}\n", report::escape(line)));
            }
        }
    }
    write::print(&text)?;
    Ok(0)
}

/// Describes a tier in one line.
fn description(tier: Tier) -> &'static str {
    match tier {
        Tier::Kernel => "counts and times every call in the kernel; under 0.5 µs per call",
        Tier::Perf => {
            "times every wait in the kernel, finds its call by sampling; 1.2 µs per switch"
        }
        Tier::Sample => "samples threads 1,000 times a second; shares, not counts; costs nothing",
        Tier::Ptrace => "stops and reads every call, up to 20,000 calls; 10 to 90 µs per call",
    }
}
