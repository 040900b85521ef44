//! Pages of a suite keep their sizes.

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
fn no_name_ends_an_element() {
    let page = report_html(&reported::hostile());
    assert!(!page.contains("<script>window.ran") && !page.contains("<img"));
    assert!(page.len() < 200_000, "{}", page.len());
}
