//! The output of `fathom why`: the answer first, in about 20 lines; tables on request.

use fathom_model::Explanation;

use super::document::document;
use super::tables::Extent;
use crate::Screen;
use crate::document::{Form, write};
use crate::line::Page;

/// Additions to the explanation, and the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WhyOptions {
    /// The screen. Verbose output adds further details: findings in full, the account as a table, reads and
    /// writes, the processes, the start, and everything that limits the conclusions.
    pub screen: Screen,
    /// Whether to add the table of all system calls.
    pub syscalls: bool,
    /// Whether to add the table of functions with the program's own code.
    pub functions: bool,
    /// Whether to add the account of each thread.
    pub threads: bool,
    /// Whether to add the whole process tree, and the account of each process.
    pub processes: bool,
}

impl WhyOptions {
    /// Everything, as on a page.
    pub(super) fn all() -> WhyOptions {
        WhyOptions {
            screen: Screen {
                verbose: true,
                ..Screen::default()
            },
            syscalls: true,
            functions: true,
            threads: true,
            processes: true,
        }
    }
}

/// Formats the explanation as text: the time, the findings, where the time goes, how it was observed; then
/// the tables requested by `options`. No line is wider than the screen, and untrusted text can't affect the
/// terminal. Ends with a newline.
///
/// At 80 columns and without tables, the output has at most 24 lines with one finding or none and 6 more for
/// each further finding, plus the rows of where the time goes.
pub fn explain_terminal(explanation: &Explanation, options: &WhyOptions) -> String {
    let mut page = Page::new(&options.screen);
    let extent = Extent {
        form: Form::on(&options.screen),
        rows: usize::MAX,
        asked: *options,
    };
    write(&mut page, &document(explanation, extent));
    page.finish()
}
