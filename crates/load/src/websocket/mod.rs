//! Messages through a server and back: WebSocket (RFC 6455), two clients on one thread.

mod frames;
mod pair;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use frames::{Frames, Message, write_frame};
pub use pair::{Client, Exchange, Link, Pair, PairTask};
use sha1::{Digest, Sha1};

use crate::request::Extensions;

/// The key of every handshake. It proves nothing but that the server speaks WebSocket.
const KEY: &str = "ZmF0aG9tIHNlcnZlIDEyMw==";
/// What the server has to add to it.
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// What is offered by `--deflate`: each message on its own, so that both sides keep no window.
const DEFLATE: &str = "permessage-deflate; client_no_context_takeover; server_no_context_takeover";

/// Header lines that ask for it.
pub(crate) fn offer(extensions: Extensions) -> String {
    let extensions = match extensions {
        Extensions::None => String::new(),
        Extensions::Deflate => format!("Sec-WebSocket-Extensions: {DEFLATE}\r\n"),
    };
    format!(
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {KEY}\r\n{extensions}"
    )
}

/// What a server that speaks WebSocket makes of a key.
pub fn accept(key: &str) -> String {
    let hash = Sha1::new().chain_update(key).chain_update(MAGIC).finalize();
    STANDARD.encode(hash)
}

/// Checks the head of the answer to `offer`; returns the extensions that both speak.
///
/// # Errors
/// A sentence that says why it is no answer.
pub fn check_answer(head: &[u8], offered: Extensions) -> Result<Option<String>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let whole = response
        .parse(head)
        .is_ok_and(|status| status.is_complete());
    if !whole {
        return Err("what it sends is no HTTP/1.1 answer".to_string());
    }
    if response.code != Some(101) {
        return Err(format!(
            "it answers {} and doesn't speak WebSocket there; name the place with --path",
            response.code.unwrap_or(0)
        ));
    }
    let header = |name: &str| {
        let mut all = response.headers.iter();
        let found = all.find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    if header("Sec-WebSocket-Accept") != Some(accept(KEY).as_str()) {
        return Err("its Sec-WebSocket-Accept is not that of the key".to_string());
    }
    let extensions = header("Sec-WebSocket-Extensions").filter(|text| !text.is_empty());
    match (extensions, offered) {
        (None, _) => Ok(None),
        (Some(text), Extensions::None) => {
            Err(format!("it uses extensions that were not offered: {text}"))
        }
        (Some(text), Extensions::Deflate) => {
            let is_ours = text.starts_with("permessage-deflate")
                && text.contains("server_no_context_takeover");
            match is_ours {
                true => Ok(Some(text.to_string())),
                false => Err(format!("it uses extensions that were not offered: {text}")),
            }
        }
    }
}

#[cfg(test)]
mod tests;
