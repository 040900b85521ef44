//! Counts the system calls a server makes for each request, in a separate round because counting slows the
//! server down.

use fathom_measure::interrupt;
use fathom_measure::server::Server;
use fathom_model::ServerCalls;
use fathom_trace::CallCount;

use super::rounds::{Load, Rounds};
use super::running::RunningServer;
use crate::{ConductError, Observer};

/// Runs one step with this load; returns `None` for a server that Fathom didn't start.
///
/// # Errors
/// If the server ends.
pub(super) fn count(
    rounds: &Rounds<'_>,
    up: &mut RunningServer,
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

/// Returns the numbers of requests and calls; `None` if it was interrupted.
fn counted(
    rounds: &Rounds<'_>,
    up: &RunningServer,
    server: &Server,
    load: Load,
    observer: &mut dyn Observer,
) -> Result<Counted, ConductError> {
    let not_allowed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "counting them needs root or CAP_PERFMON".to_string()
        }
        _ => format!("the kernel doesn't count them: {error}"),
    };
    let count = match CallCount::begin(&server.processes()) {
        Ok(count) => count,
        Err(error) => return Ok(Err(not_allowed(error))),
    };
    // There is no warm-up, because its calls would be counted too.
    let done = rounds.unwarmed(up, load, observer)?;
    if done.outcome.stopped || interrupt::stopped() {
        return Ok(Ok(None));
    }
    let calls = count.so_far().map_err(not_allowed);
    Ok(calls.map(|calls| Some((done.outcome.totals.completed, calls))))
}
