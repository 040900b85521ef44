//! Findings about starting programs.

use fathom_model::{FindingId as Id, TimeCategory as Part};

use super::declaration::{
    Declaration, EffectOf, Mechanism, USUAL, a_third, one_in, shows, shows_above, shows_from,
};
use crate::claim::Least;
use crate::mechanisms::{make, per_item, start};
use crate::thresholds as t;

pub(super) const ALL: &[Declaration] = &[
    Declaration {
        id: Id::ProcessSpawning,
        mechanism: Mechanism::Make,
        also: &Part::ALL,
        // Short processes that spend half of their time finding and binding libraries are reported as the
        // latter.
        named_for: &[one_in(2, Id::DynamicLinking)],
        variants: &[shows(make::processes::find)],
        ..USUAL
    },
    Declaration {
        id: Id::ThreadSpawning,
        mechanism: Mechanism::Make,
        also: &Part::ALL,
        variants: &[
            shows_above(t::KERNEL_SHARE, make::threads::many),
            shows(make::threads::engines),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::StartupDominated,
        mechanism: Mechanism::Start,
        also: &Part::ALL,
        effect_of: EffectOf::Causes(&[
            a_third(Id::DynamicLinking),
            a_third(Id::MissingFileLookups),
            a_third(Id::ProcessSpawning),
        ]),
        variants: &[
            shows_from(Least::OF_WAITING, start::wrappers::find),
            shows(start::modules::find),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::DynamicLinking,
        mechanism: Mechanism::Start,
        also: &Part::ALL,
        effect_of: EffectOf::Causes(&[a_third(Id::ProcessSpawning)]),
        variants: &[
            shows(start::linking::before_it_began),
            shows(start::linking::again_and_again),
            shows(start::linking::bound),
        ],
        ..USUAL
    },
    Declaration {
        id: Id::MissingFileLookups,
        mechanism: Mechanism::PerItem,
        also: &[Part::KernelIo, Part::UserCode],
        variants: &[shows(per_item::lookups::missing)],
        ..USUAL
    },
];
