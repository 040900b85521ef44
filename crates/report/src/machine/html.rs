//! The page of `fathom machine`: every figure, then the curves as pictures.

use fathom_model::ProbeResult;

use super::figure::machine_figure;
use super::table::table;
use super::{MachineOptions, curves};
use crate::line::Tone;
use crate::page::{Head, Origin, page, section};

/// Figures named in the first sentence, if they were measured.
const FIRST: [(&str, &str); 4] = [
    ("core_clock", "core clock"),
    ("memory_latency", "a load from memory"),
    ("bandwidth_read", "reading memory"),
    ("noise_lost", "lost to others"),
];

/// Formats the results as one page. All untrusted text is escaped. `complete` is false if measuring was
/// interrupted.
pub fn machine_html(results: &[ProbeResult], complete: bool, origin: Origin) -> String {
    let head = Head {
        verb: "machine",
        of: origin.environment.host.as_deref().unwrap_or(""),
        answer: match complete {
            true => answer(results),
            false => format!("The measurement was interrupted, so some probes are missing. {}", answer(results)),
        },
        tone: match complete {
            true => Tone::Strong,
            false => Tone::Bad,
        },
        basis: "The limits of this machine. Where a figure has no value, the measurement was disturbed or is not \
             possible here.".to_owned(),
        commands: Vec::new(),
        origin,
    };
    let figures = section(
        "All figures",
        &table(results, MachineOptions::default()).html(),
    );
    page(&head, &(figures + &curves::all(results)))
}

/// Returns the number of figures, and the most important four of them.
fn answer(results: &[ProbeResult]) -> String {
    let known = results
        .iter()
        .filter(|result| result.value.is_some())
        .count();
    let named = FIRST.iter().filter_map(|(id, name)| {
        let result = results.iter().find(|result| result.id == *id)?;
        Some(format!(
            "{name} {}",
            crate::escape(&machine_figure(result.value?, &result.unit))
        ))
    });
    let named: Vec<String> = named.collect();
    let counted = format!("{known} of {} probes have a figure", results.len());
    match named.is_empty() {
        true => format!("{counted}."),
        false => format!("{counted}: {}.", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::Environment;

    fn page_of(results: &[ProbeResult], complete: bool) -> String {
        let environment = Environment::default();
        let origin = Origin {
            environment: &environment,
            started_at: "2026-11-21T06:00:00Z",
            fathom_version: "0.1.0",
        };
        machine_html(results, complete, origin)
    }

    fn result(id: &str, title: &str) -> ProbeResult {
        let json = serde_json::json!({
            "id": id, "title": title, "value": 32768.0, "unit": "B", "estimator": "minimum", "n": 9,
            "p10": null, "median": null, "min": null, "spread": 0.01, "share": null, "steal_ns": 0,
            "involuntary_switches": 0, "verdict": "ok", "method": "m", "note": null,
            "reported": 49152.0, "core_to_core_ns": null, "points_over": null, "points_unit": null,
            "points": null
        });
        serde_json::from_value(json).unwrap()
    }

    fn curve(id: &str) -> ProbeResult {
        ProbeResult {
            unit: "ns".into(),
            points: Some(vec![(4096.0, 1.0), (65536.0, 4.0), (1e8, 100.0)]),
            points_over: Some("bytes".into()),
            reported: None,
            ..result(id, "load latency by working set")
        }
    }

    #[test]
    fn the_latency_curve_has_both_sizes_of_a_level() {
        let page = page_of(&[curve("cache_curve"), result("l1_size", "L1")], true);
        assert!(page.contains("L1, 32 KiB") && page.contains("L1, reported 48 KiB"));
        assert!(!page.contains("interrupted"));
    }

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let mut evil = result("x", "</td><script>alert(1)</script>");
        evil.note = Some("<img src=x onerror=alert(1)>\u{1b}[31m".into());
        let page = page_of(&[evil], false);
        assert!(
            !page.contains("<script>alert") && !page.contains("<img") && !page.contains('\u{1b}')
        );
        assert!(page.contains("The measurement was interrupted"));
    }

    #[test]
    fn figures_come_first() {
        let page = page_of(&[curve("cache_curve")], true);
        assert!(page.contains("1 of 1 probes have a figure."));
        let (figures, curve) = (page.find("<h2>All figures"), page.find("<circle"));
        assert!(figures.is_some() && figures < curve);
    }
}
