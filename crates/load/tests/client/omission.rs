//! A stall of a server: the open loop counts it for every request that meets it, the closed loop only once
//! for each connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fathom_load::{Address, Latencies, RequestPlan};

use crate::world::{MS, busy_and_idle, closed, open, run, serve, task};

/// Duration of the stall.
const STANDSTILL: u64 = 1_000 * MS;
/// A request that waits at least this long met the stall; nothing else on a machine lasts as long.
const MET: u64 = 500 * MS;
const RATE: f64 = 500.0;
const CONNECTIONS: usize = 8;

/// Starts a server that responds immediately; after `after` responses it stalls once, for all connections.
fn stalling(after: usize) -> Address {
    let state = Arc::new(Mutex::new((0, None::<Instant>)));
    serve(move |stream| answer(stream, after, &state))
}

fn answer(mut stream: TcpStream, after: usize, state: &Mutex<(usize, Option<Instant>)>) {
    stream.set_nodelay(true).unwrap();
    let mut asked = [0; 4096];
    while stream.read(&mut asked).is_ok_and(|got| got > 0) {
        let until = {
            let mut state = state.lock().unwrap();
            state.0 += 1;
            if state.0 > after && state.1.is_none() {
                state.1 = Some(Instant::now() + Duration::from_nanos(STANDSTILL));
            }
            state.1
        };
        if let Some(until) = until {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        if stream.write_all(text).is_err() {
            return;
        }
    }
}

fn met(latencies: &Latencies) -> u64 {
    let steps = latencies.steps().into_iter();
    steps
        .filter(|(ns, _)| *ns >= MET)
        .map(|(_, count)| count)
        .sum()
}

#[test]
fn everybody_whom_a_standstill_meets_is_counted_by_the_open_loop() {
    let plan = RequestPlan::default();
    let step = open(RATE, 2_000 * MS);
    let outcome = run(task(stalling(50), &plan), CONNECTIONS, &step);
    let totals = &outcome.totals;
    assert_eq!(
        (totals.scheduled, totals.completed, totals.errors()),
        (1000, 1000, 0)
    );
    // Half of the requests due during the stall wait for half a second or more: 250. The first few requests
    // may themselves be late, and then more requests meet the stall.
    let counted = met(&totals.response());
    assert!(counted >= 240, "{counted}");
    // In the service time, the stall is visible only for requests that were sent: one per connection.
    assert!(met(&totals.service()) <= counted / 10);
    assert!(totals.waited >= 240 && totals.most_waiting >= 240);
}

#[test]
fn the_closed_loop_counts_it_once_for_each_connection() {
    let plan = RequestPlan::default();
    let outcome = run(task(stalling(50), &plan), CONNECTIONS, &closed(2_000 * MS));
    let totals = &outcome.totals;
    assert!(totals.completed > 50 && totals.errors() == 0);
    assert_eq!(met(&totals.response()), CONNECTIONS as u64);
}

#[test]
fn more_than_a_server_can_do_is_due_all_the_same() {
    // With 10 ms per request, two connections serve at most 200 of 1,000 requests per second.
    let slow = serve(|mut stream| {
        let mut asked = [0; 4096];
        while stream.read(&mut asked).is_ok_and(|got| got > 0) {
            std::thread::sleep(Duration::from_millis(10));
            let text = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            if stream.write_all(text).is_err() {
                return;
            }
        }
    });
    let outcome = run(
        task(slow, &RequestPlan::default()),
        2,
        &open(1000.0, 500 * MS),
    );
    let totals = &outcome.totals;
    assert_eq!((totals.scheduled, totals.completed), (500, 500));
    assert!(totals.answered_in_time <= 100 && totals.most_waiting >= 400);
    // The last request was due at 499 ms and answered after 2.5 s.
    assert!(totals.response().max() >= Some(1_900 * MS));
    let little = totals.little(None).unwrap();
    assert!((little - 1.0).abs() < 0.02, "{little}");
}

#[test]
fn littles_law_holds_for_a_closed_loop() {
    let slow = serve(|mut stream| {
        let mut asked = [0; 4096];
        while stream.read(&mut asked).is_ok_and(|got| got > 0) {
            std::thread::sleep(Duration::from_millis(5));
            let text = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            if stream.write_all(text).is_err() {
                return;
            }
        }
    });
    let outcome = run(task(slow, &RequestPlan::default()), 4, &closed(500 * MS));
    let little = busy_and_idle(&outcome, 4);
    assert!((0.9..1.01).contains(&little), "{little}");
}
