//! Estimates the total number of calls if only the first ones were traced.
//!
//! The stops tier sees the first 20 000 calls, or those of the first two seconds. The kernel counts the reads
//! and writes of every run, and its ticks give the time that all calls took. Together, they show how often
//! the program repeated what it was doing when the tracing of calls ended (in the second half of the budget),
//! assuming that it continued in the same way.

use fathom_trace::SyscallRow;

use super::Analysis;
use super::call_model::may_be_dear;
use super::median::median;
use crate::calls;
use crate::thresholds as t;

/// Estimates about the calls that were not traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CallExtrapolation {
    /// How many times the late calls were repeated, for calls that the kernel doesn't count.
    rounds: f64,
    /// Whether `rounds` is an estimate from ticks, not from counts.
    guessed: bool,
    /// The average cost of a call according to the ticks, in addition to [`Analysis::entry_ns`]; 0 if there
    /// are too few.
    each_by_ticks_ns: f64,
    /// The average additional cost of calls whose cost depends on their arguments; see
    /// [`Analysis::is_elastic`].
    dearer_ns: f64,
}

impl CallExtrapolation {
    /// The values if all calls were traced.
    pub(super) const NONE: CallExtrapolation = CallExtrapolation {
        rounds: 0.0,
        guessed: false,
        each_by_ticks_ns: 0.0,
        dearer_ns: 0.0,
    };
}

/// Rounds an estimate to one significant digit.
fn one_digit(number: f64) -> f64 {
    let digit = 10f64.powf(number.max(1.0).log10().floor());
    (number / digit).round() * digit
}

