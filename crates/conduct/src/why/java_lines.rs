//! Finds the source lines of Java methods in the class files that the command was given.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use fathom_diagnose::Language;
use fathom_model::{CodePlace, Explanation};
use fathom_stacks::{is_made_at_run_time, source_of_method};
use fathom_trace::Trace;

/// The size limit of a class or source file in bytes; the largest ones in practice have some hundred thousand.
pub(super) const MOST_BYTES: u64 = 4 << 20;
/// The maximum number of methods to look up.
const MOST: usize = 500;

/// Adds the lines to each location of an explanation.
pub(super) fn name(explanation: &mut Explanation, trace: &Trace, folder: &Path) {
    let programs = trace.processes.iter().filter_map(|one| one.execs.last());
    let java = |path: &str| Language::from_program_name(path) == Some(Language::Java);
    let mut programs = programs.filter(|exec| java(&exec.path));
    let Some(program) = programs.next() else {
        return;
    };
    let folders: Vec<PathBuf> = class_path(&program.arguments)
        .into_iter()
        .map(|path| folder.join(path))
        .filter(|path| path.is_dir())
        .collect();
    let mut known: HashMap<String, Option<(String, u32)>> = HashMap::new();
    let rows = explanation.whereabouts.iter_mut();
    let rows = rows.map(|row| (&mut row.place, &mut row.callers));
    let findings = explanation.findings.iter_mut();
    let findings = findings.map(|finding| (&mut finding.code, &mut finding.callers));
    let places = rows
        .chain(findings)
        .flat_map(|(place, callers)| std::iter::once(place).chain(callers));
    let steps = explanation.paths.iter_mut().flat_map(|it| &mut it.steps);
    for place in places.chain(steps.map(|step| &mut step.place)) {
        if let Some((file, line)) = source(place, &folders, &mut known) {
            (place.source_file, place.line) = (Some(file), Some(line));
        }
    }
}

/// Returns the folders and files of `-cp` and similar options, or the current folder if there is no such
/// option.
fn class_path(arguments: &[String]) -> Vec<String> {
    let names = ["-cp", "-classpath", "--class-path"];
    let given = arguments.iter().position(|it| names.contains(&it.as_str()));
    let given = given.and_then(|at| arguments.get(at + 1));
    let all = given.map_or(".", String::as_str);
    all.split(':').map(str::to_owned).collect()
}

fn source(
    place: &CodePlace,
    folders: &[PathBuf],
    known: &mut HashMap<String, Option<(String, u32)>>,
) -> Option<(String, u32)> {
    let is_made = place.binary.as_deref().is_some_and(is_made_at_run_time);
    let function = place.function.as_ref().filter(|_| is_made)?;
    if place.source_file.is_some() || known.len() >= MOST && !known.contains_key(function) {
        return None;
    }
    let find = || {
        let (class, method) = function.rsplit_once('.')?;
        // The replacement prevents paths that lead out of the folder.
        let file = format!("{}.class", class.replace('.', "/"));
        let is_inside = !file.starts_with('/') && !file.contains("//");
        let paths = folders.iter().map(|folder| folder.join(&file));
        let mut classes = paths
            .filter(|_| is_inside)
            .filter_map(|path| read_small(&path));
        classes.find_map(|class| source_of_method(&class, method))
    };
    known.entry(function.clone()).or_insert_with(find).clone()
}

/// Reads a regular file up to [`MOST_BYTES`].
pub(super) fn read_small(path: &Path) -> Option<Vec<u8>> {
    // Reading from a pipe would block.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_lie_where_the_command_says() {
        let of = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            class_path(&words)
        };
        assert_eq!(of("java -cp a:/b/c.jar Main"), ["a", "/b/c.jar"]);
        assert_eq!(of("java Main"), ["."]);
        assert_eq!(of("java -cp"), ["."]);
    }
}
