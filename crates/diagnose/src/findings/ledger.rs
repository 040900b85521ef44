//! Decides which findings are reported, and which time is assigned to which finding.
//!
//! Causes come before their effects, findings of specific categories before those of whole lives, and then
//! larger findings before smaller ones. Each takes time that no other finding holds. A sufficiently large
//! cause removes its effect.

use std::collections::{BTreeMap, HashMap, HashSet};

use fathom_model::{AccountPart, Finding, FindingId, Saving, TimeCategory};

use super::declaration;
use super::declaration::{Cause, Declaration, EffectOf};
use crate::analysis::Analysis;
use crate::claim::{Atoms, Claim, Piece, Row};
use crate::numbers::time;
use crate::overhead_correction::{on_cpu_ns, takes_cpu};
use crate::sums::Sums;
use crate::thresholds as t;

/// Returns the reported findings, largest first.
pub(super) fn settle(analysis: &Analysis<'_>, claims: impl Iterator<Item = Claim>) -> Vec<Finding> {
    let claims: Vec<Claim> = claims.collect();
    let mut ledger = Ledger::new(analysis);
    let mut found = Vec::new();
    let first = unexplained(worth_reporting(analysis, &claims, 0.0));
    for claim in in_order(first.clone()) {
        found.extend(ledger.grant(claim));
    }
    // A small part of the whole may be most of the time that these findings leave.
    let gone: u64 = found.iter().map(|finding| finding.could_win_ns).sum();
    let is_new = |claim: &Claim| found.iter().all(|finding| finding.id != claim.id);
    let mut more = first;
    more.retain(|claim| !is_new(claim));
    let rest = worth_reporting(analysis, &claims, gone as f64);
    more.extend(rest.into_iter().filter(is_new));
    let more = unexplained(more).into_iter().filter(is_new).collect();
    for claim in in_order(more) {
        found.extend(ledger.grant(claim));
    }
    found.sort_by(|a, b| (b.rank_ns(), a.id).cmp(&(a.rank_ns(), b.id)));
    found
}

/// Returns, for each finding, the largest claim above its threshold. The threshold may also be reached
/// relative to what remains of the wall time without `gone_ns`.
fn worth_reporting(analysis: &Analysis<'_>, all: &[Claim], gone_ns: f64) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for claim in all {
        let least = claim.least.unwrap_or(declaration(claim.id).least);
        let before = claims.iter().position(|other| other.id == claim.id);
        match before {
            _ if !least.is_reached_in_rest(analysis, claim.weight_ns, gone_ns) => {}
            Some(at) if claims[at].rank_ns() >= claim.rank_ns() => {}
            Some(at) => claims[at] = claim.clone(),
            None => claims.push(claim.clone()),
        }
    }
    claims
}

/// Removes claims that are another name for something that was found, and effects of something that was
/// found.
fn unexplained(mut claims: Vec<Claim>) -> Vec<Claim> {
    without(&mut claims, |one, declared, all| {
        (declared.may_be_effect)(one) && is_explained(one, declared.named_for, all)
    });
    without(&mut claims, |one, declared, all| match declared.effect_of {
        EffectOf::Causes(causes) => (declared.may_be_effect)(one) && is_explained(one, causes, all),
        EffectOf::Anything(_) => false,
    });
    without(&mut claims, |one, declared, all| match declared.effect_of {
        EffectOf::Causes(_) => false,
        EffectOf::Anything(one_of) => {
            let mut others = all.iter().filter(|other| other.id != one.id);
            others.any(|it| it.rank_ns().saturating_mul(one_of(it.id)) >= one.rank_ns())
        }
    });
    claims
}

/// Removes the claims for which `goes` returns true. `goes` gets the claim, its declaration and all remaining
/// claims.
fn without(claims: &mut Vec<Claim>, goes: impl Fn(&Claim, &Declaration, &[Claim]) -> bool) {
    let goes: Vec<bool> = claims
        .iter()
        .map(|one| goes(one, declaration(one.id), claims))
        .collect();
    let mut goes = goes.into_iter();
    claims.retain(|_| !goes.next().unwrap_or(false));
}

