//! Detects things that are queried repeatedly.

pub(crate) mod calls;
pub(crate) mod paths;
pub(crate) mod spinning;

use fathom_model::without_type_arguments;

use crate::mechanisms::prelude::*;

/// The minimum CPU time of a thread that others wait for, as a part of the life of the longest of them.
const PART_OF_AWAITED: f64 = 0.3;

/// The minimum part of a loop's CPU time on the critical path for which the command is assumed to wait for what
/// the loop waits for.
const PART_ON_PATH: f64 = 0.1;

/// Builds a finding about CPU time that these threads burn. `who_burns` is the text before the amount, and
/// `else_none` is the text to use if no other thread lacked the CPU.
fn burning(
    id: FindingId,
    analysis: &Analysis<'_>,
    threads: &[&ThreadTimes],
    (who_burns, burnt, else_none): (&str, f64, &str),
) -> Claim {
    let wall = kept_from_others(analysis, threads);
    let statement = format!(
        "{who_burns} {} of CPU time, {} of the wall time{}.",
        time(burnt),
        analysis.percent(burnt),
        match Least::OF_WORK.is_reached(analysis, wall) {
            true => ", while other threads had work but no CPU",
            false => else_none,
        },
    );
    Claim::new(id, analysis, burnt, statement)
        .with_if(meanwhile(analysis, threads).filter(|_| id == FindingId::BusyPolling))
        .of_cpu_time(wall)
}

/// Returns a sentence about the thread whose work these loops wait for: the busiest other one of their
/// process, if it computed for much of the time.
fn meanwhile(analysis: &Analysis<'_>, loops: &[&ThreadTimes]) -> Option<String> {
    let first = loops.first()?;
    let is_other = |one: &&ThreadTimes| !one.of_runtime && loops.iter().all(|it| it.tid != one.tid);
    let others = analysis.threads_of(first.pid).filter(is_other);
    let busiest = largest(others, |times| times.on_cpu_ns)?;
    let longest = loops.iter().map(|times| times.ns()).fold(0.0, f64::max);
    if busiest.on_cpu_ns < PART_OF_AWAITED * longest {
        return None;
    }
    let within = analysis.main_own_function(busiest.tid);
    let within = within.map_or_else(String::new, |name| {
        format!(", mostly in `{}`", without_type_arguments(name))
    });
    Some(format!("Meanwhile another thread computed{within}."))
}

/// Returns the wall time that these loops take from other threads. This is the longest time for which one of
/// those was ready without a CPU while the loops ran. Without the loops, the run would take as long as the
/// busiest other thread computes. Loops off the critical path delay the command only where the path lacked a
/// CPU.
fn kept_from_others(analysis: &Analysis<'_>, loops: &[&ThreadTimes]) -> f64 {
    let others = analysis.threads_that(|other| loops.iter().all(|one| one.tid != other.tid));
    let most =
        |ns: fn(&ThreadTimes) -> f64| others.iter().map(|times| ns(times)).fold(0.0, f64::max);
    let ready = most(|times| times.sums.get(TimeCategory::Ready));
    let mut kept = analysis.untraced(ready.min(loops.cpu_ns()));
    if loops
        .iter()
        .all(|one| analysis.weight(one.tid) < PART_ON_PATH)
    {
        kept = kept.min(analysis.spent_ns(TimeCategory::Ready));
    }
    let busiest = analysis.untraced(most(|times| times.on_cpu_ns));
    kept.min((analysis.timed_ns - busiest).max(0.0))
}
