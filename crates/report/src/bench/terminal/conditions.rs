//! How a benchmark differs from a plain run. Shows only what the user requested.

use fathom_model::{BenchRecord, Benchmark, InputFrom, OutputTo, listed, pairs};

/// A label and an untrusted text.
pub(crate) type Condition = (&'static str, String);

/// Returns what all benchmarks have in common, if there are several.
pub(crate) fn shared(record: &BenchRecord) -> Vec<Condition> {
    let Some((first, others)) = record.benchmarks.split_first() else {
        return Vec::new();
    };
    if others.is_empty() {
        return Vec::new();
    }
    let mut shared = of(first);
    for other in others {
        let theirs = of(other);
        shared.retain(|condition| theirs.contains(condition));
    }
    shared
}

/// Returns the conditions specific to this benchmark.
pub(crate) fn of(benchmark: &Benchmark) -> Vec<Condition> {
    let mut list = Vec::new();
    if benchmark.name != benchmark.command {
        list.push(("command", benchmark.command.clone()));
    }
    if let Some(shell) = &benchmark.shell {
        list.push(("shell", shell.clone()));
    }
    if let Some(directory) = &benchmark.working_directory {
        list.push(("directory", directory.clone()));
    }
    if !benchmark.environment_variables.is_empty() {
        let variables = pairs(listed(&benchmark.environment_variables), " ");
        list.push(("environment", variables));
    }
    if let InputFrom::File(path) = &benchmark.input {
        list.push(("stdin", path.clone()));
    }
    match &benchmark.output {
        OutputTo::Null => {}
        OutputTo::Pipe => list.push(("stdout", "a pipe that Fathom drains".to_owned())),
        OutputTo::File(path) => list.push(("stdout", path.clone())),
        OutputTo::Inherit => list.push(("stdout", "Fathom's own standard output".to_owned())),
    }
    list
}
