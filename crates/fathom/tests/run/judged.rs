//! The results of an experiment, in every form of output.

use std::path::PathBuf;

use serde_json::Value;

use crate::world::{experiment, record, run, stderr, stdout, verdict, whole, with_claim};

#[test]
fn an_experiment_is_prepared_measured_and_judged() {
    let folder = whole();
    let (record, output) = record(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for id in ["input", "printed", "flips", "arithmetic"] {
        assert_eq!(verdict(&record, id), "reproduced", "{id}: {record:#}");
    }
    assert_eq!(verdict(&record, "absent"), "not_runnable_here");
    let claims = record["claims"].as_array().expect("claims");
    let flips = claims.iter().find(|claim| claim["id"] == "flips");
    assert_eq!(
        flips.expect("it")["verdict_changes"][0],
        "step=2: not reproduced"
    );
    let tools = record["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["version"] == "a shell"));
    let text = stdout(&output);
    assert!(
        text.contains("--install gets no-such-package@1 from npm"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    // The evidence is kept: the record of bench, with every run.
    let bench = folder.path().join(".fathom/experiment/records/time.json");
    let bench: Value =
        serde_json::from_str(&std::fs::read_to_string(bench).expect("kept")).expect("JSON");
    // `counter` and `nothing` are measured under two steps each, `reader` under one.
    assert_eq!(bench["benchmarks"].as_array().map(Vec::len), Some(5));
    assert_eq!(bench["runs"].as_array().map(Vec::len), Some(30));
}

#[test]
fn a_plan_shows_every_command_and_runs_none() {
    let folder = whole();
    let output = run(folder.path(), &["--plan", "--install"]);
    let text = stdout(&output);
    for command in [
        "cp ",
        "awk ",
        "counter.sh 2",
        "npm install",
        "fathom bench",
        "cat ",
    ] {
        assert!(text.contains(command), "{command} is not in\n{text}");
    }
    assert!(!folder.path().join(".fathom").exists());
    assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 2);
}

#[test]
fn a_plan_can_be_read_by_programs_and_still_runs_nothing() {
    let folder = whole();
    let output = run(folder.path(), &["--plan", "--quick", "--json", "-"]);
    let plan: Value = serde_json::from_str(&stdout(&output)).expect("JSON and nothing else");
    assert_eq!(plan["kind"], "plan");
    assert_eq!(plan["title"], "Programs of a shell");
    assert_eq!(plan["quick"], true);
    let commands: Vec<&str> = (plan["steps"].as_array().expect("steps").iter())
        .flat_map(|step| step["commands"].as_array().expect("commands"))
        .filter_map(Value::as_str)
        .collect();
    assert!(
        commands.iter().any(|c| c.starts_with("cp ")),
        "{commands:?}"
    );
    assert!(!folder.path().join(".fathom").exists());
    let page = run(folder.path(), &["--plan", "--html", "plan.html"]);
    assert_eq!(page.status.code(), Some(2));
}

#[test]
fn only_measures_what_is_asked_for() {
    let folder = whole();
    let (record, output) = record(folder.path(), &["--only", "val*"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let measures = record["measures"].as_array().expect("measures");
    assert_eq!(measures.len(), 1);
    let claims: Vec<&str> = record["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .filter_map(|claim| claim["id"].as_str())
        .collect();
    assert_eq!(claims, ["printed", "flips"]);
    let wrong = run(folder.path(), &["--only", "prnted"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("did you mean \"printed\"?"));
}

#[test]
fn a_file_with_a_mistake_is_refused_with_its_line() {
    let folder = experiment("schema_version = 1\ntitle = \"t\"\n[subject.a]\n");
    let output = run(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("experiment.toml:3:2"), "{text}");
    assert!(text.contains("did you mean `subjects`?"), "{text}");
}

#[test]
fn exit_codes_tell_budgets_from_failures() {
    let only_a = |holds: &str| {
        with_claim(holds).replace("how = \"value\"", "how = \"value\"\nsubjects = [\"a\"]")
    };
    let code = |text: &str| run(experiment(text).path(), &[]).status.code();
    assert_eq!(code(&only_a("n.a == 5")), Some(0));
    assert_eq!(code(&only_a("n.a == 6")), Some(1));
    let failing = experiment(&with_claim("n.a == 5"));
    let output = run(failing.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(
        text.contains("exit code 7") && text.contains("oh no"),
        "{text}"
    );
    // The measures that still ran are judged.
    assert!(text.contains("1 reproduced"), "{text}");
}

#[test]
fn a_failing_subject_leaves_the_others_measured() {
    let text = with_claim("p50(wall.a) > 0s").replace("how = \"value\"", "how = \"bench\"");
    let text = text
        .lines()
        .filter(|line| !line.starts_with("values"))
        .collect::<Vec<_>>()
        .join("\n");
    let folder = experiment(&text);
    let (record, output) = record(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(verdict(&record, "x"), "reproduced");
}

#[test]
fn reports_are_escaped_and_whole() {
    let folder = experiment(
        "schema_version = 1\ntitle = \"<script>alert(1)</script> @me \\u001b[31m\"\n[[claims]]\nid = \"x\"\n\
         text = \"<b>|`x`|</b>\"\nlayer = \"arithmetic\"\nholds = \"1 < 2\"\n",
    );
    let html = folder.path().join("r.html");
    let markdown = folder.path().join("r.md");
    let path = |path: &PathBuf| path.display().to_string();
    let output = run(
        folder.path(),
        &[
            "--html",
            &path(&html),
            "--export-markdown",
            &path(&markdown),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).contains('\u{1b}'));
    let html = std::fs::read_to_string(html).expect("written");
    assert!(
        html.contains("&lt;script&gt;")
            && html.matches("<script").count() == 1
            && html.contains("script-src 'sha256-")
    );
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    assert!(!html.contains('\u{1b}') && !html.contains("://"));
    let markdown = std::fs::read_to_string(markdown).expect("written");
    assert!(!markdown.contains("<b>") && !markdown.contains("@me"));
}

#[test]
fn figures_go_between_the_marks_of_the_page_and_nowhere_else() {
    let folder = experiment(
        &with_claim("n.a == 5").replace("how = \"value\"", "how = \"value\"\nsubjects = [\"a\"]"),
    );
    let page = folder.path().join("README.md");
    let refused = run(folder.path(), &["--readme"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("README.md"),
        "{}",
        stderr(&refused)
    );
    std::fs::write(&page, "# Title\n\nno marks\n").expect("written");
    let refused = run(folder.path(), &["--readme"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("0 begin marks"),
        "{}",
        stderr(&refused)
    );
    let marked =
        "# Title\n\nbefore\n\n<!-- figures: begin -->\nold 123\n<!-- figures: end -->\n\nafter\n";
    std::fs::write(&page, marked).expect("written");
    for _ in 0..2 {
        let output = run(folder.path(), &["--readme"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = std::fs::read_to_string(&page).expect("read");
        assert!(
            text.starts_with("# Title\n\nbefore\n\n<!-- figures: begin"),
            "{text}"
        );
        assert!(text.ends_with("<!-- figures: end -->\n\nafter\n"), "{text}");
        assert!(!text.contains("old 123"), "{text}");
        assert!(
            text.contains("**reproduced**") && text.contains("(figures.md)"),
            "{text}"
        );
        let tables = std::fs::read_to_string(folder.path().join("figures.md")).expect("written");
        assert!(tables.contains("| a | 5 |"), "{tables}");
        assert_eq!(text.matches("figures: begin").count(), 1, "{text}");
    }
    // Without new measurements, the page states when and on which machine it was measured.
    let before = std::fs::read_to_string(&page).expect("read");
    assert!(
        before.contains("machine --check` before the run"),
        "{before}"
    );
    let output = run(folder.path(), &["--resume", "--readme"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&page).expect("read"), before);
}

/// Writes an experiment in which one subject's numbers alternate around the claim, so no number of rounds
/// decides it.
fn uneven(more: &str) -> tempfile::TempDir {
    experiment(&format!(
        r#"
schema_version = 1
title = "Undecided"
[subjects.uneven]
command = "sh -c 'n=$(cat {{work}}/count 2>/dev/null || echo 0); echo $((n + 1)) > {{work}}/count; echo value $((1 + n % 2 * 2))'"
[subjects.even]
command = "echo value 5"
[[measure]]
id = "value"
how = "value"
values.printed = {{ pattern = "value ([0-9]+)" }}
rounds = 8
{more}
[[claims]]
id = "uneven"
text = "It is 2 or more"
layer = "size"
holds = "printed.uneven >= 2"
[[claims]]
id = "even"
text = "It is 4 or more"
layer = "size"
holds = "printed.even >= 4"
"#
    ))
}

#[test]
fn rounds_are_added_for_undecided_claims_alone_and_four_times_as_many_at_most() {
    let runs = |record: &Value, subject: &str| {
        let rows = record["results"].as_array().expect("results").iter();
        let mut of = rows.filter(|row| row["subject"] == subject);
        of.next().expect("a result")["runs"].as_u64()
    };
    for (more, arguments, expected) in [
        ("", &[][..], 32),
        ("until_decided = false", &[], 8),
        ("", &["--quick"], 8),
    ] {
        let folder = uneven(more);
        let (record, output) = record(folder.path(), arguments);
        assert_eq!(verdict(&record, "uneven"), "undecided", "{record:#}");
        assert_eq!(verdict(&record, "even"), "reproduced");
        assert_eq!(runs(&record, "uneven"), Some(expected), "{record:#}");
        assert_eq!(runs(&record, "even"), Some(8));
        let added = stderr(&output).contains("8 more rounds of value");
        assert_eq!(added, expected == 32, "{}", stderr(&output));
    }
    // Completed measures are not measured again and get no further interim check.
    let folder = uneven("");
    let (first, _) = record(folder.path(), &[]);
    let (again, _) = record(folder.path(), &["--resume"]);
    assert_eq!(runs(&again, "uneven"), Some(32));
    assert_eq!(again["started_at"], first["started_at"]);
    let records = again["measures"][0]["records"].as_array().map(Vec::len);
    assert_eq!(records, Some(3), "{again:#}");
    let plan = stdout(&run(folder.path(), &["--plan"]));
    assert!(
        plan.contains("8 rounds, up to 32 while a claim is undecided"),
        "{plan}"
    );
}
