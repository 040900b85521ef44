//! Derives the verdict of a claim from the outcome of its expressions.

use fathom_model::{AnswerResult, ClaimResult, ClaimVerdict, Combination, Judged, Layer};

use crate::expression::{Context, Fault, Judgement, Outcome, compared, judge};
use crate::file::experiment::{Answer, Claim, Formula};
use crate::results::Results;
use crate::sweep;

/// Judges a claim under every combination; the verdict is that of the first. `lack` is something that the
/// claim itself needs and this machine does not have.
pub fn claim(
    claim: &Claim,
    results: &Results,
    combinations: &[Combination],
    lack: Option<&str>,
) -> ClaimResult {
    let mut all: Vec<Judged> = Vec::new();
    for combination in combinations {
        if let Some(judged) = one(claim, results, combination, lack) {
            all.push(judged);
        }
    }
    let varies = all
        .windows(2)
        .any(|pair| pair[0].measured != pair[1].measured || pair[0].verdict != pair[1].verdict);
    if !varies {
        // The claim doesn't depend on a parameter.
        all.truncate(1);
        all.iter_mut().for_each(|judged| judged.parameters.clear());
    }
    let mut all = all.into_iter();
    let judged = all.next().unwrap_or_else(|| Judged {
        parameters: Vec::new(),
        verdict: ClaimVerdict::NotRunnableHere,
        reason: "not measured with these parameters".to_string(),
        measured: Vec::new(),
    });
    let elsewhere: Vec<Judged> = all.collect();
    let flips = flips(&judged, &elsewhere);
    ClaimResult {
        id: claim.id.value.clone(),
        text: claim.text.clone(),
        layer: claim.layer,
        holds: claim.holds.as_ref().map(|f| f.text.value.clone()),
        published: claim.published.clone(),
        budget: claim.budget,
        judged,
        elsewhere,
        flips,
        note: claim.note.clone(),
    }
}

/// Returns the verdict shown in the table, and its combination.
pub fn first<'c>(
    claim: &Claim,
    results: &Results,
    combinations: &'c [Combination],
    lack: Option<&str>,
) -> Option<(&'c Combination, Judged)> {
    combinations
        .iter()
        .find_map(|combination| Some((combination, one(claim, results, combination, lack)?)))
}

/// Returns the parameter values that by themselves change the first verdict.
fn flips(first: &Judged, others: &[Judged]) -> Vec<String> {
    others
        .iter()
        .filter(|other| other.verdict != first.verdict)
        .filter_map(|other| {
            let changed: Combination = other
                .parameters
                .iter()
                .filter(|pair| !first.parameters.contains(pair))
                .cloned()
                .collect();
            (changed.len() == 1)
                .then(|| format!("{}: {}", sweep::label(&changed), other.verdict.name()))
        })
        .collect()
}

fn one(
    claim: &Claim,
    results: &Results,
    combination: &Combination,
    lack: Option<&str>,
) -> Option<Judged> {
    let judged = |verdict, reason: String, measured| {
        Some(Judged {
            parameters: combination.clone(),
            verdict,
            reason,
            measured,
        })
    };
    if let Some(reason) = lack {
        return judged(
            ClaimVerdict::NotRunnableHere,
            reason.to_string(),
            Vec::new(),
        );
    }
    let context = Context {
        results,
        combination,
    };
    if let Some(formula) = &claim.ill_posed_if
        && let Ok(found) = judge(&formula.expression, context)
        && found.outcome == Outcome::Holds
    {
        let reason = claim
            .because
            .clone()
            .unwrap_or_else(|| formula.text.value.clone());
        return judged(ClaimVerdict::IllPosed, reason, found.measured);
    }
    let Some(formula) = &claim.holds else {
        let reason = "the file does not say how to measure it";
        return judged(ClaimVerdict::Undecided, reason.to_string(), Vec::new());
    };
    let mut found = match judge(&formula.expression, context) {
        Ok(found) => found,
        Err(Fault::Elsewhere) => return None,
        // Even a checked file can name a probe that this machine doesn't have.
        Err(Fault::Wrong { message, .. }) => {
            return judged(ClaimVerdict::NotRunnableHere, message, Vec::new());
        }
        Err(Fault::Missing(reason)) => {
            return judged(ClaimVerdict::NotRunnableHere, reason, Vec::new());
        }
        Err(Fault::Undefined(reason)) => {
            return judged(ClaimVerdict::Undecided, reason, Vec::new());
        }
    };
    if found.outcome == Outcome::Holds
        && let Some((outcome, by)) = another_size(claim, formula, context)
    {
        (found.outcome, found.reason) = (outcome, by);
    }
    let verdict = verdict(claim.layer, found.outcome);
    let reason = reason(claim, verdict, &found);
    judged(verdict, reason, found.measured)
}

