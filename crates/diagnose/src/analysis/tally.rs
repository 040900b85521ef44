//! Counts calls, and estimates their cost in an untraced run.

use fathom_model::TimeCategory;
use fathom_trace::{SyscallRow, Tier};

use super::Analysis;
use crate::calls;
use crate::entry_exit_overhead::{ENTRY_EXIT_NS, cpu_in_calls};

/// Totals of calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tally {
    pub calls: u64,
    pub errors: u64,
    pub would_block: u64,
    pub bytes: u64,
    pub sizes: [u64; 8],
    /// The number of calls, with those of each thread weighted by the part of its time that is on the
    /// critical path.
    on_path: f64,
    /// The modelled CPU time in the kernel on the critical path, scaled to an untraced run.
    pub cost_ns: f64,
    /// The time from entry to return in the traced run, including waits.
    pub total_ns: f64,
    pub pid: Option<u32>,
}

impl Tally {
    pub(crate) fn bytes_per_call(&self) -> f64 {
        self.bytes as f64 / (self.calls.max(1)) as f64
    }

    pub(crate) fn each_ns(&self) -> f64 {
        self.cost_ns / self.on_path.max(1.0)
    }
}

impl Analysis<'_> {
    /// Reports whether the run was stopped at each call; the times then include the stops, and calls after
    /// the end of the budget are missing.
    pub(crate) fn by_stops(&self) -> bool {
        self.trace.calls_from.or(self.trace.tier) == Some(Tier::Ptrace)
    }

    /// Returns the factor that scales CPU time in this call to an untraced run.
    pub(crate) fn call_factor(&self, call: &str) -> f64 {
        self.factor(calls::on_cpu(call))
    }

    /// Returns what the calls of the row with this index cost an untraced run.
    pub(crate) fn cost_of_row(&self, row: usize) -> f64 {
        let row = self.trace.syscalls.get(row);
        row.map_or(0.0, |row| self.cost_ns(row))
    }

    /// Returns the category of the account to which the calls of a row belong.
    pub(crate) fn kind_of_row(&self, row: usize) -> TimeCategory {
        let row = self.trace.syscalls.get(row);
        row.map_or(TimeCategory::KernelOther, |row| calls::on_cpu(&row.name))
    }

    /// Returns what the calls of a row cost an untraced run.
    pub(crate) fn cost_ns(&self, row: &SyscallRow) -> f64 {
        if self.by_stops() {
            return self.cost_by_stops_ns(row);
        }
        let calls = row.calls.max(1) as f64;
        let least = self.observation.limits.syscall_seconds.unwrap_or(0.0) * 1e9;
        let measured = match row.total_ns {
            0 => ENTRY_EXIT_NS,
            _ => cpu_in_calls(row, self.entry_exit.call_ns) / calls,
        };
        let factor = self.call_factor(&row.name).min(1.0);
        self.weight(row.tid) * calls * (measured * factor).max(least).max(0.0)
    }

    /// Returns the number of calls of a row, weighted by the part of the thread's time that is on the
    /// critical path.
    pub(super) fn calls_on_path(&self, row: &SyscallRow) -> f64 {
        match self.by_stops() {
            true => (row.calls + self.missed(row).0) as f64,
            false => row.calls as f64 * self.weight(row.tid),
        }
    }

    /// Adds up the matching calls.
    pub(crate) fn tally(&self, fits: impl Fn(&SyscallRow) -> bool) -> Tally {
        let mut sum = Tally::default();
        let mut most = 0.0;
        for row in self.trace.syscalls.iter().filter(|row| fits(row)) {
            let cost = self.cost_ns(row);
            if cost > most || sum.pid.is_none() {
                most = cost;
                sum.pid = Some(row.pid);
            }
            let (calls, bytes) = self.missed(row);
            let part = 1.0 + calls as f64 / row.calls.max(1) as f64;
            sum.calls += row.calls + calls;
            sum.on_path += self.calls_on_path(row);
            sum.errors += row.errors;
            sum.would_block += row.would_block;
            sum.bytes += row.bytes + bytes;
            sum.cost_ns += cost;
            sum.total_ns += row.total_ns as f64;
            sum.sizes
                .iter_mut()
                .zip(row.sizes)
                .for_each(|(sum, n)| *sum += (n as f64 * part).round() as u64);
        }
        sum.cost_ns = self.within_cpu(sum.cost_ns);
        sum
    }

    /// Adds up the calls with matching names.
    pub(crate) fn tally_calls(&self, is: impl Fn(&str) -> bool) -> Tally {
        self.tally(|row| is(&row.name))
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::Run;

    use super::*;
    use crate::fake::Fake;

    #[test]
    fn calls_that_were_not_traced_are_the_busiest_descriptors() {
        let mut fake = crate::fake::Fake::new(400);
        fake.calls("read", Some(4), 10, 832, 0);
        fake.calls("read", Some(3), 19_990, 1, 0);
        fake.trace.tier = Some(Tier::Ptrace);
        let mut run = crate::fake::run(400_000_000, 300_000_000);
        run.io = Some(fathom_model::IoCounts {
            read_calls: 300_010,
            read_bytes: 308_320,
            ..Default::default()
        });
        let timed = [run];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        let of = |fd| analysis.tally(|row| row.fd == Some(fd));
        assert_eq!((of(3).calls, of(3).bytes), (300_000, 300_000));
        assert_eq!((of(4).calls, of(4).bytes), (10, 8_320));
        let reported = analysis
            .warnings(&[])
            .pop()
            .expect("a part is not the whole");
        assert!(
            reported.starts_with("20,000 of 300,010 reads and writes"),
            "{reported}"
        );
        assert!(
            crate::io::io_rows(&analysis)
                .iter()
                .all(|row| row.total_ns.is_none())
        );
    }

    #[test]
    fn stops_take_the_cost_of_a_call_from_the_kernels_ticks() {
        let cost = |system_ms: u64| {
            let mut fake = Fake::new(1000);
            fake.trace.tier = Some(Tier::Ptrace);
            fake.calls("getrusage", None, 20_000, 0, 90_000);
            let timed = [Run {
                system_ns: system_ms * 1_000_000,
                ..fake.run()
            }];
            let observation = fake.observation(&timed);
            Analysis::new(&observation)
                .tally_calls(calls::is_clock)
                .cost_ns
        };
        // 20 ms of ticks are too few; the cost is three times 0.25 µs, and 45 ns around each call.
        assert_eq!(cost(20).round(), 17_700_000.0);
        assert_eq!(cost(60).round(), 20_000.0 * 1_600.0);
    }
}
