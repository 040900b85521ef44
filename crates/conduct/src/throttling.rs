//! The CPU limit of Fathom's own control group, which throttles the commands it runs.

use std::path::Path;

use fathom_measure::cgroup::CpuGroups;
use fathom_model::quantity::{cpu_share, short_time};
use fathom_model::{PipeNote, Warning};

/// Returns the number of CPUs that this control group and its ancestors allow; `None` without a limit.
pub(crate) fn limit() -> Option<f64> {
    CpuGroups::of(Path::new("/"))?.limit()
}

/// Returns a warning if runs were throttled, with the total over all commands, because they share the limit.
/// `runs` contains the [`fathom_model::Run::throttled_ns`] of each run.
pub(crate) fn warning(runs: &[Option<u64>]) -> Option<Warning> {
    of(runs, limit())
}

/// The throttling of a session whose runs aren't counted individually.
pub(crate) struct Throttling {
    groups: Option<CpuGroups>,
    before_ns: u64,
}

impl Throttling {
    /// Starts counting.
    pub(crate) fn begin() -> Throttling {
        let groups = CpuGroups::of(Path::new("/"));
        Throttling {
            before_ns: groups.as_ref().map_or(0, CpuGroups::throttled_ns),
            groups,
        }
    }

    /// Returns a note about throttling for a pipeline's record.
    pub(crate) fn note(&self) -> Option<PipeNote> {
        let groups = self.groups.as_ref()?;
        let ns = groups.throttled_ns().saturating_sub(self.before_ns);
        (ns > 0).then(|| PipeNote {
            id: "throttled".to_string(),
            stage: None,
            message: format!(
                "throttled by the CPU limit of Fathom's control group{}: {} in all during the measurement; raise \
                 the limit or use fewer CPUs",
                in_brackets(groups.limit()),
                short_time(ns as f64 / 1e9)
            ),
        })
    }
}

fn in_brackets(limit: Option<f64>) -> String {
    limit.map_or_else(String::new, |cpus| format!(" ({})", cpu_share(cpus)))
}

fn of(runs: &[Option<u64>], limit: Option<f64>) -> Option<Warning> {
    let throttled: Vec<u64> = runs
        .iter()
        .flatten()
        .copied()
        .filter(|ns| *ns > 0)
        .collect();
    let total: u64 = throttled.iter().sum();
    let limit = in_brackets(limit);
    (total > 0).then(|| Warning {
        id: "throttled".to_string(),
        benchmark: None,
        message: format!(
            "throttled by the CPU limit of Fathom's control group{limit}: in {} of {} runs, {} in all; raise the \
             limit or use fewer CPUs",
            throttled.len(),
            runs.len(),
            short_time(total as f64 / 1e9)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttled_runs_are_one_warning_with_the_limit() {
        let warning = of(&[Some(100_000_000), Some(0), Some(210_000_000)], Some(0.4));
        let warning = warning.expect("two were throttled");
        assert_eq!(
            (warning.id.as_str(), warning.benchmark),
            ("throttled", None)
        );
        assert_eq!(
            warning.message,
            "throttled by the CPU limit of Fathom's control group (40 % of a CPU): in 2 of 3 runs, 310 ms in all; raise the limit or use fewer CPUs"
        );
    }

    #[test]
    fn runs_that_stayed_below_the_limit_need_no_word() {
        assert_eq!(of(&[Some(0), Some(0)], Some(0.4)), None);
        assert_eq!(of(&[None], None), None);
    }
}
