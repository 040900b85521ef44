//! A unit of work is paid for each item: a batch would share it.

mod call_cost;
mod streams;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use fathom_model::{FindingId, Place};

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::finding_builder::is_significant;

pub(crate) use call_cost::CallCost;
pub(crate) use streams::{input, lines, output, records};

/// From where on such calls are worth reporting, beside what a finding needs in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Worth {
    /// By the kernel's part alone, or with the library's where the kernel's is no trifle.
    Together,
    /// By the kernel's part, from this share of the wall time on.
    InKernel(f64),
}

/// Calls that do little each.
pub(crate) struct Items {
    pub id: FindingId,
    pub cost: CallCost,
    pub worth: Worth,
    /// The sentence up to what they cost.
    pub statement: String,
    /// Names, values and units.
    pub evidence: Vec<(&'static str, f64, &'static str)>,
    pub advice: Cow<'static, str>,
    pub place: Place,
    /// Whether there may be another reason for the calls.
    pub likely: bool,
}

impl Items {
    /// The claim on what they cost, where that is worth reporting.
    pub(crate) fn claim(self, analysis: &Analysis<'_>) -> Option<Claim> {
        let cost = &self.cost;
        let in_kernel = cost.in_kernel_ns;
        let is_worth = match self.worth {
            Worth::Together => cost.is_significant(analysis),
            Worth::InKernel(share) => {
                is_significant(analysis, in_kernel) && analysis.share(in_kernel) >= share
            }
        };
        if !is_worth {
            return None;
        }
        let statement = format!("{} {}", self.statement, cost.in_words(analysis));
        let mut finding = cost.finding(self.id, analysis, statement);
        for (name, value, unit) in self.evidence {
            finding = finding.evidence(name, value, unit);
        }
        let limit = analysis.cheapest_call_in_words();
        let finding = finding.advice(self.advice).limit(limit).place(self.place);
        Some(match self.likely {
            true => finding.likely().finish(),
            false => finding.finish(),
        })
    }
}
