//! Shells.

use super::library::Library;
use super::{BASE, Habit, Runtime, Topic};

pub(super) const SHELL: Runtime = Runtime {
    programs: &["sh", "bash", "dash", "zsh", "ksh", "ash"],
    habits: &[Habit::RunsCommands, Habit::GoesBack, Habit::Interprets],
    library: Library {
        call: 60.0,
        path: 200.0,
        thread: 6e3,
        // `mapfile`; a line at a time it takes ten times as long.
        parse: 12.0,
        parse_settings: 12.0,
        ..Library::UNKNOWN
    },
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "Redirect a whole loop, not each `echo`, or let one `awk` write."
            }
            Topic::Output { lines: true, .. } => {
                "Each `echo` is a call: build the text first, or let one `awk` write."
            }
            Topic::Input { file: true }
            | Topic::File {
                writes: false,
                reopened: false,
            } => {
                "`read` takes a byte a call (dash), or goes back after each line: give the whole file to one `awk`."
            }
            Topic::Input { file: false } => {
                "`read` takes one byte a call from a pipe: give the lines to one `awk`, or let `bash` read a file."
            }
            Topic::Stream => {
                "`read` takes one byte a call from a pipe: give the lines to one `awk`."
            }
            Topic::File { reopened: true, .. } => {
                "Redirect the whole loop (`done >> file`), not each `echo`: the file is then opened once."
            }
            Topic::File {
                writes: true,
                reopened: false,
            } => "Let one command write the whole, not an `echo` each piece.",
            Topic::Processes { .. } => {
                "Use what the shell has built in (`$((...))`, `${x#...}`, `case`), or hand the whole list to one `awk`, `sed` or `xargs`."
            }
            _ => return None,
        })
    },
    ..BASE
};
