//! The measured part of an experiment's README: what stands between two markers is written by a
//! run, the prose around it by people.

use std::collections::BTreeMap;

use fathom_model::{ExperimentRecord, ResultRow};

use super::drawing::experiment_picture;
use super::markdown::answers;
use super::terminal::machine;
use super::words;
use crate::quantity::counted;
use crate::text::pairs;
use crate::waits;
use crate::why::markdown_with_code as plain;

/// The line before the figures.
pub const FIGURES_BEGIN: &str = "<!-- figures: begin. `fathom run --readme` writes up to the end mark; change the prose, not this. -->";
/// The picture of the figures, in the folder of the page.
pub const FIGURES_PICTURE: &str = "figures.svg";
/// The line after the figures.
pub const FIGURES_END: &str = "<!-- figures: end -->";

/// How the begin mark is recognised, whatever explanation follows.
const BEGIN: &str = "<!-- figures: begin";
/// The tables of all measures have no more rows than this, in equal parts; the JSON has all rows.
const MOST_ROWS: usize = 48;
/// As many rows a measure may have always.
const FEWEST_ROWS: usize = 6;
/// Metrics that are shown where a measure has dozens.
const SHOWN: [&str; 7] = [
    "wall",
    "cpu",
    "first_output",
    "cold_first_output",
    "exit",
    "size",
    "count",
];

/// Why a page can't take figures.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FiguresError {
    /// A mark is missing, or there are two.
    #[error(
        "it has {0} begin marks and {1} end marks for figures; one of each is needed: `{BEGIN} -->` and `{FIGURES_END}`"
    )]
    Marks(usize, usize),
    /// The end comes first.
    #[error("the end mark for figures stands before the begin mark")]
    Order,
}

/// A page with the figures of a run between its marks; everything else stays as it is. `check` is what
/// the check of the machine said before it.
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

/// Whether a page can take figures.
///
/// # Errors
/// [`FiguresError`].
pub fn check_figures(page: &str) -> Result<(), FiguresError> {
    marks(page).map(|_| ())
}

/// Where the marked part begins and ends, marks included.
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

/// How many claims have which verdict, the picture, the claims, and, folded away, the medians behind
/// them and the programs that were run.
pub fn experiment_figures(record: &ExperimentRecord, check: Option<&str>) -> String {
    let mut out = format!("**{}.** {}\n", tally(record), plain(&taken(record)));
    if let Some(check) = check.map(plain) {
        out.push_str(&format!("\n`fathom machine --check` before it: {check}\n"));
    }
    if !record.complete {
        out.push_str("\n**Partial**: not everything was measured.\n");
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        out.push_str(&format!("\n{waits}.\n"));
    }
    if experiment_picture(record).is_some() {
        out.push_str(&format!(
            "\n![The sizes that were measured, beside the published ones]({FIGURES_PICTURE})\n"
        ));
    }
    claims(&mut out, record);
    answers(&mut out, record, plain);
    let most = (MOST_ROWS / record.measures.len().max(1)).max(FEWEST_ROWS);
    for measure in &record.measures {
        results(&mut out, record, &measure.id, most);
    }
    versions(&mut out, record);
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

/// The line that says where and when.
fn taken(record: &ExperimentRecord) -> String {
    let set = match record.quick {
        true => "the quick set, ",
        false => "",
    };
    let machine = machine(record);
    let machine = machine.strip_prefix("machine: ").unwrap_or(&machine);
    format!(
        "Measured by Fathom {} ({set}{machine}).",
        record.fathom_version
    )
}

fn claims(out: &mut String, record: &ExperimentRecord) {
    if record.claims.is_empty() {
        return;
    }
    out.push_str(
        "\n| Claim | Layer | Published | Measured here | Verdict |\n|:---|:---|:---|:---|:---|\n",
    );
    for claim in &record.claims {
        let measured: Vec<String> = words::measured(claim).iter().map(|m| plain(m)).collect();
        let mut verdict = format!("**{}**", words::verdict(claim));
        if !claim.judged.reason.is_empty() {
            verdict.push_str(&format!("<br>{}", plain(&claim.judged.reason)));
        }
        if !claim.flips.is_empty() {
            let flips = claim.flips.join("; ");
            verdict.push_str(&format!("<br>{}", plain(&format!("but {flips}"))));
        }
        out.push_str(&format!(
            "| {} | {} | {} | {} | {verdict} |\n",
            plain(&claim.text),
            claim.layer.name(),
            plain(&words::published(claim.published.as_ref())),
            measured.join("<br>"),
        ));
    }
}

/// The medians of one measure: a row for each subject under its parameters, a column for each
/// metric.
fn results(out: &mut String, record: &ExperimentRecord, measure: &str, most: usize) {
    let how = (record.measures.iter()).find(|m| m.id == measure);
    if how.is_none_or(|measure| measure.how == "why") {
        // Its counts stand in the claims.
        return;
    }
    let rows: Vec<&ResultRow> = (record.results.iter())
        .filter(|row| row.measure == measure && row.median.is_some())
        .collect();
    let mut metrics: Vec<&str> = Vec::new();
    for row in &rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    if metrics.iter().any(|metric| SHOWN.contains(metric)) && metrics.len() > SHOWN.len() {
        metrics.retain(|metric| SHOWN.contains(metric));
    }
    metrics.truncate(SHOWN.len());
    let mut names: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(String, &str), String> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| metrics.contains(&row.metric.as_str()))
    {
        let name = name_of(row);
        if !names.contains(&name) {
            names.push(name.clone());
        }
        cells.insert((name, &row.metric), cell(row));
    }
    if names.is_empty() || metrics.is_empty() {
        return;
    }
    let head: Vec<String> = metrics.iter().map(|metric| plain(metric)).collect();
    out.push_str(&format!(
        "\n<details><summary>{}: medians with their intervals</summary>\n\n| | {} |\n|:---|{}\n",
        plain(measure),
        head.join(" | "),
        "---:|".repeat(metrics.len())
    ));
    for name in names.iter().take(most) {
        let values: Vec<String> = (metrics.iter())
            .map(|metric| cells.get(&(name.clone(), *metric)).cloned())
            .map(Option::unwrap_or_default)
            .collect();
        out.push_str(&format!("| {} | {} |\n", plain(name), values.join(" | ")));
    }
    if names.len() > most {
        out.push_str(&format!(
            "\n{} more rows are in the JSON.\n",
            names.len() - most
        ));
    }
    out.push_str("\n</details>\n");
}

fn name_of(row: &ResultRow) -> String {
    let subject = row.subject.clone().unwrap_or_default();
    match row.parameters.is_empty() {
        true => subject,
        false => format!("{subject} {}", pairs(&row.parameters, " ")),
    }
}

fn cell(row: &ResultRow) -> String {
    let median = row.median.as_ref();
    let figure = median.map(|median| words::with_interval(median, &row.unit));
    plain(&figure.unwrap_or_default())
}

fn versions(out: &mut String, record: &ExperimentRecord) {
    let found = record.tools.iter().filter_map(|tool| {
        let version = tool.version.as_ref()?;
        Some(format!("{}: {version}", tool.name))
    });
    let missing = record.tools.iter().filter_map(|tool| tool.missing.as_ref());
    let missing = missing.map(|missing| format!("not here: {missing}"));
    let all: Vec<String> = found.chain(missing).collect();
    if all.is_empty() {
        return;
    }
    out.push_str("\n<details><summary>Programs</summary>\n\n");
    for tool in all {
        out.push_str(&format!("- {}\n", plain(&tool)));
    }
    out.push_str("\n</details>\n");
}
