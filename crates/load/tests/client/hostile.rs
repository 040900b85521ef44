//! Servers that send garbage, trickle, never end or close one half: they can neither hang the client nor make
//! its memory grow.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_load::{Address, RequestPlan, Step};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::world::{MS, closed, open, run, serve, task};

/// Responses with every framing, in sequence.
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello\
    HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n\
    HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\nHTTP/1.0 200 OK\r\n\r\nuntil the end";
/// Memory limit of a client: buffers, histograms of a step, heads that arrive in pieces.
const MOST: isize = 16 << 20;
const CONNECTIONS: usize = 4;
/// Number of connections to each kind of server.
const SEEDS: u64 = 24;

/// What a server does with its bytes, and afterwards.
#[derive(Clone, Copy)]
enum Way {
    AtOnce,
    /// Sends a few bytes at a time.
    Trickling,
    /// Sends its bytes repeatedly.
    Endless,
}

#[derive(Clone, Copy)]
enum End {
    Close,
    /// Closes its half of the connection.
    HalfClose,
    /// Sends nothing more until the client disconnects.
    Silence,
}

const WAYS: [Way; 3] = [Way::AtOnce, Way::Trickling, Way::Endless];
const ENDS: [End; 3] = [End::Close, End::HalfClose, End::Silence];

