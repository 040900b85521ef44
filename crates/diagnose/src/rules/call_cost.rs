//! Shared by what makes too many calls: what these cost in the kernel, and in the library around them.

use fathom_trace::SyscallRow;

use crate::draft::{Draft, matters, percent, time};
use crate::thresholds as t;
use crate::view::{Tally, View};

/// What could be won if calls weren't made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallCost {
    pub in_kernel_ns: f64,
    /// User code that goes with the calls. Modelled.
    pub library_ns: f64,
}

impl CallCost {
    pub(super) fn of(view: &View<'_>, fits: impl Fn(&SyscallRow) -> bool) -> Self {
        Self::with(&view.tally(&fits), view, fits)
    }

    /// The same of calls that fit and were added up already.
    pub(super) fn with(tally: &Tally, view: &View<'_>, fits: impl Fn(&SyscallRow) -> bool) -> Self {
        Self {
            // A part of the kernel's time can't be more than the account says that it had.
            in_kernel_ns: view.within_kernel(tally.cost_ns),
            library_ns: view.library_ns(fits),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            in_kernel_ns: self.in_kernel_ns + other.in_kernel_ns,
            library_ns: self.library_ns + other.library_ns,
        }
    }

    /// A part of it, 0 to 1.
    pub(super) fn part(self, part: f64) -> Self {
        Self {
            in_kernel_ns: self.in_kernel_ns * part,
            library_ns: self.library_ns * part,
        }
    }

    /// See [`View::in_crowd`].
    pub(super) fn in_crowd(self, view: &View<'_>) -> Self {
        Self {
            in_kernel_ns: view.in_crowd(self.in_kernel_ns),
            library_ns: view.in_crowd(self.library_ns),
        }
    }

    /// Both together, no more than there is.
    pub(super) fn ns(self, view: &View<'_>) -> f64 {
        view.within_cpu(self.in_kernel_ns + self.library_ns)
    }

    /// Whether they are worth telling: by the kernel's part alone, or by both where that is a good part of it. Where a call is
    /// cheap the library's part, a model, rules what both come to.
    pub(super) fn matters(self, view: &View<'_>) -> bool {
        let all = self.ns(view);
        let rules = all >= t::LEAST_WIN_NS
            && view.share(all) >= 2.0 * t::LEAST_SHARE
            && view.share(self.in_kernel_ns) >= 0.5 * t::LEAST_SHARE;
        matters(view, self.in_kernel_ns) || rules
    }

    /// What the library took in words, if that needs any. `calls`: what these are called there.
    pub(super) fn library_in_words(self, calls: &str) -> Option<String> {
        let is_much = self.library_ns > t::WORK_WORTH_TELLING * self.in_kernel_ns;
        is_much.then(|| {
            format!(
                "some {} in the library around {calls}",
                time(self.library_ns)
            )
        })
    }

    /// The end of a sentence about the calls.
    pub(super) fn told(self, view: &View<'_>) -> String {
        let calls = time(self.in_kernel_ns);
        let share = percent(view, self.ns(view));
        match self.library_in_words("them") {
            Some(library) => {
                format!("cost {calls} in the kernel and {library}, {share} of the wall time.")
            }
            None => format!("cost {calls}, {share} of the wall time."),
        }
    }

    /// A finding about the calls, with what goes with them.
    pub(super) fn draft(self, id: &str, view: &View<'_>, statement: String) -> Draft {
        self.evidence(Draft::new(id, view, self.ns(view), statement))
    }

    pub(super) fn evidence(self, draft: Draft) -> Draft {
        match self.library_ns > 0.0 {
            true => draft.evidence(
                "library around the calls (modelled)",
                self.library_ns.round(),
                "ns",
            ),
            false => draft,
        }
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::Run;
    use fathom_trace::Tier;

    use super::CallCost;
    use crate::fake::Fake;
    use crate::view::View;

    #[test]
    fn calls_that_nobody_timed_cost_no_more_than_the_kernel_had() {
        let mut fake = Fake::new(1000);
        fake.trace.tier = Some(Tier::Stops);
        fake.calls("write", Some(1), 2_000_000, 2_000_000, 0);
        let timed = [Run {
            user_ns: 900_000_000,
            system_ns: 100_000_000,
            ..fake.run()
        }];
        let subject = fake.observation(&timed);
        let view = View::new(&subject);
        let cost = CallCost::of(&view, |row| row.name == "write");
        assert!(view.tally_calls(|name| name == "write").cost_ns > view.in_kernel_ns());
        assert_eq!(cost.in_kernel_ns, view.in_kernel_ns());
    }

    #[test]
    fn calls_whose_library_takes_most_are_told_where_the_kernels_part_is_no_trifle() {
        let told = |calls: u64| {
            let mut fake = Fake::new(1000);
            fake.language = Some(crate::Language::Python);
            fake.descriptor(1, "/dev/null");
            fake.calls("write", Some(1), calls, 29, 100);
            fake.ids()
        };
        assert_eq!(told(420_000), ["line-buffered-output"]);
        assert!(told(200_000).is_empty());
    }
}
