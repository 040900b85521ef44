//! Figures of the machine as a table of 80 columns.

use fathom_model::quantity::{format_size, three_digits};
use fathom_model::{ProbeResult, ProbeVerdict};

use super::figure::{machine_figure, status};

const TITLE: usize = 34;
const VALUE: usize = 14;
const SPREAD: usize = 8;

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineOptions {
    /// The method of each probe, in a sentence.
    pub methods: bool,
    /// The points of each curve as a bar chart.
    pub curves: bool,
}

/// First the names of what was not reached, then one line a probe: title, value, spread, status;
/// the reason beneath where there is no figure.
pub fn machine_terminal(results: &[ProbeResult], options: MachineOptions) -> String {
    let mut out = String::new();
    not_reached(&mut out, results);
    out.push_str(&format!(
        "{:<TITLE$} {:>VALUE$} {:>SPREAD$}  {}\n",
        "probe", "value", "spread", "status",
    ));
    for result in results.iter().filter(|result| !is_not_reached(result)) {
        line(&mut out, result);
        if options.methods {
            wrapped(&mut out, &result.method);
        }
        if options.curves
            && let Some(points) = &result.points
        {
            curve(&mut out, result, points);
        }
    }
    out
}

/// There is nothing to say of it but its name.
fn is_not_reached(result: &ProbeResult) -> bool {
    let note = result.note.as_deref();
    note == Some(ProbeResult::NOT_REACHED) && result.value.is_none() && result.reported.is_none()
}

fn not_reached(out: &mut String, results: &[ProbeResult]) {
    let names: Vec<&str> = results
        .iter()
        .filter(|result| is_not_reached(result))
        .map(|result| result.title.as_str())
        .collect();
    if names.is_empty() {
        return;
    }
    out.push_str(&format!(
        "{} for {} of {} probes ('fathom machine --check' says what disturbs)\n",
        ProbeResult::NOT_REACHED,
        names.len(),
        results.len()
    ));
    wrapped(out, &names.join(", "));
    out.push('\n');
}

fn line(out: &mut String, result: &ProbeResult) {
    let value = match result.value {
        Some(value) => machine_figure(value, &result.unit),
        None => "-".into(),
    };
    let spread = match result.spread {
        Some(spread) if spread < 10.0 => format!("{:.1} %", spread * 100.0),
        Some(_) => "> 10x".into(),
        None => String::new(),
    };
    let text = format!(
        "{:<TITLE$} {value:>VALUE$} {spread:>SPREAD$}  {}",
        result.title,
        status(result)
    );
    out.push_str(text.trim_end());
    out.push('\n');
    if let Some(cycles) = result.cycles {
        wrapped(
            out,
            &format!("{} cycles of the core's clock", three_digits(cycles)),
        );
    }
    if let Some(reported) = result.reported {
        let differs = result.value.is_some_and(|value| value != reported);
        wrapped(
            out,
            &format!(
                "reported by the system: {}{}",
                machine_figure(reported, &result.unit),
                if differs { " (differs)" } else { "" }
            ),
        );
    }
    if let Some(note) = &result.note {
        wrapped(out, note);
    }
    if result.verdict == ProbeVerdict::Disturbed
        && let (Some(min), Some(median)) = (result.min, result.median)
    {
        wrapped(
            out,
            &format!(
                "measured: {} and {}",
                machine_figure(min, &result.unit),
                machine_figure(median, &result.unit)
            ),
        );
    }
}

/// Text beneath a line, indented, at most 80 columns wide.
pub(super) fn wrapped(out: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 80 {
            out.push('\n');
            width = 0;
        }
        out.push_str(if width == 0 { "    " } else { " " });
        width += if width == 0 { 4 + length } else { 1 + length };
        out.push_str(word);
    }
    out.push('\n');
}

fn curve(out: &mut String, result: &ProbeResult, points: &[(f64, f64)]) {
    let most = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    let unit = result.points_unit.as_deref().unwrap_or(&result.unit);
    let over = result.points_over.as_deref().unwrap_or("");
    for (x, y) in points {
        let x = match over {
            "bytes" => format_size(*x),
            _ => format!("{x:.0} {over}"),
        };
        let bar = "#".repeat((y / most * 36.0).round() as usize);
        out.push_str(&format!(
            "{x:>18}  {:>12}  {bar}\n",
            machine_figure(*y, unit)
        ));
    }
}
