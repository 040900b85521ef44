//! `fathom ui` in a browser: it is complete, it follows new records, and it contacts no other server.

use fathom_test_browser::Chromium;
use fathom_test_browser::hostile;

use crate::live::Live;
use crate::read::{record, save};
use crate::world::World;

/// Creates sixty measurements of two benchmarks; two have a label.
fn followed() -> World {
    let world = World::project();
    for hour in 0..60 {
        let value = 1.0 + (hour % 7) as f64 / 100.0;
        let text = record(&[("parse", value), ("zip", 0.25)], hour, "Linux 1");
        let labels: &[&str] = match hour {
            20 => &["v1"],
            50 => &["v2"],
            _ => &[],
        };
        save(&world, text, Some((&format!("{hour:02}"), false)), labels);
    }
    world
}

/// Checks the page at each width, in light and dark mode, and operates it by keyboard. Returns the defects.
fn defects(browser: &mut Chromium, what: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for width in [400, 800, 1280] {
        for dark in [false, true] {
            browser.show(width, dark);
            let found = browser.defects().into_iter();
            wrong.extend(found.map(|text| format!("{what}, {width}: {text}")));
        }
    }
    let keys = browser.defects_of_keys().into_iter();
    wrong.extend(keys.map(|text| format!("{what}: {text}")));
    let complaints = browser.complaints.drain(..);
    wrong.extend(complaints.map(|text| format!("{what}: {text}")));
    wrong.dedup();
    wrong
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn click(browser: &mut Chromium, selector: &str, text: &str) {
    browser.run(&format!(
        "[...document.querySelectorAll('{selector}')].find((node) => node.textContent === '{text}').click()"
    ));
}

const SLIDER: &str = "document.querySelector('#part [role=slider]')";

/// Returns a script that tests whether the picture shows `count` measurements.
fn shows(count: usize, metric: &str) -> String {
    format!("{SLIDER}?.getAttribute('aria-label').startsWith('{metric} over {count} ')")
}

fn shows_fewer(than: usize) -> String {
    format!("Number({SLIDER}?.getAttribute('aria-label').match(/over (\\d+)/)[1]) < {than}")
}

/// The position of the picture in the window.
struct Picture {
    left: f64,
    top: f64,
    width: f64,
}

impl Picture {
    fn scrolled_to(browser: &mut Chromium) -> Picture {
        browser.run(&format!("{SLIDER}.scrollIntoView()"));
        let place = browser.run(&format!(
            "(({{ left, top, width }}) => [left, top, width])({SLIDER}.getBoundingClientRect())"
        ));
        let [left, top, width] = [0, 1, 2].map(|at| place[at].as_f64().unwrap());
        Picture { left, top, width }
    }

    /// Returns a point in the picture: 0 is its left edge, 1 its right edge.
    fn across(&self, part: f64) -> (f64, f64) {
        (self.left + self.width * part, self.top + 120.0)
    }
}

#[test]
fn the_live_page_is_whole_and_follows_what_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let world = followed();
    let mut live = Live::start(&world, &[]);
    browser.show(1280, false);
    browser.open_live(&live.address());
    browser.until(&format!(
        "{SLIDER} && document.querySelector('#versions table')"
    ));
    assert_none(&defects(&mut browser, "live"));

    // Zoom in with the button and with the pointer, and zoom out again.
    browser.show(1280, false);
    browser.until(&shows(60, "wall"));
    click(&mut browser, "#part button", "Zoom in");
    browser.until(&shows(30, "wall"));
    click(&mut browser, "#part button", "All");
    browser.until(&shows(60, "wall"));
    let picture = Picture::scrolled_to(&mut browser);
    browser.drag(picture.across(0.5), picture.across(0.75));
    browser.until(&shows_fewer(20));
    click(&mut browser, "#part button", "All");
    browser.until(&shows(60, "wall"));

    // Selecting another metric changes the address.
    click(&mut browser, "#part button", "peak_memory");
    browser.until(&shows(60, "peak_memory"));
    browser.until("location.hash.endsWith('/peak_memory')");
    assert_none(&defects(&mut browser, "peak memory"));
    click(&mut browser, "#part button", "wall");
    browser.until(&shows(60, "wall"));

    // Typed words filter the rows.
    browser.run(
        "const input = document.getElementById('filter'); input.value = 'ZI'; input.dispatchEvent(new Event('input'))",
    );
    browser.until("document.querySelectorAll('#rows tbody tr').length === 1");
    browser.until("document.querySelector('#tools [role=status]').textContent === '1 of 2'");
    browser.run("input.value = ''; input.dispatchEvent(new Event('input'))");
    browser.until("document.querySelectorAll('#rows tbody tr').length === 2");

    // New records appear in the rows and in the picture without reloading the page.
    browser.run("window.stayed = true; input.focus()");
    let text = record(&[("parse", 1.7), ("zip", 0.25)], 60, "Linux 1");
    save(&world, text, Some(("ff", false)), &["v3"]);
    browser.until("document.querySelector('#rows [data-sort=\"1.7\"]')");
    browser.until(&shows(61, "wall"));
    browser.until(&format!(
        "{SLIDER}.getAttribute('aria-valuetext').startsWith('v3 (fffffffff)')"
    ));
    browser.until("document.querySelector('#versions thead').textContent.includes('v3')");
    assert_eq!(
        browser
            .run("window.stayed && document.activeElement === document.getElementById('filter')"),
        true
    );

    // An address leads to a benchmark at a revision.
    let revision = "05".repeat(6);
    browser.open_live(&format!("{}#zip/{revision}", live.address()));
    browser.until(&format!(
        "{SLIDER}?.getAttribute('aria-valuetext').startsWith('{}')",
        &revision[..9]
    ));
    browser.until("document.getElementById('chosen').textContent === 'zip'");
    browser.open_live(&format!("{}#parse/v1/peak_memory", live.address()));
    browser.until(&format!(
        "{SLIDER}?.getAttribute('aria-valuetext').startsWith('v1 (')"
    ));
    browser.until(&shows(61, "peak_memory"));
    browser.open_live(&format!("{}#nothing", live.address()));
    browser.until("document.getElementById('part').textContent.includes('There is no benchmark nothing here')");
    // The server's 404 response appears as an error on the browser's console.
    browser.complaints.retain(|text| !text.contains("404"));
    assert_none(&browser.complaints);

    // The page reports that the server has ended.
    assert_eq!(live.interrupted(), Some(0));
    browser.until(
        "document.querySelector('main').textContent.includes('Is `fathom ui` still running?')",
    );
}

