//! Lets sockets send small messages without waiting for an acknowledgement.

use fathom_model::FindingId;

use super::join_calls::preloaded;
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-delay",
    takes_away: "waiting for acknowledgements before small messages: a library sets TCP_NODELAY for all TCP \
         sockets (LD_PRELOAD)",
    needs: "a dynamically linked program that makes its calls through the C library",
    can_break: "more and smaller packets are sent",
    findings: &[FindingId::DelayedAckStall, FindingId::WaitingForNetwork],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    Ok(preloaded(case)?.and("FATHOM_PRELOAD", "no-delay"))
}
