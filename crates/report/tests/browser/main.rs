//! Tests every page in a browser: nothing is cut or broken, no page uses the network, everything is reachable
//! by keyboard, and the page shows the recorded values.

#[path = "../every_page/mod.rs"]
mod every_page;

use fathom_test_browser::Chromium;
use serde_json::Value;

const WIDTHS: [u32; 3] = [400, 800, 1280];

// A single test, so that one browser serves all pages.
#[test]
fn every_page_is_whole_at_each_width_in_light_and_dark() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let mut wrong = Vec::new();
    for (name, page) in every_page::all() {
        browser.open(name, &page);
        for width in WIDTHS {
            for dark in [false, true] {
                browser.show(width, dark);
                // Names of hostile programs are shown literally.
                let hostile = name.ends_with("hostile");
                let found = browser.defects().into_iter();
                let found = found.filter(|text| !(hostile && text.starts_with("a joined space")));
                wrong.extend(found.map(|text| format!("{name}, {width}: {text}")));
            }
        }
        if name.starts_with("report") && !name.ends_with("hostile") {
            let cut = browser.cut_on_paper();
            wrong.extend(
                cut.into_iter()
                    .map(|text| format!("{name}, on paper: {text}")),
            );
            browser.open(name, &page);
        }
        let keys = browser.defects_of_keys();
        wrong.extend(keys.into_iter().map(|text| format!("{name}: {text}")));
        if browser.run("typeof window.ran") != "undefined" {
            wrong.push(format!("{name}: a name was run"));
        }
        let complaints = browser.complaints.drain(..);
        wrong.extend(complaints.map(|text| format!("{name}: {text}")));
    }
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} defects:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Returns the rows of the table with this name. Each cell has its text and its sort key.
fn rows(browser: &mut Chromium, table: &str) -> Vec<Vec<(String, Option<f64>)>> {
    let script = format!(
        "[...document.querySelector('[aria-label=\"{table}\"] tbody').rows].map((row) =>
           [...row.cells].map((cell) => [cell.innerText, cell.dataset.sort || null]))"
    );
    let cell = |cell: &Value| {
        let sort = cell[1].as_str().map(|text| text.parse().expect("a number"));
        (cell[0].as_str().expect("a text").to_owned(), sort)
    };
    let rows = browser.run(&script);
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| row.as_array().expect("cells").iter().map(cell).collect())
        .collect()
}

/// Parses a text such as `1.51 ms`. Returns its value in seconds, bytes or pieces, and half of its last
/// digit.
fn parsed(text: &str) -> (f64, f64) {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let number: f64 = number.replace(',', "").parse().expect("a number");
    let unit = match unit {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => 1.0,
    };
    (number * unit, 0.5001 * 0.1f64.powi(decimals as i32) * unit)
}

fn assert_written(text: &str, value: f64) {
    let (number, half) = parsed(text);
    assert!((number - value).abs() <= half, "{text} of {value}");
}

