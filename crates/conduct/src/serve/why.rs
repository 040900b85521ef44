//! `--why`: loads each server once more and observes it meanwhile. The measurements are not affected.

use std::time::Duration;

use fathom_diagnose::diagnose;
use fathom_measure::server::Server;
use fathom_model::ServerWhy;
use fathom_trace::{Target, Tier, Trace, TraceError};

use super::plan::ServePlan;
use super::rounds::{Load, Rounds};
use super::running::RunningServer;
use crate::why::{observation_of, observe_process};
use crate::{ConductError, Event, Observer};

/// The maximum number of calls and functions to keep; those that took the most time are kept.
const MOST_ROWS: usize = 20;

/// How much longer the load lasts than the observation: starting takes 50 to 150 ms, and the kernel's buffers
/// are read afterwards.
const BESIDE: Duration = Duration::from_millis(700);

/// Returns the load under which servers are observed: the middle closed loop, or the open one.
pub(super) fn load(plan: &ServePlan, open: Option<f64>) -> Load {
    let closed = &plan.connections;
    match (closed.get(closed.len() / 2), open) {
        (Some(connections), _) => Load {
            connections: *connections,
            rate: None,
        },
        (None, rate) => Load {
            connections: plan.most_connections(),
            rate,
        },
    }
}

/// Loads a server for the length of a step and observes its process tree meanwhile. Returns `None` if Fathom
/// didn't start the server, or if a signal ended the step.
///
/// # Errors
/// If the server can't be loaded or observed.
pub(super) fn observe(
    rounds: &Rounds<'_>,
    up: &mut RunningServer,
    index: usize,
    load: Load,
    observer: &mut dyn Observer,
) -> Result<Option<ServerWhy>, ConductError> {
    let Some(pid) = up.server.as_ref().map(root) else {
        return Ok(None);
    };
    let (connections, rate) = (load.connections, load.rate);
    observer.on(Event::LoadStep {
        server: index,
        connections,
        rate,
        round: 0,
        rounds: 1,
    });
    let (plan, stop) = (rounds.plan, rounds.stop);
    let (done, trace) = std::thread::scope(|scope| {
        let observing = scope.spawn(move || observed(pid, plan));
        let done = rounds.step_of(plan.step + BESIDE, up, load, 0, observer);
        let observed = observing.join();
        (
            done,
            observed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    let (done, trace) = (done?, trace?);
    up.check_alive()?;
    if done.outcome.stopped || stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    Ok(Some(of(
        trace,
        load,
        done.outcome.totals.requests_per_second(),
    )))
}

/// Returns the first process of a server: the one that was started, unless it has ended.
fn root(server: &Server) -> u32 {
    let own = server.pid();
    let processes = server.processes();
    match processes.contains(&own) {
        true => own,
        false => processes.first().copied().unwrap_or(own),
    }
}

/// Waits for the load to start, then observes for the length of a step.
fn observed(pid: u32, plan: &ServePlan) -> Result<Trace, ConductError> {
    let process = Target::find(pid).map_err(TraceError::from)?;
    std::thread::sleep(plan.warmup());
    observe_process(&process, plan.step, None, None, &mut |_: Event<'_>| {})
}

fn of(trace: Trace, load: Load, requests_per_second: f64) -> ServerWhy {
    let seconds = trace.duration_ns as f64 / 1e9;
    let tier = trace.tier.map_or("none", Tier::name).to_owned();
    let not_visible = trace.not_visible.clone();
    let observation = observation_of(trace, false);
    let diagnosis = diagnose(&observation);
    let (mut calls, mut own_code) = (diagnosis.calls, diagnosis.own_code);
    calls.truncate(MOST_ROWS);
    if let Some(code) = &mut own_code {
        code.functions.truncate(MOST_ROWS);
    }
    ServerWhy {
        connections: load.connections,
        rate_per_second: load.rate,
        tier,
        seconds,
        requests_per_second,
        account: diagnosis.account,
        calls,
        own_code,
        not_visible,
    }
}