impl Analysis<'_> {
    /// Estimates the calls that were not traced.
    pub(super) fn extrapolate_calls(&self) -> CallExtrapolation {
        if !self.by_stops() {
            return CallExtrapolation::NONE;
        }
        // If the cost of a fault was not measured, it may be twice that of an ordinary one.
        let unsure = self.observation.limits.page_fault_seconds.is_none();
        let faults_ns = self.fault_cost().ns * if unsure { 2.0 } else { 1.0 };
        // Threads that wait repeatedly make the kernel work, however few calls they make.
        let waits_ns = self.switches() * t::SWITCH_NS;
        let in_calls_ns = (self.system_ns().unwrap_or(0.0) - faults_ns - waits_ns).max(0.0);
        let ticks_ns = in_calls_ns * self.timed.len() as f64;
        let ticks_tell = ticks_ns >= t::ENOUGH_TICKS_NS && in_calls_ns >= t::LEAST_IN_CALLS_NS;
        let surely_ns = (in_calls_ns - waits_ns * t::SWITCH_SCATTER).max(0.0);
        let (rounds, guessed) = self.rounds_by(if ticks_tell { surely_ns } else { 0.0 });
        let calls_that = |fits: &dyn Fn(&SyscallRow) -> bool| -> f64 {
            self.calls(fits).map(|row| self.calls_of(row, rounds)).sum()
        };
        let calls = calls_that(&|_| true);
        let rows = self.trace.syscalls.iter();
        let known: f64 = rows
            .map(|row| self.calls_of(row, rounds) * self.entry_ns(row) + self.copy_ns(row))
            .sum();
        let dearest = match self.repeats_signals() {
            true => f64::INFINITY,
            false => t::DEAREST_SMALL_CALL_NS,
        };
        let each = match ticks_tell && calls >= t::CALLS_TO_DIVIDE_BY {
            true => ((in_calls_ns - known).max(0.0) / calls).min(dearest),
            false => 0.0,
        };
        let elastic = calls_that(&|row| self.is_elastic(row));
        let others = calls_that(&|row| !self.is_elastic(row) && may_be_dear(&row.name));
        let reported = calls * self.base_ns().max(each) + known;
        // Time in the ticks that exceeds the usual cost of all calls is attributed to the elastic calls, if
        // there are enough of them.
        let theirs = ticks_tell
            && !guessed
            && elastic >= t::ELASTIC_CALLS
            && elastic >= t::PART_OF_ELASTIC_CALLS * calls
            && others <= t::PART_OF_DEAR_OTHERS * elastic;
        CallExtrapolation {
            rounds,
            guessed,
            each_by_ticks_ns: each,
            dearer_ns: match theirs {
                true => ((in_calls_ns - reported) / elastic).clamp(0.0, t::DEAREST_ELASTIC_CALL_NS),
                false => 0.0,
            },
        }
    }

    /// Returns the kernel time outside of calls, according to the ticks; `None` if the number of calls is
    /// unknown.
    pub(crate) fn outside_of_calls_ns(&self) -> Option<f64> {
        if self.habit().is_some() {
            return None;
        }
        Some(self.system_ns()? - self.known_in_calls_ns())
    }

    /// Returns the kernel time of an untraced run, as an average over the ticks of all untraced runs.
    fn system_ns(&self) -> Option<f64> {
        let runs = self.timed;
        let sum: u64 = runs.iter().map(|run| run.system_ns).sum();
        (!runs.is_empty()).then(|| sum as f64 / runs.len() as f64)
    }

    /// Returns how often the threads of an untraced run left their CPU to wait.
    fn switches(&self) -> f64 {
        let runs = self.timed.iter();
        median(runs.map(|run| run.voluntary_switches).collect()).unwrap_or(0.0)
    }

    /// Returns the modelled cost of the calls that were traced or that the kernel counted.
    fn known_in_calls_ns(&self) -> f64 {
        let rows = self.trace.syscalls.iter();
        rows.map(|row| self.calls_of(row, 0.0) * self.modelled_ns(row) + self.copy_ns(row))
            .sum()
    }

    /// Returns the number of late calls, if they show what the program continued with when the tracing of
    /// calls ended.
    fn habit(&self) -> Option<u64> {
        let rows = self.trace.syscalls.iter();
        let late: u64 = rows.map(|row| row.late_calls).sum();
        (self.trace.calls_cut && late >= t::CALLS_OF_A_HABIT).then_some(late)
    }

    /// Reports whether the program mostly handled signals when the tracing of calls ended. What the kernel
    /// does for a signal costs much more than the return from its handler, and differs between machines, so
    /// the time says nothing about the number of signals.
    pub(crate) fn repeats_signals(&self) -> bool {
        let rows = self.trace.syscalls.iter();
        let returns = rows.filter(|row| calls::ends_signal(&row.name));
        let late: u64 = returns.map(|row| row.late_calls).sum();
        self.habit().is_some_and(|habit| late * 2 > habit)
    }

    /// Reports whether the numbers of calls are estimates from the kernel's ticks.
    pub(crate) fn estimates_calls(&self) -> bool {
        self.extrapolation.guessed
    }

    /// Rounds a number of calls for display: to one digit if it is an estimate.
    pub(crate) fn shown_calls(&self, calls: f64) -> u64 {
        match self.extrapolation.guessed {
            true => one_digit(calls) as u64,
            false => calls.round() as u64,
        }
    }

    /// Limits the estimated cost of calls that weren't timed: all of them together can't exceed the kernel's
    /// total time.
    pub(crate) fn within_kernel(&self, ns: f64) -> f64 {
        if !self.by_stops() {
            return ns;
        }
        let rows = self.trace.syscalls.iter();
        let all: f64 = rows.map(|row| self.cost_by_stops_ns(row)).sum();
        let all = self.within_cpu(all);
        ns.min(ns / all.max(ns).max(1.0) * self.in_kernel_ns())
    }

    /// Returns how often the late calls were repeated without being traced, and whether that is an estimate
    /// from ticks.
    fn rounds_by(&self, in_calls_ns: f64) -> (f64, bool) {
        let rows = || self.trace.syscalls.iter();
        let Some(late) = self.habit() else {
            return (0.0, false);
        };
        let counted = || rows().filter(|row| calls::is_counted(&row.name));
        let counted_late: u64 = counted().map(|row| row.late_calls).sum();
        // Reads and writes are a part of each round, so the rest is repeated as often as they are.
        if counted_late as f64 >= t::PART_OF_A_ROUND * late as f64 {
            let missed: u64 = counted().map(|row| self.missed(row).0).sum();
            return (missed as f64 / counted_late.max(1) as f64, false);
        }
        if self.repeats_signals() {
            return (0.0, false);
        }
        let known_ns: f64 = rows()
            .map(|row| self.calls_of(row, 0.0) * self.charged_ns(row) + self.copy_ns(row))
            .sum();
        let round_ns: f64 = rows()
            .filter(|row| !calls::is_counted(&row.name))
            .map(|row| row.late_calls as f64 * self.charged_ns(row))
            .sum();
        let rounds = ((in_calls_ns - known_ns) / round_ns.max(1.0)).max(0.0);
        let rounds = rounds.min(self.most_rounds(late));
        (rounds, rounds > 0.0)
    }

    /// Returns the maximum number of rounds. If the time limit ended the tracing of calls after only a few
    /// calls, those were so slow that stopping at them added little; an untraced run then doesn't make them
    /// more often.
    fn most_rounds(&self, late: u64) -> f64 {
        let traced = self.traced_calls(|_| true);
        match traced < t::FEW_IN_A_BUDGET {
            true => traced as f64 / late as f64 * self.timed_ns / t::TIME_OF_A_BUDGET_NS,
            false => f64::INFINITY,
        }
    }

    fn calls_of(&self, row: &SyscallRow, rounds: f64) -> f64 {
        match calls::is_counted(&row.name) {
            true => (row.calls + self.missed(row).0) as f64,
            false => row.calls as f64 + row.late_calls as f64 * rounds,
        }
    }

    /// Returns the factor, at least 1, by which the number of traced calls that match must be multiplied.
    pub(crate) fn stretch(&self, fits: impl Fn(&SyscallRow) -> bool) -> f64 {
        if !self.by_stops() {
            return 1.0;
        }
        let rows = self.trace.syscalls.iter().filter(|row| fits(row));
        let (traced, all) = rows.fold((0.0, 0.0), |(traced, all), row| {
            let calls = row.calls as f64;
            (traced + calls, all + calls + self.missed(row).0 as f64)
        });
        all / f64::max(traced, 1.0)
    }

    /// Returns the calls and bytes to add to a row. The calls that the kernel counted but that weren't traced
    /// are what the program was doing when the tracing of calls ended. They are therefore assigned to the
    /// busiest row of their kind; the rows for what a program and its loader read at the start stay
    /// unchanged.
    pub(crate) fn missed(&self, row: &SyscallRow) -> (u64, u64) {
        if !self.by_stops() {
            return (0, 0);
        }
        if !calls::is_counted(&row.name) {
            let all = self.calls_of(row, self.extrapolation.rounds);
            let reported = match self.extrapolation.guessed {
                true => one_digit(all).max(row.calls as f64),
                false => all,
            };
            return ((reported - row.calls as f64).round() as u64, 0);
        }
        let reads = calls::is_read(&row.name) || calls::is_counted_as_both(&row.name);
        let untraced = self.untraced_io[usize::from(!reads)];
        let busiest = untraced.row.map(|place| &self.trace.syscalls[place]);
        match busiest.is_some_and(|busiest| std::ptr::eq(busiest, row)) {
            true => (untraced.calls, untraced.bytes),
            false => (0, 0),
        }
    }

    /// Returns what the calls of a row cost an untraced run, if their traced times include the stops.
    pub(super) fn cost_by_stops_ns(&self, row: &SyscallRow) -> f64 {
        let calls = self.calls_of(row, self.extrapolation.rounds);
        // If the number of such calls is estimated from ticks, all calls together cost what the ticks say.
        if self.extrapolation.guessed && !calls::is_counted(&row.name) {
            return calls * self.modelled_ns(row);
        }
        let each = match self.extrapolation.each_by_ticks_ns > 0.0 {
            true => self.base_ns().max(self.extrapolation.each_by_ticks_ns) + self.entry_ns(row),
            false => self.modelled_ns(row),
        };
        let dearer = match self.extrapolation.dearer_ns > 0.0 && self.is_elastic(row) {
            true => self.extrapolation.dearer_ns,
            false => 0.0,
        };
        calls * (each + dearer) + self.copy_ns(row)
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::{IoCounts, Run};
    use fathom_trace::Tier;

    use super::*;
    use crate::fake::Fake;

    /// Returns a run of which 20 000 calls were traced, half of them late; its ticks and read counts
    /// determine the rest.
    fn partly_traced(calls: &[(&str, u64)]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.trace.calls_from = Some(Tier::Ptrace);
        fake.trace.calls_cut = true;
        for (name, calls) in calls {
            let fd = calls::is_read(name).then_some(3);
            let row = fake.calls(name, fd, *calls, u64::from(fd.is_some()) * 100, 90_000);
            row.late_calls = calls / 2;
        }
        fake
    }

    fn calls(fake: &Fake, name: &str, system_ms: u64, reads: u64) -> u64 {
        let timed = [Run {
            system_ns: system_ms * 1_000_000,
            io: Some(IoCounts {
                read_calls: reads,
                ..IoCounts::default()
            }),
            ..fake.run()
        }];
        let observation = fake.observation(&timed);
        Analysis::new(&observation)
            .tally_calls(|call| call == name)
            .calls
    }

    #[test]
    fn the_ticks_show_how_often_the_same_was_done() {
        let fake = partly_traced(&[("ioctl", 19_900), ("read", 100)]);
        // 590 ms at 0.295 us each are 2 million calls.
        assert_eq!(calls(&fake, "ioctl", 590, 100), 2_000_000);
        let fake = partly_traced(&[("getrusage", 19_900), ("read", 100)]);
        assert_eq!(calls(&fake, "getrusage", 590, 100), 700_000);
    }

    #[test]
    fn what_a_call_takes_here_without_its_way_out_shows_how_many_there_were() {
        // The ticks cover 85 of 122 ns of getppid, all of which is in the kernel, and 431 of 470 ns of
        // getrusage (measured).
        let counted = |name: &str, seconds: f64, system_ms| {
            let mut fake = partly_traced(&[(name, 20_000)]);
            fake.limits.syscall_seconds = Some(122e-9);
            fake.limits.call_seconds = [(name.to_owned(), seconds)].into();
            calls(&fake, name, system_ms, 0)
        };
        assert_eq!(counted("getppid", 122e-9, 427), 5_000_000);
        assert_eq!(counted("getrusage", 470e-9, 433), 1_000_000);
    }

    #[test]
    fn what_copies_is_counted_as_a_read_and_a_write() {
        let fake = partly_traced(&[("sendfile", 19_990), ("read", 10)]);
        assert_eq!(calls(&fake, "sendfile", 590, 100_010), 100_000);
        assert_eq!(calls(&fake, "read", 590, 100_010), 10);
    }

    #[test]
    fn what_goes_with_reads_goes_on_as_they_do() {
        let fake = partly_traced(&[("openat", 5_000), ("read", 10_000), ("close", 5_000)]);
        // 90 000 more reads are 18 times the 5000 late ones.
        assert_eq!(calls(&fake, "openat", 590, 100_000), 5_000 + 18 * 2_500);
        assert_eq!(calls(&fake, "openat", 0, 100_000), 5_000 + 18 * 2_500);
    }

    #[test]
    fn nothing_is_made_of_a_start_nor_of_a_whole() {
        let start = partly_traced(&[("newfstatat", 1_500), ("read", 10)]);
        assert_eq!(calls(&start, "newfstatat", 590, 10), 1_500);
        let mut habit = partly_traced(&[("newfstatat", 19_990), ("read", 10)]);
        assert!(calls(&habit, "newfstatat", 590, 10) > 100_000);
        let few_ticks = calls(&habit, "newfstatat", 20, 10);
        assert_eq!(few_ticks, 19_990);
        habit.trace.calls_cut = false;
        assert_eq!(
            calls(&habit, "newfstatat", 590, 10),
            19_990,
            "all were looked at"
        );
    }

    #[test]
    fn calls_that_came_slowly_come_no_more_often_without_tracing() {
        // 3,600 calls in the two seconds of the budget; the kernel time is spent clearing memory.
        let fake = partly_traced(&[("madvise", 3_600)]);
        // One wall time is half of that, which gives 1,800 more, rounded to one digit.
        assert_eq!(calls(&fake, "madvise", 590, 0), 5_000);
        // With 15,000 calls in two seconds, stopping at calls was at its limit, so the ticks decide.
        let fake = partly_traced(&[("recvfrom", 15_000)]);
        assert_eq!(calls(&fake, "recvfrom", 590, 0), 700_000);
    }

    #[test]
    fn the_costs_are_what_the_kernel_took() {
        let fake = partly_traced(&[("newfstatat", 16_000), ("getrusage", 4_000)]);
        let timed = [Run {
            system_ns: 600_000_000,
            ..fake.run()
        }];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        let all = analysis.tally_calls(|_| true);
        assert!((all.cost_ns - 600e6).abs() < 6e6, "{}", all.cost_ns);
        let asked = analysis.tally_calls(|name| name == "newfstatat");
        // These are four fifths of the calls, each a third more expensive.
        assert!(asked.cost_ns > 0.83 * all.cost_ns, "{}", asked.cost_ns);
    }

    #[test]
    fn what_no_usual_call_takes_is_of_those_that_may() {
        let cost = |name: &str, calls: u64| {
            let mut fake = Fake::new(1000);
            fake.trace.calls_from = Some(Tier::Ptrace);
            fake.calls("fcntl", Some(3), 12_000, 0, 90_000);
            fake.calls(name, None, calls, 0, 90_000);
            let timed = [Run {
                system_ns: 600_000_000,
                ..fake.run()
            }];
            let observation = fake.observation(&timed);
            Analysis::new(&observation)
                .tally_calls(|call| call == name)
                .cost_ns
        };
        // Of 600 ms, each of 18,000 calls takes 1.6 µs; the rest belongs to the 6,000.
        let opens = cost("openat", 6_000);
        assert!((opens - 580e6).abs() < 5e6, "{opens}");
        assert!(cost("ioctl", 6_000) < 10e6);
        assert!(cost("openat", 90) < 10e6, "too few");
        // If there are also calls to a device, the time can't be attributed.
        let mut fake = Fake::new(1000);
        fake.trace.calls_from = Some(Tier::Ptrace);
        fake.calls("ioctl", Some(3), 12_000, 0, 90_000);
        fake.calls("poll", None, 700, 0, 90_000);
        let timed = [Run {
            system_ns: 600_000_000,
            ..fake.run()
        }];
        let observation = fake.observation(&timed);
        let polls = Analysis::new(&observation).tally_calls(|call| call == "poll");
        assert!(polls.cost_ns < 2e6, "{}", polls.cost_ns);
    }

    #[test]
    fn what_waits_take_of_the_kernel_is_no_sign_of_more_calls() {
        let fake = partly_traced(&[("sched_yield", 19_900), ("read", 100)]);
        let timed = [Run {
            system_ns: 600_000_000,
            voluntary_switches: 40_000,
            ..fake.run()
        }];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        assert_eq!(
            analysis.tally_calls(|name| name == "sched_yield").calls,
            19_900
        );
    }

    #[test]
    fn the_ticks_of_several_short_runs_show() {
        let fake = partly_traced(&[("ioctl", 20_000)]);
        let run = |system_ns| Run {
            system_ns,
            ..fake.run()
        };
        let calls = |timed: &[Run]| {
            let observation = fake.observation(timed);
            Analysis::new(&observation)
                .tally_calls(|call| call == "ioctl")
                .calls
        };
        // 30 ms at 0.295 us each.
        assert_eq!(calls(&[run(28_000_000), run(32_000_000)]), 100_000);
        assert_eq!(calls(&[run(30_000_000)]), 20_000);
        // Process startup and exit alone take that long.
        assert_eq!(calls(&vec![run(8_000_000); 20]), 20_000);
    }

    #[test]
    fn what_questions_about_names_cost_here_shows_how_many_there_were() {
        let asked = |fake: &Fake| calls(fake, "newfstatat", 400, 0);
        let mut fake = partly_traced(&[("newfstatat", 20_000)]);
        assert_eq!(asked(&fake), 300_000);
        fake.limits.lookup_seconds = Some(0.355e-6);
        assert_eq!(asked(&fake), 1_000_000);
    }

    #[test]
    fn what_the_32_bit_entry_takes_here_shows_how_many_calls_came_through_it() {
        let mut fake = partly_traced(&[("getpid", 20_000)]);
        fake.limits.entry_32_seconds = Some(6.25e-6);
        assert_eq!(calls(&fake, "getpid", 3_150, 0), 10_000_000);
        fake.trace.syscalls[0].number = fathom_trace::calls::ENTRY_32 | 39;
        assert_eq!(calls(&fake, "getpid", 3_150, 0), 500_000);
    }

    #[test]
    fn counted_calls_through_the_32_bit_entry_cost_what_the_ticks_say() {
        let cost = |number| {
            let mut fake = partly_traced(&[("read", 20_000)]);
            fake.limits.entry_32_seconds = Some(6.25e-6);
            fake.trace.syscalls[0].number = number;
            let timed = [Run {
                system_ns: 630_000_000,
                io: Some(IoCounts {
                    read_calls: 100_000,
                    ..IoCounts::default()
                }),
                ..fake.run()
            }];
            let observation = fake.observation(&timed);
            Analysis::new(&observation)
                .tally_calls(|call| call == "read")
                .cost_ns
                / 1e6
        };
        let native = cost(0);
        assert!((150.0..170.0).contains(&native), "{native}");
        let foreign = cost(fathom_trace::calls::ENTRY_32);
        assert!((600.0..640.0).contains(&foreign), "{foreign}");
    }
}
