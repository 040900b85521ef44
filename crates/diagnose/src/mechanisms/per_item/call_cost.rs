//! The cost of calls in the kernel, and in the library around them.

use crate::claim::{Atoms, Row};
use crate::mechanisms::prelude::*;
use crate::overhead_correction::takes_cpu;

/// The possible saving if calls weren't made.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallCost {
    pub in_kernel_ns: f64,
    /// The modelled user code around the calls.
    pub library_ns: f64,
    /// The calls. Kernel time that they don't cover isn't in any known call.
    pub calls: Vec<Piece>,
}

impl CallCost {
    pub(crate) fn of(analysis: &Analysis<'_>, fits: impl Fn(&SyscallRow) -> bool) -> Self {
        Self::with(&analysis.tally(&fits), analysis, fits)
    }

    /// Returns the cost for matching calls that have already been added up.
    pub(crate) fn with(
        tally: &Tally,
        analysis: &Analysis<'_>,
        fits: impl Fn(&SyscallRow) -> bool,
    ) -> Self {
        let rows = analysis.trace.syscalls.iter().enumerate();
        let rows: Vec<usize> = rows
            .filter(|(_, row)| fits(row))
            .map(|(at, _)| at)
            .collect();
        let parts: HashSet<TimeCategory> =
            rows.iter().map(|row| analysis.kind_of_row(*row)).collect();
        let of_parts: f64 = parts.iter().map(|part| analysis.spent_ns(*part)).sum();
        // A category can't cost more than the account has. If the account doesn't split the kernel's time,
        // only its total is known.
        let most = of_parts + analysis.spent_ns(TimeCategory::Kernel);
        let own = analysis.spent_ns(TimeCategory::UserCode);
        let in_kernel_ns = analysis.within_kernel(tally.cost_ns).min(most);
        Self {
            in_kernel_ns,
            library_ns: analysis.library_ns(fits).min(own),
            calls: vec![Piece::of_rows(
                rows.into_iter().map(Row::Call),
                in_kernel_ns,
            )],
        }
    }

    /// Returns the cost without queries for missing paths, because those are a search.
    pub(crate) fn without_misses(
        analysis: &Analysis<'_>,
        fits: impl Fn(&SyscallRow) -> bool,
    ) -> Self {
        let misses = |row: &SyscallRow| calls::asks_about_path(&row.name) && row.errors > 0;
        let failing = |row: &SyscallRow| misses(row) && fits(row);
        let mixed = analysis.tally(failing);
        let failed = part_of(mixed.errors, mixed.calls);
        let mixed = Self::with(&mixed, analysis, failing).part(1.0 - failed);
        Self::of(analysis, |row| !misses(row) && fits(row)).plus(mixed)
    }

    /// Returns the kernel calls of garbage collectors.
    pub(crate) fn of_collectors(analysis: &Analysis<'_>) -> Self {
        let each = analysis.calls_of_role(ThreadRole::Collector);
        let each = each.into_iter().map(|(row, part)| {
            let ns = analysis.cost_of_row(row);
            Self::of_piece(Piece::of_rows(std::iter::once(Row::Call(row)), ns)).part(part)
        });
        each.fold(Self::default(), Self::plus)
    }

    /// Returns the cost for time that is in no call.
    pub(crate) fn of_part(part: TimeCategory, ns: f64) -> Self {
        Self::of_piece(Piece::of(part, ns))
    }

    fn of_piece(piece: Piece) -> Self {
        Self {
            in_kernel_ns: piece.ns,
            library_ns: 0.0,
            calls: vec![piece],
        }
    }

    pub(crate) fn plus(mut self, other: Self) -> Self {
        self.calls.extend(other.calls);
        Self {
            in_kernel_ns: self.in_kernel_ns + other.in_kernel_ns,
            library_ns: self.library_ns + other.library_ns,
            calls: self.calls,
        }
    }

    /// Returns the part `of_it` of the cost, 0 to 1.
    pub(crate) fn part(mut self, of_it: f64) -> Self {
        for piece in &mut self.calls {
            piece.ns *= of_it;
            if let Atoms::Rows { part, .. } = &mut piece.of {
                *part *= of_it;
            }
        }
        Self {
            in_kernel_ns: self.in_kernel_ns * of_it,
            library_ns: self.library_ns * of_it,
            calls: self.calls,
        }
    }

    /// Returns the cost without the work of the library.
    pub(crate) fn without_library(self) -> Self {
        Self {
            library_ns: 0.0,
            ..self
        }
    }

