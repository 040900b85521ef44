//! The fingerprint of the machine that is kept with a measurement, and whether it still fits.

use std::sync::OnceLock;

use fathom_machine::ProbeResult;
use fathom_machine::remembered::{self, Change};
use fathom_model::{Environment, Fingerprint, MachineFigure};

/// What [`take`] found. Once a session: the canaries go before everything that is measured.
static TAKEN: OnceLock<Option<Fingerprint>> = OnceLock::new();

/// Sends the canaries and says in one line if the machine changed since its profile was taken.
/// Where no profile is remembered nothing is done: there is nothing to hold them against. At most
/// 0.3 s; the second call does nothing.
pub fn take() {
    TAKEN.get_or_init(with_canaries);
}

/// What the system tells about itself, with what [`take`] found, if it was called.
pub fn environment() -> Environment {
    Environment {
        fingerprint: TAKEN.get().cloned().flatten(),
        ..fathom_machine::environment()
    }
}

fn with_canaries() -> Option<Fingerprint> {
    let profile = remembered::load(&remembered::default_folder()?)?;
    let now = fathom_machine::canaries();
    let changes = remembered::changes(&profile.results, &now);
    if !changes.is_empty() {
        anstream::eprintln!("warning: {}", sentence(&changes));
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

/// All that moved, in one line.
fn sentence(changes: &[Change]) -> String {
    let moved: Vec<String> = changes
        .iter()
        .map(|change| {
            let figure = |value| fathom_report::machine_figure(value, &change.unit);
            let (before, now) = (figure(change.before), figure(change.now));
            format!("{} was {before} and is {now}", change.title)
        })
        .collect();
    format!(
        "the machine is not as 'fathom machine' found it: {}; neighbours do that at times, and \
         'fathom machine --quick' takes it anew",
        moved.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(title: &str, before: f64, now: f64) -> Change {
        Change {
            id: title.into(),
            title: title.into(),
            unit: "ns".into(),
            before,
            now,
        }
    }

    #[test]
    fn changes_are_told_in_one_line_with_both_figures() {
        let changes = [
            change("load, memory", 118.0, 190.0),
            change("system call", 185.0, 411.0),
        ];
        assert_eq!(
            sentence(&changes),
            "the machine is not as 'fathom machine' found it: load, memory was 118 ns and is 190 ns, \
             system call was 185 ns and is 411 ns; neighbours do that at times, and \
             'fathom machine --quick' takes it anew"
        );
    }
}
