//! One step of load on one server: runs clients on their own threads, and measures what both sides used.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};

use fathom_load::clock::now;
use fathom_load::{Arrivals, Client, Failing, Making, Open, Outcome, Step, Task, Tick};
use fathom_measure::MeasureError;
use fathom_measure::server::{Server, TreeUsage};

use super::neighbours::Busy;
use crate::{ConductError, Event, Observer};

/// The outcome of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// The resources that the server's processes used during the step, including the drain; `None` if Fathom
    /// didn't start them.
    pub(super) used: Option<TreeUsage>,
    /// The resources that they had used in total by the end of the step.
    pub(super) total: Option<TreeUsage>,
    /// The CPU time of other programs as a share of all CPUs.
    pub(super) neighbours_share: f64,
    /// The duration of the step in nanoseconds, including the drain.
    pub(super) lasted: u64,
    /// How long it took to establish connections, including those of the warm-up.
    pub(super) making: Making,
    /// Why not all connections could be established in advance.
    pub(super) unconnected: Option<Failing>,
}

/// How to run a step.
pub(super) struct StepPlan<'p> {
    pub(super) connections: u32,
    pub(super) warmup: Option<Step>,
    pub(super) step: Step,
    /// The number of generator threads, and their CPUs if reserved.
    pub(super) threads: u32,
    pub(super) cpus: &'p [usize],
}

/// The work of one generator thread.
struct Part {
    connections: u32,
    warmup: Option<Step>,
    step: Step,
    cpu: Option<usize>,
}

impl StepPlan<'_> {
    /// Splits the work so that every thread has a connection.
    fn parts(&self) -> Vec<Part> {
        let threads = self.threads.clamp(1, self.connections.max(1));
        let of = |thread: u32| Part {
            connections: self.connections / threads
                + u32::from(thread < self.connections % threads),
            warmup: self.warmup.map(|step| share(step, thread, threads)),
            step: share(self.step, thread, threads),
            cpu: self.cpus.get(thread as usize).copied(),
        };
        (0..threads).map(of).collect()
    }
}

/// Returns one thread's part of a step. With a fixed rate, the threads send requests alternately.
fn share(step: Step, thread: u32, threads: u32) -> Step {
    let part = |open: Open| Open {
        rate: open.rate.among(threads),
        arrivals: match open.arrivals {
            Arrivals::Poisson(seed) => Arrivals::Poisson(seed ^ (u64::from(thread) << 48)),
            Arrivals::Constant => Arrivals::Constant,
        },
        turn: f64::from(thread) / f64::from(threads),
    };
    Step {
        open: step.open.map(part),
        ..step
    }
}

