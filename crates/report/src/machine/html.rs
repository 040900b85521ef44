//! The page of `fathom machine`: every figure, then the curves as pictures.

use fathom_model::{ProbeResult, ProbeVerdict};

use super::curves;
use super::figure::{machine_figure, status};
use crate::line::Tone;
use crate::page::{Cell, Head, Kind, Origin, Table, page, section};
use crate::text::html;

/// What the sentence at the top names, where it was measured.
const FIRST: [(&str, &str); 4] = [
    ("core_clock", "core clock"),
    ("memory_latency", "a load from memory"),
    ("bandwidth_read", "reading memory"),
    ("noise_lost", "lost to others"),
];

/// The results as one page. Everything from outside is escaped. `complete` is false if measuring
/// was interrupted.
pub fn machine_html(results: &[ProbeResult], complete: bool, origin: Origin) -> String {
    let head = Head {
        verb: "machine",
        of: origin.environment.host.as_deref().unwrap_or(""),
        answer: match complete {
            true => answer(results),
            false => format!("Measuring was interrupted: probes are missing. {}", answer(results)),
        },
        tone: match complete {
            true => Tone::Strong,
            false => Tone::Bad,
        },
        basis: "What this machine can do at most; a figure without a value was disturbed, or can't be measured here.".to_owned(),
        commands: Vec::new(),
        origin,
    };
    let figures = section("All figures", &table(results));
    page(&head, &(figures + &curves::all(results)))
}

/// How many figures there are, and the four that are asked for most.
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

/// All figures.
fn table(results: &[ProbeResult]) -> String {
    let mut table = Table::new("All figures")
        .column("probe", Kind::Name)
        .column("value", Kind::Number)
        .column("spread", Kind::Number)
        .column("status", Kind::Words)
        .column("reported", Kind::Number)
        .column("how, and what to know", Kind::Words);
    for result in results {
        let figure = |value: f64| crate::escape(&machine_figure(value, &result.unit));
        let class = match result.verdict {
            ProbeVerdict::Ok => "ok",
            ProbeVerdict::Disturbed | ProbeVerdict::NoAnswer => "disturbed",
            ProbeVerdict::NotMeasurable => "absent",
        };
        let cycles = result
            .cycles
            .map_or(String::new(), |cycles| format!(", {cycles:.1} cycles"));
        let note = result
            .note
            .as_deref()
            .map_or(String::new(), |note| format!("<p>{}</p>", html(note)));
        table.row(
            class,
            vec![
                Cell::name(&result.title),
                match result.value {
                    Some(value) => Cell::number(&(figure(value) + &cycles), value),
                    None => Cell::none(status(result)),
                },
                match result.spread {
                    Some(spread) => Cell::number(&format!("{:.1} %", spread * 100.0), spread),
                    None => Cell::words(""),
                },
                Cell::words(status(result)),
                match result.reported {
                    Some(value) => Cell::number(&figure(value), value),
                    None => Cell::words(""),
                },
                Cell::markup(format!("{}{note}", html(&result.method))),
            ],
        );
    }
    table.html()
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
        assert!(page.contains("Measuring was interrupted"));
    }

    #[test]
    fn figures_come_first() {
        let page = page_of(&[curve("cache_curve")], true);
        assert!(page.contains("1 of 1 probes have a figure."));
        let (figures, curve) = (page.find("<h2>All figures"), page.find("<circle"));
        assert!(figures.is_some() && figures < curve);
    }
}
