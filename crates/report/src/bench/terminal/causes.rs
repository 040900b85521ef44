//! Where the wall time went, and what went wrong.

use fathom_model::{CpuWaits, Exit, Run};

use crate::line::Tone;
use crate::quantity::{counted, format_count, format_share};
use crate::session::Subject;
use crate::text::JOIN;
use crate::waits;

/// A label and its text.
pub(crate) type Fact = (&'static str, Tone, String);

/// Divides the wall time into running, waiting for a CPU, and other waits.
///
/// The three are known exactly if undisturbed time is: for one thread without children. The sums over all
/// such runs are divided, so that the shares add up to the whole.
pub(crate) fn where_time_went(subject: &Subject) -> Vec<Fact> {
    let single: Vec<&Run> = subject
        .runs
        .iter()
        .copied()
        .filter(|run| run.undisturbed_ns.is_some())
        .collect();
    if single.is_empty() {
        return several_threads(subject);
    }
    let wall = total(&single, |run| run.wall_ns);
    if wall <= 0.0 {
        return Vec::new();
    }
    let cpu = (total(&single, |run| run.cpu_ns) / wall).min(1.0);
    let wait = (total(&single, Run::waited_for_cpu_ns) / wall).min(1.0 - cpu);
    let other = (1.0 - cpu - wait).max(0.0);
    let text = format!(
        "{} on CPU, {} waiting for a CPU{}, {} other waits",
        format_share(cpu),
        format_share(wait),
        late_notice(&single, wall),
        format_share(other)
    );
    let first = ("wall time", Tone::Plain, text);
    let waits = disturbed(&single, "", "; CPU-wait-free time excludes them");
    [first].into_iter().chain(waits).collect()
}

/// Describes the part of the wait that isn't the program's: the program had ended, but Fathom had no CPU to
/// notice that.
fn late_notice(runs: &[&Run], wall: f64) -> String {
    let late = total(runs, |run| run.harness_wait_ns.unwrap_or(0)) / wall;
    if late <= CpuWaits::FROM {
        return String::new();
    }
    format!(
        " (including {} by Fathom itself, after the program had exited)",
        format_share(late)
    )
}

/// If waits can't be divided, returns how many CPUs were busy, and how long the main thread waited.
fn several_threads(subject: &Subject) -> Vec<Fact> {
    let wall = total(&subject.runs, |run| run.wall_ns);
    if wall <= 0.0 {
        return Vec::new();
    }
    let busy = total(&subject.runs, |run| run.cpu_ns) / wall;
    let busy = match busy < 0.005 {
        true => "CPUs almost idle".to_owned(),
        false => format!("{busy:.2} CPUs busy on average"),
    };
    let text = format!("{busy}; several threads or processes, so waits can't be attributed");
    let first = ("wall time", Tone::Plain, text);
    let waits = disturbed(&subject.runs, "in the main thread ", "");
    [first].into_iter().chain(waits).collect()
}

/// Describes how many runs waited, if any.
fn disturbed(runs: &[&Run], who: &str, then: &str) -> Option<Fact> {
    let mut all = CpuWaits::default();
    runs.iter().for_each(|run| all.add_run(run));
    all.disturbed().then(|| {
        let text = format!("{}{then}", waits::sentence(&all, who));
        (waits::label(&all), Tone::Notice, text)
    })
}

fn total(runs: &[&Run], of: impl Fn(&Run) -> u64) -> f64 {
    runs.iter().map(|run| of(run) as f64).sum()
}

/// Formats `3 of 3 failed (exit 1)`: failed runs by how they ended, most frequent first; `None` if all
/// succeeded.
pub(crate) fn failed(subject: &Subject) -> Option<String> {
    let mut ways: Vec<(Exit, u64)> = Vec::new();
    for run in &subject.failed {
        match ways.iter_mut().find(|(exit, _)| *exit == run.exit) {
            Some((_, count)) => *count += 1,
            None => ways.push((run.exit, 1)),
        }
    }
    ways.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let failed: u64 = ways.iter().map(|(_, count)| count).sum();
    let list = match ways[..] {
        [] => return None,
        [(exit, _)] => ending(exit),
        _ => {
            let way = |(exit, count): &(Exit, u64)| {
                format!("{}{JOIN}{}", format_count(*count as f64), ending(*exit))
            };
            ways.iter().map(way).collect::<Vec<_>>().join(", ")
        }
    };
    let (failed, all) = (failed as f64, subject.made as f64);
    let (failed, all) = (format_count(failed), format_count(all));
    Some(format!("{failed} of {all} failed ({list})"))
}

fn ending(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit{JOIN}{code}"),
        Exit::Signal(signal) => match SIGNALS.iter().find(|(number, _)| *number == signal) {
            Some((_, name)) => (*name).to_owned(),
            None => format!("signal{JOIN}{signal}"),
        },
        Exit::TimedOut => "timed out".to_owned(),
    }
}

/// Signals that end programs, with their numbers in Linux on all architectures except MIPS.
const SIGNALS: [(i32, &str); 10] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (15, "SIGTERM"),
];

/// Describes processes that the command left running.
pub(crate) fn left_behind(subject: &Subject) -> Option<Fact> {
    let processes: u64 = subject
        .runs
        .iter()
        .map(|run| u64::from(run.left_behind))
        .sum();
    if processes == 0 {
        return None;
    }
    let runs = subject
        .runs
        .iter()
        .filter(|run| run.left_behind > 0)
        .count();
    let text = format!(
        "{} still running when the command exited, in {} of {}: ended by Fathom, resource use not counted",
        counted(processes, "process", "processes"),
        format_count(runs as f64),
        counted(subject.runs.len() as u64, "run", "runs")
    );
    Some(("left behind", Tone::Notice, text))
}
