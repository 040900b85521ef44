//! The requests sent to a server, and the checks of the responses.

use fathom_model::secret::hidden;

use crate::http2::Http2Request;
use crate::response::{Answer, Body, Reader};
use crate::websocket;

/// Bodies are compared byte by byte up to this length, and beyond it by their length only.
pub const MOST_KEPT: usize = 1 << 20;

/// The requests of a measurement, which are sent in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPlan {
    /// The HTTP method, such as `GET`.
    pub method: String,
    /// The requested paths, each with its query; at least one.
    pub paths: Vec<String>,
    /// Header lines in addition to those that are always sent.
    pub headers: Vec<(String, String)>,
    /// The body of each request; empty for none.
    pub body: Vec<u8>,
    /// Whether to send several requests on a connection.
    pub keep_alive: bool,
    /// Whether to upgrade to WebSocket, and with which extensions.
    pub websocket: Option<Extensions>,
    /// Whether to use HTTP/2.
    pub http2: bool,
}

/// One request, ready to be sent.
#[derive(Debug, Clone)]
pub enum Request {
    /// The bytes of an HTTP/1.1 request.
    Http1(Vec<u8>),
    /// An HTTP/2 request.
    Http2(Box<Http2Request>),
}

/// The WebSocket extensions to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extensions {
    /// No extension: offering compression would measure the compression.
    None,
    /// `permessage-deflate`, with each message compressed separately.
    Deflate,
}

impl Default for RequestPlan {
    fn default() -> RequestPlan {
        RequestPlan {
            method: "GET".to_string(),
            paths: vec!["/".to_string()],
            headers: Vec::new(),
            body: Vec::new(),
            keep_alive: true,
            websocket: None,
            http2: false,
        }
    }
}

/// Header lines about the connection, which HTTP/2 doesn't use.
const OF_CONNECTION: [&str; 6] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

impl RequestPlan {
    /// Checks that the requests can be sent.
    ///
    /// # Errors
    /// A sentence that says what can't be sent, and why.
    pub fn check(&self) -> Result<(), String> {
        let is_token = |text: &str| {
            let mut bytes = text.bytes();
            !text.is_empty()
                && bytes.all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
        };
        if !is_token(&self.method) {
            return Err(format!(
                "{:?} is not a method; write GET or POST",
                self.method
            ));
        }
        for path in &self.paths {
            let clean = path.bytes().all(|byte| byte > b' ' && byte != 0x7f);
            if !path.starts_with('/') || !clean {
                return Err(format!(
                    "{:?} is not a path: a path begins with / and contains no spaces (write %20)",
                    hidden(path)
                ));
            }
        }
        for (name, value) in &self.headers {
            let clean = !value
                .bytes()
                .any(|byte| byte == b'\r' || byte == b'\n' || byte == 0);
            if !is_token(name) || !clean {
                // Don't show the header's value: it may be a secret.
                return Err(format!(
                    "the header {name:?} can't be sent; write 'Name: value', on one line"
                ));
            }
            let is_in_vain = OF_CONNECTION
                .iter()
                .any(|one| name.eq_ignore_ascii_case(one));
            if self.http2 && is_in_vain {
                return Err(format!("HTTP/2 has no header {name:?}: omit it"));
            }
        }
        Ok(())
    }

    /// Returns one request for each path, ready to be sent.
    ///
    /// # Errors
    /// A sentence that says what can't be sent by HTTP/2.
    pub fn requests(&self, host: &str, tls: bool) -> Result<Vec<Request>, String> {
        if !self.http2 {
            return Ok(self.bytes(host).into_iter().map(Request::Http1).collect());
        }
        self.paths
            .iter()
            .map(|path| self.by_http2(path, host, tls))
            .collect()
    }

    fn by_http2(&self, path: &str, host: &str, tls: bool) -> Result<Request, String> {
        let given = |name: &str| {
            let mut lines = self.headers.iter();
            lines.find(|(n, _)| n.eq_ignore_ascii_case(name))
        };
        let scheme = if tls { "https" } else { "http" };
        let host = given("host").map_or(host, |(_, value)| value);
        let mut builder = http::Request::builder()
            .method(self.method.as_str())
            .uri(format!("{scheme}://{host}{path}"));
        if given("user-agent").is_none() {
            builder = builder.header("user-agent", "fathom");
        }
        if given("accept").is_none() {
            builder = builder.header("accept", "*/*");
        }
        if given("content-length").is_none() && !self.body.is_empty() {
            builder = builder.header("content-length", self.body.len());
        }
        for (name, value) in &self.headers {
            if !name.eq_ignore_ascii_case("host") {
                builder = builder.header(name, value);
            }
        }
        let head = builder.body(());
        let head =
            head.map_err(|error| format!("{:?} can't be requested: {error}", hidden(path)))?;
        Ok(Request::Http2(Box::new(Http2Request {
            head,
            body: self.body.clone().into(),
        })))
    }

