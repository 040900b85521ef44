//! Findings about threads and CPUs.

use fathom_model::{Finding, FindingId as Id, TimeCategory as Part};

use super::declaration::{
    Declaration, EffectOf, Mechanism, USUAL, a_third, one_in, shows, shows_above,
};
use crate::claim::Least;
use crate::mechanisms::{contend, hand_over, poll, serial, wait_for};
use crate::thresholds as t;

/// The minimum part of the wall time for reporting threads that wait for each other on too few CPUs. Loops
/// with as many threads as CPUs also finish unevenly, by a tenth. Loops with next to no work on 8 threads and
/// two CPUs lose nine tenths and more.
const SHARE_OF_WAITING_TEAM: f64 = 0.3;

/// The minimum part of the wall time in channels between tasks of a runtime, and in switching between the
/// tasks. A pipeline of goroutines that passes single values on spends 80 % there, and one that passes batches
/// of 512 spends 9 %.
const SHARE_OF_CHANNELS: f64 = 0.2;

/// The minimum part of the wall time that clients of one thread would save side by side. A program that also serves
/// one client now and then isn't about serving.
const SHARE_OF_SERVING: f64 = 0.15;

pub(super) const ALL: &[Declaration] = &[
    Declaration {
        id: Id::LockContention,
        mechanism: Mechanism::Contend,
        also: &Part::ALL,
        // Java's threads that wait for processes also wait for each other.
        effect_of: EffectOf::Causes(&[
            a_third(Id::CpuStarved),
            a_third(Id::ProcessSpawning),
            a_third(Id::ThreadSpawning),
            one_in(1, Id::LibraryWork),
        ]),
        variants: &[
            shows(contend::dead::find),
            shows(contend::starved::find),
            shows(contend::tasks::find),
            shows(contend::asleep::find),
            shows(contend::queueing::find),
            shows(contend::barging::find),
            shows(contend::behind::find),
            shows(contend::short_locks::by_calls),
            shows(contend::short_locks::by_own_code),
            shows(poll::spinning::for_lock),
            shows(wait_for::tries::for_locks),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::WakeupStorm,
        mechanism: Mechanism::HandOver,
        also: &Part::ALL,
        least: Least::OF_WAITING,
        // Threads that find a lock taken and threads that are woken only to find it taken are counted
        // separately, so each finding shows only a part of the lock's effect.
        effect_of: EffectOf::Causes(&[
            one_in(4, Id::LockContention),
            one_in(4, Id::CpuStarved),
            one_in(4, Id::ThreadSpawning),
            // Threads that are stopped are woken again.
            a_third(Id::LibraryWork),
        ]),
        variants: &[
            shows(hand_over::hand_overs),
            shows_above(SHARE_OF_CHANNELS, hand_over::through_channels),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::IdleCores,
        mechanism: Mechanism::Serial,
        also: &Part::ALL,
        effect_of: EffectOf::Causes(&[
            a_third(Id::LockContention),
            a_third(Id::WakeupStorm),
            a_third(Id::BusyPolling),
            a_third(Id::CpuStarved),
            a_third(Id::SerialRequests),
        ]),
        least: Least::OF_WORK.with_ns(t::LEAST_PARALLEL_SAVING_NS),
        variants: &[shows(serial::threads::find), shows(serial::processes::find)],
        ..USUAL
    },
    Declaration {
        id: Id::SerialRequests,
        mechanism: Mechanism::Serial,
        also: &Part::ALL,
        // Requests that repeat work, or do what could be avoided, keep others waiting for that reason.
        effect_of: EffectOf::Causes(&[
            a_third(Id::AllocatorChurn),
            a_third(Id::BusyPolling),
            a_third(Id::GrowingWork),
            a_third(Id::LibraryWork),
            a_third(Id::LockContention),
            a_third(Id::MissingFileLookups),
            a_third(Id::SmallFileIo),
            a_third(Id::SyncWrites),
            a_third(Id::UnoptimisedBuild),
        ]),
        variants: &[shows_above(SHARE_OF_SERVING, serial::requests::find)],
        ..USUAL
    },
    Declaration {
        id: Id::CpuStarved,
        mechanism: Mechanism::Contend,
        also: &Part::ALL,
        // If there are more busy threads than CPUs, the whole may finish no later than it would with fewer
        // threads. If a lock accounts for a good part of what each of them waits, the lock makes them slow;
        // without it, there wouldn't be too many threads.
        named_for: &[a_third(Id::LockContention)],
        may_be_effect: |finding: &Finding| finding.could_win_ns < finding.could_win_latency_ns,
        variants: &[
            shows(contend::cpus::by_limit),
            shows_above(SHARE_OF_WAITING_TEAM, contend::teams::find),
            shows(contend::cpus::find),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::BusyPolling,
        mechanism: Mechanism::Poll,
        also: &Part::ALL,
        // A thread that hands over to another one spins for a while before it sleeps.
        effect_of: EffectOf::Causes(&[a_third(Id::WakeupStorm), one_in(1, Id::LibraryWork)]),
        variants: &[
            shows(poll::calls::find),
            shows(poll::spinning::on_memory),
            shows(poll::spinning::on_channels),
            shows(poll::spinning::by_tasks),
        ],
        ..USUAL
    },
];
