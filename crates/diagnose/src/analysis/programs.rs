//! Determines the programs that processes run, and their languages.

use std::collections::{HashMap, HashSet};

use super::Analysis;
use crate::observation::Observation;
use crate::runtimes::{Habit, Language, Runtime};

impl<'a> Analysis<'a> {
    /// Returns the path of the program that a process runs. This is the program of its last exec or, if it
    /// has none, that of the process from which it was forked.
    pub(crate) fn program_of(&self, pid: u32) -> Option<&'a str> {
        let mut process = self.process(pid)?;
        for _ in 0..self.trace.processes.len() {
            if let Some(exec) = process.execs.last() {
                return Some(&exec.path);
            }
            process = self.process(process.parent?)?;
        }
        None
    }

    /// Returns the runtime of a process, or of the command if no process is given.
    pub(crate) fn runtime(&self, pid: Option<u32>) -> &'static Runtime {
        Runtime::of(self.language(pid))
    }

    /// Returns the language of a process. For the command's program, the caller gives it; for interpreters,
    /// the program's name shows it. Without a process, returns the language of the command.
    fn language(&self, pid: Option<u32>) -> Option<Language> {
        let root = self.trace.processes.first()?.pid;
        let command = self.program_of(root);
        let program = pid.map_or(command, |pid| self.program_of(pid));
        language(self.observation, program, command)
    }
}

/// Returns the language. For interpreters, the program's name shows it; otherwise it is the one given by the
/// caller. `command` is the command's own program.
fn language(
    observation: &Observation,
    program: Option<&str>,
    command: Option<&str>,
) -> Option<Language> {
    let by_name = program.and_then(Language::from_program_name);
    let known = || observation.languages.get(program?).copied();
    by_name
        .or_else(known)
        .or(observation.language.filter(|_| program == command))
}

/// Returns the processes whose runtimes move work between their threads.
pub(super) fn pools(observation: &Observation) -> HashSet<u32> {
    let mut programs: HashMap<u32, Option<&str>> = HashMap::new();
    let mut command = None;
    let mut found = HashSet::new();
    // Parents start before their children.
    for process in &observation.trace.processes {
        let of_parent = || *process.parent.and_then(|parent| programs.get(&parent))?;
        let own = process.execs.last().map(|exec| exec.path.as_str());
        let program = own.or_else(of_parent);
        if programs.is_empty() {
            command = program;
        }
        programs.insert(process.pid, program);
        let language = language(observation, program, command);
        if Runtime::of(language).has(Habit::MovesWork) {
            found.insert(process.pid);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use fathom_model::TimeCategory;

    use super::*;

    #[test]
    fn a_runtime_below_a_shell_is_known_by_its_program() {
        let mut fake = crate::fake::Fake::new(1000);
        fake.trace.processes[0].execs[0].path = "/bin/sh".to_owned();
        fake.child(200, 10, 990, 300);
        fake.thread(200, 201, 20, 990, 600);
        fake.wait_for(crate::fake::ROOT, "wait4", None, (10, 990, 990), Some(200));
        // The first thread is woken by the runtime's watcher, which naps; another thread does the work.
        fake.thread(200, 202, 20, 990, 1);
        fake.wait_for(200, "futex", None, (320, 980, 980), Some(202));
        fake.wait_for(202, "nanosleep", None, (30, 980, 980), None);
        let sleeping = |fake: &crate::fake::Fake| {
            let account = crate::diagnose(&fake.observation(&[])).account;
            account.ns(TimeCategory::Sleeping) / 1_000_000
        };
        assert_eq!(sleeping(&fake), 660);
        let go = ("/bin/child".to_owned(), crate::Language::Go);
        fake.languages = [go].into();
        assert!(sleeping(&fake) < 100, "{}", sleeping(&fake));
        let observation = fake.observation(&[]);
        assert_eq!(
            Analysis::new(&observation).language(Some(200)),
            Some(crate::Language::Go)
        );
    }
}
