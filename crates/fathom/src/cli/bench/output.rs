//! What is printed and written at the end.

use std::io::{IsTerminal, Write};
use std::path::Path;

use fathom_model::BenchRecord;
use fathom_report as report;
use report::{SortOrder, TerminalOptions};

use super::arguments::{Arguments, Sort, Style, TimeUnit};
use crate::cli::failure::Failure;

/// What is to be shown, from `--style` and the terminal.
pub struct Shows {
    /// Options of the report on standard output.
    pub options: TerminalOptions,
    /// Whether there is a progress line.
    pub progress: bool,
    /// Columns of the terminal that shows it.
    pub progress_width: usize,
}

impl Shows {
    /// Resolves `auto`.
    pub fn new(arguments: &Arguments) -> Shows {
        let colour_wanted = anstream::AutoStream::choice(&std::io::stdout());
        let colour_allowed = colour_wanted != anstream::ColorChoice::Never;
        let (color, progress) = match arguments.style {
            Style::Auto => (colour_allowed, super::can_draw()),
            Style::Basic | Style::None => (false, false),
            Style::Full => (true, true),
            Style::Nocolor => (false, super::can_draw()),
            Style::Color => (true, false),
        };
        Shows {
            options: TerminalOptions {
                width: width(libc::STDOUT_FILENO, std::io::stdout().is_terminal()),
                color,
                unicode: speaks_unicode(),
                time_unit: arguments.time_unit.map(unit),
                sort: match arguments.sort {
                    Sort::Median => SortOrder::Median,
                    Sort::Auto | Sort::Command => SortOrder::Command,
                },
                style: match arguments.style {
                    Style::None => report::Style::None,
                    Style::Basic => report::Style::Basic,
                    Style::Nocolor => report::Style::NoColor,
                    Style::Color => report::Style::Color,
                    Style::Auto | Style::Full => report::Style::Full,
                },
            },
            progress: progress && !arguments.run_options.show_output,
            progress_width: width(libc::STDERR_FILENO, true),
        }
    }
}

/// Says before measuring that a file can't be written after it.
///
/// # Errors
/// [`Failure::Usage`] naming the file.
pub fn check_targets(arguments: &Arguments) -> Result<(), Failure> {
    let files = [
        &arguments.json,
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
        &arguments.export_asciidoc,
        &arguments.export_orgmode,
    ];
    for path in files
        .into_iter()
        .flatten()
        .filter(|path| path.as_os_str() != "-")
    {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if path.is_dir() || !folder.is_dir() {
            return Err(Failure::Usage(format!(
                "can't write {}: {}",
                path.display(),
                if path.is_dir() {
                    "it is a directory"
                } else {
                    "its folder is not there"
                }
            )));
        }
    }
    Ok(())
}

/// Prints the report and writes the exports.
///
/// # Errors
/// [`Failure::Write`].
pub fn write(arguments: &Arguments, record: &BenchRecord, shows: &Shows) -> Result<(), Failure> {
    let unit = shows.options.time_unit;
    let goes_to_stdout = |path: &Option<std::path::PathBuf>| {
        path.as_ref().is_some_and(|path| path.as_os_str() == "-")
    };
    let stdout_is_taken = [
        &arguments.json,
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
        &arguments.export_asciidoc,
        &arguments.export_orgmode,
    ]
    .into_iter()
    .any(goes_to_stdout);
    if !stdout_is_taken && arguments.style != Style::None {
        print(
            Path::new("standard output"),
            report::terminal(record, &shows.options).as_bytes(),
        )?;
    }
    if goes_to_stdout(&arguments.json) {
        let mut bytes = Vec::new();
        report::json(record, &mut bytes).map_err(|error| Failure::Write {
            path: "-".into(),
            error,
        })?;
        print(Path::new("-"), &bytes)?;
    }
    export(&arguments.export_json, || report::hyperfine_json(record))?;
    export(&arguments.export_csv, || report::csv(record))?;
    export(&arguments.export_markdown, || {
        report::markdown(record, unit)
    })?;
    export(&arguments.export_asciidoc, || {
        report::asciidoc(record, unit)
    })?;
    export(&arguments.export_orgmode, || report::orgmode(record, unit))
}

fn print(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader has seen enough: `fathom … | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| Failure::Write {
            path: path.to_path_buf(),
            error,
        }),
    }
}

/// Writes beside the target and renames, so that a file is whole or not there.
fn export(path: &Option<std::path::PathBuf>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text = text();
    if path.as_os_str() == "-" {
        return print(path, text.as_bytes());
    }
    let failed = |error| Failure::Write {
        path: path.clone(),
        error,
    };
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(path, text).map_err(failed);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|error| {
            // Nothing half-written stays.
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
}

fn unit(unit: TimeUnit) -> report::TimeUnit {
    match unit {
        TimeUnit::Microsecond => report::TimeUnit::Microsecond,
        TimeUnit::Millisecond => report::TimeUnit::Millisecond,
        TimeUnit::Second => report::TimeUnit::Second,
        TimeUnit::Minute => report::TimeUnit::Minute,
    }
}

/// Columns of the terminal behind `descriptor`; 80 where there is none.
fn width(descriptor: libc::c_int, is_terminal: bool) -> usize {
    const DEFAULT: usize = 80;
    if !is_terminal {
        return DEFAULT;
    }
    // SAFETY: the structure is plain numbers; the call fills it or fails.
    let size = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(descriptor, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size)
    };
    match size {
        // Long lines are hard to read: more than 120 columns are not used.
        Some(size) if size.ws_col >= 20 => usize::from(size.ws_col).min(120),
        _ => DEFAULT,
    }
}

/// Whether the locale's characters are UTF-8; where nothing is said, they are today.
fn speaks_unicode() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    said.is_none_or(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8") || value == "c.utf-8"
    })
}