/// Connects, warms up and measures.
///
/// # Errors
/// If no such client can be created.
pub(super) fn run(
    plan: &StepPlan<'_>,
    task: &Arc<Task>,
    server: Option<&Server>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Done, ConductError> {
    // A few descriptors in addition to the sockets. All servers are already running.
    fathom_load::allow_descriptors(u64::from(plan.connections) + 128);
    let parts = plan.parts();
    let together = Barrier::new(parts.len());
    let (ticks, seen) = channel::<(usize, Tick)>();
    let measured = std::thread::scope(|scope| {
        let mut clients = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let (ticks, together) = (ticks.clone(), &together);
            let tick = move |tick| {
                // The receiver may already be gone.
                let _ = ticks.send((number, tick));
            };
            // Only the first client watches the server.
            let server = server.filter(|_| number == 0);
            clients.push(scope.spawn(move || client(part, task, server, together, stop, tick)));
        }
        drop(ticks);
        watch(&seen, parts.len(), observer);
        let joined = clients.into_iter().map(|client| {
            let measured = client.join();
            measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect::<std::io::Result<Vec<Done>>>()
    });
    let measured = measured.map_err(|error| MeasureError::Spawn {
        name: "the client".to_string(),
        error,
    })?;
    let all = measured.into_iter().reduce(|mut all, other| {
        all.outcome.beside(&other.outcome);
        all.making.add(&other.making);
        all.unconnected = all.unconnected.or(other.unconnected);
        all
    });
    Ok(all.unwrap_or_default())
}

/// Passes on the totals of all clients each time the first one reports, until all have ended.
fn watch(seen: &Receiver<(usize, Tick)>, clients: usize, observer: &mut dyn Observer) {
    let mut last = vec![None::<Tick>; clients];
    for (number, tick) in seen {
        last[number] = Some(tick);
        if number == 0 {
            let sum = |of: fn(&Tick) -> u64| last.iter().flatten().map(of).sum::<u64>();
            observer.on(Event::LoadSecond(Tick {
                elapsed: tick.elapsed,
                completed: sum(|tick| tick.completed),
                failed: sum(|tick| tick.failed),
            }));
        }
    }
}

fn client(
    part: &Part,
    task: &Arc<Task>,
    server: Option<&Server>,
    together: &Barrier,
    stop: &AtomicBool,
    mut tick: impl FnMut(Tick),
) -> std::io::Result<Done> {
    if let Some(cpu) = part.cpu {
        // If this fails, the thread runs on another CPU, which works as well.
        fathom_trace::run_on(&[cpu]);
    }
    fathom_load::clock::be_punctual();
    let ready = ready(part, task, stop);
    // A client that failed still has to wait here, because the others wait for it.
    together.wait();
    let before = server.map(Server::usage);
    let running = server.is_none().then_some(&task.address);
    let (busy, begun) = (Busy::now(running), now());
    together.wait();
    let done = ready.and_then(|(mut client, unconnected)| {
        let outcome = client.run(&part.step, stop, &mut tick)?;
        Ok((outcome, client.making, unconnected))
    });
    together.wait();
    let lasted = now() - begun;
    let total = server.map(Server::usage);
    let (outcome, making, unconnected) = done?;
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
        making,
        unconnected,
    })
}

/// Returns a connected and warmed-up client, and why not all connections could be established.
fn ready(
    part: &Part,
    task: &Arc<Task>,
    stop: &AtomicBool,
) -> std::io::Result<(Client, Option<Failing>)> {
    let mut client = Client::new(Arc::clone(task), part.connections as usize)?;
    // A spinning client would take CPU time from servers on the same CPU.
    client.spins = part.cpu.is_some();
    let unconnected = client.connect(stop)?.err();
    if let Some(warmup) = &part.warmup {
        client.run(warmup, stop, &mut |_| {})?;
    }
    Ok((client, unconnected))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(connections: u32, threads: u32, open: Option<Open>) -> StepPlan<'static> {
        StepPlan {
            connections,
            warmup: None,
            step: Step {
                open,
                length: 1_000_000_000,
                drain: 0,
            },
            threads,
            cpus: &[2, 3],
        }
    }

    #[test]
    fn threads_share_connections_and_take_turns_at_a_rate() {
        let parts = plan(7, 3, Some(Open::at(1000.0, Arrivals::Constant))).parts();
        let connections: Vec<u32> = parts.iter().map(|part| part.connections).collect();
        assert_eq!(connections, [3, 2, 2]);
        let open = || parts.iter().filter_map(|part| part.step.open);
        let turns: Vec<f64> = open().map(|open| open.turn).collect();
        assert_eq!(turns, [0.0, 1.0 / 3.0, 2.0 / 3.0]);
        let rates: f64 = open().map(|open| open.rate.from).sum();
        assert!((rates - 1000.0).abs() < 1e-9);
        let cpus: Vec<Option<usize>> = parts.iter().map(|part| part.cpu).collect();
        assert_eq!(cpus, [Some(2), Some(3), None]);
    }

    #[test]
    fn no_thread_is_without_a_connection() {
        assert_eq!(plan(1, 4, None).parts().len(), 1);
        assert_eq!(plan(64, 1, None).parts()[0].connections, 64);
    }
}
