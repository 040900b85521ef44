//! How much of the program's own time goes away together with its calls: the language library's work around
//! each call.

use super::Runtime;
use crate::calls;

/// The library's work around one operation, in ns: less than half of a language's programs take less;
/// measured on slow programs and their repaired twins (`corpus`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    pub ns: f64,
    /// It's unknown which of a program's instructions belong to the operation: of its own code's time for
    /// each, at most this part is counted. The rest may be work that stays.
    pub of_own: f64,
}

/// The library's times, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    /// Around a call that transfers little.
    pub call: f64,
    /// Around a call that takes a path: the path is built, converted and parsed, and a failure is turned into
    /// an object.
    pub path: f64,
    /// Around a write to a console that formats a line from arbitrary values.
    pub console: Option<f64>,
    /// Around the start and end of a program.
    pub start: f64,
    /// Around the creation and end of a thread: its stack, its thread-local variables, passing its work to
    /// it.
    pub thread: f64,
    /// Time to free each byte that was read, if a garbage collector does that later.
    pub collect: f64,
    /// Time to parse each byte that was read, as in the languages' own JSON parsers.
    pub parse: f64,
    /// The same for settings files, whose parsers are written in the language itself: Python's for INI takes
    /// 260, its JSON parser 15.
    pub parse_settings: f64,
}

impl Library {
    /// Unknown times are not guessed.
    pub(super) const UNKNOWN: Self = Self {
        call: 0.0,
        path: 0.0,
        console: None,
        start: 0.0,
        thread: 0.0,
        collect: 0.0,
        parse: 3.0,
        parse_settings: 3.0,
    };
}

impl Runtime {
    /// The library's work around a call that transfers little; a buffer or fewer calls avoid it.
    pub(crate) fn around(&self, call: &str, fd: Option<i32>) -> Around {
        let prints = calls::is_write(call) && matches!(fd, Some(1 | 2));
        if let Some(ns) = self.library.console.filter(|_| prints) {
            return Around { ns, of_own: 0.6 };
        }
        match calls::opens_file(call) || calls::asks_about_path(call) {
            true => Around {
                ns: self.library.path,
                of_own: 0.6,
            },
            false => Around {
                ns: self.library.call,
                of_own: 0.4,
            },
        }
    }

    /// Around the start and end of a program.
    pub(crate) fn around_start(&self) -> Around {
        Around {
            ns: self.library.start,
            of_own: 0.4,
        }
    }

    /// Around the creation and end of a thread.
    pub(crate) fn around_thread(&self) -> Around {
        Around {
            ns: self.library.thread,
            of_own: 0.8,
        }
    }

    /// Time to free each byte that was read, in ns.
    pub(crate) fn collecting_ns(&self) -> f64 {
        self.library.collect
    }

    /// Time to parse each byte that was read, in ns.
    pub(crate) fn parsing_ns(&self, settings: bool) -> f64 {
        match settings {
            true => self.library.parse_settings,
            false => self.library.parse,
        }
    }
}