#[test]
fn every_table_holds_the_numbers_of_its_record_and_sorts_by_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let record = every_page::two_commands();
    browser.open("bench", &fathom_report::bench_html(&record));
    let json: Value = serde_json::to_value(&record).expect("it has a JSON form");
    let results = &json["outcome"]["results"];
    let shown = rows(&mut browser, "All metrics");
    let both = [0, 1].map(|index| results[index]["summaries"].as_array().expect("a list"));
    assert_eq!(shown.len(), both[0].len() + both[1].len());
    for (at, row) in shown.iter().enumerate() {
        let summary = &both[at % 2][at / 2];
        let median = &summary["median"];
        let values = [
            &median["value"],
            &median["low"],
            &median["high"],
            &summary["min"],
            &summary["p90"],
            &summary["max"],
        ];
        for (cell, value) in row[2..].iter().zip(values) {
            assert_eq!(cell.1, value.as_f64(), "{row:?}");
            assert_written(&cell.0, value.as_f64().expect("a number"));
        }
    }
    let clock = json["outcome"]["comparisons"][0]["metric"].clone();
    for (index, row) in rows(&mut browser, "Times of each command")
        .iter()
        .enumerate()
    {
        let mut summaries = both[index].iter();
        let summary = summaries
            .find(|s| s["metric"] == clock)
            .expect("it is known");
        assert_eq!(row[2].1, summary["median"]["value"].as_f64());
        assert_eq!(row[7].0, "–", "60 runs have no p99");
        assert_eq!(row[8].1, summary["max"].as_f64());
    }
    // A click on a head sorts, and a second one reverses the order; cells without a value come last.
    let click = "document.querySelectorAll('[aria-label=\"All metrics\"] th button')[2].click()";
    for down in [false, true] {
        browser.run(click);
        let order: Vec<f64> = rows(&mut browser, "All metrics")
            .iter()
            .filter_map(|row| row[2].1)
            .collect();
        let ordered = |two: &[f64]| {
            if down {
                two[0] >= two[1]
            } else {
                two[0] <= two[1]
            }
        };
        assert!(order.windows(2).all(ordered), "{order:?}");
    }
    let sorted =
        "document.querySelectorAll('[aria-label=\"All metrics\"] th')[2].getAttribute('aria-sort')";
    assert_eq!(browser.run(sorted), "descending");

    let figures = every_page::figures();
    let pages = every_page::all();
    let page = |name: &str| {
        &pages
            .iter()
            .find(|page| page.0 == name)
            .expect("it is there")
            .1
    };
    browser.open("machine", page("machine"));
    let shown = rows(&mut browser, "All figures");
    for (row, result) in shown.iter().zip(&figures) {
        assert_eq!((&row[0].0, row[1].1), (&result.title, result.value));
    }
    assert_eq!(shown.len(), figures.len());

    // A mark's tooltip is also available by keyboard.
    let focus = "const mark = document.querySelector('svg [tabindex]'); mark.focus();
        const bubble = document.querySelector('.bubble');
        [bubble.hidden, bubble.textContent === mark.getAttribute('aria-label'), bubble.textContent]";
    let said = browser.run(focus);
    assert_eq!(
        (&said[0], &said[1]),
        (&Value::Bool(false), &Value::Bool(true)),
        "{said}"
    );
    assert_eq!(said[2], "4 KiB: 1.20 ns");

    report(&mut browser);
    serve(&mut browser);

    let startup = every_page::startup();
    browser.open("startup", page("startup"));
    let first = startup
        .summaries
        .iter()
        .filter(|s| s.metric == fathom_model::StartupMetric::FirstOutput);
    for (row, summary) in rows(&mut browser, "Distributions").iter().zip(first) {
        let values = [
            summary.floor,
            summary.p50.value,
            summary.p90,
            summary.p99,
            summary.max,
        ];
        let shown: Vec<Option<f64>> = row[4..].iter().map(|cell| cell.1).collect();
        assert_eq!(shown, values.map(Some));
        row[4..]
            .iter()
            .zip(values)
            .for_each(|(cell, value)| assert_written(&cell.0, value));
    }
}

/// Checks that the table of points contains the points, the overview contains the last one, and a URL opens a
/// benchmark at a revision.
fn report(browser: &mut Chromium) {
    let report = every_page::reported::ordinary();
    browser.open("report", &fathom_report::report_html(&report));
    let last = |index: usize| report.benchmarks[index].series[0].points[59];
    for (index, row) in rows(browser, "Benchmarks").iter().enumerate() {
        let point = last(index);
        assert_eq!(row[1].1, Some(point.value), "{row:?}");
        assert_written(&row[1].0, point.value);
        let before = report.benchmarks[index].before.as_ref();
        assert_eq!(row[3].1, before.map(|before| before.ratio.value));
    }
    for index in [0, 7] {
        let name = report.benchmarks[index].shown();
        let open = format!(
            "location.hash = '#' + encodeURIComponent({name:?}) + '/' + {:?};
             new Promise((done) => setTimeout(() => {{
               const details = document.querySelector('#part details');
               details.open = true;
               setTimeout(() => done(document.querySelector('#part [role=slider]').getAttribute('aria-valuetext')), 50);
             }}, 50))",
            &report.measurements[20].revision.as_deref().expect("it has one")[..12]
        );
        let marked = browser.run(&open);
        let text = marked.as_str().expect("a text");
        assert!(
            text.starts_with(
                &report.measurements[20]
                    .revision
                    .as_deref()
                    .expect("it has one")[..9]
            ),
            "{text}"
        );
        let shown = rows(browser, "Points");
        let points = &report.benchmarks[index].series[0].points;
        assert_eq!(shown.len(), points.len());
        for (row, point) in shown.iter().zip(points.iter().rev()) {
            let value = row[3].1.expect("it is sorted by its value");
            assert!((value / point.value - 1.0).abs() < 1e-7, "{row:?}");
            assert_written(&row[3].0, value);
            assert_eq!(row[5].1, Some(f64::from(point.runs)));
            assert_eq!(row[6].0, report.measurements[point.measurement].id[..12]);
        }
        let metrics = rows(browser, "All metrics");
        for (row, series) in metrics.iter().zip(&report.benchmarks[index].series) {
            let value = row[1].1.expect("it is sorted by its value");
            assert!(
                (value / series.points[59].value - 1.0).abs() < 1e-7,
                "{row:?}"
            );
            assert_written(&row[1].0, value);
        }
        assert_eq!(metrics.len(), report.benchmarks[index].series.len());
    }
    let filtered = "const input = document.getElementById('filter'); input.value = 'large-7'; input.dispatchEvent(new Event('input'));
        [...document.querySelectorAll('#overview tbody tr')].filter((row) => !row.hidden).length";
    assert_eq!(browser.run(filtered), 1);
}

