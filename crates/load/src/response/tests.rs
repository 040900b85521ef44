//! Responses as servers write them, and malformed ones.

use super::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Keeps the body, up to a limit.
#[derive(Default)]
struct Kept(Vec<u8>);

impl Body for Kept {
    fn take(&mut self, before: u64, bytes: &[u8]) -> bool {
        assert_eq!(before, self.0.len() as u64);
        self.0.extend_from_slice(bytes);
        true
    }

    fn end(&mut self, length: u64) -> bool {
        length == self.0.len() as u64
    }
}

/// Reads all responses in `bytes`, fed in pieces of `piece` bytes.
fn read(bytes: &[u8], piece: usize, head_only: bool) -> Result<Vec<(Answer, Vec<u8>)>, Malformed> {
    let mut reader = Reader::new(head_only);
    let (mut answers, mut body) = (Vec::new(), Kept::default());
    for mut part in bytes.chunks(piece) {
        while !part.is_empty() {
            match reader.feed(part, &mut body)? {
                Progress::More => break,
                Progress::Done(used, answer) => {
                    answers.push((answer, std::mem::take(&mut body.0)));
                    part = &part[used..];
                }
            }
        }
    }
    if let Some(answer) = reader.end(&mut body) {
        answers.push((answer, body.0));
    }
    Ok(answers)
}

const PLAIN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nServer: x\r\n\r\nHello, world!";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
    6;name=value\r\nHello,\r\n7\r\n world!\r\n0\r\nTrailer: x\r\n\r\n";
const TO_END: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nHello, world!";
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
    HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

#[test]
fn every_framing_is_read_in_pieces_of_any_size() {
    for piece in 1..=120 {
        for bytes in [PLAIN, CHUNKED, TO_END] {
            let answers = read(bytes, piece, false).unwrap();
            let [(answer, body)] = &answers[..] else {
                panic!("{} answers", answers.len());
            };
            assert_eq!((answer.status, answer.body_bytes), (200, 13));
            assert_eq!(body, b"Hello, world!");
            assert_eq!(answer.keeps_alive, bytes != TO_END);
        }
        let answers = read(INTERIM, piece, false).unwrap();
        let [(answer, _)] = &answers[..] else {
            panic!("{} answers", answers.len());
        };
        assert_eq!((answer.status, answer.keeps_alive), (404, false));
    }
}

#[test]
fn answers_follow_each_other_on_a_connection() {
    let both = [PLAIN, CHUNKED, PLAIN].concat();
    for piece in [1, 7, 64, 1000] {
        assert_eq!(read(&both, piece, false).unwrap().len(), 3);
    }
}

#[test]
fn some_answers_have_no_body_whatever_their_head_says() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n";
    assert_eq!(read(head, 10, true).unwrap()[0].0.body_bytes, 0);
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 13\r\n\r\n";
    assert_eq!(read(not_modified, 10, false).unwrap()[0].0.status, 304);
}

#[test]
fn who_asked_for_another_protocol_gets_its_answer() {
    let bytes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\x81\x02ab";
    let mut body = Kept::default();
    let progress = Reader::switching().feed(bytes, &mut body).unwrap();
    assert!(matches!(progress, Progress::Done(used, answer) if used == 48 && answer.status == 101));
}

#[test]
fn what_is_no_answer_is_refused_with_the_reason() {
    let refused = |bytes: &[u8]| read(bytes, 4096, false).unwrap_err().0;
    assert_eq!(
        refused(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "the head is not HTTP/1.1"
    );
    let lengths = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(refused(lengths), "the body has two lengths");
    let minus = b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n";
    assert_eq!(refused(minus), "the length of the body is not a number");
    let longer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n";
    assert_eq!(refused(longer), "a chunk is longer than its declared size");
    let size = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n";
    assert_eq!(refused(size), "the size of a chunk is not a number");
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    assert_eq!(
        refused(switch),
        "it switches to another protocol without being asked"
    );
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(20);
    assert_eq!(refused(&interim), "more than 16 interim answers");
}

#[test]
fn bombs_end_within_bounds() {
    let mut reader = Reader::new(false);
    let mut fed = 0;
    let mut bomb = |reader: &mut Reader, first: &[u8], again: &[u8]| {
        reader.reset();
        let mut body = Kept::default();
        let mut outcome = reader.feed(first, &mut body);
        while outcome == Ok(Progress::More) && fed < 10 << 20 {
            fed += again.len();
            outcome = reader.feed(again, &mut body);
            assert!(reader.held.capacity() < 1 << 20, "memory grows");
        }
        outcome.expect_err("it goes on for ever").0
    };
    let begin = b"HTTP/1.1 200 OK\r\n";
    let lines = b"X-Header: y\r\n";
    assert_eq!(
        bomb(&mut reader, begin, lines),
        "more than 128 header lines"
    );
    let endless = [b'a'; 1000];
    let value = [&begin[..], b"X: "].concat();
    assert_eq!(
        bomb(&mut reader, &value, &endless),
        "the head is longer than 64 KiB"
    );
    let chunks = [&begin[..], b"Transfer-Encoding: chunked\r\n\r\n1;"].concat();
    let line = "a chunk-size or trailer line is longer than 8 KiB";
    assert_eq!(bomb(&mut reader, &chunks, &endless), line);
    let trailers = [&begin[..], b"Transfer-Encoding: chunked\r\n\r\n0\r\n"].concat();
    assert_eq!(
        bomb(&mut reader, &trailers, lines),
        "more than 128 trailers"
    );
}

/// Valid responses with some bytes changed, the same every time.
#[test]
fn mutated_answers_neither_panic_nor_grow() {
    struct Counted(u64);
    impl Body for Counted {
        fn take(&mut self, before: u64, bytes: &[u8]) -> bool {
            assert_eq!(before, self.0);
            self.0 += bytes.len() as u64;
            true
        }
        fn end(&mut self, length: u64) -> bool {
            std::mem::take(&mut self.0) == length
        }
    }
    const MARKS: &[u8] = b"\0\r\n :;,-+09afHT\x7f\xff";
    let mut random = SmallRng::seed_from_u64(40);
    for valid in [PLAIN, CHUNKED, TO_END, INTERIM] {
        for _ in 0..4000 {
            let mut bytes = valid.repeat(random.random_range(1..4));
            for _ in 0..random.random_range(1..8) {
                if bytes.is_empty() {
                    break;
                }
                let at = random.random_range(0..bytes.len());
                let mark = MARKS[random.random_range(0..MARKS.len())];
                match random.random_range(0..5) {
                    0 => bytes[at] = random.random(),
                    1 => bytes[at] = mark,
                    2 => bytes.insert(at, mark),
                    3 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            let mut reader = Reader::new(random.random_range(0..8) == 0);
            let mut body = Counted(0);
            let piece = random.random_range(1..100);
            'pieces: for mut part in bytes.chunks(piece) {
                while !part.is_empty() {
                    match reader.feed(part, &mut body) {
                        Ok(Progress::More) => break,
                        Ok(Progress::Done(used, _)) => {
                            assert!(used > 0 && used <= part.len());
                            part = &part[used..];
                        }
                        Err(_) => break 'pieces,
                    }
                }
                assert!(reader.held.len() <= MOST_HEAD + 1);
            }
            reader.end(&mut body);
        }
    }
}
