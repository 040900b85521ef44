//! What `fathom why` prints: the answer first, in 20 lines; tables where they are asked for.

use fathom_model::Explanation;

use super::document::document;
use super::tables::Extent;
use crate::Screen;
use crate::document::{Form, write};
use crate::line::Page;

/// What is added to the explanation, and what it is shown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WhyOptions {
    /// Where it is verbose it has what is known beside the answer: findings in full, the account as a
    /// table, what was read and written, the processes, the start, and all that limits what can be said.
    pub screen: Screen,
    /// Adds the table of all system calls.
    pub syscalls: bool,
    /// Adds the table of functions that the program's own code is in.
    pub functions: bool,
    /// Adds the account of each thread.
    pub threads: bool,
    /// Adds the whole process tree, and the account of each process.
    pub processes: bool,
}

impl WhyOptions {
    /// Everything, as a page has it.
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

/// The explanation as text: the time, the findings, where the time goes, how it was observed; then
/// the tables that `options` ask for. No line is wider than the screen and no text from
/// outside can act on the terminal. Ends with a line end.
///
/// At 80 columns without tables it is at most 20 lines with one finding or none, 4 more for each
/// further one, and the rows of where.
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