/// Reports whether one of the causes is present and large enough: a small cause doesn't hide a large effect.
fn is_explained(one: &Claim, causes: &[Cause], all: &[Claim]) -> bool {
    let is_cause = |other: &Claim| {
        let mut causes = causes.iter().filter(|cause| cause.id == other.id);
        causes.any(|cause| other.rank_ns().saturating_mul(cause.one_of) >= one.rank_ns())
    };
    let mut all = all.iter();
    all.any(|other| is_cause(other) && !are_of_other_calls(one, other))
}

/// Reports whether both claims name their calls and have none in common; if so, neither is the other's
/// effect.
fn are_of_other_calls(one: &Claim, other: &Claim) -> bool {
    let calls = |claim: &Claim| -> HashSet<usize> {
        let calls = claim.pieces.iter().flat_map(Piece::calls);
        calls.collect()
    };
    let (one, other) = (calls(one), calls(other));
    !one.is_empty() && !other.is_empty() && one.is_disjoint(&other)
}

/// Returns the claims in the order in which they are granted.
fn in_order(mut claims: Vec<Claim>) -> Vec<Claim> {
    let mut ordered = Vec::new();
    while !claims.is_empty() {
        let waits = |one: &Claim| {
            let mut others = claims.iter().filter(|other| other.id != one.id);
            others.any(|other| {
                declaration(one.id).is_effect_of(other.id) && !are_of_other_calls(one, other)
            })
        };
        let key = |one: &Claim| {
            let is_special = !declaration(one.id).is_of_whole_lives();
            (!waits(one), is_special, one.rank_ns())
        };
        let first = (0..claims.len()).max_by_key(|at| (key(&claims[*at]), std::cmp::Reverse(*at)));
        ordered.push(claims.remove(first.unwrap_or(0)));
    }
    ordered
}

/// Returns the granted time in whole nanoseconds, with the largest part first. Rounding loses nothing of the
/// requested time.
fn in_whole_ns(granted: &Sums, left: &Sums, asked_ns: u64) -> Vec<AccountPart> {
    let all = granted.total().round().min(asked_ns as f64) as u64;
    let whole = |(spent, ns): (TimeCategory, f64)| AccountPart {
        spent,
        ns: ns as u64,
    };
    let mut parts: Vec<AccountPart> = granted.iter().map(whole).collect();
    let mut missing = all.saturating_sub(parts.iter().map(|part| part.ns).sum());
    for part in &mut parts {
        let more = missing.min(left.get(part.spent) as u64 - part.ns);
        part.ns += more;
        missing -= more;
    }
    parts.retain(|part| part.ns > 0);
    parts.sort_by_key(|part| (std::cmp::Reverse(part.ns), part.spent));
    parts
}

/// The time that no finding holds.
struct Ledger<'a> {
    analysis: &'a Analysis<'a>,
    /// The remaining time of the account.
    left: Sums,
    /// The part of each row of calls or waits that findings hold, 0 to 1.
    held: HashMap<Row, f64>,
    /// The finding that holds most of a category.
    holders: BTreeMap<TimeCategory, (FindingId, f64)>,
    /// The remaining CPU time outside the account.
    left_cpu_ns: u64,
}

/// The time that a claim would get.
#[derive(Default)]
struct Grant {
    parts: Sums,
    rows: Vec<(Row, f64)>,
    /// The time requested from each category.
    asked: Sums,
    /// The part of the requested time that other findings hold.
    held_ns: f64,
    /// The first of those findings.
    holder: Option<FindingId>,
}

impl<'a> Ledger<'a> {
    fn new(analysis: &'a Analysis<'a>) -> Self {
        let mut left = Sums::default();
        for part in &analysis.account.parts {
            left.add(part.spent, part.ns as f64);
        }
        Self {
            analysis,
            left,
            held: HashMap::new(),
            holders: BTreeMap::new(),
            left_cpu_ns: analysis.cpu_ns.max(analysis.timed_ns) as u64,
        }
    }

