//! Frames, and two clients connected through test servers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::address::Address;
use crate::request::RequestPlan;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

#[test]
fn a_key_is_accepted_as_the_standard_says() {
    // RFC 6455, 1.3.
    assert_eq!(
        accept("dGhlIHNhbXBsZSBub25jZQ=="),
        "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    );
}

#[test]
fn frames_of_the_standard_are_read() {
    // RFC 6455, 5.7: a masked message, one in two parts, a ping, and one of 256 bytes; RFC 7692, 7.2.3.1.
    let masked = [
        0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ];
    let parts = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f];
    let ping = [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
    let long = [&[0x82, 0x7e, 0x01, 0x00][..], &[7; 256]].concat();
    let deflated = [0xc1, 0x07, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let all = [&masked[..], &parts, &ping, &long, &deflated].concat();
    let hello = || Message::Data(b"Hello".to_vec());
    for piece in [1, 2, 7, 1000] {
        let mut frames = Frames::new(true);
        let mut found = Vec::new();
        for bytes in all.chunks(piece) {
            frames.add(bytes);
            while let Some(message) = frames.next_message().unwrap() {
                found.push(message);
            }
        }
        let expected = [
            hello(),
            hello(),
            Message::Ping(b"Hello".to_vec()),
            Message::Data(vec![7; 256]),
            hello(),
        ];
        assert_eq!(found, expected, "{piece}");
    }
}

#[test]
fn what_was_written_is_read_again() {
    for length in [0, 9, 125, 126, 65_535, 65_536, 1 << 20] {
        let payload: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        for mask in [None, Some([1, 2, 3, 4])] {
            let mut bytes = Vec::new();
            write_frame(1, &payload, mask, &mut bytes);
            frames::write_compressed(&payload, mask, &mut bytes);
            let mut frames = Frames::new(true);
            frames.add(&bytes);
            for _ in 0..2 {
                let message = frames.next_message().unwrap();
                assert_eq!(message, Some(Message::Data(payload.clone())), "{length}");
            }
        }
    }
}

#[test]
fn mutated_frames_neither_panic_nor_grow() {
    let mut valid = Vec::new();
    write_frame(1, b"Hello", None, &mut valid);
    frames::write_compressed(b"Hello, Hello, Hello", Some([9; 4]), &mut valid);
    write_frame(9, b"ping", None, &mut valid);
    let mut random = SmallRng::seed_from_u64(40);
    for _ in 0..4000 {
        let mut bytes = valid.clone();
        for _ in 0..random.random_range(1..6) {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        let mut frames = Frames::new(random.random_range(0..2) == 0);
        frames.add(&bytes);
        while let Ok(Some(message)) = frames.next_message() {
            if let Message::Data(data) = message {
                assert!(data.len() <= 1 << 20);
            }
        }
    }
}

#[test]
fn an_answer_that_is_none_is_refused() {
    let good = format!(
        "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: {}\r\n\r\n",
        accept(KEY)
    );
    assert_eq!(check_answer(good.as_bytes(), Extensions::None), Ok(None));
    let wrong = good.replace("101", "404");
    assert!(
        check_answer(wrong.as_bytes(), Extensions::None)
            .unwrap_err()
            .contains("--path")
    );
    let key = good.replace('=', "");
    assert!(check_answer(key.as_bytes(), Extensions::None).is_err());
    let unasked = good.replace(
        "\r\n\r\n",
        "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
    );
    assert!(check_answer(unasked.as_bytes(), Extensions::None).is_err());
}

/// Relays each message to all other clients, or sends it back; counts messages.
struct Server {
    address: Address,
    messages: Arc<AtomicU64>,
}

fn serve(relays: bool, deflates: bool) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    let messages = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&messages);
    let clients: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            clients.lock().unwrap().push(stream.try_clone().unwrap());
            let (clients, counted) = (Arc::clone(&clients), Arc::clone(&counted));
            std::thread::spawn(move || {
                let to = move |own: &TcpStream| match relays {
                    true => clients.lock().unwrap()[1 - number].try_clone().unwrap(),
                    false => own.try_clone().unwrap(),
                };
                client(stream, deflates, &counted, to);
            });
        }
    });
    Server { address, messages }
}

fn client(
    mut stream: TcpStream,
    deflates: bool,
    counted: &AtomicU64,
    to: impl Fn(&TcpStream) -> TcpStream,
) {
    let mut buffer = [0; 4096];
    let got = stream.read(&mut buffer).unwrap();
    let text = String::from_utf8_lossy(&buffer[..got]).into_owned();
    let key = text
        .lines()
        .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))
        .unwrap();
    let extensions = match deflates {
        true => "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n",
        false => "",
    };
    let answer = format!(
        "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {}\r\n{extensions}\r\n",
        accept(key)
    );
    stream.write_all(answer.as_bytes()).unwrap();
    // Send a ping that must be answered before anything else.
    let mut out = Vec::new();
    write_frame(9, b"there?", None, &mut out);
    stream.write_all(&out).unwrap();
    let mut frames = Frames::new(deflates);
    while let Ok(got @ 1..) = stream.read(&mut buffer) {
        frames.add(&buffer[..got]);
        while let Ok(Some(message)) = frames.next_message() {
            let Message::Data(data) = message else {
                continue;
            };
            counted.fetch_add(1, Ordering::SeqCst);
            out.clear();
            match deflates {
                true => frames::write_compressed(&data, None, &mut out),
                false => write_frame(1, &data, None, &mut out),
            }
            if to(&stream).write_all(&out).is_err() {
                return;
            }
        }
    }
}

fn pair(server: &Server, extensions: Extensions) -> Pair {
    let plan = RequestPlan {
        websocket: Some(extensions),
        ..RequestPlan::default()
    };
    let task = PairTask {
        handshake: plan.bytes(&server.address.host()).remove(0),
        address: server.address.clone(),
        extensions,
        bytes: 9,
        timeout: 20_000_000_000,
    };
    Pair::connect(task).unwrap()
}

#[test]
fn a_relay_has_exactly_two_messages_a_round_trip() {
    let server = serve(true, false);
    let mut pair = pair(&server, Extensions::None);
    assert_eq!((pair.link, pair.extensions.clone()), (Link::Relay, None));
    let stop = AtomicBool::new(false);
    for client in [Client::Blocking, Client::Spinning] {
        let before = server.messages.load(Ordering::SeqCst);
        let exchange = pair.run(20_000_000, client, &stop).unwrap();
        let counted = server.messages.load(Ordering::SeqCst) - before;
        assert!(exchange.round_trips.count() > 0);
        assert_eq!(counted, 2 * exchange.round_trips.count());
        assert_eq!((exchange.messages, exchange.others), (counted, 0));
    }
}

#[test]
fn who_sends_messages_back_is_an_echo_and_compression_is_spoken() {
    let server = serve(false, true);
    let mut pair = pair(&server, Extensions::Deflate);
    assert_eq!(pair.link, Link::Echo);
    assert!(
        pair.extensions
            .clone()
            .unwrap()
            .starts_with("permessage-deflate")
    );
    let before = server.messages.load(Ordering::SeqCst);
    let exchange = pair
        .run(20_000_000, Client::Blocking, &AtomicBool::new(false))
        .unwrap();
    let counted = server.messages.load(Ordering::SeqCst) - before;
    assert_eq!(counted, exchange.round_trips.count());
}
