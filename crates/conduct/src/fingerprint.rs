//! The fingerprint of the machine, which is stored with each measurement, and a check of whether it still
//! fits.

use std::sync::OnceLock;

use fathom_machine::remembered;
use fathom_machine::{Canaries, ProbeResult};
use fathom_model::{Environment, Fingerprint, MachineFigure};

use crate::{Event, Observer};

/// The result of [`take`], which runs once per session, before anything is measured.
static TAKEN: OnceLock<Option<Fingerprint>> = OnceLock::new();

/// Runs the canaries, and reports whether the machine has changed since its profile was taken. If no profile
/// is stored, there is nothing to compare with and this does nothing. Takes at most 0.3 s and very little
/// memory; a second call does nothing.
pub fn take(observer: &mut dyn Observer) {
    send(Canaries::WithoutMemory, observer);
}

/// Like [`take`], but includes the memory canaries, for callers that require a quiet machine.
pub(crate) fn take_all(observer: &mut dyn Observer) {
    send(Canaries::All, observer);
}

fn send(which: Canaries, observer: &mut dyn Observer) {
    TAKEN.get_or_init(|| with_canaries(which, observer));
}

/// Returns what the system reports about itself, with the result of [`take`] if that was called.
pub fn environment() -> Environment {
    Environment {
        fingerprint: TAKEN.get().cloned().flatten(),
        ..fathom_machine::environment()
    }
}

/// Returns the part of the environment that stays the same as long as the machine does.
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
