//! Which of the files that a process opened are code that its runtime loaded?

use std::collections::HashSet;

use fathom_trace::FileRow;

use crate::analysis::Analysis;
use crate::language::Language;

/// Most bytes that a loader reads of a library: it reads the header and maps the rest. Who copies
/// or searches one reads it to its end.
const READ_BY_LOADER: u64 = 16 << 10;

/// What separates the code that one process runs from the data that it works on.
pub(super) struct CodeFiles {
    language: Option<Language>,
    /// Python: modules, without their `.py`, of which no compiled form was found. Node: what was
    /// asked for before an ending was added to it.
    missed: HashSet<String>,
    /// Node: folders of which it asked what kind of modules they hold.
    of_packages: HashSet<String>,
    /// What the command is given to work on.
    operands: Vec<String>,
}

impl CodeFiles {
    pub(super) fn of(analysis: &Analysis<'_>, pid: u32) -> Self {
        let language = analysis.language(Some(pid));
        Self {
            language,
            missed: match language {
                Some(Language::Python) => uncompiled(analysis, pid),
                Some(Language::Node) => lookups(analysis).map(str::to_owned).collect(),
                _ => HashSet::new(),
            },
            of_packages: match language {
                Some(Language::Node) => of_packages(analysis, pid),
                _ => HashSet::new(),
            },
            operands: operands(analysis, pid),
        }
    }

    pub(super) fn holds(&self, file: &FileRow) -> bool {
        if file.opens == 0 || file.writes > 0 {
            return false;
        }
        let name = &*file.name.text();
        if name.ends_with(".so") || name.contains(".so.") {
            return (1..=READ_BY_LOADER * file.opens).contains(&file.read_bytes);
        }
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        match self.language {
            Some(Language::Python) => ends(&[".pyc"]) || self.is_missed(name, &[".py"]),
            Some(Language::Node) => self.is_of_node(name),
            Some(Language::Java) => {
                ends(&[".jar", ".class", "/lib/modules"]) && !self.is_worked_on(name)
            }
            Some(Language::Perl) => ends(&[".pl", ".pm"]) && !self.is_worked_on(name),
            Some(Language::Ruby) => ends(&[".rb"]) && !self.is_worked_on(name),
            _ => false,
        }
    }

    fn is_missed(&self, name: &str, ends: &[&str]) -> bool {
        let mut stems = ends.iter().filter_map(|end| name.strip_suffix(end));
        stems.any(|stem| self.missed.contains(stem))
    }

    /// Node tries the name that `require` was given before it adds an ending, and asks for the
    /// `package.json` of the folder of each script that it runs, not of those that are read as
    /// data.
    fn is_of_node(&self, name: &str) -> bool {
        const ENDS: &[&str] = &[".js", ".mjs", ".cjs", ".node"];
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_script = ENDS.iter().any(|end| name.ends_with(end));
        let scoped = self.of_packages.contains(folder) && !self.is_worked_on(name);
        name.ends_with(PACKAGE) && scoped || is_script && (scoped || self.is_missed(name, ENDS))
    }

