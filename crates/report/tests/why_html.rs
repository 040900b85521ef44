//! The page: small, self-contained, and unaffected by the names of the explained program.

mod explained;

use explained::tree::many;
use explained::{MS, attached, clean, findings, hostile, stretch};
use fathom_model::{Explanation, TimeCategory};
use fathom_report::{explain_html, explain_markdown};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the text between `from` and `to`, which must exist.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).expect("the beginning is there");
    rest.split_once(to).expect("the end is there").0
}

const DATA: &str = "<script type=\"application/json\" id=\"data\">";

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, DATA, "</script>")).expect("the data is JSON")
}

fn spoiled() -> Explanation {
    let mut explanation = many(9);
    hostile::spoil(&mut explanation);
    explanation
}

#[test]
fn a_hostile_program_adds_no_markup() {
    let plain = explain_html(&many(9));
    let page = explain_html(&spoiled());
    for tag in ["<script", "</script", "<img", "<!--", "<"] {
        let outside = |page: &str| {
            let inside = between(page, DATA, "</script>").to_owned();
            // A path may be broken after each component.
            let page = page.replace(&inside, "").replace("<wbr>", "");
            page.matches(tag).count()
        };
        assert_eq!(outside(&page), outside(&plain), "{tag}");
    }
    let inside = between(&page, DATA, "</script>");
    for character in inside.chars() {
        assert!(!matches!(character, '<' | '>' | '&'), "{character:?}");
        assert!(!character.is_control(), "{character:?}");
        let code = u32::from(character);
        assert!(
            !matches!(code, 0x2028..=0x202e | 0x2066..=0x2069),
            "{code:x}"
        );
    }
    let first = &data(&page)["warnings"][0];
    assert_eq!(first, "</script><script>alert(1)</script>");
    // Names arrive as the terminal shows them: characters that would reverse the line are visible.
    assert_eq!(data(&page)["warnings"][2], "a\\u{202e}gnp.exe");
}

#[test]
fn the_page_of_a_process_that_ran_already_says_how_long_it_was_observed() {
    let page = explain_html(&attached());
    assert_eq!(
        data(&page)["process"],
        "PID 4120 (app\\u{1b}[2J), observed for 2.0 s"
    );
    assert_eq!(data(&page)["wall"], "2.00 s");
    assert!(data(&explain_html(&clean()))["process"].is_null());
    let markdown = explain_markdown(&attached());
    assert!(markdown.contains("PID 4120"), "{markdown}");
    assert!(!markdown.contains("median of"), "{markdown}");
}

#[test]
fn a_name_is_not_taken_for_a_place_of_the_template() {
    let page = explain_html(&spoiled());
    assert_eq!(page.matches("<style>").count(), 1);
    assert_eq!(page.matches("Content-Security-Policy").count(), 1);
    assert!(page.contains("{{script}}{{data}}\\u003c!--"));
    assert!(!explain_html(&clean()).contains("{{"));
}

