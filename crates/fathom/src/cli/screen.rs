//! Capabilities of the terminal.

use crate::cli::out;
pub(super) use crate::cli::out::stdout_has_colour;

/// Returns the width of standard output in columns; if it isn't a terminal, `COLUMNS` or 80.
pub(super) fn stdout_width() -> usize {
    width(libc::STDOUT_FILENO, out::stdout_is_terminal())
}

/// Returns the properties of standard output for a report.
pub(super) fn of_stdout(verbose: bool) -> fathom_report::Screen {
    fathom_report::Screen {
        width: stdout_width(),
        color: stdout_has_colour(),
        unicode: speaks_unicode(),
        verbose,
    }
}

/// Returns the width of standard error in columns.
pub(super) fn stderr_width() -> usize {
    width(libc::STDERR_FILENO, true)
}

/// Returns whether standard error is a terminal on which a line can be redrawn.
pub(super) fn can_draw() -> bool {
    out::stderr_is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Replaces the last line drawn on standard error; an empty text removes it.
pub(super) fn redraw(draws: bool, text: &str) {
    if draws {
        out::redraw(text);
    }
}

/// Shows why measuring is waiting, or removes the line once measuring continues.
pub(super) fn waits_for_quiet(problem: Option<&str>) {
    let line = problem.map(|problem| {
        let line = format!("waiting for a quiet machine ({problem}) …");
        fathom_report::escape(&line)
    });
    redraw(can_draw(), line.as_deref().unwrap_or_default());
}

/// Returns the width in columns of the terminal behind `descriptor`.
fn width(descriptor: libc::c_int, is_terminal: bool) -> usize {
    const DEFAULT: usize = 80;
    if !is_terminal {
        let columns = std::env::var("COLUMNS").ok();
        let columns = columns.and_then(|columns| usable(columns.parse().ok()?));
        return columns.unwrap_or(DEFAULT);
    }
    // SAFETY: the structure contains only plain numbers; the call either fills it or fails.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    size.and_then(|size| usable(size.ws_col.into()))
        .unwrap_or(DEFAULT)
}

/// Limits the width to 120 columns, because long lines are hard to read. Fewer than 20 columns count as
/// unknown.
fn usable(columns: usize) -> Option<usize> {
    (columns >= 20).then_some(columns.min(120))
}

/// Returns whether the locale uses UTF-8; assumed if no locale is set.
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