    /// Whether a file lies in a folder that the program is given to work on, as linters and
    /// compilers are. The path may have been made absolute.
    fn is_worked_on(&self, name: &str) -> bool {
        self.operands.iter().any(|operand| {
            let rest = match operand.starts_with('/') {
                true => name.strip_prefix(operand.as_str()),
                // The system's own folders are named in full.
                false if name.starts_with("/usr/") => None,
                false => name
                    .match_indices(operand.as_str())
                    .find(|(at, _)| *at == 0 || name.as_bytes()[at - 1] == b'/')
                    .map(|(at, _)| &name[at + operand.len()..]),
            };
            rest.is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

const PACKAGE: &str = "/package.json";

fn lookups<'a>(analysis: &Analysis<'a>) -> impl Iterator<Item = &'a str> {
    let missed = &analysis.trace.failed_lookups;
    missed.iter().map(|row| row.path.as_str())
}

fn of_packages(analysis: &Analysis<'_>, pid: u32) -> HashSet<String> {
    let files = analysis.files_of(pid);
    let asked = files
        .filter_map(|file| file.name.path())
        .chain(lookups(analysis));
    let folders = asked.filter_map(|path| path.strip_suffix(PACKAGE));
    folders.map(str::to_owned).collect()
}

/// Modules that Python looked up in its cache and did not find. Who writes compiled modules is
/// filling the cache, as `compileall` does, and who reads a `.py` without asking for its compiled
/// form reads it as data.
fn uncompiled(analysis: &Analysis<'_>, pid: u32) -> HashSet<String> {
    let mut files = analysis.files_of(pid);
    if files.any(|file| file.writes > 0 && file.name.text().contains(".pyc")) {
        return HashSet::new();
    }
    lookups(analysis).filter_map(module_of).collect()
}

/// Of `/a/__pycache__/b.cpython-311.pyc`: `/a/b`.
fn module_of(compiled: &str) -> Option<String> {
    let (folder, file) = compiled.strip_suffix(".pyc")?.rsplit_once('/')?;
    let folder = folder.strip_suffix("__pycache__")?;
    let (module, _) = file.split_once('.')?;
    Some(format!("{folder}{module}"))
}

/// Folders from which Java was asked to load classes.
fn class_path(arguments: &[String]) -> impl Iterator<Item = &str> {
    let options = ["-cp", "-classpath", "--class-path"];
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    let values = pairs.filter(move |(option, _)| options.contains(&option.as_str()));
    values.flat_map(|(_, value)| value.split(':'))
}

/// Arguments that aren't options, without an interpreter's first one, which is its script. A folder
/// that code is loaded from is one of code, whatever else is known of it.
fn operands(analysis: &Analysis<'_>, pid: u32) -> Vec<String> {
    let exec = analysis
        .process(pid)
        .and_then(|process| process.execs.last());
    let Some(exec) = exec else { return Vec::new() };
    let is_interpreter = Language::from_program_name(&exec.path).is_some();
    let given = exec.arguments.iter().skip(1);
    given
        .filter(|argument| !argument.starts_with('-'))
        .filter(|argument| !class_path(&exec.arguments).any(|folder| folder == argument.as_str()))
        .skip(usize::from(is_interpreter))
        .map(|argument| argument.trim_start_matches("./").trim_end_matches('/'))
        .filter(|argument| !argument.is_empty() && *argument != ".")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analysis;
    use crate::fake::{Fake, ROOT};

    fn file(name: &str) -> FileRow {
        FileRow {
            pid: ROOT,
            name: name.into(),
            opens: 1,
            reads: 1,
            read_bytes: 900,
            ..FileRow::default()
        }
    }

    fn is_code(fake: &Fake, file: &FileRow) -> bool {
        let observation = fake.observation(&[]);
        CodeFiles::of(&Analysis::new(&observation), ROOT).holds(file)
    }

    fn running(line: &str) -> Fake {
        let mut fake = Fake::new(1000);
        let exec = &mut fake.trace.processes[0].execs[0];
        exec.arguments = line.split(' ').map(str::to_owned).collect();
        exec.path = format!("/bin/{}", exec.arguments[0]);
        fake
    }

    #[test]
    fn each_runtime_has_its_own_kinds_of_code() {
        let python = running("python3 a.py");
        assert!(is_code(
            &python,
            &file("/lib/__pycache__/a.cpython-311.pyc")
        ));
        assert!(!is_code(&python, &file("/data/a.json")));
        assert!(!is_code(&running("tar cf t.tar tree"), &file("/lib/a.js")));
        assert!(is_code(&running("java A"), &file("/lib/A.class")));
        // A linter's work, unless it is its own code as well.
        assert!(!is_code(&running("java A /lib"), &file("/lib/B.class")));
        assert!(is_code(
            &running("java -cp /lib A /lib"),
            &file("/lib/B.class")
        ));
    }

    #[test]
    fn a_library_is_loaded_by_its_head_and_not_read() {
        let tool = running("tool");
        let mut library = file("/lib/a.so.1");
        assert!(is_code(&tool, &library));
        library.read_bytes = 2 << 20;
        assert!(!is_code(&tool, &library));
    }

    #[test]
    fn what_was_written_was_not_loaded() {
        let written = FileRow {
            writes: 1,
            ..file("/lib/a.pyc")
        };
        assert!(!is_code(&running("python3 a.py"), &written));
    }

    #[test]
    fn python_sources_are_code_if_no_compiled_form_is_there_nor_made() {
        let mut fake = running("python3 a.py");
        assert!(!is_code(&fake, &file("/lib/b.py")));
        fake.misses("openat", "/lib/__pycache__/b.cpython-311.pyc", 1);
        assert!(is_code(&fake, &file("/lib/b.py")));
        fake.trace.files.push(FileRow {
            writes: 1,
            ..file("/lib/__pycache__/b.cpython-311.pyc.12345")
        });
        assert!(!is_code(&fake, &file("/lib/b.py")));
    }

    #[test]
    fn node_asks_for_more_than_the_script_that_it_loads() {
        let mut node = running("node a.js");
        assert!(!is_code(&node, &file("/lib/a.js")));
        node.misses("statx", "/lib/a", 1);
        assert!(is_code(&node, &file("/lib/a.js")));
        assert!(!is_code(&node, &file("/lib/b.js")));
        node.misses("openat", "/lib/package.json", 1);
        assert!(is_code(&node, &file("/lib/b.js")));
        assert!(!is_code(&node, &file("/lib/b.json")));
    }

    #[test]
    fn what_the_command_is_given_to_work_on_is_data() {
        let mut lint = running("node /opt/lint/main.js --fix ./src/");
        for folder in ["/opt/lint", "/home/me/src", "src", "/opt/mysrc"] {
            lint.misses("openat", &format!("{folder}/package.json"), 1);
        }
        assert!(is_code(&lint, &file("/opt/lint/rules.js")));
        assert!(!is_code(&lint, &file("/home/me/src/a.js")));
        assert!(!is_code(&lint, &file("src/a.js")));
        assert!(is_code(&lint, &file("/opt/mysrc/a.js")));
        let checks = running("perl check.pl lib");
        assert!(is_code(&checks, &file("/usr/lib/A.pm")));
        assert!(!is_code(&checks, &file("lib/A.pm")));
    }
}
