//! The final output of `fathom bench`.

pub(crate) mod answer;
mod brief;
pub(crate) mod causes;
pub(crate) mod comparison;
pub(crate) mod conditions;
mod deciding;
pub(crate) mod footer;
pub(crate) mod metrics;
pub(crate) mod next_steps;
pub(crate) mod notes;
mod options;
pub(crate) mod picture;
pub(crate) mod slow_runs;
mod strips;
pub(crate) mod verdict;

use fathom_model::BenchRecord;

use super::document;
use crate::document::{Document, Form, write};
use crate::line::Page;
use crate::session::Subject;

pub use deciding::Longer;
pub use options::{SortOrder, TerminalOptions};

/// Formats the report of a session: the figures and the verdict first, then warnings and next steps. With
/// `options.screen.verbose`, it contains everything known. No line is wider than `options.screen.width` (at
/// least 32), and no untrusted text can control the terminal. Ends with a newline.
pub fn terminal(record: &BenchRecord, options: &TerminalOptions) -> String {
    terminal_with(record, options, &|_| None)
}

/// Like [`terminal`], but if the user's command is known, each undecided comparison is followed by the
/// command that decides it.
pub fn terminal_with(
    record: &BenchRecord,
    options: &TerminalOptions,
    longer: Longer<'_>,
) -> String {
    let mut page = Page::new(&options.screen);
    footer::partial(&mut page, record);
    let subjects = Subject::all(record);
    if options.brief {
        brief::write(&mut page, record, &subjects, options);
        return page.finish();
    }
    answer::write(&mut page, record, &subjects, options, longer);
    if options.screen.verbose {
        let mut details = Document::default();
        document::add(&mut details, record, &subjects, Form::Full, options);
        write(&mut page, &details);
        page.gap();
        next_steps::write_why(&mut page, record, &subjects);
    }
    page.finish()
}
