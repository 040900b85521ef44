//! `fathom changes` with real files.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn fathom() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fathom"))
}

/// Writes a column `a` with a step of 8 % at point 60 and a column `b` without one. The noise is the same
/// each time.
fn csv(folder: &Path, points: usize) -> std::path::PathBuf {
    let mut text = String::from("note,value,series,index\n");
    for index in 0..points {
        let noise = 1.0 + f64::from((index as u32 * 7919) % 101) / 5000.0;
        let level = if index < 60 { 10.0 } else { 10.8 };
        text.push_str(&format!("x,{},a,{index}\n", level * noise));
        text.push_str(&format!("y,{},\"b, c\",{index}\n", 5.0 * noise));
    }
    let path = folder.join(format!("{points}.csv"));
    std::fs::write(&path, text).expect("a file");
    path
}

fn json(arguments: &[&str]) -> Value {
    let output = fathom()
        .arg("changes")
        .args(arguments)
        .args(["--json", "-"])
        .output()
        .expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn refused(arguments: &[&str]) -> String {
    let output = fathom()
        .arg("changes")
        .args(arguments)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_step_in_a_file_is_found_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = csv(folder.path(), 100);
    let record = json(&["--csv", path.to_str().expect("UTF-8")]);
    let series = record["series"].as_array().expect("series");
    assert_eq!(series.len(), 2);
    assert_eq!(series[0]["change_points"][0]["index"], 60);
    assert_eq!(series[0]["change_points"][0]["kind"], "step");
    assert_eq!(series[1]["name"], "b, c");
    assert_eq!(series[1]["change_points"].as_array().map(Vec::len), Some(0));
    let shown = fathom()
        .args(["changes", "--csv"])
        .arg(&path)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&shown.stdout);
    let begins = "1 change point in 1 of 2 series.\n\na  (100 points)\n  +8.0 %";
    assert!(text.starts_with(begins), "{text}");
}

/// Writes a file as Otava does: a column for each of two metrics, the second with a gap, and the newest line
/// first.
fn wide(bytes: impl Fn(&str) -> Vec<u8>, folder: &Path) -> Value {
    let mut lines: Vec<String> = (0..100)
        .map(|at| {
            let noise = 1.0 + f64::from((at as u32 * 7919) % 101) / 5000.0;
            let level = if at < 60 { 154_023.0 } else { 170_000.0 };
            let second = if at == 3 {
                String::new()
            } else {
                (10.4 * noise).to_string()
            };
            let (month, day) = (1 + at / 28, 1 + at % 28);
            let zone = if month < 3 { "+0100" } else { "+0200" };
            format!(
                "2024.{month:02}.{day:02} 3:00:00 {zone},aaa{at},{},{second}\n",
                level * noise
            )
        })
        .collect();
    lines.reverse();
    let path = folder.join("otava.csv");
    let text = format!("time,commit,metric1,metric2\n{}", lines.concat());
    std::fs::write(&path, bytes(&text)).expect("a file");
    json(&["--csv", path.to_str().expect("UTF-8")])
}

#[test]
fn a_column_for_each_series_is_read_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = wide(|text| text.as_bytes().to_vec(), folder.path());
    let series = record["series"].as_array().expect("series");
    let names: Vec<&Value> = series.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["metric1", "metric2"]);
    let points: Vec<&Value> = series.iter().map(|one| &one["points"]).collect();
    assert_eq!(points, [100, 99]);
    let changes = series[0]["change_points"].as_array().expect("changes");
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["index"], 60);
    assert_eq!(series[0]["labels"][60], "aaa60");
    assert_eq!(series[1]["change_points"].as_array().map(Vec::len), Some(0));
    // PowerShell writes UTF-16.
    let utf16 = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [0xff, 0xfe].into_iter().chain(units).collect()
    };
    assert_eq!(wide(utf16, folder.path())["series"], record["series"]);
}

/// Returns lines where `main` has a step at 60 and `dev` doesn't, interleaved. Numbers use the given decimal
/// sign.
fn branches(header: &str, separator: char, comma: bool, index: bool) -> String {
    let mut text = header.replace(',', &separator.to_string());
    for at in 0..100 {
        let noise = 1.0 + f64::from((at * 7919) % 101) / 5000.0;
        let level = if at < 60 { 10.0 } else { 10.8 };
        for (branch, level) in [("main", level), ("dev", 5.0)] {
            let mut value = (level * noise).to_string();
            if comma {
                value = value.replace('.', ",");
            }
            let cells = match index {
                true => vec!["a".to_owned(), at.to_string(), branch.to_owned(), value],
                false => vec![format!("c{at}"), branch.to_owned(), value],
            };
            text.push_str(&format!("\n{}", cells.join(&separator.to_string())));
        }
    }
    text
}

