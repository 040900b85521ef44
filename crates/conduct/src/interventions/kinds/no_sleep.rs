//! Makes sleeping calls return immediately.

use fathom_measure::Answered;
use fathom_model::FindingId;

use crate::interventions::Asks;
use crate::interventions::observed::asleep_in;
use crate::interventions::{Case, Change, Intervention, Takes, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-sleep",
    takes_away: "pauses: nanosleep, and waits without a descriptor, return at once",
    needs: "no privileges; works for static programs too, but not for the timeouts of futex and epoll_wait, with which \
         Go, Java and Node sleep",
    can_break: "a program that waits for another one by sleeping and checking again will check without pausing",
    findings: &[FindingId::Sleeping],
    takes: Takes::All,
    arrange,
    ..USUAL
};

/// The part of the finding's predicted saving that must be spent in the answered calls.
const ENOUGH: f64 = 0.5;

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let is_pause = |call: &str| {
        matches!(
            call,
            "nanosleep" | "clock_nanosleep" | "select" | "pselect6" | "poll" | "ppoll"
        )
    };
    let asleep = asleep_in(case.trace, is_pause) as f64;
    if let Asks::For { finding, .. } = case.asks
        && asleep < ENOUGH * finding.could_win_ns as f64
    {
        return Err(
            "it pauses in calls that have a timeout but that another thread can end early, such as futex"
                .to_owned(),
        );
    }
    Ok(Change {
        calls: Some(Answered::PAUSES),
        ..Change::default()
    })
}