/// Checks that the tables and marks of `serve` contain the numbers of the record, that the numbers of each
/// second follow from its values, and that the button saves the record.
fn serve(browser: &mut Chromium) {
    use every_page::served::stalling::percentile;
    let (record, seconds) = every_page::served::stalling::stalling();
    browser.open("serve", &fathom_report::serve_html(&record));
    // Folded content has no visible text.
    browser.run("for (const folded of document.querySelectorAll('details')) folded.open = true");
    let loads = &record.servers[0].load;
    let shown = rows(browser, "Under load");
    assert_eq!(shown.len(), loads.len());
    for (row, load) in shown.iter().zip(loads) {
        assert_eq!(row[1].1, Some(load.requests_per_second));
        assert_written(&row[1].0, load.requests_per_second);
        let times = load.response_ms;
        let times = [
            times.p50, times.p90, times.p95, times.p99, times.p999, times.max,
        ];
        for (cell, ms) in row[2..].iter().zip(times) {
            let seconds = ms.expect("it is known") / 1e3;
            assert_eq!(cell.1, Some(seconds), "{row:?}");
            assert_written(&cell.0, seconds);
        }
        let cpu = load.server_cpu_us_per_request.expect("it is known") / 1e6;
        assert_written(&row[8].0, cpu);
    }
    let labels = browser.run(
        "[...document.querySelectorAll('[aria-label=\"Latency by percentile\"] circle')].map((mark) => mark.getAttribute('aria-label'))",
    );
    let labels: Vec<&str> = labels
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(labels.len(), 6 * loads.len(), "{labels:?}");
    for (label, load) in labels.chunks(6).zip(loads) {
        let times = load.response_ms;
        let times = [times.p50, times.p90, times.p95, times.p99, times.p999];
        let names = ["p50", "p90", "p95", "p99", "p99.9"];
        for ((label, what), ms) in label.iter().zip(names).zip(times) {
            let (_, said) = label.split_once(": ").expect("a name");
            let (name, time) = said.split_once(' ').expect("a time");
            assert_eq!(name, what);
            assert_written(time, ms.expect("it is known") / 1e3);
        }
    }
    let shown = rows(browser, "Every second");
    let values = seconds
        .iter()
        .flat_map(|of_load| of_load.rounds.iter().flatten());
    let values: Vec<&Vec<u64>> = values.collect();
    assert_eq!(shown.len(), values.len());
    for (row, values) in shown.iter().zip(values) {
        assert_eq!(row[3].1, Some(values.len() as f64));
        let largest = values.last().map(|ns| *ns as f64 / 1e9);
        let [p50, p90, p95, p99] = [500, 900, 950, 990].map(|mille| percentile(values, mille));
        let expected = [p50, p90, p95, p99, largest];
        for (cell, expected) in row[5..].iter().zip(expected) {
            assert_eq!(cell.1, expected, "{row:?}");
            match expected {
                Some(value) => assert_written(&cell.0, value),
                None => assert_eq!(cell.0, "–"),
            }
        }
    }
    let cold = record.servers[0].cold.as_ref().expect("it was launched");
    let ready = &rows(browser, "From launch to first answer")[4];
    let spread = cold.ready_ms;
    let values = [
        Some(spread.min),
        Some(spread.p50),
        Some(spread.p90),
        spread.p95,
        spread.p99,
        Some(spread.max),
    ];
    for (cell, ms) in ready[1..].iter().zip(values) {
        assert_eq!(cell.1, ms.map(|ms| ms / 1e3), "{ready:?}");
    }
    let saved = browser.run(
        "new Promise((done) => {
           URL.createObjectURL = (blob) => { blob.text().then(done); return 'blob:none'; };
           HTMLAnchorElement.prototype.click = function () { window.file = this.download; };
           document.querySelector('[data-save]').click();
         })",
    );
    let saved: Value = serde_json::from_str(saved.as_str().expect("a text")).expect("JSON");
    assert_eq!(
        saved,
        serde_json::to_value(&record).expect("it has a JSON form")
    );
    assert_eq!(browser.run("window.file"), "fathom-serve.json");
}

