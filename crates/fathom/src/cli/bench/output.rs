//! What is printed and written at the end.

use std::path::{Path, PathBuf};

use fathom_model::BenchRecord;
use fathom_report as report;
use report::{SortOrder, TerminalOptions};

use super::arguments::{Arguments, Sort, Style, TimeUnit};
use super::longer;
use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// What is to be shown, from `--style` and the terminal.
pub(super) struct Shows {
    /// Options of the report on standard output.
    pub options: TerminalOptions,
    /// Whether there is a progress line.
    pub progress: bool,
    /// Columns of the terminal that shows it.
    pub progress_width: usize,
}

impl Shows {
    /// Resolves `auto`.
    pub(super) fn new(arguments: &Arguments) -> Shows {
        let colour_allowed = screen::stdout_has_colour();
        let (color, progress) = match arguments.style {
            Style::Auto => (colour_allowed, screen::can_draw()),
            Style::Basic | Style::None => (false, false),
            Style::Full => (true, true),
            Style::Nocolor => (false, screen::can_draw()),
            Style::Color => (true, false),
        };
        Shows {
            options: TerminalOptions {
                screen: report::Screen {
                    color,
                    ..screen::of_stdout(arguments.verbose)
                },
                time_unit: arguments.time_unit.map(unit),
                brief: arguments.brief,
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
            progress_width: screen::stderr_width(),
        }
    }
}

/// Says before measuring that a file can't be written after it.
///
/// # Errors
/// [`Failure::Usage`] naming the file.
pub(super) fn check_targets(arguments: &Arguments) -> Result<(), Failure> {
    write::check(targets(arguments))
}

/// Every file that is to be written.
pub(super) fn targets(arguments: &Arguments) -> impl Iterator<Item = &Path> {
    [
        &arguments.json,
        &arguments.html,
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
        &arguments.export_asciidoc,
        &arguments.export_orgmode,
    ]
    .into_iter()
    .filter_map(|path| path.as_deref())
}

/// Prints the report and writes the exports.
///
/// # Errors
/// [`Failure::Write`].
pub(super) fn write(
    arguments: &Arguments,
    record: &BenchRecord,
    shows: &Shows,
) -> Result<(), Failure> {
    let unit = shows.options.time_unit;
    if !targets(arguments).any(write::is_stdout) && arguments.style != Style::None {
        let longer = |time: &str| longer::words(std::env::args_os().skip(1), time);
        let text = report::terminal_with(record, &shows.options, &longer);
        write::print(&text)?;
    }
    // A file was written run by run.
    if arguments.json.as_deref().is_some_and(write::is_stdout) {
        write::export(Path::new("-"), report::json(record))?;
    }
    let export = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
        Some(path) => write::export(path, text()),
        None => Ok(()),
    };
    export(&arguments.html, &|| report::bench_html(record))?;
    export(&arguments.export_json, &|| report::hyperfine_json(record))?;
    export(&arguments.export_csv, &|| report::csv(record))?;
    export(&arguments.export_markdown, &|| {
        report::markdown(record, unit)
    })?;
    export(&arguments.export_asciidoc, &|| {
        report::asciidoc(record, unit)
    })?;
    export(&arguments.export_orgmode, &|| report::orgmode(record, unit))
}

fn unit(unit: TimeUnit) -> report::TimeUnit {
    match unit {
        TimeUnit::Microsecond => report::TimeUnit::Microsecond,
        TimeUnit::Millisecond => report::TimeUnit::Millisecond,
        TimeUnit::Second => report::TimeUnit::Second,
        TimeUnit::Minute => report::TimeUnit::Minute,
    }
}
