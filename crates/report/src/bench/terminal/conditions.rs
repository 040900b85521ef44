//! What sets a benchmark apart from the plain way to run it. Only what was asked for is shown.

use fathom_model::{BenchRecord, Benchmark, InputFrom, OutputTo, listed, pairs};

/// A label and text from outside.
pub(crate) type Condition = (&'static str, String);

/// What all benchmarks have in common, if there are several.
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

/// What sets it apart.
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