    /// See [`Analysis::when_oversubscribed`].
    pub(crate) fn when_oversubscribed(self, analysis: &Analysis<'_>) -> Self {
        Self {
            in_kernel_ns: analysis.when_oversubscribed(self.in_kernel_ns),
            library_ns: analysis.when_oversubscribed(self.library_ns),
            calls: self.calls,
        }
    }

    /// Returns the sum of both. What isn't a wait is limited to the CPU time.
    pub(crate) fn ns(&self, analysis: &Analysis<'_>) -> f64 {
        let waits = self.calls.iter().filter(|piece| match piece.of {
            Atoms::Of(part) => !takes_cpu(part),
            Atoms::Rows { .. } => false,
        });
        let waited = waits.map(|piece| piece.ns).sum::<f64>();
        analysis.within_cpu(self.in_kernel_ns - waited + self.library_ns) + waited
    }

    /// Returns the time that decides whether the calls are reported. This is the kernel's part, or half of
    /// both parts if that is more and the kernel's part isn't negligible. For cheap calls, the modelled
    /// library part dominates the sum.
    pub(crate) fn weight_ns(&self, analysis: &Analysis<'_>) -> f64 {
        let both = self.ns(analysis) / 2.0;
        self.in_kernel_ns.max(both.min(2.0 * self.in_kernel_ns))
    }

    /// Describes the library's time, if it changes the displayed sum. `calls` is the name of the calls in the
    /// sentence.
    pub(crate) fn library_in_words(&self, calls: &str) -> Option<String> {
        let is_much = self.library_ns > t::LIBRARY_WORTH_REPORTING * self.in_kernel_ns;
        is_much.then(|| {
            format!(
                "about {} in the library around {calls}",
                time(self.library_ns)
            )
        })
    }

    /// Formats the end of a sentence about the calls.
    fn in_words(&self, analysis: &Analysis<'_>) -> String {
        let calls = time(self.in_kernel_ns);
        let share = analysis.percent(self.ns(analysis));
        match self.library_in_words("them") {
            Some(library) => {
                format!("cost {calls} in the kernel and {library}, {share} of the wall time.")
            }
            None => format!("cost {calls}, {share} of the wall time."),
        }
    }

    /// Builds a finding about the calls and the work around them. `statement` is the text before the cost.
    pub(crate) fn finding(&self, id: FindingId, analysis: &Analysis<'_>, statement: &str) -> Claim {
        let statement = format!("{statement} {}", self.in_words(analysis));
        let finding = Claim::new(id, analysis, self.ns(analysis), statement);
        let finding = finding
            .weighing(self.weight_ns(analysis))
            .guessing(self.library_ns);
        let least = analysis.observation.limits.syscall_seconds;
        self.evidence(finding, 0.0)
            .takes_here("the cheapest call", least)
    }

    /// Adds evidence: the work around the calls, and the own code's work on their data.
    pub(crate) fn evidence(&self, finding: Claim, work_ns: f64) -> Claim {
        let mut pieces = self.calls.clone();
        pieces.push(Piece::of(TimeCategory::UserCode, self.library_ns + work_ns));
        let finding = finding.pieces(pieces);
        match self.library_ns > 0.0 {
            true => finding.evidence(
                "library around the calls (modelled)",
                self.library_ns.round(),
                "ns",
            ),
            false => finding,
        }
    }
}

/// Returns the ratio of `of` to `all`, 0 to 1.
pub(crate) fn part_of(of: u64, all: u64) -> f64 {
    (of as f64 / all.max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use fathom_model::Run;
    use fathom_trace::Tier;

    use super::CallCost;
    use crate::analysis::Analysis;
    use crate::fake::Fake;

    #[test]
    fn calls_that_nobody_timed_cost_no_more_than_the_kernel_had() {
        let mut fake = Fake::new(1000);
        fake.trace.tier = Some(Tier::Ptrace);
        fake.calls("write", Some(1), 2_000_000, 2_000_000, 0);
        let timed = [Run {
            user_ns: 900_000_000,
            system_ns: 100_000_000,
            ..fake.run()
        }];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        let cost = CallCost::of(&analysis, |row| row.name == "write");
        assert!(analysis.tally_calls(|name| name == "write").cost_ns > analysis.in_kernel_ns());
        assert_eq!(cost.in_kernel_ns, analysis.in_kernel_ns());
    }

    #[test]
    fn calls_whose_library_takes_most_are_reported_where_the_kernels_part_is_no_trifle() {
        let reported = |calls: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Python);
            fake.descriptor(1, "/dev/null");
            fake.calls("write", Some(1), calls, 29, 100);
            fake.ids()
        };
        assert_eq!(reported(420_000), ["line-buffered-output"]);
        assert!(reported(200_000).is_empty());
    }
}
