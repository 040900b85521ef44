//! Distinguishes opened files that are code loaded by the runtime from those that are data.

use crate::mechanisms::prelude::*;
use crate::runtimes::Modules;

/// The maximum number of bytes that a loader reads from a library: it reads the header and maps the rest. A
/// program that copies or searches a library reads it to the end.
const READ_BY_LOADER: u64 = 16 << 10;

/// Separates the code that a process loads from the data that it works on.
pub(super) struct CodeFiles {
    modules: &'static Modules,
    /// Modules, without their source extension, for which no compiled form was found; or names that were
    /// looked up before an extension was appended.
    missed: HashSet<String>,
    /// Folders in which the runtime looked up what kind of modules they contain.
    of_packages: HashSet<String>,
    /// The operands of the command, that is, the files and folders on which it works.
    operands: Vec<String>,
}

impl CodeFiles {
    pub(super) fn of(analysis: &Analysis<'_>, pid: u32) -> Self {
        let modules = &analysis.runtime(Some(pid)).modules;
        let (missed, of_packages) = match modules {
            Modules::Compiled {
                compiled, cache, ..
            } => (uncompiled(analysis, pid, compiled, cache), HashSet::new()),
            Modules::Packages { description, .. } => (
                lookups(analysis).map(str::to_owned).collect(),
                of_packages(analysis, pid, description),
            ),
            Modules::Files { .. } | Modules::None => (HashSet::new(), HashSet::new()),
        };
        Self {
            modules,
            missed,
            of_packages,
            operands: operands(analysis, pid),
        }
    }

    pub(super) fn holds(&self, file: &FileRow) -> bool {
        if file.opens == 0 || file.writes > 0 {
            return false;
        }
        let name = &*file.name.text();
        if is_library_file(name) {
            return (1..=READ_BY_LOADER * file.opens).contains(&file.read_bytes);
        }
        match self.modules {
            Modules::None => false,
            Modules::Compiled {
                compiled, source, ..
            } => name.ends_with(compiled) || self.is_missed(name, std::slice::from_ref(source)),
            Modules::Packages { ends, description } => self.is_package(name, ends, description),
            Modules::Files { ends, .. } => is_any_end(name, ends) && !self.is_worked_on(name),
        }
    }

    /// Returns whether the file is code; if it is, also whether it is source that was compiled while it was
    /// loaded.
    pub(super) fn is_source(&self, file: &FileRow) -> bool {
        match self.modules {
            Modules::Compiled { source, .. } => {
                file.name.text().ends_with(source.as_str()) && self.holds(file)
            }
            _ => false,
        }
    }

    fn is_missed(&self, name: &str, ends: &[String]) -> bool {
        let mut stems = ends
            .iter()
            .filter_map(|end| name.strip_suffix(end.as_str()));
        stems.any(|stem| self.missed.contains(stem))
    }

    /// Returns whether a file is a script, which is recognised if the runtime tried its name before appending
    /// an extension. The folder's description is looked up for every script that is run, but not for scripts
    /// that are read as data.
    fn is_package(&self, name: &str, ends: &[String], description: &str) -> bool {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_script = is_any_end(name, ends);
        let scoped = self.of_packages.contains(folder) && !self.is_worked_on(name);
        name.ends_with(description) && scoped || is_script && (scoped || self.is_missed(name, ends))
    }

    /// Returns whether a file is in a folder that was passed to the program as input, as for linters and
    /// compilers. The path may have been made absolute.
    fn is_worked_on(&self, name: &str) -> bool {
        self.operands.iter().any(|operand| {
            let rest = match operand.starts_with('/') {
                true => name.strip_prefix(operand.as_str()),
                // System folders are always named by their full path.
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

fn is_any_end(name: &str, ends: &[String]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

fn lookups<'a>(analysis: &Analysis<'a>) -> impl Iterator<Item = &'a str> {
    let missed = &analysis.trace.failed_lookups;
    missed.iter().map(|row| row.path.as_str())
}

fn of_packages(analysis: &Analysis<'_>, pid: u32, description: &str) -> HashSet<String> {
    let files = analysis.files_of(pid);
    let asked = files
        .filter_map(|file| file.name.path())
        .chain(lookups(analysis));
    let folders = asked.filter_map(|path| path.strip_suffix(description));
    folders.map(str::to_owned).collect()
}

/// Returns the modules whose compiled form was looked up in the cache but not found. A process that writes
/// compiled modules is filling the cache, as `compileall` does. A process that reads a source without looking
/// up its compiled form reads it as data.
fn uncompiled(analysis: &Analysis<'_>, pid: u32, compiled: &str, cache: &str) -> HashSet<String> {
    let mut files = analysis.files_of(pid);
    if files.any(|file| file.writes > 0 && file.name.text().contains(compiled)) {
        return HashSet::new();
    }
    let module = |path| module_of(path, compiled, cache);
    lookups(analysis).filter_map(module).collect()
}

/// Maps `/a/__pycache__/b.cpython-311.pyc` to `/a/b`.
fn module_of(path: &str, compiled: &str, cache: &str) -> Option<String> {
    let (folder, file) = path.strip_suffix(compiled)?.rsplit_once('/')?;
    let folder = folder.strip_suffix(cache)?;
    let (module, _) = file.split_once('.')?;
    Some(format!("{folder}{module}"))
}

/// Returns the folders that these options give as code search paths.
fn code_path<'a>(arguments: &'a [String], options: &'a [String]) -> impl Iterator<Item = &'a str> {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    let values = pairs.filter(move |(option, _)| options.contains(option));
    values.flat_map(|(_, value)| value.split(':'))
}

/// Returns the arguments that aren't options, except an interpreter's script, which is its first argument. A
/// folder that is on the code search path counts as code, even if it is also an operand.
fn operands(analysis: &Analysis<'_>, pid: u32) -> Vec<String> {
    let exec = analysis
        .process(pid)
        .and_then(|process| process.execs.last());
    let Some(exec) = exec else { return Vec::new() };
    let is_interpreter = Runtime::interpreting(&exec.path).is_some();
    let options = analysis.runtime(Some(pid)).modules.path_options();
    let given = exec.arguments.iter().skip(1);
    given
        .filter(|argument| !argument.starts_with('-'))
        .filter(|argument| {
            !code_path(&exec.arguments, options).any(|folder| folder == argument.as_str())
        })
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
        // A linter's input is data, unless it is also on the class path.
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