/// Returns the outcome if the size isn't the published one. A size that satisfies `>= 6.5` may be 300 times
/// the published one, in which case only the direction was reproduced. A published limit is satisfied by any
/// size on its side.
fn another_size(
    claim: &Claim,
    formula: &Formula,
    context: Context<'_>,
) -> Option<(Outcome, String)> {
    let published = claim.published_size()?;
    compared(&formula.expression, context)?.against_published(published)
}

/// Returns the verdict of a claim. If the published figures don't yield what is claimed about them, the claim
/// is ill-posed, because there is nothing to measure.
fn verdict(layer: Layer, outcome: Outcome) -> ClaimVerdict {
    match (layer, outcome) {
        (_, Outcome::Holds) => ClaimVerdict::Reproduced,
        (_, Outcome::Undecided) => ClaimVerdict::Undecided,
        (_, Outcome::Missing) => ClaimVerdict::NotRunnableHere,
        (Layer::Arithmetic, _) => ClaimVerdict::IllPosed,
        (_, Outcome::DirectionOnly) => ClaimVerdict::DirectionOnly,
        (_, Outcome::NoEffect) => ClaimVerdict::NotReproduced,
        (_, Outcome::Opposite) => ClaimVerdict::Contradicted,
    }
}

fn reason(claim: &Claim, verdict: ClaimVerdict, found: &Judgement) -> String {
    if verdict == ClaimVerdict::IllPosed {
        return match &claim.because {
            Some(because) => because.clone(),
            None => format!(
                "its own published figures give a different result: {}",
                found.reason
            ),
        };
    }
    found.reason.clone()
}

/// Returns an answer with the verdicts of its evidence.
pub fn answer(answer: &Answer, claims: &[ClaimResult]) -> AnswerResult {
    let evidence: Vec<(String, ClaimVerdict)> = answer
        .evidence
        .iter()
        .filter_map(|id| {
            let claim = claims.iter().find(|claim| claim.id == id.value)?;
            Some((id.value.clone(), claim.judged.verdict))
        })
        .collect();
    let all = |accepted: &[ClaimVerdict]| {
        evidence
            .iter()
            .all(|(_, verdict)| accepted.contains(verdict))
    };
    let untested = [
        ClaimVerdict::Reproduced,
        ClaimVerdict::Undecided,
        ClaimVerdict::NotRunnableHere,
    ];
    let status = match answer.is_open() {
        true => "open",
        false if all(&[ClaimVerdict::Reproduced]) => "answered",
        false if all(&untested) => "not tested here",
        false => "not supported here",
    };
    AnswerResult {
        question: answer.question.clone(),
        answer: answer.answer.clone(),
        status: status.to_string(),
        tried: answer.tried.clone(),
        evidence,
    }
}

/// The combined outcome of the claims that are budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budgets {
    /// All budgets hold, or there are none.
    Hold,
    /// A budget was measured and does not hold.
    Fail,
    /// No budget fails, but one could not be judged; a gate must not treat that as a success.
    Unknown,
}

/// Checks every budget under every combination of parameters.
pub fn budgets(claims: &[ClaimResult]) -> Budgets {
    let verdicts: Vec<ClaimVerdict> = claims
        .iter()
        .filter(|claim| claim.budget)
        .flat_map(|claim| std::iter::once(&claim.judged).chain(&claim.elsewhere))
        .map(|judged| judged.verdict)
        .collect();
    let unknown = |verdict: &ClaimVerdict| {
        matches!(
            verdict,
            ClaimVerdict::Undecided | ClaimVerdict::NotRunnableHere
        )
    };
    if verdicts
        .iter()
        .all(|verdict| *verdict == ClaimVerdict::Reproduced)
    {
        Budgets::Hold
    } else if verdicts
        .iter()
        .all(|verdict| *verdict == ClaimVerdict::Reproduced || unknown(verdict))
    {
        Budgets::Unknown
    } else {
        Budgets::Fail
    }
}
