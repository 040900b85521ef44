//! From a trace to the stretches of a start. Reads executables, to know where they begin.

use std::path::Path;

use fathom_model::{PhaseTime, StartupPhase};
use fathom_trace::{Exec, Process, Trace};

use super::chain;
use super::elf::{self, Elf};
use super::starved;
use super::story::{HEADERS, Story, before, files_of_exec};

/// The stretches from the first `execve` to the exit of the command. Of one that was ended before, those up to
/// its first output, if there was any.
pub(super) fn of(
    trace: &Trace,
    line: &[&Process],
    writer: Option<&Process>,
    directory: &Path,
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
    // A writer that execs nothing is a shell's copy of itself: its parent's program is what ran.
    let exec = exec.or_else(|| {
        line.iter()
            .rev()
            .find_map(|process| before(process, first_output).last())
    });
    let Some(exec) = exec else {
        return Vec::new();
    };
    // Where the call was not seen its time is the wrappers'.
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
        None => program(exec, directory).is_some_and(|elf| elf.is_static),
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
    let starved = starved::moments(trace);
    let without = |from, to| starved.as_ref().map_or(0, |all| all.within(from, to));
    let mut times: Vec<PhaseTime> = points
        .into_iter()
        .map(|(phase, from, to)| PhaseTime {
            phase,
            ns: to.saturating_sub(from).saturating_sub(without(from, to)),
        })
        .filter(|time| {
            let may_lack = [StartupPhase::Wrappers, StartupPhase::Exec];
            !may_lack.contains(&time.phase) || time.ns > 0
        })
        .collect();
    if let Some(starved) = starved {
        // Also where it is nothing: that is known then.
        times.push(PhaseTime {
            phase: StartupPhase::WaitingForCpu,
            ns: starved.within(start, end),
        });
    }
    times
}

/// How long the first write took, where it was the only one of its row.
fn first_write_ns(trace: &Trace, writer: Option<&Process>, at: u64) -> Option<u64> {
    let pid = writer?.pid;
    let row = trace
        .syscalls
        .iter()
        .find(|row| row.pid == pid && row.fd == Some(1) && row.first_ns == at)?;
    (row.calls == 1 && row.unfinished == 0).then_some(row.total_ns)
}

/// The program that an `execve` put in place.
fn program(exec: &Exec, directory: &Path) -> Option<Elf> {
    let program = files_of_exec(exec, directory).pop()?;
    elf::parse(&chain::start_of(&program, HEADERS))
}

/// The median of each phase, where all runs have the same ones. Runs that tell none are passed over.
pub(super) fn median(stories: &[Story]) -> Vec<PhaseTime> {
    let stories: Vec<&Story> = stories.iter().filter(|s| !s.phases.is_empty()).collect();
    // A run may lack the entry, when its page was in place already: take the kind that most have.
    let kinds = |story: &Story| -> Vec<StartupPhase> {
        story.phases.iter().map(|phase| phase.phase).collect()
    };
    let count = |wanted: &[StartupPhase]| stories.iter().filter(|s| kinds(s) == wanted).count();
    let Some(most) = stories
        .iter()
        .map(|s| kinds(s))
        .max_by_key(|kind| count(kind))
    else {
        return Vec::new();
    };
    let alike: Vec<&Story> = stories.into_iter().filter(|s| kinds(s) == most).collect();
    most.iter()
        .enumerate()
        .map(|(at, phase)| {
            let mut values: Vec<u64> = alike.iter().map(|story| story.phases[at].ns).collect();
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
        let story = |times: &[(StartupPhase, u64)]| Story {
            phases: times
                .iter()
                .map(|(phase, ns)| PhaseTime {
                    phase: *phase,
                    ns: *ns,
                })
                .collect(),
            ..Story::default()
        };
        use StartupPhase::{Exec, Loader, LoaderToMain};
        let stories = [
            story(&[(Exec, 10), (Loader, 100)]),
            story(&[(Exec, 9999), (LoaderToMain, 1)]),
            story(&[(Exec, 30), (Loader, 300)]),
            story(&[(Exec, 20), (Loader, 200)]),
            story(&[]),
            story(&[]),
            story(&[]),
            story(&[]),
        ];
        let told: Vec<_> = median(&stories).iter().map(|p| p.ns).collect();
        assert_eq!(told, [20, 200]);
        assert!(median(&[]).is_empty() && median(&[story(&[])]).is_empty());
    }
}