    /// Returns the finding with the part of its claim that no other finding holds; `None` if that part is too
    /// small.
    fn grant(&mut self, claim: Claim) -> Option<Finding> {
        let declared = declaration(claim.id);
        let mut grant = self.granted(declared, &claim);
        let waits_ns = self.take_waits_for_cpu(declared, &mut grant);
        let asked_ns = claim.could_win_ns + waits_ns as u64;
        let sure = 1.0 - (claim.guessed_ns / claim.could_win_ns.max(1) as f64).min(1.0);
        let mut finding = claim.finish();
        let parts = in_whole_ns(&grant.parts, &self.left, asked_ns);
        finding.could_win_ns = parts.iter().map(|part| part.ns).sum();
        finding.could_win_cpu_ns = finding.could_win_cpu_ns.min(self.left_cpu_ns);
        let is_less = finding.could_win_ns < asked_ns;
        let least = declared.least;
        if is_less && !least.is_reached(self.analysis, finding.rank_ns() as f64 - waits_ns) {
            return None;
        }
        let is_on_path = finding.could_win_cpu_ns == 0 && finding.could_win_latency_ns == 0;
        if is_on_path && is_less {
            let own_ns = finding.could_win_ns as f64 - waits_ns;
            finding.share = self.analysis.of_wall(own_ns);
        }
        if let Some(holder) = grant.holder.filter(|_| is_less) {
            let with = format!(
                " {} of that is counted with `{holder}`.",
                time(grant.held_ns)
            );
            finding.statement.push_str(&with);
        }
        if waits_ns > t::LIBRARY_WORTH_REPORTING * finding.could_win_ns as f64 {
            let less = time(waits_ns);
            let without =
                format!(" Without it, the command would also wait {less} less for a CPU.");
            finding.statement.push_str(&without);
        }
        finding.parts = parts;
        finding.saving = Some(self.interval(declared, finding.could_win_ns, sure));
        self.hold(&finding, &grant);
        Some(finding)
    }

    /// Adds waits that go away with the CPU time of a claim: work that isn't done doesn't wait for a CPU. Of
    /// the waits for a CPU and of the time taken by a hypervisor, the same share is removed as of the CPU
    /// time. Returns that time. Findings about whole lives already include such waits.
    fn take_waits_for_cpu(&self, declared: &Declaration, grant: &mut Grant) -> f64 {
        if declared.is_of_whole_lives() {
            return 0.0;
        }
        let account = &self.analysis.account;
        let part = grant.parts.of(takes_cpu) / on_cpu_ns(account).max(1.0);
        let waits = [TimeCategory::Ready, TimeCategory::Stolen].map(|wait| {
            let free = self.left.get(wait) - grant.parts.get(wait);
            let ns = (part * account.ns(wait) as f64).min(free);
            grant.parts.add(wait, ns);
            ns
        });
        waits.iter().sum()
    }

    /// Returns the interval of a saving. `sure` is the part of it that was observed to belong to the cause, 0
    /// to 1.
    fn interval(&self, declared: &Declaration, ns: u64, sure: f64) -> Saving {
        let (low, high) = declared.mechanism.spread();
        let low = low.min(sure);
        let wall_ns = self.analysis.account.wall_ns;
        Saving {
            ns,
            low_ns: (ns as f64 * low) as u64,
            high_ns: ((ns as f64 * high) as u64).min(wall_ns).max(ns),
        }
    }

    fn granted(&self, declared: &Declaration, claim: &Claim) -> Grant {
        let mut grant = Grant::default();
        let asked_ns = claim.could_win_ns as f64;
        let known: f64 = claim.pieces.iter().map(|piece| piece.ns).sum();
        let scale = (asked_ns / known.max(1.0)).min(1.0);
        let mut rest = asked_ns - known * scale;
        for piece in &claim.pieces {
            rest += self.take(piece, scale, &mut grant);
        }
        if declared.is_of_whole_lives() {
            // The claim's time has no specific category, so any remaining time will do.
            for part in declared.parts() {
                let free = self.left.get(part) - grant.parts.get(part);
                let own = rest.min(free).max(0.0);
                rest -= own - self.take_of(part, own, &mut grant);
            }
        }
        for part in declared.parts() {
            rest = self.take_of(part, rest, &mut grant);
        }
        grant
    }

