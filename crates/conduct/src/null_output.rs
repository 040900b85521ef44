//! Does a program do less because its output goes to `/dev/null`? Pure.

use std::path::Path;

use fathom_model::{Benchmark, OutputTo, Warning};

use crate::command_words;

/// GNU grep and its other names. It compares its standard output with `/dev/null`, and if that is
/// what it is, the first match in a file answers all that is asked of it: 15 reads of a
/// file of 27 MB instead of 285.
const STOP_EARLY: [&str; 3] = ["grep", "egrep", "fgrep"];

/// What must be known of benchmark number `index`, if it is such a program.
pub(crate) fn warning(index: usize, benchmark: &Benchmark) -> Option<Warning> {
    let program = program(benchmark)?;
    let name = Path::new(&program).file_name()?.to_str()?;
    let stops = benchmark.output == OutputTo::Null && STOP_EARLY.contains(&name);
    stops.then(|| Warning {
        id: "stops_early_for_null".to_string(),
        benchmark: Some(index),
        message: format!(
            "GNU {name} stops at the first match when its output is /dev/null, as it was here: to time all of \
             its work, use --output pipe"
        ),
    })
}

/// The program, also where a shell runs only it.
fn program(benchmark: &Benchmark) -> Option<String> {
    match benchmark.shell {
        None => benchmark.arguments.first().cloned(),
        Some(_) => command_words::split(&benchmark.command)
            .ok()?
            .into_iter()
            .next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::InputFrom;

    fn benchmark(command: &str, shell: Option<&str>, output: OutputTo) -> Benchmark {
        Benchmark {
            name: command.to_string(),
            command: command.to_string(),
            arguments: command.split(' ').map(String::from).collect(),
            arguments_bytes: None,
            shell: shell.map(String::from),
            parameters: Vec::new(),
            input: InputFrom::Null,
            output,
            working_directory: None,
            environment_variables: Vec::new(),
        }
    }

    #[test]
    fn only_grep_into_null_gets_a_warning() {
        let warned =
            |command, shell, output| warning(0, &benchmark(command, shell, output)).is_some();
        assert!(warned("grep -c x file", None, OutputTo::Null));
        assert!(warned("/usr/bin/fgrep x file", None, OutputTo::Null));
        assert!(warned("grep x file", Some("/bin/sh"), OutputTo::Null));
        assert!(!warned("grep x file | wc", Some("/bin/sh"), OutputTo::Null));
        assert!(!warned("grep x file", None, OutputTo::Pipe));
        assert!(!warned("zgrep x file", None, OutputTo::Null));
        assert!(!warned("cat grep", None, OutputTo::Null));
    }
}
