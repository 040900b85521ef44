//! Describes why a server failed.

use fathom_load::{Failing, NoAnswer};
use fathom_model::Exit;
use fathom_model::secret::hidden;

/// The maximum length of a server's name in a message, in characters; the name may be a whole script.
const NAME: usize = 60;

/// Shortens the name of a server to one line for a message.
pub(super) fn short(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

pub(super) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("ended with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => "was ended by --timeout".to_string(),
    }
}

pub(super) fn wrong_status(status: u16, path: &str) -> String {
    format!(
        "answers {status} to {}: use --path to choose a path that it serves, or accept the status with --status \
         {status}",
        hidden(path)
    )
}

/// Describes a server that answered a WebSocket handshake as if it were any other request.
pub(super) fn no_websocket(status: u16, path: &str) -> String {
    format!(
        "answers {status} to {} instead of 101, which would start a WebSocket: choose its path with --path",
        hidden(path)
    )
}

pub(super) fn no_answer(NoAnswer(failing, more): NoAnswer) -> String {
    let what = failure(failing);
    match more {
        "" => what.to_string(),
        more => format!("{what}: {more}"),
    }
}

pub(super) fn failure(failing: Failing) -> &'static str {
    match failing {
        Failing::Connect => "no connection can be opened",
        Failing::NoPort => {
            "this machine has no free port or descriptor for another connection; use fewer connections or keep-alive"
        }
        Failing::Handshake => "no version of TLS or HTTP is supported by both sides",
        Failing::Reset => "it resets the connection",
        Failing::Closed => "it closes the connection before its answer is complete",
        Failing::TimedOut => "its answer was not complete in time",
        Failing::Malformed => "its answer is not HTTP",
        Failing::Status => "its status is not the expected one",
        Failing::Body => "its body is not the expected one",
    }
}