    /// Takes the free part of a piece, and returns how much of the piece isn't in the account.
    fn take(&self, piece: &Piece, scale: f64, grant: &mut Grant) -> f64 {
        let asked_ns = piece.ns * scale;
        let (rows, part) = match &piece.of {
            Atoms::Of(part) => return self.take_of(*part, asked_ns, grant),
            Atoms::Rows { rows, part } => (rows, part.max(f64::MIN_POSITIVE)),
        };
        let spent = rows.iter().map(|row| match *row {
            Row::Call(row) => (
                self.analysis.kind_of_row(row),
                self.analysis.cost_of_row(row),
            ),
            Row::Wait(row) => self.analysis.wait_of_row(row),
        });
        let (spent, costs): (Vec<TimeCategory>, Vec<f64>) = spent.unzip();
        let all: f64 = costs.iter().sum();
        if all <= 0.0 {
            return asked_ns;
        }
        let mut beyond = 0.0;
        for ((row, cost), spent) in rows.iter().zip(costs).zip(spent) {
            let ns = asked_ns * cost / all;
            let held = self.held.get(row).copied().unwrap_or(0.0);
            let free = (1.0 - held).clamp(0.0, part);
            let own = ns * free / part;
            grant.rows.push((*row, free));
            self.is_held(spent, ns - own, grant);
            beyond += self.take_of(spent, own, grant);
        }
        beyond
    }

    /// Takes up to this much free time of a category, and returns how much of it was never in the account. If
    /// the kernel's time isn't split, its single category is used for each kernel category.
    fn take_of(&self, part: TimeCategory, ns: f64, grant: &mut Grant) -> f64 {
        let undivided = part.is_in_kernel().then_some(TimeCategory::Kernel);
        let mut rest = ns;
        for part in std::iter::once(part).chain(undivided) {
            let whole = self.analysis.account.ns(part) as f64 - grant.asked.get(part);
            let there = rest.min(whole).max(0.0);
            let free = (self.left.get(part) - grant.parts.get(part)).clamp(0.0, there);
            grant.asked.add(part, there);
            grant.parts.add(part, free);
            self.is_held(part, there - free, grant);
            rest -= there;
        }
        rest
    }

    /// Records that other findings hold this much of the requested time.
    fn is_held(&self, part: TimeCategory, ns: f64, grant: &mut Grant) {
        if ns >= 1.0 {
            grant.held_ns += ns;
            let holder = self.holders.get(&part).map(|(id, _)| *id);
            grant.holder = grant.holder.or(holder);
        }
    }

