//! The declaration of a finding.

use fathom_model::{Finding, FindingId, TimeCategory};

use crate::analysis::Analysis;
use crate::claim::{Claim, Least};

/// The mechanism by which time is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mechanism {
    /// A cost is paid for each item, although a batch could share it.
    PerItem,
    /// The same object, command or computation is repeated.
    Again,
    /// Something else sets the pace.
    WaitFor,
    /// Several threads want something that only one of them can have at a time.
    Contend,
    /// Threads wake each other.
    HandOver,
    /// Something is queried repeatedly.
    Poll,
    /// Work runs sequentially, or on one of several CPUs.
    Serial,
    /// Short-lived processes and threads are created.
    Make,
    /// Time passes before the first useful work.
    Start,
    /// Memory is accessed for the first time.
    Touch,
}

impl Mechanism {
    /// Returns the range, as multiples of the predicted saving, within which nine of ten repaired programs of
    /// the corpus saved: 340 recorded pairs in all tiers, without the time that their runs waited for a CPU.
    /// The range is unknown for polling, which saves CPU time.
    pub(crate) const fn spread(self) -> (f64, f64) {
        match self {
            Self::PerItem => (0.7, 1.9),
            Self::Again => (0.4, 1.75),
            Self::WaitFor => (0.85, 1.9),
            Self::Contend => (0.3, 2.3),
            Self::HandOver => (0.6, 1.35),
            Self::Poll => (0.0, 2.0),
            Self::Serial => (0.4, 2.1),
            Self::Make => (0.4, 1.75),
            Self::Start => (0.4, 4.5),
            Self::Touch => (0.85, 1.85),
        }
    }
}

/// A cause that replaces a finding, because the finding is its effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    pub id: FindingId,
    /// The cause must have at least one part in this many of the effect's size; a smaller cause doesn't
    /// explain the effect.
    pub one_of: u64,
}

/// The causes that a finding may have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EffectOf {
    Causes(&'static [Cause]),
    /// Any other finding, if its size is at least one part in the returned number; for the finding of last
    /// resort.
    Anything(fn(FindingId) -> u64),
}

/// A function that looks for a claim.
pub(crate) type Find = fn(&Analysis<'_>) -> Option<Claim>;

/// One of the forms in which a finding appears.
#[derive(Debug)]
pub(crate) struct Variant {
    find: Find,
    /// The reporting threshold of the variant, if it differs from that of the finding.
    least: Option<Least>,
}

impl Variant {
    /// Returns the claim that the variant finds. A claim may set its own reporting threshold.
    pub(super) fn claim(&self, analysis: &Analysis<'_>) -> Option<Claim> {
        let mut claim = (self.find)(analysis)?;
        claim.least = claim.least.or(self.least);
        Some(claim)
    }
}

pub(super) const fn shows(find: Find) -> Variant {
    Variant { find, least: None }
}

/// A variant that must have this share of the wall time.
pub(super) const fn shows_above(share: f64, find: Find) -> Variant {
    shows_from(Least::share(share), find)
}

pub(super) const fn shows_from(least: Least, find: Find) -> Variant {
    let least = Some(least);
    Variant { find, least }
}

/// The declaration of one finding. All other descriptions of the finding are derived from it.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub id: FindingId,
    pub mechanism: Mechanism,
    /// The categories of the part of its time that isn't in [`FindingId::lies_in`].
    pub also: &'static [TimeCategory],
    /// The calls that the finding is about; `None` if it isn't about calls, or may be about any.
    pub calls: Option<fn(&str) -> bool>,
    pub least: Least,
    /// Findings that are a more specific name for this one; they are checked first and take precedence.
    pub named_for: &'static [Cause],
    pub effect_of: EffectOf,
    /// Whether a given finding of this kind can be an effect of these causes.
    pub may_be_effect: fn(&Finding) -> bool,
    /// The variants that find it. The one with the largest claim is reported.
    pub variants: &'static [Variant],
}

impl Declaration {
    /// Reports whether the finding can be the effect of one with this id.
    pub(crate) fn is_effect_of(&self, id: FindingId) -> bool {
        let named = self.named_for.iter().any(|cause| cause.id == id);
        named
            || match self.effect_of {
                EffectOf::Causes(causes) => causes.iter().any(|cause| cause.id == id),
                EffectOf::Anything(_) => true,
            }
    }

    /// Reports whether the finding is about whole lives of processes or threads rather than about specific
    /// categories.
    pub(crate) fn is_of_whole_lives(&self) -> bool {
        self.also.len() == TimeCategory::ALL.len()
    }

    /// Returns the categories from which the finding may take time.
    pub(crate) fn parts(&self) -> impl Iterator<Item = TimeCategory> + '_ {
        let own = self.id.lies_in();
        let rest = self.also.iter().filter(|part| !own.contains(part));
        own.iter().chain(rest).copied()
    }
}

/// The default values, which suit most findings.
pub(super) const USUAL: Declaration = Declaration {
    id: FindingId::KernelBound,
    mechanism: Mechanism::PerItem,
    also: &[],
    calls: None,
    least: Least::OF_WORK,
    named_for: &[],
    effect_of: EffectOf::Causes(&[]),
    may_be_effect: |_| true,
    variants: &[],
};

/// A cause that explains findings of up to `one_of` times its size.
pub(super) const fn one_in(one_of: u64, id: FindingId) -> Cause {
    Cause { id, one_of }
}

/// A cause that explains findings of up to three times its size.
pub(super) const fn a_third(id: FindingId) -> Cause {
    one_in(3, id)
}
