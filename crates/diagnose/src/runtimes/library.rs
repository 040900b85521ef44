//! How much of the program's own time goes with its calls: what the language's library does around
//! each.

use super::Runtime;
use crate::calls;

/// What a library does around one thing that is done, in ns: less than half of the programs of a
/// language take less, whose slow form was measured beside its repaired twin (`corpus`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    pub ns: f64,
    /// Nobody sees which of a program's instructions belong to it: of what its code takes for each,
    /// no more than this part is counted. The rest may be work that stays.
    pub of_own: f64,
}

/// Times of a library in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Library {
    /// Around a call that moves little.
    pub call: f64,
    /// Around one that names a file: to say which, a path is put together, converted and taken
    /// apart, and a failure is put into an object.
    pub path: f64,
    /// Around a write to a console that puts a line together from any values.
    pub console: Option<f64>,
    /// Around the start and the end of a program.
    pub start: f64,
    /// Around the making and the end of a thread: its stack, its own variables, the handing over
    /// of its work.
    pub thread: f64,
    /// To give back each byte that was read, where a collector does that later.
    pub collect: f64,
    /// To take apart each byte that was read, as the languages' own JSON readers do.
    pub parse: f64,
    /// The same of files of settings, whose readers are written in the language itself: Python's
    /// for INI takes 260, where its JSON takes 15.
    pub parse_settings: f64,
}

impl Library {
    /// What isn't known is not guessed.
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
    /// What its library does around a call that moves little, and which a buffer or fewer calls do
    /// away with.
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

    /// Around the start and the end of a program.
    pub(crate) fn around_start(&self) -> Around {
        Around {
            ns: self.library.start,
            of_own: 0.4,
        }
    }

    /// Around the making and the end of a thread.
    pub(crate) fn around_thread(&self) -> Around {
        Around {
            ns: self.library.thread,
            of_own: 0.8,
        }
    }

    /// To give back each byte that was read, in ns.
    pub(crate) fn collecting_ns(&self) -> f64 {
        self.library.collect
    }

    /// To take apart each byte that was read, in ns.
    pub(crate) fn parsing_ns(&self, settings: bool) -> f64 {
        match settings {
            true => self.library.parse_settings,
            false => self.library.parse,
        }
    }
}
