//! The only place where Fathom prints. All text passes through `guarded`, so that even text that wasn't
//! escaped by mistake can't affect the terminal. `clippy.toml` of this crate forbids other ways to print.
#![allow(clippy::disallowed_methods)]

use std::io::{self, IsTerminal, Write};

use fathom_report::guarded;

/// Prints a line on standard error.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::cli::out::say_lines(&format!($($words)*))
    };
}
pub(super) use say;

/// Like `say`, for text with several lines. A failure to write doesn't stop the command.
pub(super) fn say_lines(text: &str) {
    let text = guarded(text.strip_suffix('\n').unwrap_or(text));
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Draws a line on standard error that replaces the previous one; an empty text removes it.
pub(super) fn redraw(text: &str) {
    // As above, a failure to write doesn't stop the command.
    let _ = write!(io::stderr(), "\r{}\x1b[K", guarded(text));
}

/// Writes a text to standard output.
///
/// # Errors
/// If it can't be written; a reader that closed the pipe is not an error.
pub(super) fn print(text: &str) -> io::Result<()> {
    whole(guarded(text).as_bytes())
}

/// Writes output for programs, such as JSON, unchanged; on a terminal it is guarded as in [`print()`].
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
        // The reader closed the pipe, as in `fathom … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints clap's output: help goes to standard output, and errors to standard error.
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

/// Returns whether standard output is a terminal.
pub(super) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns whether standard error is a terminal.
pub(super) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns whether standard output may have color: on a terminal, and without `NO_COLOR`.
pub(super) fn stdout_has_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}
