//! The measured part of an experiment's README: a run writes the text between two markers, the prose around
//! it is written by people.

use fathom_model::{ClaimResult, ExperimentRecord};

use super::claims::{self, Shown};
use super::document::answers;
use super::drawing::experiment_picture;
use super::tables::Tables;
use super::words;
use crate::document::{Document, markdown};
use crate::quantity::counted;
use crate::waits;
use crate::why::markdown_with_code as plain;

/// The marker line before the figures.
pub const FIGURES_BEGIN: &str = "<!-- figures: begin. `fathom run --readme` writes everything up to the end mark; change the prose, not this. \
     -->";
/// File name of the picture, in the folder of the page.
pub const FIGURES_PICTURE: &str = "figures.svg";
/// File name of the tables behind the figures, in the folder of the page.
pub const FIGURES_TABLES: &str = "figures.md";
/// The marker line after the figures.
pub const FIGURES_END: &str = "<!-- figures: end -->";

/// The prefix that identifies the begin marker, regardless of the explanation after it.
const BEGIN: &str = "<!-- figures: begin";
/// Why a page can't take figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FiguresError {
    /// A marker is missing, or occurs twice.
    #[error(
        "it has {0} begin marks and {1} end marks for figures; one of each is needed: `{BEGIN} -->` and `{FIGURES_END}`"
    )]
    Marks(usize, usize),
    /// The end marker comes first.
    #[error("the end mark for figures stands before the begin mark")]
    Order,
}

/// Returns a page with the figures of a run between its markers; everything else stays as it is. `check` is
/// the result of the machine check before the run.
///
/// # Errors
/// [`FiguresError`].
pub fn with_figures(
    page: &str,
    record: &ExperimentRecord,
    check: Option<&str>,
) -> Result<String, FiguresError> {
    let (begin, end) = marks(page)?;
    let figures = experiment_figures(record, check);
    let (before, after) = (&page[..begin], &page[end..]);
    Ok(format!(
        "{before}{FIGURES_BEGIN}\n\n{figures}\n{FIGURES_END}{after}"
    ))
}

/// Checks whether a page can take figures.
///
/// # Errors
/// [`FiguresError`].
pub fn check_figures(page: &str) -> Result<(), FiguresError> {
    marks(page).map(|_| ())
}

/// Returns where the marked part begins and ends, including the markers.
fn marks(page: &str) -> Result<(usize, usize), FiguresError> {
    let starts = |mark: &str| -> Vec<usize> {
        let mut at = 0;
        let mut found = Vec::new();
        for line in page.split_inclusive('\n') {
            if line.starts_with(mark) {
                found.push(at);
            }
            at += line.len();
        }
        found
    };
    let (begins, ends) = (starts(BEGIN), starts(FIGURES_END));
    match (begins.as_slice(), ends.as_slice()) {
        ([begin], [end]) if begin < end => Ok((*begin, end + FIGURES_END.len())),
        ([_], [_]) => Err(FiguresError::Order),
        _ => Err(FiguresError::Marks(begins.len(), ends.len())),
    }
}

/// Formats the number of claims for each verdict, the picture, the claims, the open questions, and where to
/// find the medians behind them.
pub fn experiment_figures(record: &ExperimentRecord, check: Option<&str>) -> String {
    let mut out = format!("**{}.** {}\n", tally(record), plain(&taken(record)));
    if let Some(check) = check.map(plain) {
        out.push_str(&format!(
            "\n`fathom machine --check` before the run: {check}\n"
        ));
    }
    if !record.complete {
        out.push_str("\n**Partial**: not everything was measured.\n");
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        out.push_str(&format!("\n{waits}.\n"));
    }
    if experiment_picture(record).is_some() {
        out.push_str(&format!(
            "\n![The measured sizes, next to the published ones]({FIGURES_PICTURE})\n"
        ));
    }
    let claims: Vec<&ClaimResult> = record.claims.iter().collect();
    let mut document = Document::default();
    document.table(claims::table(&claims, Shown::Figures));
    answers(&mut document, record);
    out.push_str(&markdown(&document, plain, 3));
    if let Some(tables) = Tables::of(record) {
        out.push_str(&format!("\n[{}]({FIGURES_TABLES})\n", tables.caption()));
    }
    out
}

fn tally(record: &ExperimentRecord) -> String {
    match record.claims.len() {
        0 => "No claims".to_owned(),
        all => format!(
            "Of {}: {}",
            counted(all as u64, "claim", "claims"),
            words::tally(&record.claims)
        ),
    }
}

/// Returns the line with place and date.
pub(super) fn taken(record: &ExperimentRecord) -> String {
    let set = match record.quick {
        true => "the quick set, ",
        false => "",
    };
    let machine = words::machine(record);
    let machine = machine.strip_prefix("machine: ").unwrap_or(&machine);
    format!(
        "Measured by Fathom {} ({set}{machine}).",
        record.fathom_version
    )
}
