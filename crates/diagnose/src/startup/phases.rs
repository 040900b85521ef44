//! Derives the phases of a start from a trace.

use fathom_measure::startup::ResolvedPaths;
use fathom_model::{PhaseTime, StartupPhase};
use fathom_trace::{Process, Trace};

use super::cpu_waits;
use super::timeline::{StartTimeline, before, files_of_exec};

/// Returns the phases from the first `execve` to the exit of the command. For a run that was stopped early,
/// returns the phases up to its first output, if there was any.
pub(super) fn of(
    trace: &Trace,
    line: &[&Process],
    writer: Option<&Process>,
    paths: &ResolvedPaths,
) -> Vec<PhaseTime> {
    let Some(start) = trace
        .processes
        .first()
        .and_then(|root| root.execs.first()?.called_ns)
    else {
        return Vec::new();
    };
    let last = line.last().copied();
    let first_output = writer.and_then(|process| process.first_output_ns);
    let exec = last.and_then(|process| before(process, first_output).last());
    // A writer that doesn't exec is a shell's copy of itself, so its program is its parent's.
    let exec = exec.or_else(|| {
        line.iter()
            .rev()
            .find_map(|process| before(process, first_output).last())
    });
    let Some(exec) = exec else {
        return Vec::new();
    };
    // If the call was not seen, its time is attributed to the wrappers.
    let called = exec.called_ns.unwrap_or(exec.at_ns);
    let wrote = first_output.map(|at| (at, first_write_ns(trace, last, at)));
    let end = match (trace.end.cut_short, wrote) {
        (true, None) => return Vec::new(),
        (true, Some((at, took))) => at + took.unwrap_or(0),
        (false, _) => trace
            .processes
            .first()
            .and_then(|root| root.ended_ns)
            .unwrap_or(trace.duration_ns),
    };
    let is_static = match exec.entered {
        Some(entered) => !entered.loaded,
        None => {
            let program = files_of_exec(exec, paths).last();
            program.is_some_and(|program| paths.is_static(program))
        }
    };
    let entered = exec.entered.map(|entered| entered.at_ns);
    let mut points = vec![(StartupPhase::Wrappers, start, called)];
    points.push((StartupPhase::Exec, called, exec.at_ns));
    let until_main = wrote.map_or(end, |(at, _)| at);
    match entered {
        Some(entered) if entered <= until_main => {
            let loading = match is_static {
                true => StartupPhase::Entry,
                false => StartupPhase::Loader,
            };
            points.push((loading, exec.at_ns, entered));
            points.push((StartupPhase::RuntimeAndMain, entered, until_main));
        }
        _ if is_static => points.push((StartupPhase::RuntimeAndMain, exec.at_ns, until_main)),
        _ => points.push((StartupPhase::LoaderToMain, exec.at_ns, until_main)),
    }
    if let Some((at, took)) = wrote {
        if let Some(took) = took {
            points.push((StartupPhase::FirstWrite, at, at + took));
        }
        if !trace.end.cut_short {
            points.push((StartupPhase::Exit, at + took.unwrap_or(0), end));
        }
    }
    let cpu_waits = cpu_waits::of(trace);
    let waited = |from, to| cpu_waits.as_ref().map_or(0, |all| all.within(from, to));
    let mut times: Vec<PhaseTime> = points
        .into_iter()
        .map(|(phase, from, to)| PhaseTime {
            phase,
            ns: to.saturating_sub(from).saturating_sub(waited(from, to)),
        })
        .filter(|time| {
            let may_lack = [StartupPhase::Wrappers, StartupPhase::Exec];
            !may_lack.contains(&time.phase) || time.ns > 0
        })
        .collect();
    if let Some(cpu_waits) = cpu_waits {
        // This is also recorded if it is zero, because zero is then a known value.
        times.push(PhaseTime {
            phase: StartupPhase::WaitingForCpu,
            ns: cpu_waits.within(start, end),
        });
    }
    times
}

/// Returns how long the first write took, if it was the only call of its row.
fn first_write_ns(trace: &Trace, writer: Option<&Process>, at: u64) -> Option<u64> {
    let pid = writer?.pid;
    let row = trace
        .syscalls
        .iter()
        .find(|row| row.pid == pid && row.fd == Some(1) && row.first_ns == at)?;
    (row.calls == 1 && row.unfinished == 0).then_some(row.total_ns)
}

/// Returns the median of each phase, if all runs have the same phases. Runs without phases are skipped.
pub(super) fn median(timelines: &[StartTimeline]) -> Vec<PhaseTime> {
    let timelines: Vec<&StartTimeline> =
        timelines.iter().filter(|s| !s.phases.is_empty()).collect();
    // A run may lack the entry phase if its page was already mapped, so the set of phases that most runs have
    // is used.
    let kinds = |timeline: &StartTimeline| -> Vec<StartupPhase> {
        timeline.phases.iter().map(|phase| phase.phase).collect()
    };
    let count = |wanted: &[StartupPhase]| timelines.iter().filter(|s| kinds(s) == wanted).count();
    let Some(most) = timelines
        .iter()
        .map(|s| kinds(s))
        .max_by_key(|kind| count(kind))
    else {
        return Vec::new();
    };
    let alike: Vec<&StartTimeline> = timelines.into_iter().filter(|s| kinds(s) == most).collect();
    most.iter()
        .enumerate()
        .map(|(at, phase)| {
            let mut values: Vec<u64> = alike
                .iter()
                .map(|timeline| timeline.phases[at].ns)
                .collect();
            values.sort_unstable();
            PhaseTime {
                phase: *phase,
                ns: values[values.len() / 2],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_the_median_of_the_runs_that_have_the_same_ones() {
        let timeline = |times: &[(StartupPhase, u64)]| StartTimeline {
            phases: times
                .iter()
                .map(|(phase, ns)| PhaseTime {
                    phase: *phase,
                    ns: *ns,
                })
                .collect(),
            ..StartTimeline::default()
        };
        use StartupPhase::{Exec, Loader, LoaderToMain};
        let timelines = [
            timeline(&[(Exec, 10), (Loader, 100)]),
            timeline(&[(Exec, 9999), (LoaderToMain, 1)]),
            timeline(&[(Exec, 30), (Loader, 300)]),
            timeline(&[(Exec, 20), (Loader, 200)]),
            timeline(&[]),
            timeline(&[]),
            timeline(&[]),
            timeline(&[]),
        ];
        let medians: Vec<_> = median(&timelines).iter().map(|p| p.ns).collect();
        assert_eq!(medians, [20, 200]);
        assert!(median(&[]).is_empty() && median(&[timeline(&[])]).is_empty());
    }
}
