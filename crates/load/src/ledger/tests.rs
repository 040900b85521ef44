//! Tests of the ledger with simulated servers, which are exact and need no real time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;
use crate::schedule::Arrivals;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Simulates a server with one thread for each connection, which needs `service(start)` for a request
/// received at `start`, and sends it requests as the ledger schedules them. The generator notices every event
/// exactly in time.
fn simulate(
    pace: Pace,
    length: u64,
    connections: usize,
    drain: u64,
    service: impl Fn(u64) -> u64,
) -> Totals {
    let mut ledger = Ledger::new(pace, 0, length);
    let mut free: Vec<u64> = vec![0; connections];
    let mut under_way: BinaryHeap<Reverse<(u64, u64, u64)>> = BinaryHeap::new();
    let mut now = 0;
    loop {
        ledger.advance(now);
        while let Some(free_since) = free.pop() {
            let Some(intended) = ledger.take(now) else {
                free.push(free_since);
                break;
            };
            let ticket = ledger.sent(intended, now, free_since);
            under_way.push(Reverse((now + service(now), ticket.intended, ticket.sent)));
        }
        if free.is_empty() {
            ledger.note_waiting();
        }
        if ledger.is_over(now) || now >= length + drain {
            return ledger.close(now);
        }
        let ends = under_way.peek().map(|Reverse((at, ..))| *at);
        let next = [ends, ledger.next_due(), Some(length + drain)];
        now = next.into_iter().flatten().min().unwrap_or(now);
        while let Some(Reverse((at, intended, sent))) = under_way.peek().copied() {
            if at > now {
                break;
            }
            under_way.pop();
            ledger.done(Ticket { intended, sent }, at, Ok(()));
            free.push(at);
        }
    }
}

fn open(rate: f64, length: u64) -> Pace {
    Pace::Open(Schedule::new(rate, 0, length, Arrivals::Constant))
}

/// The server needs 1 ms, but every 10 s it sends no response for a second.
fn stalls(start: u64) -> u64 {
    let into = (start + MS) % (10 * SECOND);
    let end = start + MS;
    match into < SECOND && end >= 10 * SECOND {
        true => end - into + SECOND - start,
        false => MS,
    }
}

fn ms(latency: Option<u64>) -> f64 {
    latency.expect("enough samples") as f64 / 1e6
}

#[test]
fn an_open_loop_sees_a_stall_as_its_users_do() {
    // In 28 s there are two stalls. 7.1 % of the arrivals meet one, evenly distributed over its second, so
    // p99 is 1 - 1/7.1 of that second and p99.9 is 1 - 0.1/7.1.
    let length = 28 * SECOND;
    let totals = simulate(open(1000.0, length), length, 50, 10 * SECOND, stalls);
    assert_eq!(
        (totals.scheduled, totals.completed, totals.dropped),
        (28_000, 28_000, 0)
    );
    let response = totals.response();
    assert!((ms(response.percentile(0.5)) - 1.0).abs() < 0.01);
    assert!((ms(response.percentile(0.99)) - 860.0).abs() < 0.03 * 860.0);
    assert!((ms(response.percentile(0.999)) - 986.0).abs() < 0.03 * 986.0);
    // The service time alone would have missed the stalls: 50 connections hold at most 100 of the 28,000
    // requests.
    assert!(ms(totals.service().percentile(0.99)) < 2.0);
    assert!(totals.waited > 1800, "{}", totals.waited);
    assert_eq!(totals.lag.max(), Some(1), "the generator was never late");
}

#[test]
fn a_closed_loop_is_blind_for_a_stall() {
    let length = 28 * SECOND;
    let totals = simulate(Pace::Closed, length, 50, 10 * SECOND, stalls);
    assert!(ms(totals.response().percentile(0.99)) < 2.0);
    assert_eq!(totals.scheduled, totals.completed + totals.dropped);
}

