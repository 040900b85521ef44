//! Pages of a suite stay within their sizes.

#[path = "reported/mod.rs"]
#[allow(dead_code, reason = "the browser's tests use the rest")]
mod reported;

use fathom_report::{report_html, report_site};

#[test]
fn a_page_of_100_benchmarks_over_200_revisions_stays_below_1_mb_with_every_point() {
    let page = report_html(&reported::suite(100, 200));
    assert!(page.len() < 1_000_000, "{}", page.len());
    let data = page.split_once("id=\"data\">").expect("it has data").1;
    let data = data.split_once("</script>").expect("it ends").0;
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let benchmarks = data["benchmarks"].as_array().expect("a list");
    assert_eq!(benchmarks.len(), 100);
    for benchmark in benchmarks {
        assert_eq!(benchmark["series"][0]["points"], 200);
    }
}

#[test]
fn a_page_of_a_site_stays_below_200_kb_and_says_what_it_leaves_out() {
    let site = report_site(&reported::suite(3, 9_000));
    assert_eq!(site.len(), 4);
    for (name, page) in &site {
        assert!(page.len() < 200_000, "{name}: {}", page.len());
    }
    assert!(site[1].1.contains("\"total\":9000"));
}

#[test]
fn an_index_of_hundreds_of_benchmarks_has_pages_and_each_stays_below_200_kb() {
    let mut report = reported::suite(350, 20);
    let mut gate = reported::gate();
    gate.benchmarks = vec![gate.benchmarks[0].clone(); 300];
    report.gates = vec![gate; 6];
    let site = report_site(&report);
    let names: Vec<&str> = site.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names[..4],
        ["index.html", "index-2.html", "index-3.html", "index-4.html"]
    );
    let overviews = site.iter().filter(|(name, _)| name.starts_with("index"));
    let overviews: String = overviews.map(|(_, page)| page.as_str()).collect();
    let pages = site.iter().filter(|(name, _)| name.starts_with("parse"));
    assert_eq!(pages.clone().count(), 350);
    for (name, page) in pages {
        assert!(page.len() < 200_000, "{name}: {}", page.len());
        assert_eq!(
            overviews.matches(&format!("\"{name}\"")).count(),
            1,
            "{name}"
        );
    }
    for (name, page) in &site {
        assert!(page.len() < 200_000, "{name}: {}", page.len());
    }
    let all: String = site.iter().map(|(_, page)| page.as_str()).collect();
    assert_eq!(all.matches("200 more are left out here").count(), 6);
    assert!(
        names.contains(&"records.html"),
        "the index has no room for six"
    );
    assert!(site[0].1.contains("href=\"records.html\""));

    // If one benchmark is measured again, only its page and the pages of the overview change.
    let mut last = report.measurements[19].clone();
    last.id = "ab".repeat(32);
    report.measurements.push(last);
    let series = &mut report.benchmarks[7].series[0];
    let mut point = series.points[19];
    (point.index, point.measurement) = (20, 20);
    series.points.push(point);
    series.total = 21;
    let again = report_site(&report);
    let changed: Vec<&String> = site
        .iter()
        .zip(&again)
        .filter(|(one, other)| one.1 != other.1)
        .map(|(one, _)| &one.0)
        .collect();
    let pages = changed.iter().filter(|name| name.starts_with("parse-7-"));
    assert_eq!(pages.count(), 1, "{changed:?}");
    assert!(
        changed
            .iter()
            .all(|name| !name.starts_with("parse-") || name.starts_with("parse-7-"))
    );
}

#[test]
fn no_name_ends_an_element() {
    let page = report_html(&reported::hostile());
    assert!(!page.contains("<script>window.ran") && !page.contains("<img"));
    assert!(page.len() < 200_000, "{}", page.len());
}
