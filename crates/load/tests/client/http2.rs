//! HTTP/2 against a server built with h2.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use fathom_load::clock::now;
use fathom_load::{Address, Expected, Failing, RequestPlan, Task, ask};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::world::{self, MS, busy_and_idle, closed, open, run, serve_async};

/// Larger than a stream's initial window of 64 KB.
const BIG: usize = 300_000;

/// The requests that a server received.
#[derive(Default)]
pub(crate) struct Asked {
    connections: AtomicUsize,
    requests: AtomicUsize,
    /// Concurrent requests, and their maximum.
    under_way: AtomicUsize,
    most: AtomicUsize,
}

/// How a server behaves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms {
    /// Close a connection gracefully after this many requests.
    last: Option<usize>,
    /// Maximum number of concurrent requests on a connection.
    streams: Option<u32>,
}

fn server(terms: Terms) -> (Address, Arc<Asked>) {
    let asked = Arc::new(Asked::default());
    let counted = Arc::clone(&asked);
    let address = serve_async(move |stream| {
        counted.connections.fetch_add(1, Ordering::SeqCst);
        connection(stream, terms, Arc::clone(&counted))
    });
    (address, asked)
}

/// Serves a connection over any transport.
pub(crate) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    terms: Terms,
    asked: Arc<Asked>,
) {
    let mut builder = h2::server::Builder::new();
    if let Some(streams) = terms.streams {
        builder.max_concurrent_streams(streams);
    }
    let Ok(mut connection) = builder.handshake::<_, Bytes>(stream).await else {
        return;
    };
    let mut taken = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        taken += 1;
        asked.requests.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(answer(request, respond, Arc::clone(&asked)));
        if terms.last == Some(taken) {
            connection.graceful_shutdown();
        }
    }
}

async fn answer(
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    asked: Arc<Asked>,
) {
    let now = asked.under_way.fetch_add(1, Ordering::SeqCst) + 1;
    asked.most.fetch_max(now, Ordering::SeqCst);
    let path = request.uri().path().to_string();
    let mut body = request.into_body();
    let mut got = Vec::new();
    while let Some(Ok(bytes)) = body.data().await {
        let _ = body.flow_control().release_capacity(bytes.len());
        got.extend_from_slice(&bytes);
    }
    // Gives the client time to send all its concurrent requests.
    tokio::time::sleep(Duration::from_millis(2)).await;
    asked.under_way.fetch_sub(1, Ordering::SeqCst);
    let status = if path == "/fails" { 500 } else { 200 };
    let answer = http::Response::builder().status(status).body(()).unwrap();
    match path.as_str() {
        "/reset" => respond.send_reset(Reason::INTERNAL_ERROR),
        "/silent" => std::future::pending().await,
        "/endless" => {
            let Ok(mut stream) = respond.send_response(answer, false) else {
                return;
            };
            loop {
                stream.reserve_capacity(BIG);
                let room = std::future::poll_fn(|context| stream.poll_capacity(context)).await;
                let Some(Ok(room)) = room else {
                    return;
                };
                if stream.send_data(vec![b'x'; room].into(), false).is_err() {
                    return;
                }
            }
        }
        _ => {
            let body = match path.as_str() {
                "/big" => Bytes::from(vec![b'x'; BIG]),
                "/echo" => got.into(),
                _ => Bytes::from_static(b"Hello"),
            };
            // A client that has what it needs may disconnect.
            if let Ok(mut stream) = respond.send_response(answer, false) {
                let _ = stream.send_data(body, true);
            }
        }
    }
}

pub(crate) fn plan(path: &str) -> RequestPlan {
    RequestPlan {
        paths: vec![path.to_string()],
        http2: true,
        ..RequestPlan::default()
    }
}

fn task(address: &Address, path: &str, streams: usize) -> Task {
    Task {
        streams,
        ..world::task(address.clone(), &plan(path))
    }
}

fn first(address: &Address, plan: &RequestPlan) -> Result<Expected, Failing> {
    let request = plan.requests("localhost", false).unwrap().remove(0);
    let first = ask(address, None, request, plan.reader(), now() + 60_000 * MS);
    first.map(|first| first.expected).map_err(|why| why.0)
}