#[test]
fn branches_are_series_and_semicolons_separate_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        branches("series,index,branch,value", ',', false, true),
        branches("series,index,branch,value", ';', true, true),
        branches("commit,branch,a", '\t', true, false),
        branches("commit,Branch,a", ';', false, false),
    ];
    for (number, text) in files.iter().enumerate() {
        let path = folder.path().join(format!("{number}.csv"));
        std::fs::write(&path, text).expect("a file");
        let path = path.to_str().expect("UTF-8");
        let found = |arguments: &[&str]| {
            let record = json(&[&["--csv", path], arguments].concat());
            let series = record["series"].as_array().expect("series").iter();
            let each = series.map(|one| {
                let changes = one["change_points"].as_array().expect("changes").iter();
                let places: Vec<u64> = changes.filter_map(|one| one["index"].as_u64()).collect();
                (
                    one["name"].as_str().expect("a name").to_owned(),
                    one["points"].clone(),
                    places,
                )
            });
            each.collect::<Vec<_>>()
        };
        let both = [
            ("a [branch=main]".to_owned(), Value::from(100), vec![60]),
            ("a [branch=dev]".to_owned(), Value::from(100), vec![]),
        ];
        assert_eq!(found(&[]), both, "{number}");
        let one = [("a".to_owned(), Value::from(100), vec![60])];
        assert_eq!(found(&["--branch", "main"]), one, "{number}");
        let said = refused(&["--csv", path, "--branch", "next"]);
        assert!(
            said.contains("\"next\"; the branches are main, dev"),
            "{said}"
        );
    }
    // Only one branch was measured.
    let path = folder.path().join("one.csv");
    std::fs::write(&path, "series,index,value,branch\na,1,2,main\na,2,2,main\n").expect("a file");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(json(&["--csv", path])["series"][0]["name"], "a");
}

#[test]
fn lines_in_any_order_give_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = csv(folder.path(), 100);
    let text = std::fs::read_to_string(&path).expect("text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let turned = folder.path().join("turned.csv");
    std::fs::write(&turned, lines.join("\n")).expect("a file");
    let of = |path: &Path| json(&["--csv", path.to_str().expect("UTF-8")])["series"].clone();
    let (mut one, mut other) = (of(&path), of(&turned));
    for series in [&mut one, &mut other] {
        let list = series.as_array_mut().expect("series");
        list.sort_by_key(|one| one["name"].to_string());
    }
    assert_eq!(one, other);
}

#[test]
fn a_change_point_keeps_its_identity_when_points_are_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = folder.path().join("before.json");
    let (early, late) = (csv(folder.path(), 90), csv(folder.path(), 130));
    let written = fathom()
        .args(["changes", "--csv"])
        .arg(&early)
        .arg("--json")
        .arg(&before)
        .output();
    assert!(written.expect("it runs").status.success());
    let record = json(&[
        "--csv",
        late.to_str().expect("UTF-8"),
        "--previous",
        before.to_str().expect("UTF-8"),
    ]);
    let series = &record["series"][0];
    assert_eq!(series["points"], 130);
    assert_eq!(series["change_points"][0]["id"], 60);
    assert_eq!(series["change_points"][0]["moved_from"], Value::Null);
    assert_eq!(series["withdrawn"].as_array().map(Vec::len), Some(0));
}

#[test]
fn wrong_files_are_answered_with_what_to_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let no_column = file("a.csv", "series,index,values\na,1,2\n");
    let said = refused(&["--csv", &no_column]);
    assert!(
        said.contains("no column is named \"value\"") && said.contains("series, index, values"),
        "{said}"
    );
    let no_series = file("d.csv", "commit,note\nabc,words\n");
    let said = refused(&["--csv", &no_series]);
    assert!(said.contains("no column contains numbers"), "{said}");
    let no_number = file("b.csv", "series,index,value\na,1,2\na,2,NaN\n");
    let said = refused(&["--csv", &no_number]);
    assert!(
        said.contains("line 3") && said.contains("omit the line"),
        "{said}"
    );
    let said = refused(&["--csv", &no_number, "--branch", "main"]);
    assert!(said.contains("needs a column named \"branch\""), "{said}");
    let empty = file("c.csv", "series,index,value,branch\n");
    assert!(refused(&["--csv", &empty]).contains("no row below the column names has a value"));
    let ragged = file("d.csv", "series,index,value\na,1\n");
    assert!(refused(&["--csv", &ragged]).contains("line 2 has 2 fields"));
    let gone = folder.path().join("gone.csv");
    assert!(refused(&["--csv", gone.to_str().expect("UTF-8")]).contains("can't read"));
    let not_json = file("e.json", "{}");
    let good = csv(folder.path(), 90);
    let said = refused(&[
        "--csv",
        good.to_str().expect("UTF-8"),
        "--previous",
        &not_json,
    ]);
    assert!(
        said.contains("--previous") && said.contains("fathom changes --json FILE"),
        "{said}"
    );
}
