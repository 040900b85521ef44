//! The fingerprint of the machine that is kept with a measurement, and whether it still fits.

use std::sync::OnceLock;

use fathom_machine::remembered;
use fathom_machine::{Canaries, ProbeResult};
use fathom_model::{Environment, Fingerprint, MachineFigure};

use crate::{Event, Observer};

/// What [`take`] found. Once a session: the canaries go before everything that is measured.
static TAKEN: OnceLock<Option<Fingerprint>> = OnceLock::new();

/// Sends the canaries, and reports it if the machine changed since its profile was taken. Where no
/// profile is remembered nothing is done: there is nothing to hold them against. At most 0.3 s, and
/// no memory to speak of; the second call does nothing.
pub fn take(observer: &mut dyn Observer) {
    send(Canaries::WithoutMemory, observer);
}

/// The same with those of memory, for who asks for a quiet machine.
pub(crate) fn take_all(observer: &mut dyn Observer) {
    send(Canaries::All, observer);
}

fn send(which: Canaries, observer: &mut dyn Observer) {
    TAKEN.get_or_init(|| with_canaries(which, observer));
}

/// What the system says of itself, with what [`take`] found, if it was called.
pub fn environment() -> Environment {
    Environment {
        fingerprint: TAKEN.get().cloned().flatten(),
        ..fathom_machine::environment()
    }
}

/// What of it is the same as long as the machine is.
pub(crate) fn lasting(environment: &Environment) -> Environment {
    Environment {
        load_average: None,
        fingerprint: None,
        ..environment.clone()
    }
}

fn with_canaries(which: Canaries, observer: &mut dyn Observer) -> Option<Fingerprint> {
    let profile = remembered::load(&remembered::default_folder()?)?;
    let now = fathom_machine::canaries(which);
    let changes = remembered::changes(&profile.results, &now);
    if !changes.is_empty() {
        observer.on(Event::MachineChanged(&changes));
    }
    Some(Fingerprint {
        measured_seconds_ago: profile.age_seconds(),
        profile: figures(&profile.results),
        canaries: figures(&now),
        skipped: now
            .iter()
            .filter(|result| result.value.is_none())
            .map(|result| result.id.clone())
            .collect(),
        changed: changes.into_iter().map(|change| change.id).collect(),
    })
}

fn figures(results: &[ProbeResult]) -> Vec<MachineFigure> {
    results
        .iter()
        .filter_map(|result| {
            Some(MachineFigure {
                id: result.id.clone(),
                value: result.value?,
                unit: result.unit.clone(),
            })
        })
        .collect()
}
