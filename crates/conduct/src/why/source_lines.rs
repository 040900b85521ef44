//! Adds the text of source lines to the places in the program's own code.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_model::{CodePlace, Explanation};

use super::java_lines::{MOST_BYTES, read_small};

/// The maximum number of characters of a line.
const LONGEST: usize = 200;
/// The maximum number of files to read.
const MOST_FILES: usize = 50;
/// Endings of source files that are compiled before the program runs: they may have changed since.
const COMPILED: [&str; 9] = ["c", "cc", "cpp", "cxx", "h", "hpp", "rs", "go", "zig"];
/// Endings of source files that a runtime reads.
const READ_BY_RUNTIME: [&str; 10] = [
    "py", "js", "mjs", "cjs", "ts", "java", "pl", "pm", "rb", "php",
];
/// Endings of files for whose functions only the line is known at which they begin.
const BEGINNINGS_ONLY: [&str; 4] = ["js", "mjs", "cjs", "ts"];
/// Folders of runtimes and libraries. Their lines don't say what the program asks for.
const OF_LIBRARIES: [&str; 10] = [
    "/usr/",
    "/rustc/",
    "/opt/",
    "/nix/",
    "/site-packages/",
    "/dist-packages/",
    "/node_modules/",
    "/.cargo/",
    "/pkg/mod/",
    "/lib/python",
];

/// The files that were read, each with the second in which it was last changed; `None` if a file can't be used.
struct Sources<'a> {
    root: &'a Path,
    folder: &'a Path,
    files: HashMap<PathBuf, Option<(String, i64)>>,
}

/// Adds the lines to the places of an explanation: of each row and finding, to the innermost place that is in the
/// program's own source. Paths are taken below `root`, and relative ones below `folder`, the command's folder.
pub(super) fn add(explanation: &mut Explanation, root: &Path, folder: &Path) {
    let mut sources = Sources {
        root,
        folder,
        files: HashMap::new(),
    };
    let rows = explanation.whereabouts.iter_mut();
    let rows = rows.map(|row| (&mut row.place, &mut row.callers));
    let findings = explanation.findings.iter_mut();
    let findings = findings.map(|finding| (&mut finding.code, &mut finding.callers));
    for (place, callers) in rows.chain(findings) {
        let mut places = std::iter::once(place).chain(callers);
        let found = places.find_map(|place| Some((sources.text(place)?, place)));
        if let Some((text, place)) = found {
            place.source_text = Some(text);
        }
    }
}

impl Sources<'_> {
    /// Returns the text of a place's line, if its file is the program's own and hasn't changed since it was
    /// compiled.
    fn text(&mut self, place: &CodePlace) -> Option<String> {
        let name = place.source_file.as_deref()?;
        let name = name.strip_prefix("file://").unwrap_or(name);
        let line = usize::try_from(place.line?).ok()?.checked_sub(1)?;
        let ending = Path::new(name).extension()?.to_str()?;
        let is_compiled = COMPILED.contains(&ending);
        let is_source = is_compiled || READ_BY_RUNTIME.contains(&ending);
        if !is_source || OF_LIBRARIES.iter().any(|folder| name.contains(folder)) {
            return None;
        }
        let path = match name.strip_prefix('/') {
            Some(below) => self.root.join(below),
            None => self.folder.join(name),
        };
        let built = place.binary.as_deref().filter(|_| is_compiled);
        let built = match built.and_then(|path| path.strip_prefix('/')) {
            Some(below) => Some(fs::metadata(self.root.join(below)).ok()?.mtime()),
            None => None,
        };
        if self.files.len() >= MOST_FILES && !self.files.contains_key(&path) {
            return None;
        }
        let read = self.files.entry(path).or_insert_with_key(|path| read(path));
        let (text, modified) = read.as_ref()?;
        if built.is_some_and(|built| *modified > built) {
            return None;
        }
        let text = text.lines().nth(line)?.trim();
        let is_beginning = BEGINNINGS_ONLY.contains(&ending) && text.ends_with('{');
        let says_something = text.chars().any(char::is_alphanumeric) && !is_beginning;
        says_something.then(|| text.chars().take(LONGEST).collect())
    }
}

fn read(path: &Path) -> Option<(String, i64)> {
    let facts = fs::metadata(path).ok()?;
    // A larger file would only be read in part.
    if facts.len() > MOST_BYTES {
        return None;
    }
    let bytes = read_small(path)?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), facts.mtime()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32, binary: Option<&Path>) -> CodePlace {
        CodePlace {
            function: Some("search".to_owned()),
            source_file: Some(file.to_owned()),
            line: Some(line),
            binary: binary.map(|path| path.display().to_string()),
            ..CodePlace::default()
        }
    }

    #[test]
    fn the_line_of_an_own_file_is_read_unless_the_program_is_older() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("program"), "").unwrap();
        fs::write(
            path("find.c"),
            "int search() {\n    return strcmp(a, b);\n}\n",
        )
        .unwrap();
        let set = |name: &str, seconds: u64| {
            let date = format!("@{seconds}");
            let touch = std::process::Command::new("touch")
                .args(["-d", &date])
                .arg(path(name))
                .status();
            assert!(touch.unwrap().success());
        };
        let text = |file: &str, line: u32| {
            let mut sources = Sources {
                root: Path::new("/"),
                folder: folder.path(),
                files: HashMap::new(),
            };
            sources.text(&place(file, line, Some(&path("program"))))
        };
        set("find.c", 1_000);
        set("program", 2_000);
        assert_eq!(text("find.c", 2).as_deref(), Some("return strcmp(a, b);"));
        let whole = path("find.c").display().to_string();
        assert_eq!(text(&whole, 2).as_deref(), Some("return strcmp(a, b);"));
        assert_eq!(text("find.c", 3), None, "only a bracket");
        assert_eq!(text("find.c", 9), None, "no such line");
        set("program", 500);
        assert_eq!(text("find.c", 2), None, "changed since");
    }

    #[test]
    fn other_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.txt"), "text\n").unwrap();
        fs::create_dir(folder.path().join("site-packages")).unwrap();
        fs::write(folder.path().join("site-packages/a.py"), "x = 1\n").unwrap();
        fs::write(folder.path().join("b.js"), "function f() {\n").unwrap();
        let mut sources = Sources {
            root: folder.path(),
            folder: folder.path(),
            files: HashMap::new(),
        };
        for file in ["secret.txt", "/site-packages/a.py", "b.js", "gone.py"] {
            assert_eq!(sources.text(&place(file, 1, None)), None, "{file}");
        }
    }
}
