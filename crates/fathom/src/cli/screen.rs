//! What the terminal can show.

use crate::cli::out;
pub(super) use crate::cli::out::stdout_has_colour;

/// Columns of standard output; where it isn't a terminal those of `COLUMNS`, else 80.
pub(super) fn stdout_width() -> usize {
    width(libc::STDOUT_FILENO, out::stdout_is_terminal())
}

/// Standard output, as a report is shown on it.
pub(super) fn of_stdout(verbose: bool) -> fathom_report::Screen {
    fathom_report::Screen {
        width: stdout_width(),
        color: stdout_has_colour(),
        unicode: speaks_unicode(),
        verbose,
    }
}

/// Columns of standard error.
pub(super) fn stderr_width() -> usize {
    width(libc::STDERR_FILENO, true)
}

/// Whether standard error is a terminal on which a line can be redrawn.
pub(super) fn can_draw() -> bool {
    out::stderr_is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Draws a line on standard error that takes the place of the one before; an empty one leaves none.
pub(super) fn redraw(draws: bool, text: &str) {
    if draws {
        out::redraw(text);
    }
}

/// Draws why measuring waits; nothing when it goes on.
pub(super) fn waits_for_quiet(problem: Option<&str>) {
    let line = problem.map(|problem| {
        let line = format!("waiting until the machine is quiet ({problem}) …");
        fathom_report::escape(&line)
    });
    redraw(can_draw(), line.as_deref().unwrap_or_default());
}

/// Columns of the terminal behind `descriptor`.
fn width(descriptor: libc::c_int, is_terminal: bool) -> usize {
    const DEFAULT: usize = 80;
    if !is_terminal {
        let columns = std::env::var("COLUMNS").ok();
        let columns = columns.and_then(|columns| usable(columns.parse().ok()?));
        return columns.unwrap_or(DEFAULT);
    }
    // SAFETY: the structure is plain numbers; the call fills it or fails.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.and_then(|size| usable(size.ws_col.into()))
        .unwrap_or(DEFAULT)
}

/// Long lines are hard to read: more than 120 columns are not used. Fewer than 20 are no width.
fn usable(columns: usize) -> Option<usize> {
    (columns >= 20).then_some(columns.min(120))
}

/// Whether the locale's characters are UTF-8; where nothing is said, they are today.
pub(super) fn speaks_unicode() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    said.is_none_or(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8") || value == "c.utf-8"
    })
}