    fn hold(&mut self, finding: &Finding, grant: &Grant) {
        for part in &finding.parts {
            let ns = part.ns as f64;
            self.left.take(part.spent, ns);
            let holder = self.holders.entry(part.spent).or_insert((finding.id, 0.0));
            if ns > holder.1 {
                *holder = (finding.id, ns);
            }
        }
        for (row, part) in &grant.rows {
            *self.held.entry(*row).or_default() += part;
        }
        self.left_cpu_ns -= finding.could_win_cpu_ns;
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId as Id;

    use super::*;
    use crate::fake::{Fake, MS};

    /// Settles claims of these numbers of milliseconds, with their pieces. The run takes one second: 500 ms
    /// are 200,000 reads and 250 ms are sleeps.
    fn settled(claims: &[(Id, u64, Vec<Piece>)]) -> Vec<(&'static str, u64)> {
        let found = findings(claims);
        let each = found.iter();
        each.map(|it| (it.id.as_str(), it.could_win_ns / MS))
            .collect()
    }

    fn findings(claims: &[(Id, u64, Vec<Piece>)]) -> Vec<Finding> {
        let mut fake = Fake::new(1000);
        fake.calls("read", Some(3), 200_000, 100, 2_500);
        fake.calls("write", Some(1), 1_000, 100, 100);
        fake.waits(
            Some("nanosleep"),
            None,
            fathom_trace::Cause::Asleep,
            1,
            250_000,
        );
        let timed = [fake.run()];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        let claims = claims.iter().map(|(id, ms, pieces)| {
            let statement = "It took 30 % of the wall time.".to_owned();
            Claim::new(*id, &analysis, (ms * MS) as f64, statement).pieces(pieces.clone())
        });
        settle(&analysis, claims)
    }

    fn of_reads(part: f64, ms: u64) -> Vec<Piece> {
        let rows = vec![Row::Call(0)];
        vec![Piece {
            of: Atoms::Rows { rows, part },
            ns: (ms * MS) as f64,
        }]
    }

    #[test]
    fn two_findings_share_no_call() {
        let both = [
            (Id::SmallFileIo, 300, of_reads(0.6, 300)),
            (Id::UnbufferedInput, 250, of_reads(0.5, 250)),
        ];
        // Two fifths of the calls are left; they took 200 ms.
        let expected = [("small-file-io", 300), ("unbuffered-input", 200)];
        assert_eq!(settled(&both), expected);
        let cut = &findings(&both)[1];
        assert!((cut.share - 0.2).abs() < 0.001, "{}", cut.share);
        let with = "50.0 ms of that is counted with `small-file-io`.";
        assert!(cut.statement.ends_with(with), "{}", cut.statement);
    }

    #[test]
    fn two_findings_share_no_wait() {
        let of_sleeps = |ms: u64| {
            let rows = vec![Row::Wait(0)];
            let of = Atoms::Rows { rows, part: 1.0 };
            let ns = (ms * MS) as f64;
            vec![Piece { of, ns }]
        };
        let both = [
            (Id::Sleeping, 250, of_sleeps(250)),
            (Id::WaitingForNetwork, 200, of_sleeps(200)),
        ];
        assert_eq!(settled(&both), [("sleeping", 250)]);
    }

    #[test]
    fn of_several_variants_the_largest_that_is_worth_it_is_reported() {
        let all = [
            (Id::UnbufferedInput, 100, Vec::new()),
            (Id::UnbufferedInput, 200, Vec::new()),
            (Id::Sleeping, 100, Vec::new()),
        ];
        // The threshold for waiting is 15 %.
        assert_eq!(settled(&all), [("unbuffered-input", 200)]);
    }

    #[test]
    fn what_is_most_of_the_rest_is_reported_too() {
        let with = |first_ms: u64, second_ms: u64| {
            let all = [
                (Id::UnbufferedInput, first_ms, of_reads(1.0, first_ms)),
                (Id::Sleeping, second_ms, Vec::new()),
            ];
            let found = settled(&all);
            found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
        };
        // This is a tenth of the total, and a fifth of what is left.
        assert_eq!(with(500, 100), ["unbuffered-input", "sleeping"]);
        assert_eq!(with(100, 100), ["unbuffered-input"]);
        assert_eq!(with(500, 70), ["unbuffered-input"]);
    }

    #[test]
    fn a_cause_takes_its_time_before_a_larger_effect() {
        let both = [
            (Id::SmallFileIo, 450, of_reads(0.9, 450)),
            // This is less than a third of the other finding, so both are reported.
            (Id::Rereading, 140, of_reads(0.28, 140)),
        ];
        let expected = [("small-file-io", 360), ("rereading", 140)];
        assert_eq!(settled(&both), expected);
    }

    #[test]
    fn who_has_none_of_a_causes_calls_is_no_effect_of_it() {
        let of = |row| {
            let rows = vec![Row::Call(row)];
            let of = Atoms::Rows { rows, part: 1.0 };
            let ns = (100 * MS) as f64;
            vec![Piece { of, ns }]
        };
        let both = |row| {
            let claims = [
                (Id::ProcessSpawning, 990, of(row)),
                (Id::LineBufferedOutput, 100, of(0)),
            ];
            let found = settled(&claims);
            found.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(both(0), ["process-spawning"]);
        assert_eq!(both(1), ["process-spawning", "line-buffered-output"]);
    }

    #[test]
    fn what_is_left_of_a_finding_may_be_too_little() {
        let both = [
            (Id::SmallFileIo, 470, of_reads(0.94, 470)),
            (Id::UnbufferedInput, 400, of_reads(0.8, 400)),
        ];
        assert_eq!(settled(&both), [("small-file-io", 470)]);
    }

    #[test]
    fn a_finding_has_no_more_than_its_parts_and_a_whole_life_takes_what_is_left() {
        let expected = [("sleeping", 250)];
        assert_eq!(settled(&[(Id::Sleeping, 400, Vec::new())]), expected);
        let both = [
            (Id::Sleeping, 250, Vec::new()),
            (Id::WaitingForChild, 900, Vec::new()),
        ];
        let expected = [("waiting-for-child", 750), ("sleeping", 250)];
        assert_eq!(settled(&both), expected);
    }
}
