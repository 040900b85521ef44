//! Ruby.

use super::library::Library;
use super::modules::Modules;
use super::{BASE, Habit, Runtime, Topic};

pub(super) const RUBY: Runtime = Runtime {
    programs: &["ruby"],
    habits: &[Habit::Interprets],
    library: Library {
        call: 150.0,
        path: 150.0,
        thread: 20e3,
        parse: 15.0,
        parse_settings: 60.0,
        ..Library::UNKNOWN
    },
    modules: Modules::Files {
        ends: &[".rb"],
        of_runtime: None,
        path_options: &[],
    },
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "Remove `$stdout.sync = true`, and use `write` or `puts`, not `syswrite`."
            }
            Topic::Output { lines: true, .. } => {
                "Remove `$stdout.sync = true` where the output is not a terminal."
            }
            Topic::Input { .. } => "Read lines or blocks with `gets` or `read`, not `sysread`.",
            Topic::Stream => {
                "Read lines or blocks with the language's buffered calls, not `sysread`."
            }
            Topic::File {
                writes: true,
                reopened: false,
            } => "Remove `sync = true`, and use `write`, not `syswrite`.",
            Topic::Flush => "Set `$stdout.sync = true` in it.",
            _ => return None,
        })
    },
    ..BASE
};
