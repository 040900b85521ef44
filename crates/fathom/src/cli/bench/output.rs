//! Output at the end of a run.

use std::path::PathBuf;

use fathom_model::BenchRecord;
use fathom_report as report;
use report::{SortOrder, TerminalOptions};

use super::arguments::{Arguments, Sort, Style, TimeUnit};
use super::longer;
use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// What to show, depending on `--style` and the terminal.
pub(super) struct Shows {
    /// Options for the report on standard output.
    pub options: TerminalOptions,
    /// Whether to show a progress line.
    pub progress: bool,
}

impl Shows {
    /// Resolves `auto` to concrete settings.
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
            },
            progress: progress && !arguments.run_options.show_output,
        }
    }
}

/// Returns every file to be written.
pub(super) fn targets(arguments: &Arguments) -> [&Option<PathBuf>; 7] {
    [
        &arguments.json,
        &arguments.html,
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
        &arguments.export_asciidoc,
        &arguments.export_orgmode,
    ]
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
    let longer = |time: &str| longer::words(std::env::args_os().skip(1), time);
    // Files were already written after each run.
    let json = arguments
        .json
        .as_deref()
        .filter(|path| write::is_stdout(path));
    write::results(
        || match arguments.style {
            Style::None => String::new(),
            _ => report::terminal_with(record, &shows.options, &longer),
        },
        &[
            (json, &|| report::json(record)),
            (arguments.html.as_deref(), &|| report::bench_html(record)),
            (arguments.export_json.as_deref(), &|| {
                report::hyperfine_json(record)
            }),
            (arguments.export_csv.as_deref(), &|| report::csv(record)),
            (arguments.export_markdown.as_deref(), &|| {
                report::markdown(record, unit)
            }),
            (arguments.export_asciidoc.as_deref(), &|| {
                report::asciidoc(record, unit)
            }),
            (arguments.export_orgmode.as_deref(), &|| {
                report::orgmode(record, unit)
            }),
        ],
    )
}

fn unit(unit: TimeUnit) -> report::TimeUnit {
    match unit {
        TimeUnit::Microsecond => report::TimeUnit::Microsecond,
        TimeUnit::Millisecond => report::TimeUnit::Millisecond,
        TimeUnit::Second => report::TimeUnit::Second,
        TimeUnit::Minute => report::TimeUnit::Minute,
    }
}
