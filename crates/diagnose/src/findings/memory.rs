//! Findings of memory and the kernel.

use fathom_model::{FindingId as Id, TimeCategory as Part};

use super::declaration::{Declaration, EffectOf, Mechanism, USUAL, a_third};
use crate::calls;
use crate::mechanisms::{again, per_item, touch};

pub(super) const PAGE_FAULT_HEAVY: Declaration = Declaration {
    id: Id::PageFaultHeavy,
    mechanism: Mechanism::Touch,
    // Faults that nobody timed are in the own code.
    also: &[Part::KernelMemory, Part::UserCode],
    effect_of: EffectOf::Causes(&[
        a_third(Id::AllocatorChurn),
        a_third(Id::ProcessSpawning),
        // Memory for what is read again is a part of the work on it.
        a_third(Id::Rereading),
    ]),
    find: &[touch::faults],
    text: include_str!("texts/page-fault-heavy.md"),
    ..USUAL
};

pub(super) const ALLOCATOR_CHURN: Declaration = Declaration {
    id: Id::AllocatorChurn,
    mechanism: Mechanism::PerItem,
    also: &[Part::UserCode],
    effect_of: EffectOf::Causes(&[a_third(Id::ProcessSpawning), a_third(Id::ThreadSpawning)]),
    find: &[per_item::given_back, per_item::objects],
    text: include_str!("texts/allocator-churn.md"),
    ..USUAL
};

pub(super) const CLOCK_CALLS: Declaration = Declaration {
    id: Id::ClockCalls,
    mechanism: Mechanism::PerItem,
    also: &[Part::KernelOther, Part::UserCode],
    calls: Some(calls::is_clock),
    find: &[per_item::clock_calls, per_item::clock_reads],
    text: include_str!("texts/clock-calls.md"),
    ..USUAL
};

pub(super) const UNOPTIMISED_BUILD: Declaration = Declaration {
    id: Id::UnoptimisedBuild,
    mechanism: Mechanism::PerItem,
    find: &[per_item::unoptimised],
    text: include_str!("texts/unoptimised-build.md"),
    ..USUAL
};

pub(super) const KERNEL_BOUND: Declaration = Declaration {
    id: Id::KernelBound,
    mechanism: Mechanism::PerItem,
    // What is around its calls is own code.
    also: &Part::ALL,
    effect_of: EffectOf::Anything(|cause| match cause {
        // What the kernel does to wake threads is in the calls, and not in the waits.
        Id::WakeupStorm | Id::LockContention => 4,
        // To do it side by side makes it no less.
        Id::WaitingForChild | Id::IdleCores => 1,
        _ => 2,
    }),
    find: &[per_item::one_call, again::made_up],
    text: include_str!("texts/kernel-bound.md"),
    ..USUAL
};
