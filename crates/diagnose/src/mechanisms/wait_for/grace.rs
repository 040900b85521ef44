//! Detects a process that did not end when it was signalled, and was killed after a while.

use crate::mechanisms::prelude::*;
use fathom_trace::SignalRow;

/// Signals with which people and programs request that a process ends.
const ASKING: [(i32, &str); 4] = [
    (15, "SIGTERM"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (1, "SIGHUP"),
];
const SIGKILL: i32 = 9;

/// The time, in nanoseconds, within which a killed process ends, even on a busy machine.
const ENDS_AFTER_NS: u64 = 500_000_000;

/// A process that did not heed a termination signal.
struct Unheeded<'a> {
    process: &'a Process,
    signal: &'static str,
    asked_ns: u64,
    killed_ns: u64,
}

impl Unheeded<'_> {
    fn grace_ns(&self) -> u64 {
        self.killed_ns - self.asked_ns
    }
}

/// The kinds of wait in which a grace period is spent.
const WAITS: [TimeCategory; 7] = [
    TimeCategory::Sleeping,
    TimeCategory::WaitingForChild,
    TimeCategory::WaitingForPipe,
    TimeCategory::WaitingForEvents,
    TimeCategory::Signals,
    TimeCategory::Locks,
    TimeCategory::OtherWait,
];

/// Returns how long the command waited for processes that it had signalled to end but that did not end,
/// scaled to an untraced run.
pub(crate) fn grace_ns(analysis: &Analysis<'_>) -> f64 {
    let all = unheeded(analysis);
    let spans = all.iter();
    let spans = spans.map(|it| (it.process.pid, it.asked_ns, it.killed_ns));
    let covered = covered_ns(&spans.collect::<Vec<_>>());
    (covered as f64).min(analysis.spent_on(&WAITS))
}

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let all = unheeded(analysis);
    let longest = all.iter().max_by_key(|it| it.grace_ns())?;
    let saving = grace_ns(analysis);
    let command = command(longest.process);
    let others = if_so(all.len() > 1, || {
        format!(" ({} such processes in all)", count(all.len()))
    });
    let statement = format!(
        "`{command}` was asked to end ({}) and did not: it was killed (SIGKILL) {} later{others}; the wait was {}.",
        longest.signal,
        time(longest.grace_ns() as f64),
        analysis.time_and_share(saving),
    );
    let advice = "Make it end on that signal: a script passes the signal on if it starts its program with `exec` or has a \
         `trap`; the first process of a container (PID 1) ignores signals for which it has no handler, unless it \
         runs under an init (`--init`). Or use a signal that it handles.";
    Some(
        Claim::new(FindingId::WaitingForChild, analysis, saving, statement)
            .evidence("time until it was killed", longest.grace_ns(), "ns")
            .evidence("processes that were killed", all.len(), "processes")
            .advice(advice)
            .pid(longest.process.pid)
            .observed()
            .in_waits(analysis, saving, |_, spent| WAITS.contains(&spent)),
    )
}

/// Returns the processes that were killed after they had been signalled to end.
fn unheeded<'a>(analysis: &Analysis<'a>) -> Vec<Unheeded<'a>> {
    let signals = &analysis.trace.signals;
    let asked = signals.iter().filter_map(|row| {
        let signal = ASKING.iter().find(|(number, _)| *number == row.signal)?;
        Some((row, signal.1))
    });
    let mut found: Vec<Unheeded<'a>> = Vec::new();
    for (asked, signal) in asked {
        for kill in signals.iter().filter(|row| row.signal == SIGKILL) {
            if let Some(process) = killed(analysis, asked, kill)
                && found.iter().all(|one| one.process.pid != process.pid)
            {
                found.push(Unheeded {
                    process,
                    signal,
                    asked_ns: asked.first_ns,
                    killed_ns: kill.last_ns,
                });
            }
        }
    }
    found
}

