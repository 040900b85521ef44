//! What is declared of a finding.

use fathom_model::{Finding, FindingId, TimeCategory};

use crate::analysis::Analysis;
use crate::claim::{Claim, Least};

/// By which way of losing time a finding comes about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mechanism {
    /// As the documentation calls it.
    pub name: &'static str,
    /// Between which multiples of the predicted saving nine of ten repaired programs of the corpus
    /// saved: 340 recorded pairs in all tiers, less what their runs waited for a CPU. Of polling nobody
    /// knows, since what it saves is CPU time.
    pub spread: (f64, f64),
}

const fn mechanism(name: &'static str, low: f64, high: f64) -> Mechanism {
    let spread = (low, high);
    Mechanism { name, spread }
}

impl Mechanism {
    /// A unit of work is paid for each item that a batch would share.
    pub(crate) const PER_ITEM: Self = mechanism("per item", 0.7, 1.9);
    /// The same object, command or computation, more than once.
    pub(crate) const AGAIN: Self = mechanism("again", 0.4, 1.75);
    /// Somebody else sets the pace.
    pub(crate) const WAIT_FOR: Self = mechanism("wait for", 0.85, 1.9);
    /// Several want what only one can have.
    pub(crate) const CONTEND: Self = mechanism("contend", 0.3, 2.3);
    /// Who wakes whom.
    pub(crate) const HAND_OVER: Self = mechanism("hand over", 0.6, 1.35);
    /// Asks again and again.
    pub(crate) const POLL: Self = mechanism("poll", 0.0, 2.0);
    /// One after the other, or one of several CPUs.
    pub(crate) const SERIAL: Self = mechanism("serial", 0.4, 2.1);
    /// Short-lived processes and threads.
    pub(crate) const MAKE: Self = mechanism("make", 0.4, 1.75);
    /// What comes before the first useful work.
    pub(crate) const START: Self = mechanism("start", 0.4, 4.5);
    /// Memory that is touched for the first time.
    pub(crate) const TOUCH: Self = mechanism("touch", 0.85, 1.85);
}

/// A cause in whose place a finding isn't reported, since it is the cause's effect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    pub id: FindingId,
    /// A smaller part of the effect's size doesn't explain it: one of so many.
    pub one_of: u64,
}

/// Whose effect a finding is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EffectOf {
    Causes(&'static [Cause]),
    /// The finding of last resort: whatever else is found, in so many parts of its size.
    Anything(fn(FindingId) -> u64),
}

/// What finds a claim.
pub(crate) type Find = fn(&Analysis<'_>) -> Option<Claim>;

/// One of the ways in which a finding shows.
#[derive(Debug)]
pub(crate) struct Variant {
    find: Find,
    /// From where on it is reported, where that isn't as declared of the finding.
    least: Option<Least>,
}

impl Variant {
    /// What it finds. A claim that knows better says itself from where on it is reported.
    pub(super) fn claim(&self, analysis: &Analysis<'_>) -> Option<Claim> {
        let mut claim = (self.find)(analysis)?;
        claim.least = claim.least.or(self.least);
        Some(claim)
    }
}

pub(super) const fn shows(find: Find) -> Variant {
    Variant { find, least: None }
}

pub(super) const fn shows_from(least: Least, find: Find) -> Variant {
    let least = Some(least);
    Variant { find, least }
}

/// One finding. Everything that is said of it elsewhere comes from here.
#[derive(Debug)]
pub(crate) struct Declaration {
    pub id: FindingId,
    pub mechanism: Mechanism,
    /// Where what isn't in [`FindingId::lies_in`] can come from.
    pub also: &'static [TimeCategory],
    /// The calls that it is about; `None` where it isn't about calls, or may be about any.
    pub calls: Option<fn(&str) -> bool>,
    pub least: Least,
    /// What it is only another name for: this is looked for first, and goes before it.
    pub named_for: &'static [Cause],
    pub effect_of: EffectOf,
    /// Whether a finding of it can be such an effect.
    pub may_be_effect: fn(&Finding) -> bool,
    /// What finds it. The largest is reported.
    pub variants: &'static [Variant],
    /// Its section in `docs/findings.md`, below its sentence.
    pub text: &'static str,
}

impl Declaration {
    /// Whether it can be the effect of such a finding.
    pub(crate) fn is_effect_of(&self, id: FindingId) -> bool {
        let named = self.named_for.iter().any(|cause| cause.id == id);
        named
            || match self.effect_of {
                EffectOf::Causes(causes) => causes.iter().any(|cause| cause.id == id),
                EffectOf::Anything(_) => true,
            }
    }

    /// Whether it is about whole lives of processes or threads, and no certain parts of them.
    pub(crate) fn is_of_whole_lives(&self) -> bool {
        self.also.len() == TimeCategory::ALL.len()
    }

    /// The parts that it may take time from.
    pub(crate) fn parts(&self) -> impl Iterator<Item = TimeCategory> + '_ {
        let own = self.id.lies_in();
        let rest = self.also.iter().filter(|part| !own.contains(part));
        own.iter().chain(rest).copied()
    }
}

/// What most findings have.
pub(super) const USUAL: Declaration = Declaration {
    id: FindingId::KernelBound,
    mechanism: Mechanism::PER_ITEM,
    also: &[],
    calls: None,
    least: Least::OF_WORK,
    named_for: &[],
    effect_of: EffectOf::Causes(&[]),
    may_be_effect: |_| true,
    variants: &[],
    text: "",
};

/// A cause that explains what is up to three times its size.
pub(super) const fn a_third(id: FindingId) -> Cause {
    Cause { id, one_of: 3 }
}
