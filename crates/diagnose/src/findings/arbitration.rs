//! Of findings that see the same time from two sides, which is reported?

use fathom_model::{Finding, FindingId as Id, TimeAccount, TimeCategory};

use super::declaration;
use super::declaration::{Cause, Declaration, EffectOf};
use crate::analysis::Analysis;

/// The findings that are reported, the largest first.
pub(super) fn arbitrate(found: Vec<Finding>) -> Vec<Finding> {
    let mut found = without(found, |one, declared, all| {
        (declared.may_be_effect)(one) && is_explained(one, declared.named_for, all)
    });
    found = without(found, |one, declared, all| match declared.effect_of {
        EffectOf::Causes(causes) => (declared.may_be_effect)(one) && is_explained(one, causes, all),
        EffectOf::Anything(_) => false,
    });
    found = without(found, |one, declared, all| match declared.effect_of {
        EffectOf::Causes(_) => false,
        EffectOf::Anything(one_of) => {
            let others = all.iter().filter(|other| other.id != one.id);
            let causes = others.map(|other| Cause {
                id: other.id,
                one_of: one_of(other.id),
            });
            is_explained(one, &causes.collect::<Vec<_>>(), all)
        }
    });
    found.sort_by(|a, b| (b.rank_ns(), a.id).cmp(&(a.rank_ns(), b.id)));
    found
}

/// All but those that `goes` says of, with what is declared of them and everything that was found.
fn without(
    found: Vec<Finding>,
    goes: impl Fn(&Finding, &Declaration, &[Finding]) -> bool,
) -> Vec<Finding> {
    let stays = |one: &&Finding| !goes(one, declaration(one.id), &found);
    found.iter().filter(stays).cloned().collect()
}

/// Whether one of the causes is there, and large enough: a small one doesn't hide a large effect.
fn is_explained(one: &Finding, causes: &[Cause], all: &[Finding]) -> bool {
    let rank = |id: Id| {
        all.iter()
            .find(|other| other.id == id)
            .map(Finding::rank_ns)
    };
    causes.iter().any(|cause| {
        rank(cause.id).is_some_and(|ns| ns.saturating_mul(cause.one_of) >= one.rank_ns())
    })
}

/// What the account has of the parts that a finding can come from, ns. Where the kernel's time
/// isn't split, all of it.
fn most_ns(account: &TimeAccount, declared: &Declaration) -> u64 {
    let own: u64 = declared.parts().map(|part| account.ns(part)).sum();
    let any_in_kernel = declared.parts().any(TimeCategory::is_in_kernel);
    let undivided = TimeCategory::Kernel;
    match any_in_kernel && !declared.parts().any(|part| part == undivided) {
        true => own + account.ns(undivided),
        false => own,
    }
}

/// The findings with no more than their parts of the account have, and without those of which that
/// leaves too little. What saves CPU time beside the critical path isn't in the account.
pub(super) fn within_parts(analysis: &Analysis<'_>, found: Vec<Finding>) -> Vec<Finding> {
    let account = &analysis.account;
    let fitted = found.into_iter().filter_map(|mut finding| {
        let declared = declaration(finding.id);
        let most = most_ns(account, declared);
        let is_more = finding.could_win_ns > most;
        finding.could_win_ns = finding.could_win_ns.min(most);
        if finding.could_win_cpu_ns == 0 && finding.could_win_latency_ns == 0 {
            let share = most as f64 / account.wall_ns.max(1) as f64;
            finding.share = finding.share.min(share);
        }
        let is_worth = declared
            .least
            .is_reached(analysis, finding.rank_ns() as f64);
        (!is_more || is_worth).then_some(finding)
    });
    fitted.collect()
}