fn mutated(random: &mut SmallRng) -> Vec<u8> {
    let mut bytes = GOOD.to_vec();
    for _ in 0..random.random_range(0..6) {
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..6) {
            0 => bytes[at] = random.random(),
            1 => bytes.truncate(at.max(1)),
            2 => bytes.insert(at, b"\r\n:;0f \xff"[random.random_range(0..8)]),
            3 => {
                let piece = bytes[at..bytes.len().min(at + 40)].to_vec();
                bytes.extend(piece);
            }
            4 => bytes.drain(..at).for_each(drop),
            _ => bytes.extend((0..300).map(|_| random.random::<u8>())),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// Sends mutated responses; the seed is the number of the connection. Ends when the client disconnects.
fn speak(mut stream: TcpStream, seed: u64, good: bool) -> std::io::Result<()> {
    let mut random = SmallRng::seed_from_u64(seed);
    let bytes = if good {
        GOOD.to_vec()
    } else {
        mutated(&mut random)
    };
    let way = WAYS[random.random_range(0..3)];
    let end = ENDS[random.random_range(0..3)];
    let mut asked = [0; 4096];
    if random.random_bool(0.9) && stream.read(&mut asked)? == 0 {
        return Ok(());
    }
    match way {
        Way::AtOnce => stream.write_all(&bytes)?,
        Way::Trickling => {
            for piece in bytes.chunks(random.random_range(1..9)) {
                stream.write_all(piece)?;
                std::thread::yield_now();
            }
        }
        Way::Endless => loop {
            stream.write_all(&bytes)?;
        },
    }
    match end {
        End::Close => return Ok(()),
        End::HalfClose => stream.shutdown(Shutdown::Write)?,
        End::Silence => {}
    }
    while stream.read(&mut asked)? > 0 {}
    Ok(())
}

fn hostile(good: bool) -> Address {
    let seeds = AtomicU64::new(0);
    serve(move |stream| {
        // The client may disconnect at any time.
        let _ = speak(stream, seeds.fetch_add(1, Ordering::SeqCst), good);
    })
}

/// Runs steps until this many connections were made and checks the ledger after each. Returns the number of
/// good responses.
fn ask(address: &Address, plan: &RequestPlan, step: &Step) -> u64 {
    let (mut answered, mut made) = (0, 0);
    while made < SEEDS {
        let mut task = task(address.clone(), plan);
        task.timeout = 30 * MS;
        let outcome = run(task, CONNECTIONS, step);
        assert!(outcome.totals.scheduled > 0);
        answered += outcome.totals.completed - outcome.totals.errors();
        made += outcome.connects + CONNECTIONS as u64;
    }
    answered
}

#[test]
fn no_answer_hangs_the_client_or_makes_its_memory_grow() {
    let bounded = |step: Step| Step {
        // A wait longer than the timeout would be a hang.
        drain: 10_000 * MS,
        ..step
    };
    let address = hostile(false);
    for step in [closed(50 * MS), open(500.0, 50 * MS)] {
        let plan = RequestPlan::default();
        let most = fathom_test_memory::most_in(|| {
            ask(&address, &plan, &bounded(step));
        });
        assert!(most < MOST, "{most} bytes");
    }
    let one_each = RequestPlan {
        keep_alive: false,
        ..RequestPlan::default()
    };
    ask(&address, &one_each, &bounded(closed(50 * MS)));
}

#[test]
fn who_gives_up_waiting_drops_what_has_no_answer_yet() {
    let silent = serve(|mut stream| {
        let mut asked = [0; 4096];
        while stream.read(&mut asked).is_ok_and(|got| got > 0) {}
    });
    let step = Step {
        drain: 0,
        ..open(1000.0, 100 * MS)
    };
    let outcome = run(task(silent, &RequestPlan::default()), 2, &step);
    let totals = outcome.totals;
    assert_eq!(
        (totals.scheduled, totals.completed, totals.dropped),
        (100, 0, 100)
    );
}

#[test]
fn an_answer_that_is_right_is_found_between_all_that() {
    // The same servers, unmutated: their first response is complete. On a busy machine it may repeatedly come
    // too late.
    let address = hostile(true);
    let answered = || ask(&address, &RequestPlan::default(), &closed(50 * MS)) > 0;
    assert!((0..100).any(|_| answered()));
}

#[test]
fn a_body_without_end_is_not_kept() {
    let endless = serve(|mut stream| {
        let mut asked = [0; 4096];
        let _ = stream.read(&mut asked);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let mut task = task(endless, &RequestPlan::default());
    task.timeout = 500 * MS;
    task.checks.contains = Some(b"never there".to_vec());
    let mut received = 0;
    let most = fathom_test_memory::most_in(|| {
        let outcome = run(task, 2, &closed(700 * MS));
        assert_eq!(outcome.totals.completed, outcome.totals.errors());
        received = outcome.received_bytes;
    });
    assert!(received > 0 && most < MOST, "{most} of {received} bytes");
}

/// HTTP/2 servers that send corrupted bytes.
#[test]
fn no_frame_hangs_the_client_or_makes_its_memory_grow() {
    // SETTINGS, its acknowledgement, HEADERS with `:status: 200` and DATA of stream 1.
    const FRAMES: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0\
        \0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x05\0\x01\0\0\0\x01Hello";
    let seeds = AtomicU64::new(0);
    let address = serve(move |mut stream| {
        let seed = seeds.fetch_add(1, Ordering::SeqCst);
        let mut random = SmallRng::seed_from_u64(seed);
        let mut bytes = FRAMES.to_vec();
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..3) {
                0 => bytes[at] = random.random(),
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, random.random()),
            }
        }
        let mut asked = [0; 4096];
        let spoken = stream.read(&mut asked).and_then(|_| match seed % 3 {
            0 => stream.write_all(&bytes),
            1 => bytes
                .chunks(3)
                .try_for_each(|piece| stream.write_all(piece)),
            // Endless, until the client disconnects.
            _ => loop {
                if let Err(error) = stream.write_all(&bytes) {
                    break Err(error);
                }
            },
        });
        if spoken.is_ok() && seed.is_multiple_of(2) {
            while stream.read(&mut asked).is_ok_and(|got| got > 0) {}
        }
    });
    let plan = RequestPlan {
        http2: true,
        ..RequestPlan::default()
    };
    let most = fathom_test_memory::most_in(|| {
        ask(&address, &plan, &closed(50 * MS));
    });
    assert!(most < MOST, "{most} bytes");
}