#[test]
fn the_policy_admits_the_script_and_the_style_and_nothing_else() {
    let page = explain_html(&clean());
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\">",
    );
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"));
    for (name, from, to) in [
        ("script-src", "\n<script>", "</script>"),
        ("style-src", "<style>", "</style>"),
    ] {
        let hash = Sha256::digest(between(&page, from, to));
        let source = between(policy, &format!("{name} 'sha256-"), "'");
        assert_eq!(decoded(source), hash[..], "{name}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    // The policy refuses style attributes and event attributes.
    assert!(!page.contains(" style=\"") && !page.contains(" onclick="));
}

/// Decodes Base64 by the value of each digit.
fn decoded(text: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0u32;
    let mut held = 0;
    let mut out = Vec::new();
    for digit in text.trim_end_matches('=').chars() {
        bits = bits << 6 | digits.find(digit).expect("a digit") as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}

#[test]
fn the_page_needs_no_network() {
    let page = explain_html(&many(9));
    for word in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(",
        "href=",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn the_script_never_makes_markup_from_text() {
    let page = explain_html(&clean());
    let script = between(&page, "\n<script>", "</script>");
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "srcdoc",
        "DOMParser",
        "createContextualFragment",
    ] {
        assert!(!script.contains(word), "{word}");
    }
}

#[test]
fn stretches_are_drawn_without_a_gap() {
    let mut explanation = findings();
    let whole = explanation.explaining.wall_ns;
    explanation.threads.clear();
    explanation.processes.clear();
    explanation.timeline = vec![
        stretch(
            4120,
            0,
            4 * MS,
            TimeCategory::KernelProcesses,
            Some("execve"),
        ),
        stretch(4120, 4 * MS, 18 * MS, TimeCategory::PageFaults, None),
        stretch(
            4120,
            18 * MS,
            42 * MS,
            TimeCategory::KernelIo,
            Some("write 1"),
        ),
        stretch(4120, 42 * MS, whole, TimeCategory::UserCode, None),
    ];
    let data = data(&explain_html(&explanation));
    let runs = data["timeline"]["lanes"][0]["runs"]
        .as_array()
        .expect("a list");
    let numbers: Vec<i64> = runs.iter().filter_map(Value::as_i64).collect();
    let mut end = 0;
    let drawn: Vec<(u64, u64)> = numbers
        .chunks(4)
        .map(|run| {
            let from = end + run[0];
            end = from + run[1];
            (from as u64, end as u64)
        })
        .collect();
    let timeline = explanation.timeline.iter();
    let expected: Vec<(u64, u64)> = timeline.map(|one| (one.from_ns, one.to_ns)).collect();
    assert_eq!(drawn, expected);
}

#[test]
fn where_times_may_not_be_quoted_the_page_is_given_none() {
    let mut explanation = findings();
    explanation.explaining.times_are_quoted = false;
    explanation.findings[0].evidence = vec![fathom_model::Evidence {
        name: "in write".into(),
        value: 450.0 * MS as f64,
        unit: "ns".into(),
    }];
    explanation.account.wall_ns = 900 * MS;
    let data = data(&explain_html(&explanation));
    assert_eq!(data["times"], false);
    assert_eq!(data["findings"][0]["evidence"][0][1], "50 %");
}

#[test]
fn a_long_history_stays_small_and_says_what_was_merged() {
    let mut explanation = findings();
    explanation.threads.clear();
    explanation.processes.clear();
    explanation.timeline = (0..300_000u64)
        .map(|at| {
            let spent = [TimeCategory::UserCode, TimeCategory::KernelIo][at as usize % 2];
            let detail = format!("write {at} /srv/data/with/a/long/path/{at}.txt");
            stretch(4120, at * 2000, at * 2000 + 2000, spent, Some(&detail))
        })
        .collect();
    // The page must also work if the account contains no time.
    explanation.account = fathom_model::TimeAccount::default();
    let page = explain_html(&explanation);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let data = data(&page);
    let note = data["timeline"]["notes"][0].as_str().expect("a note");
    assert!(
        note.starts_with("300,000 of 300,000 stretches were too short"),
        "{note}"
    );
    let runs = data["timeline"]["lanes"][0]["runs"]
        .as_array()
        .expect("a list");
    assert!((4_000..=96_000).contains(&runs.len()), "{}", runs.len());
}

#[test]
fn endless_names_and_crowds_stay_small() {
    let long = "\u{301}<".repeat(100_000);
    let mut explanation = many(1500);
    explanation.command = long.clone();
    explanation.warnings = vec![long.clone(); 1000];
    for row in &mut explanation.processes {
        row.programs = vec![vec![long[..3000].to_owned()]];
    }
    let row = explanation.io[0].clone();
    explanation.io = vec![
        fathom_model::IoRow {
            name: long[..9000].to_owned(),
            ..row
        };
        5000
    ];
    explanation.findings[0].statement = long;
    let page = explain_html(&explanation);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let data = data(&page);
    let notes = data["timeline"]["notes"].to_string();
    assert!(page.contains("more descriptors and paths are omitted"));
    assert!(notes.contains("more threads"), "{notes}");
}

#[test]
fn an_explanation_of_nothing_is_still_a_page() {
    let mut explanation = clean();
    explanation.account = fathom_model::TimeAccount::default();
    explanation.explaining.wall_ns = 0;
    explanation.timeline.clear();
    explanation.threads.clear();
    explanation.processes.clear();
    explanation.io.clear();
    explanation.calls.clear();
    explanation.phases.clear();
    let data = data(&explain_html(&explanation));
    assert_eq!(data["timeline"]["lanes"], Value::Array(Vec::new()));
    assert_eq!(data["run_ns"], 0);
}

#[test]
fn stretches_may_overlap_or_lie_backwards() {
    let mut explanation = clean();
    explanation.threads.clear();
    explanation.processes.clear();
    explanation.timeline = vec![
        stretch(4120, 5 * MS, 9 * MS, TimeCategory::UserCode, None),
        stretch(4120, 7 * MS, 8 * MS, TimeCategory::KernelIo, None),
        stretch(4120, 6 * MS, 2 * MS, TimeCategory::Disk, None),
        stretch(7, 0, MS, TimeCategory::Disk, None),
    ];
    let data = data(&explain_html(&explanation));
    let lanes = data["timeline"]["lanes"].as_array().expect("a list");
    assert_eq!(lanes.len(), 2);
    assert_eq!(lanes[0]["runs"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_summary_for_a_pull_request() {
    insta::assert_snapshot!(explain_markdown(&findings()));
}

#[test]
fn a_hostile_summary_is_only_text() {
    let text = explain_markdown(&spoiled());
    let plain = text
        .replace("<!-- -->", "")
        .replace("<code>", "")
        .replace("</code>", "");
    let (command, rest) = plain.split_once('\n').expect("the command and more");
    assert!(!rest.contains('<') && !rest.contains('\u{202e}'), "{rest}");
    insta::assert_snapshot!(command);
}
