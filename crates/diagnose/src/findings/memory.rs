//! Findings about memory and the kernel.

use fathom_model::{FindingId as Id, TimeCategory as Part};

use super::declaration::{
    Declaration, EffectOf, Mechanism, USUAL, a_third, one_in, shows, shows_above,
};
use crate::calls;
use crate::mechanisms::{again, per_item, touch};
use crate::thresholds as t;

/// The minimum part of the wall time in unoptimized code; a tool that is deliberately built that way for its
/// own tests has less.
const UNOPTIMISED_SHARE: f64 = 0.25;
/// The minimum part of the wall time in signals. Unlike other kernel time, delivering them is not part of a
/// program's work.
const SIGNALS_SHARE: f64 = 0.1;
/// The minimum part of the wall time in the allocator. Of 20 well-behaved programs, `jq`, `cargo metadata`
/// and Perl pattern matching spend the most there, 10 to 19 % (bash loops spend up to 33 %, but shells are
/// excluded). A program that creates an object for each word spends 36 to 94 %.
const ALLOCATION_SHARE: f64 = 0.30;
/// The minimum part of the wall time by which work on later input takes longer: of a program whose time is all for
/// its input, the second half takes twice as long as the first from about this part.
const GROWING_SHARE: f64 = 0.3;
/// The minimum part of the wall time for reading clocks without a call.
const CLOCK_READS_SHARE: f64 = 0.15;

pub(super) const ALL: &[Declaration] = &[
    Declaration {
        id: Id::PageFaultHeavy,
        mechanism: Mechanism::Touch,
        // Faults that weren't timed are part of the own code.
        also: &[Part::KernelMemory, Part::UserCode],
        effect_of: EffectOf::Causes(&[
            a_third(Id::AllocatorChurn),
            a_third(Id::ProcessSpawning),
            // Memory for data that is read again is part of the work on that data.
            a_third(Id::Rereading),
        ]),
        variants: &[shows(touch::faults)],
        ..USUAL
    },
    Declaration {
        id: Id::AllocatorChurn,
        mechanism: Mechanism::PerItem,
        also: &[Part::UserCode],
        effect_of: EffectOf::Causes(&[
            a_third(Id::ProcessSpawning),
            a_third(Id::ThreadSpawning),
            // The memory may be for data that is read again.
            a_third(Id::Rereading),
            // Exceptions and copies take memory.
            one_in(2, Id::LibraryWork),
        ]),
        variants: &[
            shows(per_item::memory::given_back),
            shows_above(ALLOCATION_SHARE, per_item::objects::objects),
            shows_above(ALLOCATION_SHARE, per_item::collecting::collecting),
            shows(per_item::prepared::prepared),
            shows(per_item::stopping::collections),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::ClockCalls,
        mechanism: Mechanism::PerItem,
        also: &[Part::KernelOther, Part::UserCode],
        calls: Some(calls::is_clock),
        // A loop that polls reads clocks, and so does the scheduler of a runtime to which it yields.
        effect_of: EffectOf::Causes(&[a_third(Id::BusyPolling)]),
        variants: &[
            shows(per_item::clocks::clock_calls),
            shows_above(CLOCK_READS_SHARE, per_item::clocks::clock_reads),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::LibraryWork,
        mechanism: Mechanism::PerItem,
        // Threads that hand over work wait for each other.
        also: &[
            Part::Ready,
            Part::Locks,
            Part::WaitingForPipe,
            Part::KernelWaiting,
        ],
        variants: &[
            shows(per_item::library_work::library_work),
            shows(per_item::stopping::stops),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::GrowingWork,
        mechanism: Mechanism::PerItem,
        // These say what it is that grows.
        effect_of: EffectOf::Causes(&[
            a_third(Id::LibraryWork),
            a_third(Id::AllocatorChurn),
            a_third(Id::Rereading),
            a_third(Id::Rewriting),
        ]),
        variants: &[shows_above(GROWING_SHARE, per_item::growing::growing)],
        ..USUAL
    },
    Declaration {
        id: Id::UnoptimisedBuild,
        mechanism: Mechanism::PerItem,
        variants: &[
            shows_above(UNOPTIMISED_SHARE, per_item::builds::unoptimised),
            shows_above(UNOPTIMISED_SHARE, per_item::checked::checked),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::KernelBound,
        mechanism: Mechanism::PerItem,
        // The library's work around the calls is own code.
        also: &[Part::UserCode],
        effect_of: EffectOf::Anything(|cause| match cause {
            // The kernel's work of waking threads is in the calls, not in the waits.
            Id::WakeupStorm | Id::LockContention => 4,
            // Running the work in parallel doesn't reduce it.
            Id::WaitingForChild | Id::IdleCores => 1,
            _ => 2,
        }),
        variants: &[
            shows_above(t::KERNEL_SHARE, per_item::kernel::one_call),
            shows_above(t::KERNEL_SHARE, again::made_up::made_up),
            shows_above(SIGNALS_SHARE, per_item::signals::signals),
        ],
        ..USUAL
    },
];