#[test]
fn the_first_answer_has_its_status_and_its_body() {
    let (address, _) = server(Terms::default());
    let hello = first(&address, &plan("/")).unwrap();
    assert_eq!((hello.answer.status, &hello.body[..]), (200, &b"Hello"[..]));
    assert_eq!(first(&address, &plan("/fails")).unwrap().answer.status, 500);
    assert_eq!(
        first(&address, &plan("/big")).unwrap().answer.body_bytes,
        BIG as u64
    );
    let echo = RequestPlan {
        method: "POST".to_string(),
        body: vec![b'y'; BIG],
        ..plan("/echo")
    };
    assert_eq!(first(&address, &echo).unwrap().body, echo.body);
    assert_eq!(
        first(&address, &plan("/reset")).unwrap_err(),
        Failing::Reset
    );
}

#[test]
fn all_streams_of_all_connections_are_busy() {
    let (address, asked) = server(Terms::default());
    let outcome = run(task(&address, "/", 5), 3, &closed(300 * MS));
    let totals = &outcome.totals;
    assert_eq!((totals.errors(), totals.dropped), (0, 0));
    assert_eq!(asked.connections.load(Ordering::SeqCst), 3);
    assert_eq!(
        asked.requests.load(Ordering::SeqCst) as u64,
        totals.completed
    );
    // All of them are sent concurrently. Since each takes a while, that is usually visible.
    assert!((10..=15).contains(&asked.most.load(Ordering::SeqCst)));
    let little = busy_and_idle(&outcome, 15);
    assert!((0.9..1.01).contains(&little), "{little}");
}

#[test]
fn an_open_loop_sends_all_that_is_due() {
    let (address, _) = server(Terms::default());
    let outcome = run(task(&address, "/big", 4), 2, &open(200.0, 500 * MS));
    let totals = &outcome.totals;
    assert_eq!(
        (totals.scheduled, totals.completed, totals.errors()),
        (100, 100, 0)
    );
    assert!(outcome.received_bytes >= 100 * BIG as u64);
}

#[test]
fn who_ends_connections_in_good_order_loses_no_request() {
    let (address, asked) = server(Terms {
        last: Some(7),
        ..Terms::default()
    });
    let outcome = run(task(&address, "/", 3), 2, &closed(2_000 * MS));
    assert_eq!(outcome.totals.errors(), 0, "{:?}", outcome.totals.failed);
    assert!(outcome.totals.completed > 14);
    assert!(asked.connections.load(Ordering::SeqCst) > 2 && outcome.connects > 0);
}

#[test]
fn fewer_streams_than_wanted_are_waited_for() {
    let (address, asked) = server(Terms {
        streams: Some(2),
        ..Terms::default()
    });
    let outcome = run(task(&address, "/", 8), 1, &closed(300 * MS));
    assert_eq!(
        (outcome.totals.errors(), outcome.most_streams),
        (0, Some(2))
    );
    assert!(asked.most.load(Ordering::SeqCst) <= 2);
}

#[test]
fn a_body_without_end_is_not_kept() {
    let (address, _) = server(Terms::default());
    let mut task = task(&address, "/endless", 2);
    task.timeout = 500 * MS;
    task.checks.contains = Some(b"never there".to_vec());
    let mut received = 0;
    let most = fathom_test_memory::most_in(|| {
        let outcome = run(task, 1, &closed(700 * MS));
        assert_eq!(outcome.totals.completed, outcome.totals.errors());
        received = outcome.received_bytes;
    });
    assert!(
        received > 0 && most < 32 << 20,
        "{most} of {received} bytes"
    );
}

#[test]
fn failures_are_named() {
    let failed = |outcome: &fathom_load::Outcome, kind: Failing| {
        let of = outcome.totals.failed[kind as usize];
        of > 0 && of == outcome.totals.completed
    };
    let (address, _) = server(Terms::default());
    let reset = run(task(&address, "/reset", 2), 1, &closed(100 * MS));
    assert!(failed(&reset, Failing::Reset), "{:?}", reset.totals.failed);
    let status = run(task(&address, "/fails", 2), 1, &closed(100 * MS));
    assert!(failed(&status, Failing::Status));
    let mut silent = task(&address, "/silent", 2);
    silent.timeout = 50 * MS;
    let silent = run(silent, 1, &closed(100 * MS));
    assert!(failed(&silent, Failing::TimedOut));
    // A server that only supports HTTP/1.1.
    let old = world::serve(|mut stream| {
        use std::io::{Read, Write};
        let mut asked = [0; 4096];
        let _ = stream.read(&mut asked);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    assert_eq!(first(&old, &plan("/")).unwrap_err(), Failing::Malformed);
}
