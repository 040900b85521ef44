//! Perl.

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::modules::Modules;
use super::{BASE, Habit, Runtime, Topic};

pub(super) const PERL: Runtime = Runtime {
    programs: &["perl"],
    habits: &[Habit::Interprets],
    library: Library {
        call: 150.0,
        path: 150.0,
        thread: 6e3,
        parse: 15.0,
        parse_settings: 60.0,
        ..Library::UNKNOWN
    },
    modules: Modules::Files {
        ends: &[".pl", ".pm"],
        of_runtime: None,
        path_options: &[],
    },
    // These functions lead to each operation, regardless of the script.
    functions: &[(
        Use::Start,
        Names {
            whole: &[
                "perl_run",
                "perl_parse",
                "S_run_body",
                "Perl_runops_standard",
            ],
            ..NAMES
        },
    )],
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "Remove `$| = 1` (`autoflush`), which makes each `print` a call, and use `print` instead of \
                 `syswrite`."
            }
            Topic::Output { lines: true, .. } => {
                "Remove `$| = 1` (`autoflush`) where the output is not a terminal: it makes each `print` a call."
            }
            Topic::Input { .. } => {
                "Read with `<STDIN>`, or blocks with `read`: both have a buffer, `sysread` has none."
            }
            Topic::Stream => {
                "Read lines or blocks with the language's buffered calls, not `sysread`."
            }
            Topic::File {
                writes: false,
                reopened: false,
            } => "Read with `<$file>` or `read`, which have a buffer, not with `sysread`.",
            Topic::File {
                writes: true,
                reopened: false,
            } => {
                "Remove `autoflush` (`$| = 1`), which makes each `print` a call, and use `print` instead of \
                 `syswrite`."
            }
            Topic::Flush => "Set `$| = 1` in it.",
            _ => return None,
        })
    },
    ..BASE
};
