//! Figures of the machine as a table of 80 columns.

use fathom_model::ProbeResult;
use fathom_model::quantity::format_size;

use super::figure::machine_figure;
use super::table::table;
use crate::Screen;
use crate::line::{Line, Page, Tone};

/// How much detail to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineOptions {
    /// Whether to show the method of each probe, in a sentence.
    pub methods: bool,
    /// Whether to show the points of each curve as a bar chart.
    pub curves: bool,
}

/// Formats the names of the figures that were not reached, then one line for each probe: title, value, spread
/// and status, with notes below it. The curves follow if they were requested.
pub fn machine_terminal(
    results: &[ProbeResult],
    options: MachineOptions,
    screen: &Screen,
) -> String {
    let mut page = Page::new(screen);
    not_reached(&mut page, results);
    let reached = || results.iter().filter(|result| !is_not_reached(result));
    table(reached(), options).terminal(&mut page, 0);
    if options.curves {
        for result in reached() {
            curve(&mut page, result);
        }
    }
    page.finish()
}

/// Returns whether only the name of the figure can be shown.
fn is_not_reached(result: &ProbeResult) -> bool {
    let note = result.note.as_deref();
    note == Some(ProbeResult::NOT_REACHED) && result.value.is_none() && result.reported.is_none()
}

fn not_reached(page: &mut Page, results: &[ProbeResult]) {
    let names: Vec<&str> = results
        .iter()
        .filter(|result| is_not_reached(result))
        .map(|result| result.title.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    let text = format!(
        "{} for {} of {} probes ('fathom machine --check' names the disturbance)",
        ProbeResult::NOT_REACHED,
        names.len(),
        results.len()
    );
    page.prose(0, Tone::Plain, &text);
    page.prose(4, Tone::Quiet, &names.join(", "));
    page.gap();
}

fn curve(page: &mut Page, result: &ProbeResult) {
    let points = result.points.as_deref().unwrap_or_default();
    let most = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    page.heading(&result.title);
    let unit = result.points_unit.as_deref().unwrap_or(&result.unit);
    let over = result.points_over.as_deref().unwrap_or("");
    for (x, y) in points {
        let x = match over {
            "bytes" => format_size(*x),
            _ => format!("{x:.0} {over}"),
        };
        let bar = "#".repeat((y / most * 36.0).round() as usize);
        let figure = machine_figure(*y, unit);
        let line = page.own(&format!("{x:>18}  {figure:>12}  {bar}"));
        page.push(Line::new().add(Tone::Plain, line));
    }
}
