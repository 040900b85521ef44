//! The fingerprint of the machine that is kept with a measurement, and whether it still fits.

use fathom_machine::ProbeResult;
use fathom_machine::remembered::{self, Change};
use fathom_model::{Fingerprint, MachineFigure};

/// The remembered quick profile with the canaries of now; `None` where none is remembered: there is
/// nothing then to hold the canaries against. Takes at most 0.3 s.
pub fn with_canaries() -> Option<Fingerprint> {
    let profile = remembered::load(&remembered::default_folder()?)?;
    let now = fathom_machine::canaries();
    let changes = remembered::changes(&profile.results, &now);
    tell(&changes);
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

/// A warning for each canary that moved.
fn tell(changes: &[Change]) {
    for change in changes {
        eprintln!("warning: {}", sentence(change));
    }
    if !changes.is_empty() {
        eprintln!(
            "         results may not compare with earlier ones; 'fathom machine --quick' takes the machine as it is now"
        );
    }
}

fn sentence(change: &Change) -> String {
    let figure = |value| fathom_machine::table::figure(value, &change.unit);
    format!(
        "the machine changed: {} was {} and is {}",
        change.title,
        figure(change.before),
        figure(change.now)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_with_both_figures() {
        let change = Change {
            id: "memory_latency".into(),
            title: "load, memory".into(),
            unit: "ns".into(),
            before: 118.0,
            now: 190.0,
        };
        assert_eq!(
            sentence(&change),
            "the machine changed: load, memory was 118 ns and is 190 ns"
        );
    }
}
