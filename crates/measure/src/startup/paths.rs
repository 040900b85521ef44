//! Resolves the paths of a trace to files on disk, right after the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_trace::Trace;

use super::elf;
use super::interpreters::{files_of, start_of};

/// The number of bytes of an executable that contain its headers.
const HEADERS: usize = 4096;

/// The files behind the paths of a trace.
#[derive(Debug, Clone, Default)]
pub struct ResolvedPaths {
    /// For each path in the trace: a program, or a script and its interpreters.
    chains: BTreeMap<String, Vec<PathBuf>>,
    /// For each name in the trace: the regular file that was opened.
    files: BTreeMap<String, PathBuf>,
    /// The ELF files among `chains`.
    programs: BTreeMap<PathBuf, Program>,
}

#[derive(Debug, Clone)]
struct Program {
    is_static: bool,
    loader: Option<PathBuf>,
}

impl ResolvedPaths {
    /// Looks up what was executed and opened; relative paths are resolved against `directory`.
    pub fn of(trace: &Trace, directory: &Path) -> ResolvedPaths {
        let mut resolved = ResolvedPaths::default();
        for exec in trace.processes.iter().flat_map(|process| &process.execs) {
            for path in std::iter::once(&exec.path).chain(&exec.asked) {
                resolved.add_program(path, directory);
            }
        }
        for row in trace.files.iter().filter(|row| row.opens > 0) {
            let file = std::fs::canonicalize(directory.join(&*row.name.text())).ok();
            let is_file = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.is_file());
            if let Some(path) = file.filter(is_file) {
                resolved.files.insert(row.name.to_string(), path);
            }
        }
        resolved
    }

    fn add_program(&mut self, path: &str, directory: &Path) {
        if self.chains.contains_key(path) {
            return;
        }
        let chain = files_of(Path::new(path), directory);
        for file in &chain {
            if let Some(elf) = elf::parse(&start_of(file, HEADERS)) {
                let loader = elf.loader.and_then(|path| std::fs::canonicalize(path).ok());
                let program = Program {
                    is_static: elf.is_static,
                    loader,
                };
                self.programs.insert(file.clone(), program);
            }
        }
        self.chains.insert(path.to_owned(), chain);
    }

    /// Returns the program behind this path of an `execve`, or the script and its interpreters, with the
    /// program last. Links are resolved.
    pub fn chain(&self, path: &str) -> &[PathBuf] {
        self.chains.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the regular file that was opened under this name, if it still exists.
    pub fn file(&self, name: &str) -> Option<&Path> {
        self.files.get(name).map(PathBuf::as_path)
    }

    /// Returns the dynamic loader that a program of [`ResolvedPaths::chain`] requests.
    pub fn loader(&self, program: &Path) -> Option<&Path> {
        self.programs.get(program)?.loader.as_deref()
    }

    /// Reports whether a program of [`ResolvedPaths::chain`] requests no dynamic loader.
    pub fn is_static(&self, program: &Path) -> bool {
        self.programs.get(program).is_some_and(|one| one.is_static)
    }
}
