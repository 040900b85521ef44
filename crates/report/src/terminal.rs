//! What `fathom bench` prints at the end.

mod benchmark;
mod brief;
mod causes;
mod comparison;
mod conditions;
mod footer;
mod metrics;
mod options;
mod picture;
mod slow_runs;
mod table;

use fathom_model::BenchRecord;

use crate::line::Page;
use crate::session::Subject;

pub use options::{SortOrder, Style, TerminalOptions};

/// The report of a session: each benchmark, the comparisons, what must be known to trust them, and
/// the conditions. No line is wider than `options.width` (at least 32) and no text from outside can
/// act on the terminal. Ends with a line end; empty for [`Style::None`].
pub fn terminal(record: &BenchRecord, options: &TerminalOptions) -> String {
    if options.style == Style::None {
        return String::new();
    }
    let color = options.color && options.style.has_color();
    let mut page = Page::new(options.width, color, options.unicode);
    footer::partial(&mut page, record);
    let subjects = Subject::all(record);
    if options.brief {
        brief::write(&mut page, record, &subjects, options);
        return page.finish();
    }
    conditions::common(&mut page, record);
    for subject in &subjects {
        page.gap();
        benchmark::write(&mut page, record, subject, options.time_unit);
    }
    comparison::write(&mut page, record, &subjects, options);
    footer::write(&mut page, record, &subjects);
    page.finish()
}
