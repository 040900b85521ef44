//! Makes pipes larger.

use fathom_model::FindingId;
use fathom_trace::DescriptorKind;

use super::join_calls::preloaded;
use crate::interventions::{Asks, Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "larger-pipes",
    takes_away: "waiting because a pipe is full or empty: a library gives pipes room for 1 MiB instead of 64 KiB \
         (LD_PRELOAD)",
    needs: "a dynamically linked program that makes its calls through the C library",
    can_break: "a program may continue although its reader has already stopped",
    findings: &[FindingId::WaitingForOutput, FindingId::WaitingForInput],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let is_pipe = |kind: &DescriptorKind| {
        matches!(kind, DescriptorKind::Pipe(_) | DescriptorKind::NamedPipe(_))
    };
    let mut files = case.trace.files.iter();
    if let Asks::For { .. } = case.asks
        && !files.any(|row| is_pipe(&row.name))
    {
        return Err("it uses no pipe".to_owned());
    }
    Ok(preloaded(case)?.and("FATHOM_PRELOAD", "pipes"))
}
