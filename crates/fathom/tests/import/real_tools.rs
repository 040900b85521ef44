//! The tools themselves read the exported files, if they are installed; docs/import.md says how to get them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{done, sample};

/// Returns the first of these programs that runs; otherwise prints that the test is skipped.
fn tool(names: &[&str], arguments: &[&str]) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join("go/bin"));
    let places = home.into_iter().chain(
        std::env::var_os("PATH")
            .iter()
            .flat_map(std::env::split_paths)
            .collect::<Vec<_>>(),
    );
    let candidates: Vec<PathBuf> = places
        .flat_map(|place| names.iter().map(move |name| place.join(name)))
        .collect();
    let runs = |path: &PathBuf| {
        let output = Command::new(path).args(arguments).output();
        // A shim without its tool fails; `benchstat -h` exits with 2.
        output.is_ok_and(|output| matches!(output.status.code(), Some(0 | 2)))
    };
    let found = candidates
        .into_iter()
        .filter(|path| path.is_file())
        .find(runs);
    if found.is_none() {
        fathom_test_log::skipped(&format!("{} is not here (docs/import.md)", names[0]));
    }
    found
}

fn ran(command: &mut Command) -> String {
    let output = command.output().expect("the tool starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

fn exported(folder: &Path, form: &str, file: &str) -> PathBuf {
    let to = folder.join(format!("{form}.out"));
    let from = sample(file);
    let arguments = [
        "export",
        "--format",
        form,
        from.to_str().unwrap(),
        "-o",
        to.to_str().unwrap(),
    ];
    done(folder, &arguments, b"");
    to
}

#[test]
fn benchstat_reads_gobench() {
    let Some(benchstat) = tool(&["benchstat"], &["-h"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let commands = exported(folder.path(), "gobench", "hyperfine-hf2.json");
    let text = ran(Command::new(&benchstat)
        .args(["-format", "csv"])
        .arg(&commands));
    assert!(text.contains("Seq_1000,0.001132828"), "{text}");
    let own = exported(folder.path(), "gobench", "go-test-bench.txt");
    let ours = ran(Command::new(&benchstat).args(["-format", "csv"]).arg(&own));
    let theirs = ran(Command::new(&benchstat)
        .args(["-format", "csv"])
        .arg(sample("go-test-bench.txt")));
    let figures = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| {
                !line.contains(".txt") && !line.contains(".out") && !line.starts_with("cpu: ")
            })
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(figures(&ours), figures(&theirs));
}

#[test]
fn promtool_loads_openmetrics() {
    let Some(promtool) = tool(&["promtool"], &["--version"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for file in ["hyperfine-hf2.json", "go-test-bench.txt", "jmh.json"] {
        let metrics = exported(folder.path(), "openmetrics", file);
        let blocks = folder.path().join(format!("blocks-{file}"));
        let arguments = ["tsdb", "create-blocks-from", "openmetrics"];
        ran(Command::new(&promtool)
            .args(arguments)
            .arg(&metrics)
            .arg(&blocks));
        assert!(
            std::fs::read_dir(&blocks).unwrap().next().is_some(),
            "{file}: no block"
        );
    }
}

#[test]
fn the_python_client_parses_openmetrics() {
    let parser =
        "from prometheus_client.openmetrics.parser import text_fd_to_metric_families as parse";
    let Some(python) = tool(&["python3"], &["-c", parser]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for file in [
        "hyperfine-hf2.json",
        "go-test-bench.txt",
        "jmh.json",
        "google-benchmark.json",
    ] {
        let metrics = exported(folder.path(), "openmetrics", file);
        let code = format!(
            "{parser}\nimport sys\nprint(sum(len(f.samples) for f in parse(open(sys.argv[1]))))"
        );
        let samples = ran(Command::new(&python).args(["-c", &code]).arg(&metrics));
        let lines = std::fs::read_to_string(&metrics).unwrap();
        let values = lines.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(samples.trim(), values.to_string(), "{file}");
    }
}

#[test]
fn hyperfines_own_script_reads_hyperfine() {
    let script = std::env::var_os("HYPERFINE_SCRIPTS").map(PathBuf::from);
    let script = script.map(|folder| folder.join("advanced_statistics.py"));
    let Some(script) = script.filter(|script| script.is_file()) else {
        fathom_test_log::skipped(
            "$HYPERFINE_SCRIPTS names no folder with hyperfine's scripts (docs/import.md)",
        );
        return;
    };
    let Some(python) = tool(&["python3"], &["-c", "import numpy"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let json = exported(folder.path(), "hyperfine", "hyperfine-hf2.json");
    let text = ran(Command::new(&python).arg(&script).arg(&json));
    assert!(
        text.contains("seq 1000") && text.contains("median"),
        "{text}"
    );
}

#[test]
fn the_action_reads_github_action_benchmark() {
    let action = std::env::var_os("GITHUB_ACTION_BENCHMARK").map(PathBuf::from);
    let extract = action.map(|folder| folder.join("dist/src/extract.js"));
    let Some(extract) = extract.filter(|file| file.is_file()) else {
        fathom_test_log::skipped(
            "$GITHUB_ACTION_BENCHMARK names no checkout of the action (docs/import.md)",
        );
        return;
    };
    let Some(node) = tool(&["node"], &["--version"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let json = exported(
        folder.path(),
        "github-action-benchmark",
        "hyperfine-hf2.json",
    );
    let code = "const { extractResult } = require(process.argv[1]);
        process.env.GITHUB_TOKEN = '';
        const commit = { id: 'c', message: '', timestamp: '', url: '', author: {}, committer: {} };
        require('@actions/github').context.payload.head_commit = commit;
        extractResult({ tool: 'customSmallerIsBetter', outputFilePath: process.argv[2] })
            .then(r => console.log(JSON.stringify(r.benches)));";
    let text = ran(Command::new(&node)
        .args(["-e", code])
        .arg(&extract)
        .arg(&json)
        .current_dir(extract.parent().unwrap()));
    let benches: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    let benches = benches.as_array().unwrap();
    let wall = benches
        .iter()
        .find(|one| one["name"] == "seq 1000")
        .unwrap();
    assert_eq!(
        (&wall["unit"], &wall["value"]),
        (&"s".into(), &0.001132828.into())
    );
}