/// Returns the process of the tree that survived the request to end until it was killed, either directly or
/// together with an ancestor.
fn killed<'a>(analysis: &Analysis<'a>, asked: &SignalRow, kill: &SignalRow) -> Option<&'a Process> {
    if kill.last_ns <= asked.first_ns {
        return None;
    }
    let is_killed = |process: &&'a Process| {
        // A process that is killed at the end of the run may outlive it.
        let by_kill = match process.end {
            Some(end) => end.signal == Some(SIGKILL),
            None => kill.target == Some(process.pid),
        };
        let ended = process.ended_ns.unwrap_or(kill.last_ns);
        let then = kill.last_ns.saturating_sub(1_000_000)..=kill.last_ns + ENDS_AFTER_NS;
        by_kill && process.started_ns < asked.first_ns && then.contains(&ended)
    };
    let mut processes = analysis.trace.processes.iter().filter(is_killed);
    let is_below = |process: &Process, above: u32| analysis.tree(above).contains(&process.pid);
    processes.find(|process| {
        let was_asked = match asked.target {
            Some(target) => target == process.pid,
            // The signal was sent through a descriptor whose opening isn't in the trace, so its target is a
            // child of the sender.
            None => process.parent == Some(asked.pid) && asked.pid == kill.pid,
        };
        let was_meant = kill.target.is_none_or(|target| is_below(process, target));
        was_asked && was_meant
    })
}

/// The command line of a process.
fn command(process: &Process) -> String {
    let Some(exec) = process.execs.last() else {
        return format!("process {}", process.pid);
    };
    let mut words = exec.arguments.iter().take(6);
    let first = words.next().unwrap_or(&exec.path);
    let rest = words.flat_map(|word| word.split_whitespace());
    let line: Vec<&str> = file_name(first).split_whitespace().chain(rest).collect();
    line.join(" ").chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, SignalRow};

    use crate::fake::{Fake, MS, ROOT, hold_words};

    fn sent(to: u32, signal: i32, at_ms: u64) -> SignalRow {
        SignalRow {
            pid: ROOT,
            target: Some(to),
            signal,
            calls: 1,
            first_ns: at_ms * MS,
            last_ns: at_ms * MS,
        }
    }

    /// Returns a run with a child that is signalled to end and is then killed at `killed_ms`.
    fn asked(killed_ms: u64, end: i32) -> Fake {
        let mut fake = Fake::new(2000);
        fake.waits(Some("clock_nanosleep"), None, Cause::Asleep, 36, 50_000);
        fake.child(200, 10, killed_ms, 5);
        let child = fake.trace.processes.last_mut().expect("just made");
        child.end = Some(fathom_trace::End {
            signal: Some(end),
            ..fathom_trace::End::default()
        });
        fake.trace.signals = vec![sent(200, 15, 100), sent(200, 9, killed_ms)];
        fake
    }

    #[test]
    fn a_child_that_ends_only_when_it_is_killed_is_named() {
        let found = asked(1900, 9).findings();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].id.as_str(), "waiting-for-child");
        hold_words("grace", &found[0]);
        let statement = &found[0].statement;
        assert!(
            statement.contains("was asked to end (SIGTERM) and did not"),
            "{statement}"
        );
        assert!(
            statement.contains("killed (SIGKILL) 1.80 s later"),
            "{statement}"
        );
        assert!(found[0].could_win_ns >= 1_700 * MS, "{found:?}");
    }

    #[test]
    fn a_child_that_is_killed_as_the_run_ends_is_named_too() {
        let mut fake = asked(1900, 9);
        let child = fake.trace.processes.last_mut().expect("just made");
        (child.end, child.ended_ns) = (None, None);
        assert_eq!(fake.ids(), ["waiting-for-child"]);
    }

    #[test]
    fn a_child_that_heeds_the_signal_or_was_not_asked_is_not() {
        let statements = |fake: &mut Fake| -> Vec<&str> {
            let found = fake.findings();
            found.iter().map(|one| one.id.as_str()).collect()
        };
        // The signalled process ended by that signal, and another process was killed.
        assert_eq!(statements(&mut asked(1900, 15)), ["sleeping"]);
        let mut only_killed = asked(1900, 9);
        only_killed.trace.signals.remove(0);
        assert_eq!(statements(&mut only_killed), ["sleeping"]);
    }
}
