//! The line with the result of running the command without a cause, or with the cause delayed.

use fathom_model::{Finding, Metric, Proof, ProofVerdict, SavedMilliseconds, Slope};

use crate::TimeUnit;
use crate::line::Tone;
use crate::quantity::decimals_for;

/// Returns the line; `None` if no such run was requested.
pub(crate) fn line(finding: &Finding) -> Option<(Tone, String)> {
    let proof = finding.proof.as_ref()?;
    let reason = proof.reason.as_deref().unwrap_or_default();
    if let Some(slope) = &proof.slope {
        return Some(slope_line(slope));
    }
    Some(match (proof.verdict, proof.saves_ms) {
        (ProofVerdict::Proved, Some(saves)) => (Tone::Good, proved(proof, saves, finding)),
        (ProofVerdict::Refuted, Some(saves)) => {
            (Tone::Notice, format!("refuted: {}", change(proof, saves)))
        }
        (ProofVerdict::Undecided, Some(saves)) => {
            let change = change(proof, saves);
            (Tone::Notice, format!("undecided: {change}; {reason}"))
        }
        (ProofVerdict::NotPossible, _) => (
            Tone::Quiet,
            format!("can't be tried from outside: {reason}"),
        ),
        (ProofVerdict::Void, _) => (Tone::Notice, format!("void: {reason}")),
        (ProofVerdict::Undecided, None) => (Tone::Notice, format!("undecided: {reason}")),
        (ProofVerdict::Proved, None) => (Tone::Good, "proved".to_owned()),
        (ProofVerdict::Refuted, None) => (Tone::Notice, "refuted".to_owned()),
    })
}

/// Formats how much of a delay appeared in the total time: `on the path: 0.97 (0.93 to 1.01)`.
pub(crate) fn slope_line(slope: &Slope) -> (Tone, String) {
    let text = |value: f64| match format!("{value:.2}") {
        zero if zero == "-0.00" => "0.00".to_owned(),
        text => text,
    };
    let [value, low, high] = [slope.value, slope.low, slope.high].map(text);
    let share = format!("{value} ({low} to {high})");
    match slope.is_on_the_path() {
        Some(true) => (Tone::Good, format!("on the path: {share}")),
        Some(false) => (
            Tone::Notice,
            format!("off the path: {share}; making it faster gains nothing"),
        ),
        None => {
            let why = match slope.is_disturbed() {
                true => {
                    "the command slowed down by more than the delay: the machine is busy".to_owned()
                }
                false => format!("{} rounds were too few", slope.rounds),
            };
            (
                Tone::Notice,
                format!("undecided: {share} on the path; {why}"),
            )
        }
    }
}

/// Returns whether the command takes as long without the cause as with it.
pub(super) fn is_refuted(finding: &Finding) -> bool {
    let proof = finding.proof.as_ref();
    proof.is_some_and(|proof| proof.verdict == ProofVerdict::Refuted)
}

/// Formats a proof: `proved: 715 -> 258 ms without it (saves 440 to 470; predicted 550)`.
fn proved(proof: &Proof, saves: SavedMilliseconds, finding: &Finding) -> String {
    let with = proof.with_ms.unwrap_or_default() / 1e3;
    let without = proof.without_ms.unwrap_or_default() / 1e3;
    let unit = TimeUnit::fitting(with);
    let in_unit = |seconds: f64| seconds / unit.seconds();
    // Both ends and the prediction get the number of decimals with which the larger end has two digits.
    let ends = [saves.low, saves.high].map(|end| in_unit(end / 1e3));
    let decimals = decimals_for(ends[1], 3).min(decimals_for(in_unit(with), 3));
    let text = |value: f64, decimals: usize| format!("{value:.decimals$}");
    let times = [with, without].map(|time| text(in_unit(time), decimals_for(in_unit(with), 3)));
    let [low, high] = ends.map(|end| text(end, decimals));
    let (of_cpu, predicted) = match proof.metric {
        Some(Metric::Cpu) => (" of CPU time", finding.could_win_cpu_ns),
        _ => ("", finding.could_win_ns),
    };
    let predicted = match predicted {
        0 => String::new(),
        ns => format!("; predicted {}", text(in_unit(ns as f64 / 1e9), decimals)),
    };
    format!(
        "proved: {} -> {} {}{of_cpu} without it (saves {low} to {high}{predicted})",
        times[0],
        times[1],
        unit.symbol()
    )
}

