//! Checks whether the machine is as fast as when its profile was taken.

use fathom_model::quantity::three_digits;
use fathom_model::{CheckItem, CheckState};

use crate::remembered::{self, Change, Profile};
use crate::suite::{Canaries, canaries};

const ID: &str = "remembered_figures";

/// Runs all canaries (0.3 s) and compares them with the stored profile, if there is one.
pub fn as_remembered(profile: Option<&Profile>) -> CheckItem {
    match profile {
        None => CheckItem::new(ID, CheckState::Unknown, "no profile of this machine")
            .mend("fathom machine --quick creates one"),
        Some(profile) => {
            let now = canaries(Canaries::All);
            item(&remembered::changes(&profile.results, &now))
        }
    }
}

fn item(changes: &[Change]) -> CheckItem {
    if changes.is_empty() {
        return CheckItem::new(ID, CheckState::Ok, "as 'fathom machine' measured them");
    }
    let moved: Vec<String> = changes
        .iter()
        .map(|change| {
            let (before, now) = (three_digits(change.before), three_digits(change.now));
            format!("{} {before} to {now} {}", change.id, change.unit)
        })
        .collect();
    CheckItem::new(ID, CheckState::Warning, moved.join(", "))
        .because("the machine is faster or slower than when its profile was taken")
        .mend("wait until the neighbours are quiet, then measure again with fathom machine --quick")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_a_warning_with_both_figures() {
        assert_eq!(item(&[]).state, CheckState::Ok);
        let moved = item(&[Change {
            id: "memory_latency".into(),
            title: "load, memory".into(),
            unit: "ns".into(),
            before: 118.0,
            now: 190.7,
        }]);
        assert_eq!(moved.state, CheckState::Warning);
        assert_eq!(moved.found, "memory_latency 118 to 191 ns");
        assert_eq!(as_remembered(None).state, CheckState::Unknown);
    }
}
