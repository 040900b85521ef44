//! One step of load on one server: the client on a thread of its own, and what both sides spent.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use fathom_load::clock::now;
use fathom_load::{Client, Failing, Outcome, Step, Task, Tick};
use fathom_measure::MeasureError;
use fathom_measure::server::{Server, TreeUsage};

use super::neighbours::Busy;
use crate::{ConductError, Event, Observer};

/// What a step came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// What the server's processes used in the step, drain included; `None` where they aren't
    /// Fathom's.
    pub(super) used: Option<TreeUsage>,
    /// What they had used in all at its end.
    pub(super) total: Option<TreeUsage>,
    /// CPU time of others as a share of all CPUs.
    pub(super) neighbours_share: f64,
    /// From the begin to the end of the step, drain included, nanoseconds.
    pub(super) lasted: u64,
    /// Why not all connections could be made beforehand.
    pub(super) unconnected: Option<Failing>,
}

/// How a step is made.
pub(super) struct StepPlan {
    pub(super) connections: u32,
    pub(super) warmup: Option<Step>,
    pub(super) step: Step,
    pub(super) cpu: Option<usize>,
}

/// Connects, warms up, measures.
///
/// # Errors
/// When there can be no such client.
pub(super) fn run(
    plan: &StepPlan,
    task: &Arc<Task>,
    server: Option<&Server>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Done, ConductError> {
    let (ticks, seen) = channel::<Tick>();
    let measured = std::thread::scope(|scope| {
        let client = scope.spawn(move || {
            client(plan, task, server, stop, &mut |tick| {
                // Nobody may want to hear of it.
                let _ = ticks.send(tick);
            })
        });
        // Ends when the client has.
        for tick in seen {
            observer.on(Event::LoadSecond(tick));
        }
        client.join()
    });
    let measured = measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    measured.map_err(|error| {
        MeasureError::Spawn {
            name: "the client".to_string(),
            error,
        }
        .into()
    })
}

fn client(
    plan: &StepPlan,
    task: &Arc<Task>,
    server: Option<&Server>,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(Tick),
) -> std::io::Result<Done> {
    if let Some(cpu) = plan.cpu {
        // On another CPU it works as well.
        fathom_trace::run_on(&[cpu]);
    }
    fathom_load::clock::be_punctual();
    // Beside the sockets some for everything else. All servers have been started.
    fathom_load::allow_descriptors(u64::from(plan.connections) + 128);
    let mut client = Client::new(Arc::clone(task), plan.connections as usize)?;
    let unconnected = client.connect(stop)?.err();
    if let Some(warmup) = &plan.warmup {
        client.run(warmup, stop, &mut |_| {})?;
    }
    let before = server.map(Server::usage);
    let (busy, begun) = (Busy::now(), now());
    let outcome = client.run(&plan.step, stop, tick)?;
    let lasted = now() - begun;
    let total = server.map(Server::usage);
    let used = before
        .zip(total)
        .map(|(before, after)| less(&after, &before));
    let own_ns = busy.own_since() + used.map_or(0, |used| used.cpu_ns);
    Ok(Done {
        neighbours_share: busy.others_since(own_ns),
        outcome,
        used,
        total,
        lasted,
        unconnected,
    })
}

pub(super) fn less(after: &TreeUsage, before: &TreeUsage) -> TreeUsage {
    let less = |of: fn(&TreeUsage) -> u64| of(after).saturating_sub(of(before));
    TreeUsage {
        cpu_ns: less(|usage| usage.cpu_ns),
        run_queue_wait_ns: less(|usage| usage.run_queue_wait_ns),
        voluntary_switches: less(|usage| usage.voluntary_switches),
        involuntary_switches: less(|usage| usage.involuntary_switches),
        major_faults: less(|usage| usage.major_faults),
        read_bytes: less(|usage| usage.read_bytes),
        ..*after
    }
}
