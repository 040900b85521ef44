//! Tests malicious servers: whatever their response, each attempt ends soon with a one-sentence error. A
//! thread sends the server's bytes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use fathom_store::{Location, SeriesFilter, Store};

use crate::support::Place;

/// Opens a store on a server that handles its first connection with `server`, and returns the error.
fn said(query: &str, server: impl FnOnce(&mut TcpStream) + Send + 'static) -> String {
    let place = serving(query, server);
    match Store::open(&place.location) {
        Ok(mut store) => match store.series(&SeriesFilter::default(), 1) {
            Ok(found) => panic!("{found:?}"),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    }
}

fn serving(query: &str, server: impl FnOnce(&mut TcpStream) + Send + 'static) -> Place {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        server(&mut stream);
        // Read until the client disconnects.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let text = format!("postgres://joe:word@127.0.0.1:{port}/perf?connect_timeout=1&{query}");
    Place::at(Location::parse(&text).unwrap())
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    announced(kind, body.len() as u32 + 4, body)
}

fn announced(kind: u8, length: u32, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// Reads the client's next message; the first one has no kind.
fn heard(stream: &mut (impl Read + Write), has_kind: bool) -> Vec<u8> {
    let mut head = vec![0; if has_kind { 5 } else { 4 }];
    if stream.read_exact(&mut head).is_err() {
        return Vec::new();
    }
    let length = u32::from_be_bytes(head[head.len() - 4..].try_into().unwrap());
    let mut body = vec![0; length as usize - 4];
    let _ = stream.read_exact(&mut body);
    [head, body].concat()
}

/// Logs the user in without authentication.
fn let_in(stream: &mut (impl Read + Write)) {
    heard(stream, false);
    let key = message(b'K', &[0; 8]);
    let all = [message(b'R', &[0; 4]), key, message(b'Z', b"I")].concat();
    stream.write_all(&all).unwrap();
}

/// Answers the preparation of a statement, with columns of one type.
fn prepared(stream: &mut TcpStream, columns: u16, of_type: u32) {
    while heard(stream, true)
        .first()
        .is_some_and(|kind| *kind != b'S')
    {}
    let mut row = columns.to_be_bytes().to_vec();
    for _ in 0..columns {
        row.extend(b"a\0");
        row.extend([0; 6]); // without a table
        row.extend(of_type.to_be_bytes());
        row.extend([0, 8, 255, 255, 255, 255, 0, 1]);
    }
    let described = [
        message(b'1', &[]),
        message(b't', &[0, 0]),
        message(b'T', &row),
    ];
    let _ = stream.write_all(&[described.concat(), message(b'Z', b"I")].concat());
}

/// Answers the execution of a statement.
fn answered(stream: &mut TcpStream, rows: &[u8]) {
    while heard(stream, true)
        .first()
        .is_some_and(|kind| *kind != b'S')
    {}
    let end = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    let _ = stream.write_all(&[&message(b'2', &[]), rows, &end].concat());
}

const INT8: u32 = 20;
const TEXT: u32 = 25;

fn row(cells: &[&[u8]]) -> Vec<u8> {
    let mut body = (cells.len() as u16).to_be_bytes().to_vec();
    for cell in cells {
        body.extend((cell.len() as u32).to_be_bytes());
        body.extend(*cell);
    }
    message(b'D', &body)
}

const LATE: &str = "the server did not answer within 1 s";

#[test]
fn one_time_out_is_for_the_whole_handshake() {
    assert!(said("", |_| {}).contains(LATE));
    // The server accepts TLS, then sends nothing.
    let quiet_tls = |stream: &mut TcpStream| {
        heard(stream, false);
        stream.write_all(b"S").unwrap();
    };
    assert!(said("sslmode=require", quiet_tls).contains(LATE));
    // The server sends a byte now and then, so that there is always progress.
    let drips = |stream: &mut TcpStream| {
        heard(stream, false);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
        let bytes = announced(b'R', 60_000, &[0; 59_996]);
        for byte in bytes {
            let gone = !matches!(stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
            if gone || stream.write_all(&[byte]).is_err() {
                return;
            }
        }
    };
    assert!(said("sslmode=disable", drips).contains(LATE));
    // The whole handshake exceeds the time limit, although each step is faster.
    let slow_steps = |stream: &mut TcpStream| {
        heard(stream, false);
        stream.write_all(b"N").unwrap();
        heard(stream, false);
        stream.write_all(&message(b'R', &[0, 0, 0, 3])).unwrap();
        heard(stream, true);
    };
    assert!(said("", slow_steps).contains(LATE));
}

#[test]
fn lengths_and_numbers_are_bounded_before_the_password_is() {
    let says = |bytes: Vec<u8>| {
        said("sslmode=disable", move |stream| {
            heard(stream, false);
            let _ = stream.write_all(&bytes);
        })
    };
    let wrong = "it does not answer like PostgreSQL: ";
    for length in [1u32 << 30, u32::MAX, 3, 0, 70_000] {
        let said = says(announced(b'R', length, &[0; 4]));
        let expected = format!(
            "{wrong}it announces a message of invalid length ({} bytes)",
            length as i32
        );
        assert!(said.contains(&expected), "{length}: {said}");
        assert!(
            said.contains("joe@127.0.0.1:") && !said.contains('\n'),
            "{said}"
        );
    }
    // The server logs the user in, then sends settings without end.
    let flood = [
        message(b'R', &[0; 4]),
        message(b'S', &[b'a'; 60_000]).repeat(20),
    ];
    let said = says(flood.concat());
    assert!(
        said.contains("longer than any valid one") || said.contains("can't be reached"),
        "{said}"
    );
    let twice = said.matches("can't be reached").count();
    assert_eq!(twice, 1, "{said}");
}

#[test]
fn a_password_is_not_hashed_for_hours() {
    let said = said("sslmode=disable", |stream| {
        heard(stream, false);
        let offer = [&[0, 0, 0, 10][..], b"SCRAM-SHA-256\0\0"].concat();
        stream.write_all(&message(b'R', &offer)).unwrap();
        let first = String::from_utf8_lossy(&heard(stream, true)).into_owned();
        let nonce = first.rsplit("r=").next().unwrap().to_owned();
        let step = format!("r={nonce}x,s=c2FsdA==,i=4294967295");
        let step = [&[0, 0, 0, 11][..], step.as_bytes()].concat();
        let _ = stream.write_all(&message(b'R', &step));
    });
    assert!(
        said.contains("too many rounds of password hashing"),
        "{said}"
    );
}

#[test]
fn wrong_answers_are_said() {
    let version = |stream: &mut TcpStream| {
        let_in(stream);
        prepared(stream, 1, INT8);
    };
    let huge = said("sslmode=disable", move |stream| {
        version(stream);
        answered(stream, &announced(b'D', 1 << 30, &[0, 1]));
    });
    assert!(
        huge.contains("it announces a message of invalid length (1073741824 bytes)"),
        "{huge}"
    );
    // Rows with a different number of columns, with cells longer than their row, or of another type.
    let eight = 150_000i64.to_be_bytes();
    for rows in [
        row(&[]),
        row(&[&eight, &eight]),
        row(&[&eight[..3]]),
        message(b'D', &[0, 1, 0, 0, 255, 255, 1]),
        message(b'D', &[0, 1]),
        message(b'D', &[]),
        message(b'?', &[]),
    ] {
        let shown = format!("{rows:?}");
        let said = said("sslmode=disable", move |stream| {
            version(stream);
            answered(stream, &rows);
        });
        let expected = ["can't be reached: ", "it is PostgreSQL 0"];
        assert!(
            expected.iter().any(|words| said.contains(words)),
            "{shown}: {said}"
        );
        assert!(!said.contains('\n'), "{said}");
    }
    let text = said("sslmode=disable", |stream| {
        let_in(stream);
        prepared(stream, 1, TEXT);
        answered(stream, &row(&[b"fifteen"]));
    });
    assert!(text.contains("it is PostgreSQL 0; 15 or newer"), "{text}");
}

#[test]
fn what_a_server_says_is_one_escaped_line_of_bounded_length() {
    for code in ["XX000", "28P01", "3D000", "42501", "57P01", "XX001"] {
        let said = said("sslmode=disable", move |stream| {
            heard(stream, false);
            let long = "x".repeat(2_000);
            let words = format!("a\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{202e}b\r\nINJECTED {long}");
            let body = format!("SFATAL\0VFATAL\0C{code}\0M{words}\0D{words}\0H{words}\0\0");
            stream.write_all(&message(b'E', body.as_bytes())).unwrap();
        });
        assert!(said.contains("INJECTED") && said.len() < 1000, "{said}");
        let acts = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!said.contains(acts), "{said:?}");
    }
}

/// Opens a store on a server at a local socket, and returns the error.
fn said_locally(server: impl FnOnce(&mut UnixStream) + Send + 'static) -> String {
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        server(&mut stream);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let host = folder.path().display().to_string().replace('/', "%2F");
    let text = format!("postgres://joe:word@{host}/perf?connect_timeout=1");
    let place = Place::at(Location::parse(&text).unwrap());
    let Err(error) = Store::open(&place.location) else {
        panic!("it is open");
    };
    error.to_string()
}

#[test]
fn through_a_local_socket_lengths_and_times_are_bounded_too() {
    let before = said_locally(|stream| {
        heard(stream, false);
        stream
            .write_all(&announced(b'R', 0x7fff_ffff, &[]))
            .unwrap();
    });
    assert!(
        before.contains("it announces a message of invalid length (2147483647 bytes)"),
        "{before}"
    );
    let after = said_locally(|stream| {
        let_in(stream);
        heard(stream, true);
        stream
            .write_all(&announced(b'T', 0x7fff_ffff, &[]))
            .unwrap();
    });
    assert!(
        after.contains("it announces a message of invalid length (2147483647 bytes)"),
        "{after}"
    );
    let silent = said_locally(|stream| {
        heard(stream, false);
    });
    assert!(silent.contains(LATE), "{silent}");
}
