//! The page of `fathom machine`: every figure, and the curves as pictures.
//!
//! It has no script at all: the pictures are drawn here.

use fathom_model::{ProbeResult, ProbeVerdict};

use super::curve::{Mark, picture};
use super::figure::{machine_figure, status};
use crate::page::page;
use crate::text::html;

/// The probes whose curves are shown, in this order, with what is to be seen there.
const CURVES: [(&str, &str); 9] = [
    (
        "cache_curve",
        "Time of a load by working set. Each step is a cache that no longer holds all of it.",
    ),
    ("bandwidth_read", "Reading memory by number of threads."),
    ("bandwidth_write", "Writing memory by number of threads."),
    (
        "bandwidth_write_around",
        "Writing around the caches by number of threads.",
    ),
    ("bandwidth_copy", "Copying memory by number of threads."),
    (
        "memory_parallelism",
        "Time of a load by number of independent walks: how many misses are under way at a time.",
    ),
    (
        "loaded_latency",
        "Time of a load while other CPUs read memory as fast as they can.",
    ),
    (
        "predictor_capacity",
        "Cost of a branch by length of a random pattern: where it rises, it is no longer learnt.",
    ),
    (
        "tlb_reach",
        "Time of a load by number of pages that it moves through.",
    ),
];

/// Cache levels that are marked in the latency curve: effective sizes, in bytes.
const LEVELS: [(&str, &str); 3] = [
    ("l1_size", "L1"),
    ("l2_size_effective", "L2"),
    ("last_level_effective", "last level"),
];

/// The results as one page. Everything from outside is escaped. `complete` is false if measuring
/// was interrupted.
pub fn machine_html(results: &[ProbeResult], complete: bool) -> String {
    let mut out = String::from("<h1>What this machine can do at most</h1>\n");
    if !complete {
        out.push_str("<p class=\"bad\">Measuring was interrupted: probes are missing.</p>\n");
    }
    for (id, words) in CURVES {
        if let Some(result) = results.iter().find(|result| result.id == id) {
            out.push_str(&section(result, words, results));
        }
    }
    out.push_str(&table(results));
    page("machine", "fathom machine", &out)
}

/// One curve with its words; nothing if it has fewer than two points.
fn section(result: &ProbeResult, words: &str, results: &[ProbeResult]) -> String {
    let points = result.points.as_deref().unwrap_or(&[]);
    if points.len() < 2 {
        return String::new();
    }
    let unit = result.points_unit.as_deref().unwrap_or(&result.unit);
    let over = result.points_over.as_deref().unwrap_or("");
    let marks = match result.id.as_str() {
        "cache_curve" => marks(results),
        _ => Vec::new(),
    };
    format!(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"chart\">{}</div>\n</section>\n",
        html(&result.title),
        html(words),
        picture(&result.title, points, over, unit, &marks)
    )
}

/// The cache levels: what was measured, and what the system reports where that differs.
fn marks(results: &[ProbeResult]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (id, name) in LEVELS {
        let Some(result) = results.iter().find(|result| result.id == id) else {
            continue;
        };
        if let Some(at) = result.value {
            marks.push(Mark {
                at,
                label: format!("{name}, {}", machine_figure(at, "B")),
                reported: false,
            });
        }
        if let Some(at) = result.reported
            && result.value != Some(at)
        {
            marks.push(Mark {
                at,
                label: format!("{name}, reported {}", machine_figure(at, "B")),
                reported: true,
            });
        }
    }
    marks
}

/// All figures.
fn table(results: &[ProbeResult]) -> String {
    let mut out = String::from(
        "<section>\n<h2>All figures</h2>\n<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th>probe</th><th>value</th>\
         <th>spread</th><th>status</th><th>reported</th><th>how, and what to know</th></tr></thead>\n\
         <tbody>\n",
    );
    for result in results {
        let cell = |value: Option<f64>| {
            value.map_or("–".to_owned(), |value| {
                machine_figure(value, &result.unit)
            })
        };
        let spread = result
            .spread
            .map_or(String::new(), |spread| format!("{:.1} %", spread * 100.0));
        let class = match result.verdict {
            ProbeVerdict::Ok => "ok",
            ProbeVerdict::Disturbed | ProbeVerdict::NoAnswer => "disturbed",
            ProbeVerdict::NotMeasurable => "absent",
        };
        let reported = result
            .reported
            .map_or(String::new(), |value| machine_figure(value, &result.unit));
        let cycles = result
            .cycles
            .map_or(String::new(), |cycles| format!(", {cycles:.1} cycles"));
        let note = result
            .note
            .as_deref()
            .map_or(String::new(), |note| format!("<p>{}</p>", html(note)));
        out.push_str(&format!(
            "<tr class=\"{class}\"><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{spread}</td>\
             <td>{}</td><td class=\"number\">{}</td><td>{}{note}</td></tr>\n",
            html(&result.title),
            html(&(cell(result.value) + &cycles)),
            status(result),
            html(&reported),
            html(&result.method),
        ));
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let page = machine_html(&[curve("cache_curve"), result("l1_size", "L1")], true);
        assert!(page.contains("L1, 32 KiB") && page.contains("L1, reported 48 KiB"));
        assert!(!page.contains("interrupted"));
    }

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let mut evil = result("x", "</td><script>alert(1)</script>");
        evil.note = Some("<img src=x onerror=alert(1)>\u{1b}[31m".into());
        let page = machine_html(&[evil], false);
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{1b}'));
        assert!(page.contains("Measuring was interrupted"));
    }

    #[test]
    fn the_page_loads_nothing_and_runs_nothing() {
        let page = machine_html(&[curve("cache_curve")], true);
        assert!(page.contains("default-src 'none'; style-src 'sha256-"));
        assert!(!page.contains("script") && !page.contains("http://") && !page.contains("url("));
    }
}
