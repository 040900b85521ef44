//! The only place where Fathom prints. Everything passes `guarded`: of what was forgotten to be escaped,
//! nothing acts on the terminal. `clippy.toml` of this crate refuses other ways out.
#![allow(clippy::disallowed_methods)]

use std::io::{self, IsTerminal, Write};

use fathom_report::guarded;

/// Says a line on standard error.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::cli::out::say_lines(&format!($($words)*))
    };
}
pub(super) use say;

/// The same for what may have several lines. A failure to write it doesn't stop the command.
pub(super) fn say_lines(text: &str) {
    let text = guarded(text.strip_suffix('\n').unwrap_or(text));
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Draws a line on standard error that takes the place of the one before; an empty one leaves none.
pub(super) fn redraw(text: &str) {
    // As above.
    let _ = write!(io::stderr(), "\r{}\x1b[K", guarded(text));
}

/// Writes a text to standard output.
///
/// # Errors
/// When it can't be written; a reader that closed the pipe is not an error.
pub(super) fn print(text: &str) -> io::Result<()> {
    whole(guarded(text).as_bytes())
}

/// Writes what a program reads, such as JSON, as it is; a terminal, which shows it to a person, gets it
/// as [`print()`] does.
///
/// # Errors
/// As above.
pub(super) fn print_for_programs(bytes: &[u8]) -> io::Result<()> {
    match stdout_is_terminal() {
        true => print(&String::from_utf8_lossy(bytes)),
        false => whole(bytes),
    }
}

fn whole(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader has had enough: `fathom … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints what clap says: help on standard output, mistakes on standard error.
///
/// # Errors
/// As above.
pub(super) fn of_clap(error: &clap::Error) -> io::Result<()> {
    let text = error.render();
    match (error.use_stderr(), stdout_has_colour()) {
        (true, _) => {
            say_lines(&text.ansi().to_string());
            Ok(())
        }
        (false, true) => print(&text.ansi().to_string()),
        (false, false) => print(&text.to_string()),
    }
}

/// Whether standard output is a terminal.
pub(super) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is one.
pub(super) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether standard output may have colour: on a terminal, and not under `NO_COLOR`.
pub(super) fn stdout_has_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
