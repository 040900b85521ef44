//! Benchmarks over their revisions as a page, a site, or live.

mod answer;
mod data;
mod html;
mod links;
mod live;
mod overview;
mod pages;
mod records;
mod versions;

pub use html::report_html;
pub use live::{ReportRows, report_live, report_part, report_place, report_versions};
pub use pages::report_site;
