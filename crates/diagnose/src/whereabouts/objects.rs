//! The object on which time is spent: a file or folder, a pipe or peer, a child.

use std::collections::{BTreeMap, HashMap};

use fathom_trace::{PathRow, Trace};

use crate::analysis::Analysis;
use crate::calls;
use crate::file_name::file_name;

/// The share of its call's time above which an object has its own row; other objects share the row of their
/// folder.
const OF_ITS_OWN: f64 = 0.25;
/// The minimum amount of memory worth mentioning; every process that ends has this much, regardless of its
/// work.
const WORTH_SAYING: u64 = 8 << 20;
/// The maximum length of the part of a command line that is shown.
const COMMAND: usize = 120;

/// Objects known without stacks.
pub(super) struct Objects<'a> {
    analysis: &'a Analysis<'a>,
    /// The command lines of all processes other than the command itself.
    commands: HashMap<u32, String>,
    /// For calls that name a path, the paths and their time, by process.
    timed: HashMap<(u32, &'a str), Vec<&'a PathRow>>,
    /// A fallback for the whole tree: how often each path was named.
    named: HashMap<&'a str, Vec<(&'a str, u64)>>,
}

impl<'a> Objects<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>) -> Self {
        Self {
            analysis,
            commands: commands(analysis.trace),
            timed: timed(analysis.trace),
            named: named(analysis.trace),
        }
    }

    /// Returns what a descriptor referred to.
    pub(super) fn of_descriptor(&self, pid: u32, fd: i32) -> Option<String> {
        let name = self.analysis.name_of(pid, fd)?;
        let standard = match fd {
            0 => "standard input",
            1 => "standard output",
            2 => "standard error",
            _ => return Some(name),
        };
        let of_command = self.analysis.descriptors.is_of_command(pid, fd);
        Some(match of_command && !name.starts_with('/') {
            true => format!("{standard} ({name})"),
            false => name,
        })
    }

    /// Returns the memory that the kernel frees when processes end. Its size is known only for a single
    /// process.
    pub(super) fn given_back(&self) -> Option<String> {
        let trace = self.analysis.trace;
        let memory = trace.accounts.peak_memory_bytes;
        let mebibytes = memory as f64 / f64::from(1 << 20);
        match trace.processes.len() {
            1 if memory >= WORTH_SAYING => Some(format!(
                "memory returned at the end, up to {mebibytes:.0} MiB"
            )),
            0 | 1 => None,
            many => Some(format!("memory that {many} processes return")),
        }
    }

    /// Returns the command of a child process; `None` for the command itself.
    pub(super) fn command(&self, pid: u32) -> Option<&str> {
        self.commands.get(&pid).map(String::as_str)
    }

    /// Returns whether the times of this call of a process are known by path.
    pub(super) fn times_paths_of(&self, pid: u32, call: &str) -> bool {
        self.timed.contains_key(&(pid, call))
    }

    /// Returns the paths that a process named in a call, each with its fraction, 0 to 1, of the time of these
    /// calls. `all` is the number of such calls that the whole tree made.
    pub(super) fn named_by(&self, pid: u32, call: &str, all: u64) -> Vec<(&'a str, f64)> {
        if let Some(rows) = self.timed.get(&(pid, call)) {
            let whole: u64 = rows.iter().map(|row| row.ns).sum();
            let part = |row: &&'a PathRow| (row.path.as_str(), row.ns as f64 / whole.max(1) as f64);
            let named = rows.iter().filter(|row| !row.path.is_empty());
            return named.map(part).collect();
        }
        let Some(paths) = self.named.get(call) else {
            return Vec::new();
        };
        let known: u64 = paths.iter().map(|(_, count)| count).sum();
        let whole = known.max(all).max(1) as f64;
        let part = |(path, count): &(&'a str, u64)| (*path, *count as f64 / whole);
        paths.iter().map(part).collect()
    }
}