#[test]
fn a_drag_lasts_past_the_edge_and_while_the_page_is_drawn_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let world = followed();
    let live = Live::start(&world, &[]);
    browser.show(1280, false);
    browser.open_live(&live.address());
    browser.until(&format!(
        "document.querySelector('#versions table') && {}",
        shows(60, "wall")
    ));
    let picture = Picture::scrolled_to(&mut browser);

    // A record is saved while the button is down.
    browser.press_pointer(picture.across(0.5));
    browser.move_pointer(picture.across(0.6));
    let text = record(&[("parse", 1.7), ("zip", 0.25)], 60, "Linux 1");
    save(&world, text, Some(("ff", false)), &[]);
    browser.until(&shows(61, "wall"));
    browser.release_pointer(picture.across(0.75));
    browser.until(&shows_fewer(20));

    // Move to the newest measurement, and a little beyond.
    click(&mut browser, "#part button", "All");
    browser.until(&shows(61, "wall"));
    let picture = Picture::scrolled_to(&mut browser);
    browser.drag(picture.across(0.8), picture.across(1.005));
    browser.until(&shows_fewer(20));

    // The page keeps its scroll position although the focus is above it.
    browser.run(
        "document.querySelector('#part button').focus();
         window.scrollBy(0, document.activeElement.getBoundingClientRect().bottom + 10)",
    );
    let scrolled = browser.run("window.scrollY");
    assert_eq!(
        browser.run("document.activeElement.getBoundingClientRect().bottom < 0"),
        true
    );
    click(&mut browser, "#part button", "All");
    browser.until(&shows(61, "wall"));
    assert_eq!(browser.run("window.scrollY"), scrolled);
}

#[test]
fn names_of_a_store_are_only_text() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Chromium::or_skipped(folder.path()) else {
        return;
    };
    let world = World::project();
    let evil = hostile::MARKUP;
    let more = [
        "/very/long/path/".repeat(6_000),
        "javascript:window.ran=1//%0a#/?&=+".to_owned(),
    ];
    let names: Vec<String> = hostile::names().into_iter().chain(more).collect();
    for hour in 0..8 {
        let values: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        let kernel = if hour < 4 {
            evil.repeat(90)
        } else {
            "\u{202e}Linux".to_owned()
        };
        let labels = [format!("{evil}{hour}"), "\u{202e}v".repeat(1000)];
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        save(
            &world,
            record(&values, hour, &kernel),
            Some(("a1", true)),
            &labels,
        );
    }
    let live = Live::start(&world, &[]);
    browser.open_live(&live.address());
    browser.until(&format!(
        "{SLIDER} && document.querySelector('#versions table')"
    ));
    let mut wrong = defects(&mut browser, "all");
    let links = browser
        .run("[...document.querySelectorAll('#rows a')].map((link) => link.getAttribute('href'))");
    let links = links.as_array().unwrap().clone();
    assert_eq!(links.len(), names.len());
    for link in &links {
        let link = link.as_str().unwrap();
        browser.open_live(&format!("{}{link}", live.address()));
        browser.until(SLIDER);
        wrong.extend(defects(&mut browser, link));
        assert_eq!(browser.run("typeof window.ran"), "undefined", "{link}");
    }
    wrong.retain(|text| !text.contains("a joined space"));
    assert_none(&wrong);
}
