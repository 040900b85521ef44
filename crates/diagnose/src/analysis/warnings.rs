//! Warnings about how far the answer can be trusted.

use fathom_model::{Finding, FindingId, Run, TimeCategory};
use fathom_trace::Cause;

use super::Analysis;
use super::build::others_share;
use super::median::median;
use super::oversubscription::runnable_threads;
use crate::calls;
use crate::numbers::{count, time};
use crate::thresholds as t;

impl Analysis<'_> {
    /// Warns that other programs had the CPU during the run. A program with more busy threads than CPUs waits
    /// for itself, and gets no such warning.
    fn neighbours(&self) -> Option<String> {
        let of_others = |run: &Run| {
            let throttled = run.throttled_ns.unwrap_or(0);
            Some(run.run_queue_wait_ns?.saturating_sub(throttled))
        };
        let waits = self.timed.iter();
        let wait = median(waits.filter_map(of_others).collect())?;
        let ready = self
            .account
            .share(TimeCategory::Ready)
            .min(others_share(self.trace));
        let own = runnable_threads(&self.threads, self.trace)
            > self.observation.cpus.max(1) as f64 * t::ONE_FOR_EACH;
        if !own && wait < t::NEIGHBOURS_SHARE * self.timed_ns && ready >= t::READY_SHARE {
            return Some(format!(
                "The program was ready to run but had no CPU for {:.0} % of the wall time, although it has no more \
                 busy threads than there are CPUs: other programs used the CPUs, which hides the program's own \
                 waits; run again on a quiet machine.",
                100.0 * ready
            ));
        }
        if self.is_oversubscribed()
            || own && self.had_all_cpus()
            || wait < t::NEIGHBOURS_SHARE * self.timed_ns
            || self.trace.threads.len() > 1 && others_share(self.trace) < t::NEIGHBOURS_SHARE
        {
            return None;
        }
        let (took, waited) = (time(self.timed_ns), time(wait));
        let how_much = match self.trace.threads.len() {
            1 => {
                let share = 100.0 * self.of_wall(wait);
                format!("waited {share:.0} % of their wall time for a CPU")
            }
            _ => format!("took {took}, and their main thread waited {waited} of that for a CPU"),
        };
        Some(format!(
            "The timed runs {how_much} that other programs used; run again on a quiet machine."
        ))
    }

    /// Warns that only a part of the reads and writes was traced.
    fn not_traced(&self) -> Option<String> {
        let traced = self.traced_calls(|row| calls::moves_bytes(&row.name));
        let runs = self.timed.iter().filter_map(|run| run.io.as_ref());
        let counts = runs.map(|io| io.read_calls + io.write_calls);
        let all = median(counts.collect())? as u64;
        // A small difference is due to variation between runs.
        if !self.by_stops() || traced * 10 >= all * 9 || all < t::CALLS_OF_A_HABIT {
            return None;
        }
        Some(format!(
            "{} of {} reads and writes were traced: the tables contain only these, and findings attribute the rest \
             to the busiest descriptor.",
            count(traced),
            count(all)
        ))
    }

    /// Warns that untraced calls are assumed to be like the others.
    fn taken_as_alike(&self) -> Option<String> {
        let stretch = self.stretch(|_| true);
        let traced = self.traced_calls(|_| true);
        if stretch < 1.1 || traced < t::CALLS_OF_A_HABIT {
            return None;
        }
        Some(format!(
            "Only the first {} calls were traced, and the tables contain no others; judging by the kernel's counts \
             and times, the run made about {:.1} times as many. Findings assume that the rest are like the last of \
             these.",
            count(traced),
            stretch,
        ))
    }

    /// Warns that an unknown number of calls followed after the tracing of calls ended.
    fn traced_in_part(&self) -> Option<String> {
        let traced = self.traced_calls(|_| true);
        (self.by_stops() && self.trace.calls_cut).then(|| {
            format!(
                "Only the first {} calls were traced, and tables and findings contain no others; it is not known \
                 how many followed.",
                count(traced)
            )
        })
    }

    /// Warns that most calls used the 32-bit entry, and what that costs.
    fn through_32_bit_entry(&self) -> Option<String> {
        let all = self.traced_calls(|_| true);
        let foreign = self.trace.calls_by_32_bit_entry();
        if foreign * 2 < all || foreign < t::CALLS_OF_A_HABIT {
            return None;
        }
        let limits = &self.observation.limits;
        let takes = limits.entry_32_seconds.map_or_else(String::new, |seconds| {
            format!(
                ", which takes {} a call on this machine, compared with {} for the 64-bit entry point",
                time(seconds * 1e9),
                time(self.call_ns())
            )
        });
        Some(format!(
            "{} of {} calls used the 32-bit entry point of x86, as 32-bit programs and `int 0x80` do{takes}; they \
             are shown under the names of the equivalent 64-bit calls.",
            count(foreign),
            count(all)
        ))
    }

    /// Warns that a part of the run did things that only root may see.
    fn with_other_rights(&self) -> Option<String> {
        let rows = self.trace.off_cpu.iter();
        let unsampled = rows.filter(|row| row.cause == Cause::Unseen);
        let longest = unsampled.max_by_key(|row| row.total_ns)?;
        if longest.total_ns as f64 * self.weight(longest.tid).max(0.1)
            < t::HIDDEN_OF_RUN * self.trace.duration_ns as f64
        {
            return None;
        }
        Some(format!(
            "Process {} changed its privileges, as a set-uid program does: only root may observe what it did from \
             then on, so that time is unaccounted for.",
            longest.pid
        ))
    }

    /// Returns all warnings about how far the answer can be trusted.
    pub(crate) fn warnings(&self, findings: &[Finding]) -> Vec<String> {
        let mut reported = Vec::new();
        // If the command's own threads had the CPU, other programs aren't to blame.
        let its_own = |finding: &Finding| {
            [FindingId::CpuStarved, FindingId::BusyPolling].contains(&finding.id)
        };
        if !findings.iter().any(its_own) {
            reported.extend(self.neighbours());
        }
        reported.extend(self.endless_recursion());
        let in_part = self.not_traced().or_else(|| self.taken_as_alike());
        reported.extend(in_part.or_else(|| self.traced_in_part()));
        reported.extend(self.through_32_bit_entry());
        let other_rights = self.with_other_rights();
        let unsampled = match other_rights {
            Some(_) => 0.0,
            None => self.account.share(TimeCategory::Unaccounted),
        };
        reported.extend(other_rights);
        if self.only_samples() && unsampled >= t::UNSAMPLED_SHARE {
            reported.push(format!(
                "{:.0} % of the time is missing from the samples: the run was too short to sample, or the machine \
                 was too busy. The account is unreliable.",
                100.0 * unsampled
            ));
        }
        if !self.trace.lost.counts_are_whole() {
            reported.push("Parts of the trace were lost; its counts are lower bounds.".to_owned());
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::Run;

    use fathom_model::TimeCategory;
    use fathom_trace::Cause;

    use crate::fake::{MS, ROOT};

    fn queued(wait: u64, wall: u64) -> Option<String> {
        let fake = crate::fake::Fake::new(240);
        let mut run = crate::fake::run(wall, 50_000_000);
        run.run_queue_wait_ns = Some(wait);
        let timed = [run];
        crate::diagnose(&fake.observation(&timed)).warnings.pop()
    }

    #[test]
    fn calls_that_nobody_traced_are_reported_however_few_they_may_be() {
        let reported = |cut| {
            let mut fake = crate::fake::Fake::new(240);
            fake.trace.calls_from = Some(fathom_trace::Tier::Ptrace);
            fake.trace.calls_cut = cut;
            fake.calls("ioctl", None, 20_000, 0, 1_000);
            let timed = [fake.run()];
            crate::diagnose(&fake.observation(&timed)).warnings
        };
        assert!(reported(true)[0].starts_with("Only the first 20,000 calls were traced"));
        assert!(reported(false).is_empty());
    }

    #[test]
    fn calls_through_the_32_bit_entry_are_said() {
        let reported = |number| {
            let mut fake = crate::fake::Fake::new(240);
            fake.calls("write", Some(1), 20_000, 1, 1_000).number = number;
            fake.calls("read", Some(0), 5_000, 1, 1_000);
            fake.limits.entry_32_seconds = Some(6.25e-6);
            let timed = [fake.run()];
            crate::diagnose(&fake.observation(&timed)).warnings
        };
        let said = &reported(fathom_trace::calls::ENTRY_32 | 1)[0];
        let begin = "20,000 of 25,000 calls used the 32-bit entry point of x86";
        assert!(said.starts_with(begin), "{said}");
        assert!(said.contains("takes 6.25 µs a call"), "{said}");
        assert!(reported(1).is_empty());
    }

    #[test]
    fn the_share_of_waiting_for_a_cpu_is_that_of_the_wall_time() {
        let reported = queued(190_000_000, 240_000_000).expect("a busy machine is reported");
        assert!(
            reported.contains("waited 79 % of their wall time"),
            "{reported}"
        );
        assert_eq!(queued(10_000_000, 240_000_000), None);
    }

    #[test]
    fn threads_of_its_own_that_have_the_cpus_are_no_neighbours() {
        let reported = |cpu_ms: u64| {
            let mut fake = crate::fake::Fake::new(1000);
            for tid in 101..104 {
                fake.thread(ROOT, tid, 0, 1000, 500);
            }
            let run = Run {
                run_queue_wait_ns: Some(500 * MS),
                cpu_ns: cpu_ms * MS,
                ..fake.run()
            };
            let warnings = crate::diagnose(&fake.observation(&[run])).warnings;
            warnings
                .iter()
                .any(|reported| reported.contains("quiet machine"))
        };
        assert!(!reported(1950));
        assert!(reported(1000), "others had one of two CPUs");
    }

    #[test]
    fn what_only_root_may_see_is_unaccounted_and_said() {
        let mut fake = crate::fake::Fake::new(400);
        fake.trace.tier = Some(fathom_trace::Tier::Perf);
        fake.wait_for(ROOT, "", None, (50, 400, 400), None);
        let timeline = fake.trace.timeline.as_mut().expect("there is one");
        let interval = timeline.last_mut().expect("the wait");
        (interval.cause, interval.call) = (Cause::Unseen, None);
        let row = fake.trace.off_cpu.last_mut().expect("the wait");
        (row.cause, row.call) = (Cause::Unseen, None);
        let reported = crate::diagnose(&fake.observation(&[]));
        assert_eq!(reported.account.ns(TimeCategory::Unaccounted), 350 * MS);
        assert_eq!(reported.warnings.len(), 1, "{:?}", reported.warnings);
        assert!(reported.warnings[0].contains("changed its privileges"));
    }

    #[test]
    fn lost_names_leave_the_counts_whole() {
        let reported = |names, calls| {
            let mut fake = crate::fake::Fake::new(400);
            (fake.trace.lost.names, fake.trace.lost.calls) = (names, calls);
            crate::diagnose(&fake.observation(&[])).warnings
        };
        assert_eq!(reported(1_211, 0), Vec::<String>::new());
        assert!(reported(0, 1)[0].contains("lower bounds"));
    }
}