#[test]
fn more_than_a_server_can_do_is_drained_and_counted() {
    // Two connections that need 1.14 ms per request can serve 1,750 of 3,000 requests per second.
    let length = 5 * SECOND;
    let service = |_| 8 * MS / 7;
    let drained = simulate(open(3000.0, length), length, 2, 10 * SECOND, service);
    assert_eq!((drained.scheduled, drained.completed), (15_000, 15_000));
    assert!((ms(drained.response().percentile(0.99)) - 3500.0).abs() < 150.0);
    assert!(drained.most_waiting > 5000);
    let cut = simulate(open(3000.0, length), length, 2, SECOND, service);
    assert_eq!(cut.scheduled, 15_000);
    assert!(cut.dropped > 0);
    assert_eq!(cut.scheduled, cut.completed + cut.dropped);
}

#[test]
fn littles_law_holds_for_both_loops() {
    let length = 2 * SECOND;
    let uneven = |start: u64| MS + (start / 1000 * 7919) % (4 * MS);
    for connections in [1, 16, 64] {
        let closed = simulate(Pace::Closed, length, connections, SECOND, uneven);
        let little = closed.little(Some(connections as u64)).unwrap();
        assert!((little - 1.0).abs() < 1e-6, "{connections}: {little}");
    }
    let poisson = Pace::Open(Schedule::new(5000.0, 0, length, Arrivals::Poisson(3)));
    let totals = simulate(poisson, length, 64, SECOND, uneven);
    let little = totals.little(None).unwrap();
    assert!((little - 1.0).abs() < 1e-6, "{little}");
    assert_eq!(Totals::default().little(Some(1)), None);
    // A generator that notices each event 50 µs late includes that in its response times, and in Little's
    // law.
    let mut ledger = Ledger::new(open(1000.0, length), 0, length);
    for request in 0..2000 {
        let now = request * MS + 50_000;
        ledger.advance(now);
        let intended = ledger.take(now).unwrap();
        let ticket = ledger.sent(intended, now, 0);
        ledger.done(ticket, now + 100_000, Ok(()));
    }
    let late = ledger.close(length).little(None).unwrap();
    assert!((late - 1.0).abs() < 1e-6, "{late}");
}

#[test]
fn a_client_that_leaves_connections_idle_shows_in_littles_law() {
    // Half of the time no request is under way, as with autocannon and wrk at one connection.
    let mut ledger = Ledger::new(Pace::Closed, 0, SECOND);
    for round in 0..500 {
        let now = round * 2 * MS;
        let intended = ledger.take(now).unwrap();
        let ticket = ledger.sent(intended, now, now);
        ledger.done(ticket, now + MS, Ok(()));
    }
    let little = ledger.close(SECOND).little(Some(1)).unwrap();
    assert!((little - 0.5).abs() < 1e-9, "{little}");
}

#[test]
fn failures_are_no_latencies_but_are_completed() {
    let kinds = Failing::ALL.len() as u64;
    let mut ledger = Ledger::new(Pace::Closed, 0, SECOND);
    for failing in Failing::ALL {
        let intended = ledger.take(0).unwrap();
        let ticket = ledger.sent(intended, 0, 0);
        ledger.done(ticket, MS, Err(failing));
    }
    let totals = ledger.close(SECOND);
    assert_eq!((totals.completed, totals.errors()), (kinds, kinds));
    assert_eq!(totals.requests_per_second(), 0.0);
    assert_eq!(totals.failed, [1; Failing::ALL.len()]);
    assert_eq!(totals.response().count(), 0);
    assert_eq!(totals.seconds[0].failed, kinds);
}

#[test]
fn lag_is_what_the_generator_was_late_and_no_wait_for_a_connection() {
    let length = SECOND;
    let mut ledger = Ledger::new(open(1000.0, length), 0, length);
    ledger.advance(2 * MS);
    // Due at 0, sent at 2 ms, on a connection that was free all the time.
    let first = ledger.take(2 * MS).unwrap();
    ledger.sent(first, 2 * MS, 0);
    // Due at 1 ms, but the connection became free at 2 ms.
    let second = ledger.take(2 * MS).unwrap();
    ledger.sent(second, 2 * MS, 2 * MS);
    let totals = ledger.close(2 * MS);
    let lags = totals.lag.steps();
    assert_eq!(lags.iter().map(|(_, count)| count).sum::<u64>(), 2);
    assert_eq!(lags[0].0, 1);
    assert!(lags[1].0.abs_diff(2 * MS) <= 2 * MS / 1000);
    assert_eq!((totals.waited, totals.scheduled, totals.dropped), (1, 3, 3));
}
