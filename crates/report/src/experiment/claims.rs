//! The table of claims: published figure, measurement, verdict.

use fathom_model::{ClaimResult, Layer, listed, pairs};

use super::words;
use crate::document::{Cell, Kind, Place, Table};

/// Which claims a table has, and where it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// The claims of one layer, below the layer's heading.
    Layer(Layer),
    /// The claims of one layer, with the layer's heading in the first column.
    OnTerminal(Layer),
    /// The claims of all layers, next to the prose of an experiment's page.
    Figures,
}

/// Builds a table with a row for each claim.
pub(super) fn table(claims: &[&ClaimResult], shown: Shown) -> Table {
    let (head, here) = match shown {
        Shown::Layer(layer) => ("claim", words::here(layer)),
        Shown::OnTerminal(layer) => (words::layer(layer), words::here(layer)),
        Shown::Figures => ("claim", "measured here"),
    };
    let mut table = Table::new("Claims").column(head, Kind::Words);
    if shown == Shown::Figures {
        table = table.placed("layer", Kind::Words, Place::Page);
    }
    let mut table = table
        .column("published", Kind::Words)
        .column(here, Kind::Words)
        .column("verdict", Kind::Words)
        .wrapped();
    for claim in claims {
        let text = Cell::words(&claim.text);
        let published = Cell::words(&words::published(claim.published.as_ref()));
        let measured = Cell::lines(words::measured(claim));
        if shown == Shown::Figures {
            let layer = Cell::words(claim.layer.name());
            let verdict = verdict(claim).with_small(reasons(claim));
            table.row("", vec![text, layer, published, measured, verdict]);
            continue;
        }
        let figures = claim.published.as_ref().and_then(|p| p.figures.as_deref());
        let mut judged = verdict(claim).with_small(words::remarks(claim));
        if claim.budget {
            judged = judged.then("(budget)");
        }
        let cells = vec![
            text.with_code(claim.holds.as_deref().unwrap_or("")),
            published.with_title(figures.unwrap_or("")),
            measured,
            judged.with_hidden(elsewhere(claim)),
        ];
        table.row("", cells);
    }
    table
}

fn verdict(claim: &ClaimResult) -> Cell {
    let cell = Cell::words(words::verdict(claim));
    cell.strong().toned(words::tone(claim.judged.verdict))
}

/// Returns the reasons for the verdict, and what changes it.
fn reasons(claim: &ClaimResult) -> Vec<String> {
    let mut all = vec![claim.judged.reason.clone()];
    if !claim.flips.is_empty() {
        all.push(format!("but {}", claim.flips.join("; ")));
    }
    all.retain(|reason| !reason.is_empty());
    all
}

/// Returns the verdicts under other parameters, which only a page has room for.
fn elsewhere(claim: &ClaimResult) -> Vec<String> {
    let others = claim.elsewhere.iter().map(|other| {
        format!(
            "{}: {} {}",
            pairs(listed(&other.parameters), ", "),
            other.verdict.name(),
            words::quantities(&other.measured).join("; ")
        )
    });
    others.collect()
}
