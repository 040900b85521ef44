//! Determines which tiers this machine permits, and which of them is used.

use fathom_trace::Tier;
use fathom_trace::detect::{self, Availability};

use crate::{ConductError, cache};

/// The cache file for the tiers that were found to work.
const FILE: &str = "tiers.json";

/// All tiers, either from the cache or just tested.
#[derive(Debug)]
pub(crate) struct Tiers {
    /// All tiers, best first.
    pub all: Vec<Availability>,
    /// Whether this is from the cache; it may then be outdated by a limit that the stamp doesn't include.
    pub is_kept: bool,
}

impl Tiers {
    /// Returns the cached tiers; tests them if there are none.
    pub(crate) fn known() -> Tiers {
        match cache::load(FILE, &cache::rights_stamp()) {
            Some(all) => Tiers { all, is_kept: true },
            None => Tiers::tried_and_kept(),
        }
    }

    /// Tests the tiers, which takes 30 ms.
    pub(crate) fn tried() -> Tiers {
        Tiers {
            all: detect::detect(),
            is_kept: false,
        }
    }

    /// Tests the tiers and caches the result for later calls.
    pub(crate) fn tried_and_kept() -> Tiers {
        Tiers {
            all: detect(),
            is_kept: false,
        }
    }

    /// Reports whether this tier works here.
    pub(crate) fn allows(&self, tier: Tier) -> bool {
        self.all.iter().any(|one| one.tier == tier && one.available)
    }

    /// Returns the best tier in `among`.
    ///
    /// # Errors
    /// The reasons why each of them doesn't work.
    pub(crate) fn best(&self, among: &[Tier]) -> Result<Tier, Vec<String>> {
        let usable = || self.all.iter().filter(|one| among.contains(&one.tier));
        match usable().find(|one| one.available) {
            Some(found) => Ok(found.tier),
            None => Err(usable().map(|one| one.why_not.clone()).collect()),
        }
    }

    /// Returns an error for a tier that doesn't work here.
    pub(crate) fn check(&self, wanted: Tier) -> Result<(), ConductError> {
        match self.all.iter().find(|one| one.tier == wanted) {
            Some(found) if !found.available => Err(ConductError::Untrusted(format!(
                "this tier does not work here: {}; {}",
                found.why_not, found.remedy
            ))),
            _ => Ok(()),
        }
    }
}

/// Tests every tier, which takes 30 ms, and caches the result if it is going to last.
pub fn detect() -> Vec<Availability> {
    let all = detect::detect();
    if all.iter().all(lasts) {
        cache::store(FILE, &cache::rights_stamp(), &all);
    }
    all
}

/// Reports whether a later attempt will end in the same way. An attempt that failed for another reason than
/// missing rights may have failed because of what the machine did at that moment.
fn lasts(one: &Availability) -> bool {
    one.available || matches!(one.errno, Some(libc::EPERM | libc::EACCES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiers(allowed: &[Tier]) -> Tiers {
        let one = |tier: Tier| Availability {
            tier,
            available: allowed.contains(&tier),
            errno: None,
            why_not: format!("no {}", tier.name()),
            remedy: "ask root".to_string(),
        };
        Tiers {
            all: [Tier::Kernel, Tier::Perf, Tier::Sample, Tier::Ptrace]
                .map(one)
                .to_vec(),
            is_kept: false,
        }
    }

    #[test]
    fn the_best_is_the_first_that_is_allowed_and_asked_for() {
        let some = tiers(&[Tier::Perf, Tier::Ptrace]);
        let all = [Tier::Kernel, Tier::Perf, Tier::Sample, Tier::Ptrace];
        assert_eq!(some.best(&all), Ok(Tier::Perf));
        assert_eq!(some.best(&[Tier::Kernel, Tier::Ptrace]), Ok(Tier::Ptrace));
        let why_not = some.best(&[Tier::Kernel, Tier::Sample]).unwrap_err();
        assert_eq!(why_not, ["no kernel", "no sample"]);
    }

    #[test]
    fn only_missing_rights_are_kept_for_later() {
        let lasting = |errno| {
            let mut one = tiers(&[]).all.remove(0);
            one.errno = errno;
            lasts(&one)
        };
        assert!(tiers(&[Tier::Kernel]).all.iter().take(1).all(lasts));
        assert!(lasting(Some(libc::EPERM)) && lasting(Some(libc::EACCES)));
        assert!(!lasting(Some(libc::EAGAIN)) && !lasting(None));
    }

    #[test]
    fn a_tier_that_does_not_work_is_refused_with_what_to_do() {
        let some = tiers(&[Tier::Sample]);
        assert!(some.check(Tier::Sample).is_ok());
        let refused = some.check(Tier::Kernel).unwrap_err().to_string();
        assert!(refused.contains("no kernel; ask root"), "{refused}");
    }
}