fn timed(trace: &Trace) -> HashMap<(u32, &str), Vec<&PathRow>> {
    let mut timed: HashMap<(u32, &str), Vec<&PathRow>> = HashMap::new();
    for row in &trace.paths {
        timed.entry((row.pid, &row.call)).or_default().push(row);
    }
    timed
}

/// Returns the command lines by process. Processes that ran the same program with the same arguments get the
/// same text; those that ran it with different arguments get only the program's name.
fn commands(trace: &Trace) -> HashMap<u32, String> {
    let root = trace.processes.first().map(|process| process.pid);
    let first = trace.processes.first().and_then(|first| first.execs.last());
    let program = first.map_or("", |exec| file_name(&exec.path));
    let copy = format!("{program} (forked)");
    let mut words: HashMap<u32, (String, String)> = HashMap::new();
    let mut by_program: HashMap<String, Option<String>> = HashMap::new();
    for process in &trace.processes {
        if Some(process.pid) == root {
            continue;
        }
        // A copy that doesn't execute another program does the work of the program that it copies.
        let own = process.execs.last().map(|exec| {
            let program = file_name(&exec.path);
            let arguments = exec.arguments.iter().skip(1).map(String::as_str);
            let line: Vec<&str> = std::iter::once(program).chain(arguments).collect();
            (program.to_owned(), cut(&line.join(" ")))
        });
        let of_parent = || match process.parent {
            Some(parent) if Some(parent) != root => words.get(&parent).cloned(),
            _ => Some((copy.clone(), copy.clone())),
        };
        let Some((program, line)) = own.or_else(of_parent) else {
            continue;
        };
        by_program
            .entry(program.clone())
            .and_modify(|known| {
                if known.as_ref() != Some(&line) {
                    *known = None;
                }
            })
            .or_insert_with(|| Some(line.clone()));
        words.insert(process.pid, (program, line));
    }
    words
        .into_iter()
        .map(|(pid, (program, _))| match by_program.get(&program) {
            Some(Some(line)) => (pid, line.clone()),
            _ => (pid, program),
        })
        .collect()
}

fn cut(line: &str) -> String {
    let one_line = line.split_whitespace();
    let one_line = one_line.collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(COMMAND) {
        None => one_line,
        Some((at, _)) => {
            let at = one_line[..at].rfind(' ').unwrap_or(at);
            format!("{} …", &one_line[..at])
        }
    }
}

/// Returns the files that were opened and the paths that were missing.
fn named(trace: &Trace) -> HashMap<&str, Vec<(&str, u64)>> {
    let mut by_call: HashMap<&str, HashMap<&str, u64>> = HashMap::new();
    for row in &trace.failed_lookups {
        let of_call = by_call.entry(&row.call).or_default();
        *of_call.entry(&row.path).or_default() += row.calls;
    }
    let opening = trace.syscalls.iter().map(|row| row.name.as_str());
    let opening = opening.filter(|name| calls::opens_file(name));
    let opening: std::collections::BTreeSet<&str> = opening.collect();
    // If several different calls open files, it is unknown which of them opened this file.
    if let Some(call) = opening.first().filter(|_| opening.len() == 1) {
        let of_call = by_call.entry(call).or_default();
        for file in &trace.files {
            let path = file.name.path();
            if let Some(path) = path.filter(|_| file.opens > 0) {
                *of_call.entry(path).or_default() += file.opens;
            }
        }
    }
    let sorted = by_call.into_iter().map(|(call, paths)| {
        let mut paths: Vec<(&str, u64)> = paths.into_iter().collect();
        paths.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        (call, paths)
    });
    sorted.collect()
}