#[test]
fn a_flame_graph_is_walked_by_keys_zoomed_and_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let page = fathom_report::explain_html(&every_page::explained::paths::with_paths());
    browser.open("why-paths", &page);
    let stands = "document.activeElement.textContent";
    let width = "document.activeElement.style.width";
    browser.run("document.querySelector('.flame [tabindex=\"0\"]').focus()");
    assert_eq!(browser.run(stands), "main (p.js:7)");
    for (key, code, at) in [
        ("ArrowDown", 40, "parse (p.js:7)"),
        ("ArrowRight", 39, "print (p.js:7)"),
        ("ArrowLeft", 37, "parse (p.js:7)"),
        ("ArrowUp", 38, "main (p.js:7)"),
        ("ArrowDown", 40, "parse (p.js:7)"),
    ] {
        browser.press(key, code);
        assert_eq!(browser.run(stands), at, "{key}");
    }
    let before = browser.run(width);
    browser.press("Enter", 13);
    assert_eq!(browser.run(width), "100%");
    browser.press("Escape", 27);
    assert_eq!(browser.run(width), before);
    let search = "const field = document.querySelector('.tools input[type=search]');
        field.value = 'PARSE'; field.dispatchEvent(new Event('input'));
        document.querySelectorAll('.flame .hit').length";
    assert_eq!(browser.run(search), 2);
}

#[test]
fn of_two_commands_a_flame_graph_says_in_words_what_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let page = fathom_report::difference_html(&every_page::differed::record());
    browser.open("why-two", &page);
    let boxes = "[...document.querySelectorAll('.flame')[0].querySelectorAll('.step')]";
    let of = |what: &str| format!("{boxes}.map((box) => {what})");
    let text = browser.run(&of("box.textContent"));
    let place = "(count.c:7)";
    let expected = [
        format!("▲ main {place} +68.0 ms"),
        format!("parse_words {place}"),
        format!("▲ check_words {place} +90.0 ms"),
        format!("▲ regexec {place} +40.0 ms"),
        format!("▼ load_words {place} −28.0 ms"),
    ];
    assert_eq!(text, serde_json::json!(expected));
    let said = browser.run(&of("box.getAttribute('aria-label')"));
    assert_eq!(
        said[4],
        format!("▼ load_words {place} −28.0 ms: less time in B, A 28.0 ms, B 0")
    );
    assert_eq!(
        said[1],
        format!("parse_words {place}: no clear difference, A 70.0 ms, B 72.0 ms")
    );
    // The box is as wide as in B, since both use one scale.
    let hidden = of("box.hidden");
    let expected = |hidden: [bool; 5]| serde_json::json!(hidden);
    assert_eq!(
        browser.run(&hidden),
        expected([false, false, false, false, true])
    );
    browser.run("document.querySelectorAll('.tools button')[0].click()");
    assert_eq!(
        browser.run(&hidden),
        expected([false, false, true, true, false])
    );
    let widths = browser.run(&of("parseFloat(box.style.width)"));
    let wide = |at: usize| widths[at].as_f64().expect("a width");
    assert!((wide(0) - 100.0 * 100.0 / 168.0).abs() < 0.01, "{widths}");
    assert!((wide(4) - 100.0 * 28.0 / 168.0).abs() < 0.01, "{widths}");
    browser.run("document.querySelector('.flame [tabindex=\"0\"]').focus()");
    let stands = "document.activeElement.textContent";
    browser.press("ArrowDown", 40);
    assert_eq!(browser.run(stands), format!("parse_words {place}"));
    browser.press("Enter", 13);
    let zoomed = browser.run(&of("box.hidden"));
    assert_eq!(zoomed, expected([false, false, true, true, true]));
    let search = "const field = document.querySelector('.tools input[type=search]');
        field.value = 'check'; field.dispatchEvent(new Event('input'));
        document.querySelector('.tools .range').textContent";
    let found = browser.run(search);
    let found = found.as_str().expect("a text");
    assert!(
        found.starts_with("CPU time by function: A 0, B 90.0 ms"),
        "{found}"
    );
}