/// Formats the change of the time without the cause: `-1 to +2 %`.
fn change(proof: &Proof, saves: SavedMilliseconds) -> String {
    let whole = proof.with_ms.unwrap_or_default().max(f64::MIN_POSITIVE);
    let ends = [-saves.high, -saves.low].map(|change| 100.0 * change / whole);
    let decimals = match ends.iter().all(|end| end.abs() < 1.0) {
        true => 1,
        false => 0,
    };
    let [low, high] = ends.map(|end| match format!("{end:+.decimals$}") {
        zero if zero.trim_start_matches(['+', '-', '0', '.']).is_empty() => "0".to_owned(),
        text => text,
    });
    format!("{low} to {high} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::quote::tests::finding;

    fn said(verdict: ProofVerdict, saves: Option<[f64; 2]>, reason: Option<&str>) -> String {
        let finding = Finding {
            could_win_ns: 550_000_000,
            proof: Some(Proof {
                verdict,
                intervention: Some("no-sleep".to_owned()),
                with_ms: saves.map(|_| 715.2),
                without_ms: saves.map(|_| 258.1),
                saves_ms: saves.map(|[low, high]| SavedMilliseconds {
                    value: (low + high) / 2.0,
                    low,
                    high,
                }),
                slope: None,
                metric: None,
                reason: reason.map(str::to_owned),
            }),
            ..finding()
        };
        line(&finding).unwrap().1
    }

    #[test]
    fn each_verdict_has_its_line() {
        assert_eq!(
            said(ProofVerdict::Proved, Some([440.2, 469.9]), None),
            "proved: 715 -> 258 ms without it (saves 440 to 470; predicted 550)"
        );
        assert_eq!(
            said(ProofVerdict::Refuted, Some([-14.4, 7.2]), None),
            "refuted: -1 to +2 %"
        );
        assert_eq!(
            said(ProofVerdict::Refuted, Some([-1.0, 0.1]), None),
            "refuted: 0 to +0.1 %"
        );
        assert_eq!(
            said(
                ProofVerdict::Undecided,
                Some([-72.0, 72.0]),
                Some("8 rounds")
            ),
            "undecided: -10 to +10 %; 8 rounds"
        );
        assert_eq!(
            said(
                ProofVerdict::NotPossible,
                None,
                Some("it is in its own code")
            ),
            "can't be tried from outside: it is in its own code"
        );
        assert_eq!(said(ProofVerdict::Void, None, Some("why")), "void: why");
    }

    #[test]
    fn a_slope_says_where_it_lies() {
        let said = |value: f64, low: f64, high: f64| {
            let slope = Slope {
                of: "slope:writes".to_owned(),
                value,
                low,
                high,
                rounds: 12,
                added_ms: vec![0.0, 8.0, 16.0, 24.0],
            };
            slope_line(&slope).1
        };
        assert_eq!(said(0.97, 0.93, 1.01), "on the path: 0.97 (0.93 to 1.01)");
        assert_eq!(
            said(-0.001, -0.02, 0.03),
            "off the path: 0.00 (-0.02 to 0.03); making it faster gains nothing"
        );
        assert_eq!(
            said(0.4, -0.1, 0.9),
            "undecided: 0.40 (-0.10 to 0.90) on the path; 12 rounds were too few"
        );
        let said = said(2.2, 2.1, 2.4);
        assert!(said.ends_with("the machine is busy"), "{said}");
    }
}
