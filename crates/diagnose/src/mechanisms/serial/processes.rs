//! Detects that one of several processes created to share work does all of it while CPUs are free.

use super::evenly;
use crate::mechanisms::prelude::*;

/// A process that was created to share work, with the sums of its threads.
struct Worker {
    pid: u32,
    from_ns: u64,
    to_ns: u64,
    /// The total time that its threads were on a CPU or ready.
    busy_ns: f64,
    cpu_ns: f64,
    on_path: f64,
}

fn worker(analysis: &Analysis<'_>, process: &Process) -> Option<Worker> {
    let own: Vec<&ThreadTimes> = analysis.threads_of(process.pid).collect();
    let main = own.iter().find(|times| times.tid == times.pid)?;
    Some(Worker {
        pid: process.pid,
        from_ns: main.from_ns,
        to_ns: main.to_ns,
        busy_ns: own.cpu_ns() + own.spent_ns(TimeCategory::Ready),
        cpu_ns: own.cpu_ns(),
        on_path: analysis.weight(main.tid),
    })
}

/// Returns what processes that share work have in common: nothing if they are copies of their parent, and
/// otherwise the program and its arguments without numbers.
fn kind(process: &Process) -> String {
    let Some(exec) = process.execs.last() else {
        return String::new();
    };
    let words = [exec.path.as_str()].into_iter();
    let words = words.chain(exec.arguments.iter().map(String::as_str));
    let plain = words.map(|word| word.replace(|c: char| c.is_ascii_digit(), ""));
    plain.collect::<Vec<_>>().join(" ")
}

/// Returns groups of processes that have the same parent and kind and exist at the same time.
fn pools(analysis: &Analysis<'_>) -> Vec<(bool, Vec<Worker>)> {
    let workers = analysis.trace.processes.iter().filter_map(|process| {
        let key = (process.parent?, kind(process));
        Some((key, worker(analysis, process)?))
    });
    let pools = grouped(workers).into_iter();
    let pools = pools.map(|((_, kind), workers)| (kind.is_empty(), workers));
    pools.collect()
}

/// Returns the busiest process of a pool if it does all the work, and the saving from an even distribution.
fn alone<'a>(
    analysis: &Analysis<'_>,
    copies: bool,
    pool: &'a [Worker],
) -> Option<(&'a Worker, usize, f64)> {
    let busiest = largest(pool, |worker| worker.cpu_ns)?;
    let span = busiest.to_ns.saturating_sub(busiest.from_ns);
    // Copies that got no work may end at once; other programs that are short have done their work.
    let shares = |other: &&Worker| {
        let from = other.from_ns.max(busiest.from_ns);
        let overlap = other.to_ns.min(busiest.to_ns).saturating_sub(from);
        let together = other.from_ns.abs_diff(busiest.from_ns) <= MADE_TOGETHER_NS;
        overlap * 2 > span || copies && together
    };
    let pool: Vec<&Worker> = pool.iter().filter(shares).collect();
    let all: f64 = pool.iter().map(|worker| worker.cpu_ns).sum();
    let rules = busiest.busy_ns >= t::BUSY_THREAD * span as f64
        && busiest.cpu_ns >= t::PART_OF_THE_BUSIEST * all
        && (busiest.on_path > 0.5 || is_waited_for(analysis, span as f64));
    if pool.len() < 2 || !rules {
        return None;
    }
    let spread = all / analysis.observation.cpus.min(pool.len()) as f64;
    let saving = analysis.untraced((busiest.cpu_ns - spread) * analysis.quiet);
    Some((busiest, pool.len(), saving))
}

/// Reports whether the command waits for `span` for one of its own processes. It is used if it is unknown who
/// ended the waits: when sampling from outside, a pool's results may come from any of its processes.
fn is_waited_for(analysis: &Analysis<'_>, span: f64) -> bool {
    let waited = analysis.spent_on(&[
        TimeCategory::WaitingForChild,
        TimeCategory::WaitingForPipe,
        TimeCategory::WaitingForEvents,
        TimeCategory::Locks,
    ]);
    analysis.only_samples() && waited >= t::BUSY_THREAD * analysis.untraced(span)
}

/// The time, in nanoseconds, within which the processes of one pool are created; an interpreter takes some
/// milliseconds to create one.
const MADE_TOGETHER_NS: u64 = 50_000_000;

pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    if analysis.observation.cpus < 2 || analysis.quiet < t::LEAST_QUIET {
        return None;
    }
    let pools = pools(analysis);
    let pools = pools.iter();
    let found = pools.filter_map(|(copies, pool)| alone(analysis, *copies, pool));
    let (busiest, processes, saving) = largest(found, |(.., saving)| *saving)?;
    let who_works = format!(
        "Of {processes} processes created together, one (pid {}) does all the work, on one of {} CPUs",
        busiest.pid, analysis.observation.cpus,
    );
    Some(
        evenly(analysis, saving, &who_works)
            .evidence("processes", processes, "processes")
            .evidence("CPU time of the busiest", busiest.cpu_ns.round(), "ns")
            .advice("Divide the work into more pieces than there are processes, and hand them out one at a time \
                 (Python: a smaller `chunksize`).")
            .pid(busiest.pid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_trace::{Cause, Tier};

    use crate::fake::Fake;

    /// Returns a pool of four processes for which the command waits. For each process, `of` gives how long it
    /// lives and how much CPU time it uses.
    fn pool(copies: bool, of: [(u64, u64); 4]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("wait4"), None, Cause::Asleep, 1, 990_000);
        for (pid, (to, cpu)) in (200..).zip(of) {
            fake.child(pid, 5, to, cpu);
            let waited = (to - 5).saturating_sub(cpu) * 1000;
            fake.waits_of(pid, Some("read"), Some(3), Cause::Asleep, 1, waited);
            if copies {
                fake.trace
                    .processes
                    .last_mut()
                    .expect("a child")
                    .execs
                    .clear();
            }
        }
        fake
    }

    fn is_found(mut fake: Fake) -> bool {
        fake.ids().contains(&"idle-cores")
    }

    #[test]
    fn one_process_of_a_pool_with_all_the_work_is_found() {
        assert!(is_found(pool(
            true,
            [(995, 980), (995, 5), (995, 5), (995, 5)]
        )));
        assert!(is_found(pool(
            false,
            [(995, 980), (995, 5), (995, 5), (995, 5)]
        )));
    }

    #[test]
    fn copies_that_found_nothing_to_do_are_reported_and_short_programs_not() {
        let early = [(995, 980), (9, 2), (9, 2), (9, 2)];
        assert!(is_found(pool(true, early)));
        assert!(!is_found(pool(false, early)));
    }

    #[test]
    fn who_ended_the_waits_need_not_be_known_where_only_samples_show() {
        let of = |tier| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(tier);
            fake.waits(Some("futex"), None, Cause::Asleep, 1, 990_000);
            for (pid, cpu) in [(200, 980), (201, 5), (202, 5)] {
                fake.child(pid, 5, 995, cpu);
                let waited = (990 - cpu) * 1000;
                fake.waits_of(pid, Some("read"), Some(3), Cause::Asleep, 1, waited);
            }
            is_found(fake)
        };
        assert!(of(Tier::Perf));
        assert!(!of(Tier::Kernel));
    }

    #[test]
    fn an_even_pool_is_not() {
        assert!(!is_found(pool(
            true,
            [(995, 490), (995, 490), (995, 490), (995, 490)]
        )));
    }
}
