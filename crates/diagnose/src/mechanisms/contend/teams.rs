//! Detects libraries that created more threads than there are CPUs to share work, so that the threads wait
//! for each other.

use crate::mechanisms::prelude::*;
use crate::runtimes::Team;

/// Finds threads that meet at the end of each piece of work. While one of them has no CPU, all the others
/// wait for it, spinning on the CPUs that it could have had. With as many threads as CPUs, only the work
/// itself would remain.
pub(crate) fn find(analysis: &Analysis<'_>) -> Option<Claim> {
    let cpus = analysis.observation.cpus.max(1);
    let teams = analysis.works.teams();
    let (pid, team) = teams
        .filter(|(_, team)| team.threads.len() > cpus)
        .max_by_key(|(_, team)| team.threads.len())?;
    let work = work_ns(analysis, pid, team)?;
    let saving = (analysis.wall_ns - work / cpus as f64).max(0.0);
    if work > t::WORK_OF_A_WAITING_TEAM * analysis.cpu_ns {
        return None;
    }
    let statement = format!(
        "{} threads share {cpus} CPUs and wait for each other: {} of their CPU time was work; with as many threads \
         as CPUs, the run would take about {} less, {} of the wall time.",
        team.threads.len(),
        time(work),
        time(saving),
        analysis.percent(saving),
    );
    Some(
        Claim::new(FindingId::CpuStarved, analysis, saving, statement)
            .evidence(
                "threads that wait for each other",
                team.threads.len(),
                "threads",
            )
            .evidence("CPUs", cpus, "CPUs")
            .evidence("CPU time spent on work", work, "ns")
            .advice(format!(
                "Set `{}` to the number of CPUs: one thread per CPU.",
                team.size
            ))
            .pid(pid)
            .likely(),
    )
}

/// Returns the CPU time of the process's own code in an untraced run, without the time its threads wait for
/// each other. The kernel's part of such waiting is waking the threads.
fn work_ns(analysis: &Analysis<'_>, pid: u32, team: &Team) -> Option<f64> {
    let threads = analysis.threads_of(pid);
    let own: f64 = threads
        .map(|times| times.sums.get(TimeCategory::UserCode))
        .sum();
    Some(analysis.cpu_ns * own / analysis.traced_cpu_ns().max(1.0) * team.part_of_work()?)
}

#[cfg(test)]
mod tests {
    use fathom_model::Finding;

    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns the findings for threads that share two CPUs, each of which has 100 samples.
    fn found(threads: u32, waiting: u64) -> Vec<Finding> {
        let mut fake = Fake::new(1000);
        for tid in (ROOT + 1)..(ROOT + threads) {
            fake.thread(ROOT, tid, 0, 1000, 2000 / u64::from(threads));
        }
        for tid in ROOT..(ROOT + threads) {
            fake.in_function(tid, "/usr/lib/libgomp.so.1.0.0", "", waiting);
            fake.in_function(tid, "/bin/program", "work", 100 - waiting);
        }
        fake.findings()
    }

    #[test]
    fn barriers_of_more_threads_than_cpus_cost_all_but_the_work() {
        let found = found(8, 90);
        let first = found.first().expect("a finding");
        hold_words("teams", first);
        assert!(first.advice.contains("`OMP_NUM_THREADS`"), "{first:#?}");
        assert!(first.share > 0.8, "{first:#?}");
    }

    #[test]
    fn as_many_threads_as_cpus_and_those_that_work_are_no_such_team() {
        let waits = |found: Vec<Finding>| {
            let mut words = found.into_iter().map(|it| it.statement);
            words.any(|it| it.contains("wait for each other"))
        };
        assert!(!waits(found(2, 90)));
        assert!(!waits(found(8, 20)));
    }
}
