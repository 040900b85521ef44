//! Benchmarks over their revisions as a page, a site, or live.

mod answer;
mod data;
mod html;
mod overview;
mod records;
mod versions;

pub use html::{report_html, report_live, report_part, report_site};
