//! Why a server has failed, in words.

use fathom_load::{Failing, NoAnswer};
use fathom_model::Exit;
use fathom_model::secret::hidden;

/// Characters of a server's name in a message: a script may be its command.
const NAME: usize = 60;

/// The name of a server for a message, in one line.
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
        "answers {status} to {}: name what it serves with --path, or accept that with --status {status}",
        hidden(path)
    )
}

/// Of a server that was asked for a WebSocket and answered as to any other request.
pub(super) fn no_websocket(status: u16, path: &str) -> String {
    format!(
        "answers {status} to {}, not 101 as a server that begins a WebSocket: name its path with --path",
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
        Failing::Connect => "no connection can be made",
        Failing::NoPort => {
            "this machine has no port or descriptor left for another connection; fewer connections, or \
             keep-alive, need less"
        }
        Failing::Handshake => "no TLS or version of HTTP can be agreed on with it",
        Failing::Reset => "it resets the connection",
        Failing::Closed => "it closes the connection before its answer is whole",
        Failing::TimedOut => "it gives no whole answer in time",
        Failing::Malformed => "what it sends is no HTTP answer",
        Failing::Status => "its status is not the one that was asked for",
        Failing::Body => "its body is not what was asked for",
    }
}
