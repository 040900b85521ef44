//! Use of package registries: nothing is installed by an unknown name, and every dependency is used. `cargo
//! deny` checks licences, duplicates and sources (`deny.toml`, `.ci/run`).
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

/// Packages that may be installed by name, because they belong to the intended owners. `fathom` is not among
/// them: on crates.io it belongs to someone else.
const KNOWN: [&str; 6] = [
    "cargo-fuzz",
    "hyperfine",
    "mcp",
    "ppbert",
    "prometheus-client",
    "numpy",
];

/// Commands that fetch a package by its name.
const INSTALLERS: [&str; 10] = [
    "cargo install ",
    "cargo binstall ",
    "cargo add ",
    "pip install ",
    "pip3 install ",
    "pipx install ",
    "uv tool install ",
    "npm install ",
    "npm i ",
    "npx ",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the files below a folder, except those that git ignores.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() && !matches!(name.to_str(), Some("target" | ".git" | ".fathom")) {
            files(&path, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

/// Returns the names that a line installs from a registry.
fn installed(line: &str) -> Vec<&str> {
    let after = |installer: &&str| line.split_once(*installer).map(|(_, after)| after);
    let commands = INSTALLERS.iter().filter_map(after);
    let names = |command| {
        let end = |letter| matches!(letter, '`' | '|' | ';' | '&' | '#' | ')');
        let command: &str = command;
        let command = command.split(end).next().unwrap_or_default();
        let mut words = command.split_whitespace();
        let mut names = Vec::new();
        while let Some(word) = words.next() {
            match word {
                // A package given by path or address doesn't come from a registry.
                "--path" | "--git" => return Vec::new(),
                "--root" | "--version" | "--prefix" | "--requirement" => _ = words.next(),
                "\\" => {}
                option if option.starts_with('-') => {}
                // A local file doesn't come from a registry either.
                file if file.starts_with("./") => {}
                name => names.push(name.trim_matches(['"', '\'', ',', '.'])),
            }
        }
        names
    };
    commands.flat_map(names).collect()
}

#[test]
fn nothing_is_installed_by_a_name_that_somebody_else_may_hold() {
    let mut all = Vec::new();
    files(&root(), &mut all);
    let text = ["md", "sh", "yml", "yaml", "py", "rs", "toml"];
    let this = Path::new(file!()).file_name();
    let mut read = 0;
    for path in all {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_text = extension.is_none_or(|extension| text.contains(&extension));
        let Ok(content) = std::fs::read_to_string(&path) else {
            continue;
        };
        if !is_text || path.file_name() == this {
            continue;
        }
        read += 1;
        for line in content.lines() {
            for name in installed(line) {
                let bare = name
                    .split(['@', '=', '<', '>', '"'])
                    .next()
                    .unwrap_or_default();
                // A name that a program fills in comes from the experiment file.
                let filled_in = bare.starts_with(['{', '$']);
                assert!(
                    filled_in || KNOWN.contains(&bare),
                    "{} installs {name:?}, which isn't known: {line}",
                    path.display()
                );
            }
        }
    }
    assert!(read > 500, "{read} files");
}

#[test]
fn names_are_found_however_they_are_asked_for() {
    assert_eq!(
        installed("    cargo install --locked \"fathom@${VERSION}\""),
        ["fathom@${VERSION}"]
    );
    assert_eq!(installed("run `pip install -U fathom` once"), ["fathom"]);
    assert_eq!(installed("npx fathom bench")[0], "fathom");
    assert_eq!(
        installed("cargo install --root DIR a@1 b | cat"),
        ["a@1", "b"]
    );
    assert!(installed("cargo install --path crates/fathom").is_empty());
    assert!(installed("cargo install --git URL --rev REV fathom").is_empty());
    assert!(installed("`cargo install` brings the program").is_empty());
    assert_eq!(
        installed("npm install -g ./a.tgz b ../c.tgz"),
        ["b", "/c.tgz"]
    );
}

#[test]
fn every_crate_that_is_asked_for_is_named_in_the_code() {
    let mut folders = vec![root().join("benches")];
    for entry in std::fs::read_dir(root().join("crates")).expect("a folder") {
        folders.push(entry.expect("an entry").path());
    }
    assert!(folders.len() > 15, "{folders:?}");
    for folder in folders {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let mut all = Vec::new();
        files(&folder, &mut all);
        let is_code = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
        let code = all.into_iter().filter(is_code);
        let code: String = code
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect();
        let mut of_dependencies = false;
        for line in manifest.lines() {
            if line.starts_with('[') {
                of_dependencies = line.ends_with("dependencies]");
            } else if let Some((name, _)) = line.split_once(".workspace")
                && of_dependencies
            {
                let name = name.replace('-', "_");
                let named = [
                    format!("{name}::"),
                    format!("use {name} "),
                    format!("use {name};"),
                ];
                assert!(
                    named.iter().any(|named| code.contains(named)),
                    "{} asks for {name} and never uses it",
                    folder.display()
                );
            }
        }
    }
}
