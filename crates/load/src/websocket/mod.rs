//! Messages through a server and back: WebSocket (RFC 6455), two clients on one thread.

mod frames;
mod pair;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
pub use frames::{Frames, Message, write_frame};
pub use pair::{Client, Exchange, Link, Pair, PairTask};
use sha1::{Digest, Sha1};

use crate::request::Extensions;

/// The key of every handshake. It only proves that the server speaks WebSocket.
const KEY: &str = "ZmF0aG9tIHNlcnZlIDEyMw==";
/// The text that the server has to append to the key.
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The extension offered by `--deflate`: each message is compressed separately, so that neither side keeps a
/// window.
const DEFLATE: &str = "permessage-deflate; client_no_context_takeover; server_no_context_takeover";

/// Returns the header lines that ask for WebSocket.
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

/// Returns the response of a WebSocket server to a key.
pub fn accept(key: &str) -> String {
    let hash = Sha1::new().chain_update(key).chain_update(MAGIC).finalize();
    STANDARD.encode(hash)
}

/// Checks the head of the response to `offer`; returns the extensions agreed on.
///
/// # Errors
/// A sentence that says why it isn't a valid response.
pub fn check_answer(head: &[u8], offered: Extensions) -> Result<Option<String>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let whole = response
        .parse(head)
        .is_ok_and(|status| status.is_complete());
    if !whole {
        return Err("its answer is not HTTP/1.1".to_string());
    }
    if response.code != Some(101) {
        return Err(format!(
            "it answers {} instead of accepting a WebSocket; choose the path with --path",
            response.code.unwrap_or(0)
        ));
    }
    let header = |name: &str| {
        let mut all = response.headers.iter();
        let found = all.find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    if header("Sec-WebSocket-Accept") != Some(accept(KEY).as_str()) {
        return Err("its Sec-WebSocket-Accept does not match the key".to_string());
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
