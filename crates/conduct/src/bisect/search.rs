//! Tracks the revisions that can still be the culprit, and chooses the one to try next.

use std::collections::HashSet;

use super::BisectPlan;
use crate::ConductError;
use crate::worktrees::{Repository, WorktreesError};

/// The state of the search.
pub(super) struct Search {
    pub(super) repository: Repository,
    pub(super) good_name: String,
    pub(super) bad_name: String,
    /// The full id of GOOD.
    pub(super) good: String,
    /// The full id of BAD.
    pub(super) bad: String,
    /// All revisions known to behave like GOOD.
    known_good: Vec<String>,
    /// The oldest revision known to behave like BAD.
    first_bad: String,
    skipped: HashSet<String>,
    /// The number of revisions skipped in a row.
    in_a_row: usize,
}

/// The next step of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Measure this revision.
    Try {
        candidate: String,
        /// The number of revisions that can still be the culprit.
        left: usize,
    },
    /// Only this revision is left.
    Left(String),
    /// None of the remaining revisions can be built or run.
    NothingRuns,
}

impl Search {
    /// Starts a search.
    ///
    /// # Errors
    /// If one of the ends doesn't exist, or if BAD is not a descendant of GOOD.
    pub(super) fn new(plan: &BisectPlan) -> Result<Search, ConductError> {
        let repository = Repository::of(&plan.folder)?;
        let command = plan.template.typed(&plan.builds);
        repository.check_order(&plan.good, &plan.bad, |good, bad| {
            format!("fathom bisect {good} {bad}{command}")
        })?;
        let (good, bad) = (
            repository.resolve(&plan.good)?,
            repository.resolve(&plan.bad)?,
        );
        if good == bad {
            return Err(ConductError::Refused(format!(
                "{} and {} are the same revision; git log --oneline lists others",
                plan.good, plan.bad
            )));
        }
        Ok(Search {
            repository,
            good_name: plan.good.clone(),
            bad_name: plan.bad.clone(),
            known_good: vec![good.clone()],
            first_bad: bad.clone(),
            good,
            bad,
            skipped: HashSet::new(),
            in_a_row: 0,
        })
    }

    /// Returns the revisions that can still be the culprit. The best one at which to halve comes first.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn candidates(&self) -> Result<Vec<String>, WorktreesError> {
        self.repository.halving(&self.first_bad, &self.known_good)
    }

    /// Returns the next step of the search.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn next(&self) -> Result<Next, WorktreesError> {
        Ok(choose(
            &self.candidates()?,
            &self.first_bad,
            &self.skipped,
            self.in_a_row,
        ))
    }

    pub(super) fn is_good(&mut self, revision: String) {
        self.known_good.push(revision);
        self.in_a_row = 0;
    }

    pub(super) fn is_bad(&mut self, revision: String) {
        self.first_bad = revision;
        self.in_a_row = 0;
    }

    pub(super) fn skip(&mut self, revision: String) {
        self.skipped.insert(revision);
        self.in_a_row += 1;
    }
}

/// Chooses the revision to try next. The neighbors of a revision that doesn't build usually don't build
/// either. Therefore the distance to the next choice grows with the square of the number of revisions skipped
/// in a row.
fn choose(
    candidates: &[String],
    first_bad: &str,
    skipped: &HashSet<String>,
    in_a_row: usize,
) -> Next {
    let open: Vec<&String> = candidates
        .iter()
        .filter(|id| *id != first_bad && !skipped.contains(*id))
        .collect();
    match open.last() {
        None if candidates.len() == 1 => Next::Left(first_bad.to_owned()),
        None => Next::NothingRuns,
        Some(_) => Next::Try {
            candidate: open[(in_a_row * in_a_row).min(open.len() - 1)].clone(),
            left: candidates.len(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_skipped_moves_the_next_choice_away() {
        let all = ids("e d f c g b h bad");
        let mut skipped = HashSet::new();
        let mut tried = Vec::new();
        for in_a_row in 0..8 {
            match choose(&all, "bad", &skipped, in_a_row) {
                Next::Try { candidate, left } => {
                    assert_eq!(left, 8);
                    tried.push(candidate.clone());
                    skipped.insert(candidate);
                }
                next => assert_eq!(next, Next::NothingRuns),
            }
        }
        assert_eq!(tried, ids("e f h b g c d"));
    }

    #[test]
    fn the_one_that_is_left_is_found() {
        let none = HashSet::new();
        let left = choose(&ids("bad"), "bad", &none, 0);
        assert_eq!(left, Next::Left("bad".to_owned()));
    }
}
