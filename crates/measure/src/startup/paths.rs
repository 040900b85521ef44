//! What the paths of a trace lead to on disk, asked for right after the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_trace::Trace;

use super::elf;
use super::interpreters::{files_of, start_of};

/// Enough of an executable for its headers.
const HEADERS: usize = 4096;

/// What the paths of a trace lead to.
#[derive(Debug, Clone, Default)]
pub struct ResolvedPaths {
    /// By path as the trace has it: a program, or a script and its interpreters.
    chains: BTreeMap<String, Vec<PathBuf>>,
    /// By name as the trace has it: the regular file that was opened.
    files: BTreeMap<String, PathBuf>,
    /// What of `chains` is an ELF file.
    programs: BTreeMap<PathBuf, Program>,
}

#[derive(Debug, Clone)]
struct Program {
    is_static: bool,
    loader: Option<PathBuf>,
}

impl ResolvedPaths {
    /// Looks up what was executed and opened; relative paths begin in `directory`.
    pub fn of(trace: &Trace, directory: &Path) -> ResolvedPaths {
        let mut resolved = ResolvedPaths::default();
        for exec in trace.processes.iter().flat_map(|process| &process.execs) {
            for path in std::iter::once(&exec.path).chain(&exec.asked) {
                resolved.add_program(path, directory);
            }
        }
        for row in trace.files.iter().filter(|row| row.opens > 0) {
            let file = std::fs::canonicalize(directory.join(&row.name)).ok();
            let is_file = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.is_file());
            if let Some(path) = file.filter(is_file) {
                resolved.files.insert(row.name.clone(), path);
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

    /// The program behind this path of an `execve`, or the script and its interpreters, the program
    /// last. Links are resolved.
    pub fn chain(&self, path: &str) -> &[PathBuf] {
        self.chains.get(path).map_or(&[], Vec::as_slice)
    }

    /// The regular file that was opened under this name, if it is still there.
    pub fn file(&self, name: &str) -> Option<&Path> {
        self.files.get(name).map(PathBuf::as_path)
    }

    /// The dynamic loader that a program of [`ResolvedPaths::chain`] asks for.
    pub fn loader(&self, program: &Path) -> Option<&Path> {
        self.programs.get(program)?.loader.as_deref()
    }

    /// Whether a program of [`ResolvedPaths::chain`] asks for no dynamic loader.
    pub fn is_static(&self, program: &Path) -> bool {
        self.programs.get(program).is_some_and(|one| one.is_static)
    }
}