/// Returns names for the objects of one call, in order. The name is the object itself if it has a good part
/// of the time, and otherwise the deepest folder that does.
pub(super) fn grouped(objects: &[(Option<String>, f64)]) -> Vec<Option<String>> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (object, ns) in objects {
        if let Some(object) = object {
            *sums.entry(object).or_default() += ns;
        }
    }
    let whole: f64 = objects.iter().map(|(_, ns)| ns).sum();
    let least = OF_ITS_OWN * whole;
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut open: Vec<(&str, &str)> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for (object, ns) in &sums {
        match () {
            () if *ns >= least => _ = names.insert(object, (*object).to_owned()),
            () if is_path(object) => open.push((object, folder(object))),
            () => others.push(object),
        }
    }
    let deepest = open.iter().map(|(_, folder)| depth(folder)).max();
    for level in (0..=deepest.unwrap_or(0)).rev() {
        let mut in_folder: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for (object, folder) in &open {
            let sum = in_folder.entry(folder).or_default();
            sum.0 += sums[object];
            sum.1 += 1;
        }
        open.retain_mut(|(object, at)| {
            if depth(at) != level {
                return true;
            }
            let (ns, files) = in_folder[at];
            if ns >= least || level == 0 {
                names.insert(object, in_words(object, at, files));
                return false;
            }
            *at = folder(at);
            true
        });
    }
    let largest = others.iter().max_by(|a, b| sums[*a].total_cmp(&sums[*b]));
    let rest = largest.map(|largest| match others.len() - 1 {
        0 => (*largest).to_owned(),
        1 => format!("{largest} and 1 other"),
        more => format!("{largest} and {more} others"),
    });
    for other in &others {
        names.insert(other, rest.clone().unwrap_or_default());
    }
    let name = |object: &Option<String>| names.get(object.as_deref()?).cloned();
    objects.iter().map(|(object, _)| name(object)).collect()
}

fn in_words(object: &str, folder: &str, files: usize) -> String {
    match (files, folder) {
        (1, _) => object.to_owned(),
        (_, "") => format!("{files} files"),
        _ => format!("{}/ ({files} files)", folder.trim_end_matches('/')),
    }
}

pub(super) fn is_path(object: &str) -> bool {
    object.starts_with('/') || object.contains('/') && !object.contains(' ')
}

/// Returns the path without its last component; empty for an entry of the root.
fn folder(path: &str) -> &str {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.rfind('/').map_or("", |at| &path[..at])
}

fn depth(folder: &str) -> usize {
    folder.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn many_files_are_their_folder_and_one_that_matters_is_itself() {
        let mut objects: Vec<(Option<String>, f64)> = (0..40)
            .map(|at| (Some(format!("/data/{}/{at}.txt", at % 2)), 1.0))
            .collect();
        let wanted = |objects: &[(Option<String>, f64)]| {
            let names = grouped(objects).into_iter().flatten();
            names
                .collect::<std::collections::BTreeSet<String>>()
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(
            wanted(&objects),
            ["/data/0/ (20 files)", "/data/1/ (20 files)"]
        );
        objects.push((Some("/big".to_owned()), 60.0));
        objects.push((Some("pipe".to_owned()), 1.0));
        objects.push((None, 1.0));
        assert_eq!(wanted(&objects), ["/big", "/data/ (40 files)", "pipe"]);
        assert_eq!(grouped(&objects).last(), Some(&None));
        let spread: Vec<(Option<String>, f64)> =
            (0..40).map(|at| (Some(format!("/{at}/a")), 1.0)).collect();
        assert_eq!(wanted(&spread), ["40 files"]);
    }

    #[test]
    fn children_with_the_same_arguments_are_named_with_them() {
        let commands_of = |second: &str| {
            let mut fake = Fake::new(1000);
            for (pid, argument) in [(200, "1"), (201, second)] {
                fake.child(pid, 0, 10, 5);
                let process = fake.trace.processes.last_mut().expect("just added");
                process.execs[0].path = "/usr/bin/expr".to_owned();
                process.execs[0].arguments = vec!["expr".to_owned(), argument.to_owned()];
            }
            let commands = commands(&fake.trace);
            assert_eq!(commands.len(), 2);
            commands[&200].clone()
        };
        assert_eq!(commands_of("1"), "expr 1");
        assert_eq!(commands_of("2"), "expr");
    }
}
