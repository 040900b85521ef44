//! How much of the program's own time disappears together with its calls: the work of the language's library
//! around each call.

use serde::Deserialize;

use crate::calls;

/// The library's work around one operation, in ns. Fewer than half of a language's programs take less. The
/// values were measured on slow programs and their repaired twins (`corpus`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    pub ns: f64,
    /// The maximum part of the own code's time per operation that is counted, because it's unknown which of a
    /// program's instructions belong to the operation. The rest may be work that stays.
    pub of_own: f64,
}

impl Around {
    fn of(ns: f64, of_own: f64) -> Self {
        Self { ns, of_own }
    }
}

/// The library's times, in ns. Those of languages whose times are unknown are not guessed.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Library {
    /// The time around a call that transfers little.
    pub call: f64,
    /// The time around a call that takes a path: the path is built, converted and parsed, and a failure is
    /// turned into an object.
    pub path: f64,
    /// The time around a write to a console that formats a line from arbitrary values.
    pub console: Option<f64>,
    /// The time around the start and end of a program.
    pub start: f64,
    /// The time around the creation and end of a thread: for its stack, for its thread-local variables, and
    /// for passing its work to it.
    pub thread: f64,
    /// The time to free each byte that was read, if a garbage collector does that later.
    pub collect: f64,
    /// The time to parse each byte that was read, as in the languages' own JSON parsers.
    pub parse: f64,
    /// The same for settings files, whose parsers are written in the language itself. For example, Python's
    /// parser for INI files takes 260 ns, and its JSON parser 15 ns.
    pub parse_settings: f64,
}

impl Default for Library {
    fn default() -> Self {
        Self {
            call: 0.0,
            path: 0.0,
            console: None,
            start: 0.0,
            thread: 0.0,
            collect: 0.0,
            parse: 3.0,
            parse_settings: 3.0,
        }
    }
}

impl Library {
    /// Returns the work around a call that transfers little, which a buffer or fewer calls would avoid.
    pub(crate) fn around(&self, call: &str, fd: Option<i32>) -> Around {
        let prints = calls::is_write(call) && matches!(fd, Some(1 | 2));
        let takes_path = calls::opens_file(call) || calls::asks_about_path(call);
        match self.console.filter(|_| prints) {
            Some(ns) => Around::of(ns, 0.6),
            None if takes_path => Around::of(self.path, 0.6),
            None => Around::of(self.call, 0.4),
        }
    }

    pub(crate) fn around_start(&self) -> Around {
        Around::of(self.start, 0.4)
    }

    pub(crate) fn around_thread(&self) -> Around {
        Around::of(self.thread, 0.8)
    }
}
