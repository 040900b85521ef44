//! How many system calls does a server make for each request? In a round of its own: counting
//! slows it.

use fathom_measure::interrupt;
use fathom_measure::server::Server;
use fathom_model::ServerCalls;
use fathom_trace::CallCount;

use super::rounds::{Load, Rounds};
use super::running::Up;
use crate::{ConductError, Observer};

/// One step with this load; `None` for a server that isn't Fathom's.
///
/// # Errors
/// When the server ends.
pub(super) fn count(
    rounds: &Rounds<'_>,
    up: &mut Up,
    load: Load,
    observer: &mut dyn Observer,
) -> Result<Option<ServerCalls>, ConductError> {
    let Some(server) = &up.server else {
        return Ok(None);
    };
    let mut calls = ServerCalls {
        connections: load.connections,
        rate_per_second: load.rate,
        requests: 0,
        per_request: None,
        why_not: None,
    };
    match counted(rounds, up, server, load, observer)? {
        Ok(None) => return Ok(None),
        Ok(Some((requests, count))) => {
            calls.requests = requests;
            calls.per_request = (requests > 0).then(|| count as f64 / requests as f64);
        }
        Err(why) => calls.why_not = Some(why),
    }
    up.check_alive()?;
    Ok(Some(calls))
}

type Counted = Result<Option<(u64, u64)>, String>;

/// Requests and calls; nothing if it was interrupted.
fn counted(
    rounds: &Rounds<'_>,
    up: &Up,
    server: &Server,
    load: Load,
    observer: &mut dyn Observer,
) -> Result<Counted, ConductError> {
    let not_allowed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "counting them takes root or CAP_PERFMON".to_string()
        }
        _ => format!("the kernel doesn't count them: {error}"),
    };
    let count = match CallCount::begin(&server.processes()) {
        Ok(count) => count,
        Err(error) => return Ok(Err(not_allowed(error))),
    };
    // No warm-up: its calls would be counted too.
    let done = rounds.unwarmed(up, load, observer)?;
    if done.outcome.stopped || interrupt::stopped() {
        return Ok(Ok(None));
    }
    let calls = count.so_far().map_err(not_allowed);
    Ok(calls.map(|calls| Some((done.outcome.totals.completed, calls))))
}
