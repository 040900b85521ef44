//! Sums time by category.

use std::collections::BTreeMap;

use fathom_model::{AccountPart, TimeAccount, TimeCategory};

/// Sums of time by category, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sums(BTreeMap<TimeCategory, f64>);

impl Sums {
    pub(crate) fn add(&mut self, spent: TimeCategory, ns: f64) {
        if ns > 0.0 {
            *self.0.entry(spent).or_default() += ns;
        }
    }

    pub(crate) fn get(&self, spent: TimeCategory) -> f64 {
        self.0.get(&spent).copied().unwrap_or(0.0)
    }

    /// Removes up to `ns` and returns the amount removed.
    pub(crate) fn take(&mut self, spent: TimeCategory, ns: f64) -> f64 {
        let Some(there) = self.0.get_mut(&spent) else {
            return 0.0;
        };
        let taken = ns.min(*there).max(0.0);
        *there -= taken;
        taken
    }

    pub(crate) fn total(&self) -> f64 {
        self.0.values().sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (TimeCategory, f64)> + '_ {
        self.0.iter().map(|(spent, ns)| (*spent, *ns))
    }

    pub(crate) fn add_scaled(&mut self, other: &Sums, factor: f64) {
        for (spent, ns) in other.iter() {
            self.add(spent, ns * factor);
        }
    }

    /// Returns the sum of the parts that `fit`.
    pub(crate) fn of(&self, fit: impl Fn(TimeCategory) -> bool) -> f64 {
        let parts = self.iter().filter(|(spent, _)| fit(*spent));
        parts.map(|(_, ns)| ns).sum()
    }

    /// Returns the sum of these parts.
    pub(crate) fn of_any(&self, parts: &[TimeCategory]) -> f64 {
        parts.iter().map(|part| self.get(*part)).sum()
    }

    /// Lengthens the parts that `fit` by `ns` in total, in proportion to their size, and returns the amount
    /// added, which is zero if there are no such parts.
    pub(crate) fn lengthen(&mut self, fit: impl Fn(TimeCategory) -> bool, ns: f64) -> f64 {
        let total = self.of(&fit);
        if total <= 0.0 || ns <= 0.0 {
            return 0.0;
        }
        let parts = self.0.iter_mut().filter(|(spent, _)| fit(**spent));
        parts.for_each(|(_, part)| *part *= 1.0 + ns / total);
        ns
    }

    /// Scales all parts so that their sum is `ns`; a sum of zero stays zero.
    pub(crate) fn stretch_to(&mut self, ns: f64) {
        let total = self.total();
        if total > 0.0 {
            self.0.values_mut().for_each(|part| *part *= ns / total);
        }
    }

    /// Makes the sum exactly `wall_ns`. A deficit becomes unaccounted time. An excess, which occurs because
    /// clocks are read at different moments, is taken from all parts in proportion.
    pub(crate) fn into_account(mut self, wall_ns: u64) -> TimeAccount {
        let (total, wall) = (self.total(), wall_ns as f64);
        if total > wall {
            self.stretch_to(wall);
        } else {
            self.add(TimeCategory::Unaccounted, wall - total);
        }
        let mut parts: Vec<AccountPart> = self
            .iter()
            .map(|(spent, ns)| AccountPart {
                spent,
                ns: ns.round() as u64,
            })
            .filter(|part| part.ns > 0)
            .collect();
        parts.sort_by_key(|part| (std::cmp::Reverse(part.ns), part.spent));
        settle_rounding(&mut parts, wall_ns);
        TimeAccount { wall_ns, parts }
    }
}

/// Corrects rounding errors of a few nanoseconds by adjusting the largest part.
fn settle_rounding(parts: &mut [AccountPart], wall_ns: u64) {
    let sum: u64 = parts.iter().map(|part| part.ns).sum();
    if let Some(first) = parts.first_mut() {
        first.ns = (first.ns + wall_ns).saturating_sub(sum);
    }
}
