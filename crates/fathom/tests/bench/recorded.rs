//! Records and exports.

use serde_json::Value;

use crate::world::{fathom, json, run, stderr, stdout, text};

#[test]
fn the_record_has_every_run_with_every_metric() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let output = run(&[
        "-r",
        "7",
        "--json",
        text(&path),
        "-n",
        "a",
        "-n",
        "b",
        "true",
        "echo x",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = json(&path);
    assert_eq!(record["schema_version"], 2);
    assert_eq!(record["complete"], true);
    assert_eq!(record["benchmarks"][1]["name"], "b");
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 14);
    for (position, run) in runs.iter().enumerate() {
        assert_eq!(run["position"], position);
        for key in [
            "wall_ns",
            "cpu_ns",
            "peak_memory_bytes",
            "minor_faults",
            "voluntary_switches",
        ] {
            assert!(run[key].is_u64(), "{key}: {run}");
        }
        assert!(run["io"]["read_calls"].is_u64(), "{run}");
    }
    assert_eq!(record["outcome"]["comparisons"][0]["reference"], 0);
    assert!(
        record["environment"]["kernel"]
            .as_str()
            .unwrap()
            .starts_with("Linux")
    );
}

#[test]
fn a_fixed_order_is_that_in_which_the_commands_are_given() {
    let options = ["-r", "12", "--order", "fixed", "--json", "-"];
    let output = run(&[&options[..], &["-w", "0", "true", "echo a", "echo b"]].concat());
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["conditions"]["order"], "fixed");
    let runs = record["runs"].as_array().unwrap();
    let ran: Vec<u64> = runs
        .iter()
        .map(|run| run["benchmark"].as_u64().unwrap())
        .collect();
    assert_eq!(ran, [0, 1, 2].repeat(12));
    let said = stdout(&run(&[
        "-r", "2", "--order", "fixed", "-v", "true", "echo a",
    ]));
    assert!(
        said.contains("in the order given") && !said.contains("seed"),
        "{said}"
    );
}

#[test]
fn a_shell_is_named_after_its_option() {
    let command = "echo ${BASH_VERSION:+is bash}";
    for words in [&["-S", "bash"][..], &["--shell=bash"], &["-S", "/bin/bash"]] {
        let options = ["-r", "2", "--expect-stdout", "expected", "--json", "-"];
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("expected"), "is bash\n").unwrap();
        let mut fathom = fathom(&[&options[..], words, &[command]].concat());
        let output = fathom.current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(
            record["benchmarks"].as_array().unwrap().len(),
            1,
            "{words:?}"
        );
        assert_eq!(record["benchmarks"][0]["command"], command);
    }
}

#[test]
fn json_on_standard_output_is_nothing_but_json() {
    let output = run(&["-r", "2", "--json", "-", "true"]);
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn the_page_has_the_verdict_and_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    let output = run(&["-r", "7", "--html", text(&path), "true", "sh -c 'exit 0'"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(&path).unwrap();
    let answer = page
        .split_once("<h1")
        .unwrap()
        .1
        .split_once("</h1>")
        .unwrap()
        .0;
    assert!(answer.contains("too few rounds (7 of "), "{answer}");
    // Seven runs and one warm-up of each command are drawn, except those that lack the clock used for the
    // verdict.
    let left_out = page.split_once("Not drawn: ").map_or(0, |(_, rest)| {
        rest.split_once(' ').unwrap().0.parse().unwrap()
    });
    let drawn = |title| page.matches(title).count();
    let both = drawn("<title>1 run ") + drawn("<title>2 run ");
    assert_eq!(both + left_out, 16);
    assert!(stdout(&output).contains("too few rounds"), "printed, too");
}

#[test]
fn exports_have_hyperfines_shape() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let formats = [
        ("json", "json"),
        ("csv", "csv"),
        ("markdown", "md"),
        ("asciidoc", "adoc"),
        ("orgmode", "org"),
    ];
    let mut command = fathom(&["-r", "3", "-L", "n", "1,2", "echo {n}"]);
    for (format, ending) in formats {
        command
            .arg(format!("--export-{format}"))
            .arg(file(&format!("x.{ending}")));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = &json(&file("x.json"))["results"];
    assert_eq!(results[0]["command"], "echo 1");
    assert_eq!(results[1]["parameters"]["n"], "2");
    assert_eq!(results[0]["times"].as_array().unwrap().len(), 3);
    let csv = std::fs::read_to_string(file("x.csv")).unwrap();
    assert!(
        csv.starts_with("command,mean,stddev,median,user,system,min,max,parameter_n\n"),
        "{csv}"
    );
    for name in ["x.md", "x.adoc", "x.org"] {
        assert!(
            std::fs::read_to_string(file(name))
                .unwrap()
                .contains("echo 2"),
            "{name}"
        );
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        5,
        "no half-written file stays"
    );
}