    /// Returns the bytes of one HTTP/1.1 request for each path.
    pub fn bytes(&self, host: &str) -> Vec<Vec<u8>> {
        let given = |name: &str| {
            self.headers
                .iter()
                .any(|(n, _)| n.eq_ignore_ascii_case(name))
        };
        self.paths
            .iter()
            .map(|path| {
                let mut head = format!("{} {path} HTTP/1.1\r\n", self.method);
                if !given("host") {
                    head.push_str(&format!("Host: {host}\r\n"));
                }
                if !given("user-agent") {
                    head.push_str("User-Agent: fathom\r\n");
                }
                if !given("accept") {
                    head.push_str("Accept: */*\r\n");
                }
                if !self.keep_alive && !given("connection") {
                    head.push_str("Connection: close\r\n");
                }
                let takes_body = ["POST", "PUT", "PATCH"].contains(&self.method.as_str());
                if !given("content-length") && (takes_body || !self.body.is_empty()) {
                    head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
                }
                if let Some(extensions) = self.websocket {
                    head.push_str(&websocket::offer(extensions));
                }
                for (name, value) in &self.headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                head.push_str("\r\n");
                [head.as_bytes(), &self.body].concat()
            })
            .collect()
    }

    /// Returns whether responses never have a body.
    pub fn head_only(&self) -> bool {
        self.method == "HEAD"
    }

    /// Returns a reader for the responses.
    pub fn reader(&self) -> Reader {
        match self.websocket {
            Some(_) => Reader::switching(),
            None => Reader::new(self.head_only()),
        }
    }
}

/// Checks that decide whether a response is good.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checks {
    /// The good status codes; if empty, all below 400.
    pub status: Vec<u16>,
    /// Bytes that the body must contain.
    pub contains: Option<Vec<u8>>,
}

impl Checks {
    /// Returns whether this status is good.
    pub fn status_is_good(&self, status: u16) -> bool {
        match self.status.is_empty() {
            true => (200..400).contains(&status),
            false => self.status.contains(&status),
        }
    }

    /// Returns whether the kept body contains the required bytes.
    pub fn body_is_good(&self, body: &[u8]) -> bool {
        let wanted = self.contains.as_deref().unwrap_or_default();
        wanted.is_empty() || body.windows(wanted.len()).any(|part| part == wanted)
    }
}

/// The first response to a request, which later ones are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Its status and length.
    pub answer: Answer,
    /// The beginning of its body, at most [`MOST_KEPT`] bytes.
    pub body: Vec<u8>,
}

/// The body of a response being received: kept if requested, compared if there is an expectation.
#[derive(Debug, Default)]
pub struct Taken<'a> {
    /// The expected body.
    pub expected: Option<&'a Expected>,
    /// The beginning of the body, at most [`MOST_KEPT`] bytes, if it is kept.
    pub kept: Option<&'a mut Vec<u8>>,
}

impl Body for Taken<'_> {
    fn take(&mut self, before: u64, bytes: &[u8]) -> bool {
        if let Some(kept) = &mut self.kept {
            if before == 0 {
                kept.clear();
            }
            let room = MOST_KEPT.saturating_sub(kept.len()).min(bytes.len());
            kept.extend_from_slice(&bytes[..room]);
        }
        let Some(expected) = self.expected else {
            return true;
        };
        let begin = usize::try_from(before).unwrap_or(usize::MAX);
        let end = begin.saturating_add(bytes.len());
        match expected.body.get(begin..end) {
            Some(same) => same == bytes,
            // Beyond the kept part, or longer than expected: the length decides.
            None => expected
                .body
                .get(begin..)
                .is_none_or(|rest| bytes.starts_with(rest)),
        }
    }

    fn end(&mut self, length: u64) -> bool {
        if length == 0
            && let Some(kept) = &mut self.kept
        {
            kept.clear();
        }
        self.expected
            .is_none_or(|expected| expected.answer.body_bytes == length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_it_must_have_and_nothing_twice() {
        let plan = RequestPlan {
            method: "POST".to_string(),
            headers: vec![("host".to_string(), "example".to_string())],
            body: b"abc".to_vec(),
            ..RequestPlan::default()
        };
        plan.check().unwrap();
        let text = String::from_utf8(plan.bytes("localhost:1").remove(0)).unwrap();
        assert_eq!(
            text,
            "POST / HTTP/1.1\r\nUser-Agent: fathom\r\nAccept: */*\r\nContent-Length: 3\r\n\
             host: example\r\n\r\nabc"
        );
    }

    #[test]
    fn what_would_break_a_request_is_refused() {
        let with = |change: fn(&mut RequestPlan)| {
            let mut plan = RequestPlan::default();
            change(&mut plan);
            plan.check().unwrap_err()
        };
        assert!(with(|plan| plan.method = "GE T".to_string()).contains("method"));
        assert!(with(|plan| plan.paths = vec!["/a b".to_string()]).contains("%20"));
        assert!(with(|plan| plan.paths = vec!["a".to_string()]).contains("begins with /"));
        let header = |plan: &mut RequestPlan| plan.headers = vec![("a".into(), "b\r\nc: d".into())];
        assert!(with(header).contains("header"));
    }

    #[test]
    fn bodies_are_compared_piece_by_piece() {
        let body = b"Hello, world!".to_vec();
        let answer = Answer {
            status: 200,
            body_bytes: 13,
            same_body: true,
            keeps_alive: true,
        };
        let expected = Expected { answer, body };
        let same = |text: &[u8], piece: usize| {
            let mut taken = Taken {
                expected: Some(&expected),
                kept: None,
            };
            let mut before = 0;
            let mut same = true;
            for part in text.chunks(piece) {
                same &= taken.take(before, part);
                before += part.len() as u64;
            }
            same && taken.end(before)
        };
        for piece in 1..20 {
            assert!(same(b"Hello, world!", piece));
            assert!(!same(b"Hello, World!", piece));
            assert!(!same(b"Hello, world", piece));
            assert!(!same(b"Hello, world!!", piece));
        }
    }
}
