//! The page: one file that needs no network and runs only its own script.

use fathom_model::Explanation;

use super::WhyOptions;
use super::document::document;
use super::page_data::{self, Limits, PageData};
use super::quote::could_save;
use super::summary::{process_title, whole_seconds};
use super::tables::Extent;
use super::verdict::verdict;
use crate::document::{Form, html};
use crate::line::Tone;
use crate::page::{Head, Origin, drawn_by_script, inert};
use crate::text::bounded;

const SCRIPT: &str = concat!(
    include_str!("../page/page.js"),
    include_str!("page/text.js"),
    include_str!("page/summary.js"),
    include_str!("page/timeline.js"),
    include_str!("page/paint.js"),
    include_str!("page/pointer.js"),
    include_str!("page/flame.js"),
    include_str!("page/ways.js"),
    include_str!("page/start.js"),
);

/// The largest size of the page, in bytes.
const LARGEST: usize = 1_000_000;

/// Formats the explanation as one page: the account as a bar, the findings, a zoomable timeline of all
/// threads, and the tables. It is always smaller than 1,000,000 bytes; the page states what was omitted to
/// achieve this.
///
/// Untrusted texts occur only in a data block, escaped so that they can't end it. The script inserts them
/// into the page as text.
pub fn explain_html(explanation: &Explanation) -> String {
    let mut limits = Limits {
        stretches: 24_000,
        lanes: 600,
        details: 4_000,
        rows: 400,
        text: 240,
    };
    loop {
        let data = PageData::of(explanation, &limits);
        let extent = Extent {
            form: Form::Page,
            rows: limits.rows,
            asked: WhyOptions::all(),
        };
        let mut document = document(explanation, extent);
        for note in page_data::notes(explanation, &limits) {
            document.prose(0, Tone::Quiet, note);
        }
        let tables = html(&document);
        let what = "Account, findings and timeline";
        let parts = ("", tables.as_str());
        let page = drawn_by_script(&head(explanation), parts, what, SCRIPT, &inert(&data));
        if page.len() < LARGEST || limits.rows <= 1 {
            return page;
        }
        limits = Limits {
            stretches: limits.stretches / 2,
            lanes: limits.lanes / 2,
            details: limits.details / 2,
            rows: limits.rows / 2,
            text: (limits.text / 2).max(60),
        };
    }
}

fn head(explanation: &Explanation) -> Head<'_> {
    let first = explanation.findings.first();
    let saving = first.and_then(|finding| {
        let saving = could_save(finding, whole_seconds(explanation))?;
        Some(format!("{}: {saving}", finding.id))
    });
    Head {
        verb: "why",
        of: &explanation.command,
        answer: match (saving, first) {
            (Some(saving), _) => saving,
            (None, Some(finding)) => bounded(&finding.statement, 300),
            (None, None) => bounded(&verdict(explanation), 300),
        },
        tone: Tone::Strong,
        basis: match &explanation.process {
            Some(process) => bounded(&process_title(explanation, process), 300),
            None => String::new(),
        },
        commands: vec![&explanation.command],
        origin: Origin {
            environment: &explanation.environment,
            started_at: &explanation.started_at,
            fathom_version: &explanation.fathom_version,
        },
    }
}
