//! Findings about waiting for something else.

use fathom_model::{FindingId as Id, TimeCategory as Part};

use super::OF_BYTES;
use super::declaration::{Declaration, EffectOf, Mechanism, USUAL, a_third, one_in, shows};
use crate::claim::Least;
use crate::mechanisms::{per_item, serial, wait_for};
use crate::thresholds as t;

const WAIT: Declaration = Declaration {
    mechanism: Mechanism::WaitFor,
    least: Least::OF_WAITING,
    ..USUAL
};

/// The process at the other end of a pipe.
const PACE: Declaration = Declaration {
    least: Least::OF_WAITING.with_ns(t::LEAST_PACE_NS),
    ..WAIT
};

pub(super) const ALL: &[Declaration] = &[
    Declaration {
        id: Id::WaitingForInput,
        variants: &[shows(wait_for::ends::input)],
        ..PACE
    },
    Declaration {
        id: Id::WaitingForOutput,
        variants: &[shows(wait_for::ends::output)],
        ..PACE
    },
    Declaration {
        id: Id::WaitingForDisk,
        // The CPU time spent fetching the data is in the call or the fault.
        also: OF_BYTES,
        // The waits are for each of these files.
        effect_of: EffectOf::Causes(&[
            // That finding takes these waits if they are for its files.
            one_in(1, Id::SmallFileIo),
            one_in(1, Id::Rewriting),
        ]),
        variants: &[shows(wait_for::disk::disk)],
        ..WAIT
    },
    Declaration {
        id: Id::ColdFiles,
        also: OF_BYTES,
        variants: &[shows(wait_for::disk::cold_files)],
        ..WAIT
    },
    Declaration {
        id: Id::WaitingForNetwork,
        // Connections are made by calls and by a library.
        also: &[
            Part::KernelOther,
            Part::KernelIo,
            Part::KernelFiles,
            Part::UserCode,
        ],
        // What a handler waits for is a part of its requests.
        effect_of: EffectOf::Causes(&[a_third(Id::DelayedAckStall), a_third(Id::SerialRequests)]),
        variants: &[
            shows(wait_for::network::network),
            shows(per_item::connections::connections),
        ],
        ..WAIT
    },
    Declaration {
        id: Id::DelayedAckStall,
        variants: &[shows(wait_for::acknowledgements::acknowledgements)],
        ..WAIT
    },
    Declaration {
        id: Id::WaitingForChild,
        mechanism: Mechanism::Serial,
        also: &Part::ALL,
        effect_of: EffectOf::Causes(&[
            a_third(Id::ProcessSpawning),
            a_third(Id::IdleCores),
            a_third(Id::StartupDominated),
            a_third(Id::SerialRequests),
        ]),
        variants: &[shows(serial::children::find), shows(wait_for::grace::find)],
        ..WAIT
    },
    Declaration {
        id: Id::Sleeping,
        effect_of: EffectOf::Causes(&[
            a_third(Id::DelayedAckStall),
            a_third(Id::WakeupStorm),
            a_third(Id::SerialRequests),
        ]),
        variants: &[shows(wait_for::timers::timers)],
        ..WAIT
    },
];
