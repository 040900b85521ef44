//! Exchanges messages between two WebSocket clients through each server, in rounds.

use std::sync::atomic::AtomicBool;

use fathom_load::websocket::{Client, Exchange, Link, Pair, PairTask};
use fathom_load::{Latencies, Request};
use fathom_measure::server::{Server, TreeUsage};
use fathom_measure::{MeasureError, interrupt};
use fathom_model::{WebSocketClient, WebSocketLink, WebSocketResult, WebSocketRound};
use fathom_stats::median_interval;

use super::neighbours::Busy;
use super::results::percentiles;
use super::rounds::Rounds;
use super::running::RunningServer;
use super::words;
use crate::{ConductError, Event, Observer};

const CLIENTS: [Client; 2] = [Client::Blocking, Client::Spinning];

/// The result of one step.
struct Exchanged {
    server: usize,
    client: Client,
    round: u32,
    exchange: Exchange,
    used: Option<TreeUsage>,
    neighbours_share: f64,
    link: Link,
    extensions: Option<String>,
}

/// Runs all rounds: each server once with each client, in random order. Returns results by server.
///
/// # Errors
/// If a server loses a message.
pub(super) fn make(
    rounds: &mut Rounds<'_>,
    up: &mut [RunningServer],
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<WebSocketResult>>, ConductError> {
    let mut steps: Vec<(usize, Client)> = (0..up.len())
        .flat_map(|server| CLIENTS.map(|client| (server, client)))
        .collect();
    let mut made = Vec::new();
    for round in 0..rounds.plan.rounds {
        rounds.orders.shuffle(&mut steps);
        for (server, client) in steps.iter().copied() {
            if interrupt::stopped() {
                break;
            }
            observer.on(Event::LoadStep {
                server,
                connections: 2,
                rate: None,
                round,
                rounds: rounds.plan.rounds,
            });
            let step = step(rounds, &up[server], client);
            if interrupt::stopped() {
                break;
            }
            up[server].check_alive()?;
            let (exchange, used, neighbours_share, link, extensions) =
                step.map_err(|what| failed(&mut up[server], what))?;
            made.push(Exchanged {
                server,
                client,
                round,
                exchange,
                used,
                neighbours_share,
                link,
                extensions,
            });
        }
    }
    let bytes = rounds.plan.message_bytes;
    let results = |server| {
        let of = |client| {
            let mine = |one: &&Exchanged| one.server == server && one.client == client;
            let mine: Vec<&Exchanged> = made.iter().filter(mine).collect();
            result(client, bytes, &mine)
        };
        CLIENTS.into_iter().filter_map(of).collect()
    };
    Ok((0..up.len()).map(results).collect())
}

fn failed(up: &mut RunningServer, what: String) -> ConductError {
    MeasureError::ServerFailed {
        server: words::short(&up.name),
        what: format!("can't be measured over WebSocket: {what}"),
        stderr: up
            .server
            .as_mut()
            .map_or_else(Vec::new, Server::stderr_tail),
    }
    .into()
}

type Step = (Exchange, Option<TreeUsage>, f64, Link, Option<String>);

/// Connects, warms up and exchanges messages on a thread that runs on the generator's CPU.
fn step(rounds: &Rounds<'_>, up: &RunningServer, client: Client) -> Result<Step, String> {
    let plan = rounds.plan;
    let Request::Http1(handshake) = &up.task.requests[0] else {
        return Err("WebSocket works over HTTP/1.1 only".to_string());
    };
    let task = PairTask {
        address: up.address.clone(),
        handshake: handshake.clone(),
        extensions: plan
            .requests
            .websocket
            .ok_or("no WebSocket was requested")?,
        bytes: plan.message_bytes,
        timeout: plan.request_timeout.as_nanos() as u64,
    };
    let (warmup, length) = (plan.warmup().as_nanos() as u64, plan.step.as_nanos() as u64);
    let cpu = rounds.cpus.first().copied();
    let (server, stop) = (up.server.as_ref(), rounds.stop);
    let on_its_cpu = move || -> Result<Step, String> {
        if let Some(cpu) = cpu {
            // If this fails, the thread runs on another CPU, which works as well.
            fathom_trace::run_on(&[cpu]);
        }
        exchange(task, client, warmup, length, server, stop)
    };
    std::thread::scope(|scope| scope.spawn(on_its_cpu).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn exchange(
    task: PairTask,
    client: Client,
    warmup: u64,
    length: u64,
    server: Option<&Server>,
    stop: &AtomicBool,
) -> Result<Step, String> {
    let running = server.is_none().then(|| task.address.clone());
    let mut pair = Pair::connect(task)?;
    pair.run(warmup, client, stop)?;
    let before = server.map(Server::usage);
    let busy = Busy::now(running.as_ref());
    let exchange = pair.run(length, client, stop)?;
    let after = server.map(Server::usage);
    let used = before
        .zip(after)
        .map(|(before, after)| super::step::less(&after, &before));
    let own_ns = busy.own_since() + used.map_or(0, |used| used.cpu_ns);
    let share = busy.others_since(own_ns);
    Ok((exchange, used, share, pair.link, pair.extensions.clone()))
}

fn result(client: Client, message_bytes: usize, steps: &[&Exchanged]) -> Option<WebSocketResult> {
    let last = steps.last()?;
    let mut all = Latencies::new();
    steps
        .iter()
        .for_each(|step| all.add(&step.exchange.round_trips));
    let rounds: Vec<WebSocketRound> = steps.iter().map(|step| round(step)).collect();
    let rates: Vec<f64> = rounds
        .iter()
        .map(|round| round.round_trips_per_second)
        .collect();
    let shares: Vec<f64> = rounds.iter().map(|round| round.neighbours_share).collect();
    let sum = |of: fn(&Exchange) -> u64| steps.iter().map(|step| of(&step.exchange)).sum::<u64>();
    let used: Option<u64> = steps.iter().map(|step| Some(step.used?.cpu_ns)).sum();
    let observed = fathom_load::Observed {
        neighbours_share: median_interval(&shares, 0.95)?.value,
        ..fathom_load::Observed::default()
    };
    Some(WebSocketResult {
        client: match client {
            Client::Blocking => WebSocketClient::Blocking,
            Client::Spinning => WebSocketClient::Spinning,
        },
        link: match last.link {
            Link::Relay => WebSocketLink::Relay,
            Link::Echo => WebSocketLink::Echo,
        },
        extensions: last.extensions.clone(),
        message_bytes,
        round_trips: all.count(),
        round_trips_per_second: median_interval(&rates, 0.95)?.value,
        round_trip_ms: percentiles(&all, 1e6),
        messages: sum(|exchange| exchange.messages),
        other_messages: sum(|exchange| exchange.others),
        server_cpu_us_per_round_trip: used.map(|ns| ns as f64 / all.count().max(1) as f64 / 1e3),
        verdicts: fathom_load::doubts(&observed),
        rounds,
    })
}

fn round(step: &Exchanged) -> WebSocketRound {
    let (exchange, trips) = (&step.exchange, step.exchange.round_trips.count());
    let seconds = exchange.wall.max(1) as f64 / 1e9;
    WebSocketRound {
        round: step.round,
        round_trips_per_second: trips as f64 / seconds,
        p50_ms: exchange
            .round_trips
            .percentile(0.5)
            .map(|ns| ns as f64 / 1e6),
        server_cpu_us_per_round_trip: step
            .used
            .map(|used| used.cpu_ns as f64 / trips.max(1) as f64 / 1e3),
        neighbours_share: step.neighbours_share,
    }
}
