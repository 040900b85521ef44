//! Findings of memory and the kernel.

use fathom_model::{FindingId as Id, TimeCategory as Part};

use super::declaration::{Declaration, EffectOf, Mechanism, USUAL, a_third};
use crate::calls;
use crate::rules;

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
    find: &[rules::page_fault_heavy],
    text: include_str!("texts/page-fault-heavy.md"),
    ..USUAL
};

pub(super) const ALLOCATOR_CHURN: Declaration = Declaration {
    id: Id::AllocatorChurn,
    mechanism: Mechanism::PerItem,
    also: &[Part::UserCode],
    effect_of: EffectOf::Causes(&[a_third(Id::ProcessSpawning), a_third(Id::ThreadSpawning)]),
    find: &[rules::allocator_churn],
    text: include_str!("texts/allocator-churn.md"),
    ..USUAL
};

pub(super) const CLOCK_CALLS: Declaration = Declaration {
    id: Id::ClockCalls,
    mechanism: Mechanism::PerItem,
    also: &[Part::KernelOther, Part::UserCode],
    calls: Some(calls::is_clock),
    find: &[rules::clock_calls],
    text: include_str!("texts/clock-calls.md"),
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
    find: &[rules::kernel_bound],
    text: include_str!("texts/kernel-bound.md"),
    ..USUAL
};
