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
        // This is for `mapfile`; reading line by line takes ten times as long.
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
                "`read` makes a call for each byte (dash), or seeks back after each line: pass the whole file to \
                 one `awk`."
            }
            Topic::Input { file: false } => {
                "`read` makes a call for each byte of a pipe: pass the lines to one `awk`, or let `bash` read a \
                 file."
            }
            Topic::Stream => {
                "`read` makes a call for each byte of a pipe: pass the lines to one `awk`."
            }
            Topic::File { reopened: true, .. } => {
                "Redirect the whole loop (`done >> file`), not each `echo`: the file is then opened once."
            }
            Topic::File {
                writes: true,
                reopened: false,
            } => "Let one command write the whole text, not one `echo` for each piece.",
            Topic::Processes { .. } => {
                "Use the shell's built-in operations (`$((...))`, `${x#...}`, `case`), or pass the whole list to \
                 one `awk`, `sed` or `xargs`."
            }
            _ => return None,
        })
    },
    ..BASE
};
