//! Findings about reading and writing.

use fathom_model::{Finding, FindingId as Id};

use super::OF_BYTES;
use super::declaration::{Declaration, EffectOf, Mechanism, USUAL, a_third, shows, shows_above};
use crate::calls;
use crate::claim::Least;
use crate::mechanisms::{again, per_item, wait_for};

/// The minimum part of the wall time in the calls for such files. The runtime's own part of opening takes
/// longer: Python's `open` and `json.load` of 9,000 files of 45 bytes took 310 of 450 ms, of which 17 % were
/// in calls.
const TINY_FILES_SHARE: f64 = 0.15;

fn is_of_file(finding: &Finding) -> bool {
    let path = finding.place.path.as_deref();
    finding.place.fd != Some(0) && path.is_some_and(|path| path.starts_with('/'))
}

pub(super) const ALL: &[Declaration] = &[
    Declaration {
        id: Id::UnbufferedInput,
        mechanism: Mechanism::PerItem,
        also: OF_BYTES,
        calls: Some(calls::is_read),
        effect_of: EffectOf::Causes(&[a_third(Id::Rereading)]),
        // Data from a pipe isn't read again from a file.
        may_be_effect: is_of_file,
        variants: &[shows(per_item::streams::input)],
        ..USUAL
    },
    Declaration {
        id: Id::UnbufferedOutput,
        mechanism: Mechanism::PerItem,
        also: OF_BYTES,
        calls: Some(calls::is_write),
        variants: &[shows(per_item::streams::output)],
        ..USUAL
    },
    Declaration {
        id: Id::LineBufferedOutput,
        mechanism: Mechanism::PerItem,
        also: OF_BYTES,
        calls: Some(calls::is_write),
        effect_of: EffectOf::Causes(&[a_third(Id::ProcessSpawning), a_third(Id::Rewriting)]),
        variants: &[shows(per_item::streams::lines)],
        ..USUAL
    },
    Declaration {
        id: Id::SmallFileIo,
        mechanism: Mechanism::PerItem,
        also: OF_BYTES,
        calls: Some(calls::moves_bytes),
        effect_of: EffectOf::Causes(&[
            a_third(Id::Rereading),
            a_third(Id::Rewriting),
            a_third(Id::ProcessSpawning),
        ]),
        variants: &[
            shows_above(TINY_FILES_SHARE, per_item::tiny_files::moved_files),
            shows_above(TINY_FILES_SHARE, per_item::tiny_files::mapped_files),
            shows(per_item::streams::records),
            shows(again::kept_open::refilled),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::Rereading,
        mechanism: Mechanism::Again,
        also: OF_BYTES,
        calls: Some(calls::is_read),
        variants: &[
            shows(again::files::reopened),
            shows(again::kept_open::rewound),
            shows(again::kept_open::sought),
            shows(again::folders::listed),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::Rewriting,
        mechanism: Mechanism::Again,
        also: OF_BYTES,
        calls: Some(calls::is_write),
        variants: &[shows(again::rewritten::rewritten)],
        ..USUAL
    },
    Declaration {
        id: Id::SyncWrites,
        mechanism: Mechanism::PerItem,
        also: wait_for::syncs::ON_DISK,
        calls: Some(calls::is_sync),
        least: Least::OF_WAITING,
        variants: &[shows(wait_for::syncs::syncs)],
        ..USUAL
    },
];
