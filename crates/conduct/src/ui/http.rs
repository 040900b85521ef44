//! The part of HTTP/1.1 that a single local page needs: GET, and one response per connection. `tiny_http`
//! would add a thread pool and chunked bodies, which aren't needed here. Heads are parsed by `httparse`,
//! which `serve` already uses.

use std::io::{self, Read, Write};

/// The size limit of a request head in bytes: a browser usually sends 2 kB for this page.
const LONGEST_HEAD: usize = 16 << 10;
const MOST_HEADERS: usize = 64;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// The path after the token, without a leading slash.
    pub path: String,
    /// Names and values of the query, decoded.
    pub query: Vec<(String, String)>,
}

impl Asked {
    /// Returns the value of a name in the query.
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code: 200, 404 and so on.
    pub status: u16,
    /// The media type.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns a response that consists of a sentence.
    pub fn text(status: u16, text: &str) -> Answer {
        Answer {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{text}\n").into_bytes(),
        }
    }
}

/// A request whose head is complete.
struct Head {
    method: String,
    target: String,
    host: Option<String>,
    origin: Option<String>,
}

/// Reads a request, and returns it or the response that refuses it.
///
/// # Errors
/// Errors of the connection.
pub(super) fn read(
    connection: &mut impl Read,
    port: u16,
    token: &str,
) -> io::Result<Result<Asked, Answer>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 2048];
    loop {
        let count = connection.read(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..count]);
        match head(&bytes) {
            Ok(Some(head)) => return Ok(admitted(&head, port, token)),
            Ok(None) if count > 0 && bytes.len() < LONGEST_HEAD => {}
            _ => {
                return Ok(Err(Answer::text(
                    400,
                    "Fathom does not support this request",
                )));
            }
        }
    }
}

fn head(bytes: &[u8]) -> Result<Option<Head>, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if request.parse(bytes)?.is_partial() {
        return Ok(None);
    }
    let value = |name: &str| {
        let mut found = request
            .headers
            .iter()
            .filter(|one| one.name.eq_ignore_ascii_case(name));
        let first = found.next()?;
        // If the header occurs twice, at least one of them is wrong.
        let text = match found.next() {
            Some(_) => String::new(),
            None => String::from_utf8_lossy(first.value).into_owned(),
        };
        Some(text)
    };
    Ok(Some(Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        host: value("host"),
        origin: value("origin"),
    }))
}

/// Admits only requests for our own address that carry the token, which only our user has. This is necessary
/// because foreign host names can resolve to this machine (DNS rebinding), and any web page can send requests
/// here.
fn admitted(head: &Head, port: u16, token: &str) -> Result<Asked, Answer> {
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let is_own = |host: &str| own.iter().any(|known| known == host);
    if !head.host.as_deref().is_some_and(is_own) {
        return Err(Answer::text(
            403,
            "this address does not belong to Fathom; open the address that it printed",
        ));
    }
    let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
    if head
        .origin
        .as_deref()
        .is_some_and(|origin| !is_ours(origin))
    {
        return Err(Answer::text(403, "requests from other pages are refused"));
    }
    if head.method != "GET" {
        return Err(Answer::text(405, "only GET is allowed"));
    }
    let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
    let mut parts = path.trim_start_matches('/').splitn(2, '/');
    let given = parts.next().unwrap_or("");
    let Some(path) = parts.next().filter(|_| is_same(given, token)) else {
        let text = "the token is missing or wrong; open the address that `fathom ui` printed, including the slash at its \
             end";
        return Err(Answer::text(403, text));
    };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    Ok(Asked {
        path: path.to_owned(),
        query: query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(pair)
            .collect(),
    })
}

/// Compares in constant time, regardless of which characters differ.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given
        .bytes()
        .zip(token.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

/// Decodes `a+b` and `a%20b` to `a b`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 2;
            }
            None => out.push(if *byte == b'+' { b' ' } else { *byte }),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes a response, after which the connection is closed.
///
/// # Errors
/// Errors of the connection.
pub(super) fn write(connection: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Content-Security-Policy: frame-ancestors 'none'\r\n\r\n",
        answer.status,
        if answer.status == 200 {
            "OK"
        } else {
            "Refused"
        },
        answer.kind,
        answer.body.len()
    );
    connection.write_all(head.as_bytes())?;
    connection.write_all(&answer.body)?;
    connection.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: &str) -> Result<Asked, u16> {
        let answer = read(&mut request.as_bytes(), 4000, "secret").expect("memory can be read");
        answer.map_err(|refusal| refusal.status)
    }

    #[test]
    fn its_own_page_is_answered() {
        let request = "GET /secret/part?of=a%2Bb+c&most=%C3%A9 HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nOrigin: http://127.0.0.1:4000\r\n\r\n";
        let asked = asked(request).expect("it is right");
        assert_eq!(
            (asked.path.as_str(), asked.value("of")),
            ("part", Some("a+b c"))
        );
        assert_eq!(
            (asked.value("most"), asked.value("from")),
            (Some("é"), None)
        );
    }

    #[test]
    fn other_hosts_origins_methods_and_tokens_are_refused() {
        for (status, request) in [
            (
                403,
                "GET /secret/ HTTP/1.1\r\nHost: evil.example:4000\r\n\r\n",
            ),
            (403, "GET /secret/ HTTP/1.1\r\nHost: 127.0.0.1:4001\r\n\r\n"),
            (403, "GET /secret/ HTTP/1.1\r\n\r\n"),
            (
                403,
                "GET /secret/ HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nHost: evil\r\n\r\n",
            ),
            (
                403,
                "GET /secret/ HTTP/1.1\r\nHost: localhost:4000\r\nOrigin: https://evil.example\r\n\r\n",
            ),
            (
                403,
                "GET /secret/ HTTP/1.1\r\nHost: localhost:4000\r\nOrigin: null\r\n\r\n",
            ),
            (
                405,
                "POST /secret/ HTTP/1.1\r\nHost: localhost:4000\r\n\r\n",
            ),
            (403, "GET / HTTP/1.1\r\nHost: localhost:4000\r\n\r\n"),
            (403, "GET /secret HTTP/1.1\r\nHost: localhost:4000\r\n\r\n"),
            (403, "GET /secreT/ HTTP/1.1\r\nHost: localhost:4000\r\n\r\n"),
            (
                403,
                "GET /secrets/ HTTP/1.1\r\nHost: localhost:4000\r\n\r\n",
            ),
            (400, "nonsense\u{0}\r\n\r\n"),
            (400, "GET /secret/ HTTP/1.1\r\nHost: loc"),
        ] {
            assert_eq!(asked(request), Err(status), "{request}");
        }
        let long = format!("GET /secret/ HTTP/1.1\r\nA: {}", "x".repeat(LONGEST_HEAD));
        assert_eq!(asked(&long), Err(400));
    }

    #[test]
    fn what_is_no_code_stays() {
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%e9%"), "\u{fffd}%");
    }
}
