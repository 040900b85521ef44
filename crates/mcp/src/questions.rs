//! The questions a client can ask, and the command lines that answer them.

use std::path::Path;

use serde::Deserialize;

use crate::allowed::Allowed;
use crate::bounded::name;

/// The default time limit of a run in seconds; clients rarely wait longer for an answer.
const TIMEOUT_S: f64 = 30.0;
/// The maximum time in seconds that a client can request, for a run or for measuring.
const LONGEST_S: f64 = 3_600.0;
/// The maximum number of commands in one comparison.
const MOST_COMMANDS: usize = 8;

/// Which of these commands is faster, and by how much?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Bench {
    /// Command lines, each a program with its arguments as a shell would split them, without pipes,
    /// redirections or variables. The others are compared with the first. A single command is timed.
    #[cfg_attr(test, schemars(length(min = 1, max = 8)))]
    pub commands: Vec<String>,
    /// A metric to compare instead of time, such as `peak_memory`, `read_calls`, `write_calls`, `cpu`.
    #[serde(default)]
    pub metric: Option<String>,
    /// Measure for this many seconds instead of until there is an answer (at most 10 s for short commands).
    #[serde(default)]
    pub time_s: Option<f64>,
    /// Run each command exactly this many times.
    #[serde(default)]
    pub runs: Option<u32>,
    /// A file for standard input, below the root; default: none.
    #[serde(default)]
    pub input: Option<String>,
    /// Store the result under this name, for `compare` and `history`.
    #[serde(default)]
    pub label: Option<String>,
    /// End a run after this many seconds; default 30.
    #[serde(default)]
    pub timeout_s: Option<f64>,
}

/// Why is this command slow? Or: what does it do more than another one?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Why {
    /// A command line: a program with its arguments as a shell would split them.
    pub command: String,
    /// Another command line: the answer then shows what `command` does in addition to this one, part by part.
    #[serde(default)]
    pub compared_with: Option<String>,
    /// Run the command again without each cause that can be removed from outside, to prove the saving; this
    /// takes up to a minute more. Only for a single command.
    #[serde(default)]
    pub prove: bool,
    /// A file for standard input, below the root; default: none.
    #[serde(default)]
    pub input: Option<String>,
    /// End a run after this many seconds and explain what happened until then. Default 30.
    #[serde(default)]
    pub timeout_s: Option<f64>,
}

/// What changed between two earlier measurements?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Compare {
    /// The side to compare with: a git revision (`main`), a label, a record's id, `@-2`, or a record file.
    pub base: String,
    /// The side to compare, in the same forms; `HEAD`, or `@-1` for the last record.
    pub head: String,
    /// Only these benchmarks; `*` matches any characters.
    #[serde(default)]
    pub series: Vec<String>,
    /// A metric other than the main one, such as `peak_memory`.
    #[serde(default)]
    pub metric: Option<String>,
}

/// How did measurements change over time?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    /// Only these benchmarks; `*` matches any characters.
    #[serde(default)]
    pub series: Vec<String>,
    /// Only measurements since a date, a revision or a label.
    #[serde(default)]
    pub since: Option<String>,
    /// A metric other than `wall`.
    #[serde(default)]
    pub metric: Option<String>,
}

/// Is this machine suitable for measuring?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineCheck {}

/// What does a word in Fathom's output mean?
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// The name of a finding, metric, warning or tier, such as `unbuffered-output`.
    pub word: String,
}

impl Bench {
    /// # Errors
    /// A message that names the part of the request that is not allowed.
    pub(crate) fn words(&self, allowed: &Allowed, root: &Path) -> Result<Vec<String>, String> {
        if self.commands.is_empty() || self.commands.len() > MOST_COMMANDS {
            return Err(format!("bench takes 1 to {MOST_COMMANDS} commands"));
        }
        let mut words = vec!["bench".to_owned(), "--json=-".to_owned()];
        words.push(timeout(self.timeout_s)?);
        if let Some(runs) = self.runs {
            words.push(format!("--runs={runs}"));
        }
        if self.time_s.is_some() {
            words.push(format!("--time={}s", seconds("time_s", self.time_s, 0.0)?));
        }
        words.extend(option("metric", self.metric.as_deref()));
        words.extend(option("label", self.label.as_deref()));
        words.extend(input(self.input.as_deref(), root)?);
        for command in &self.commands {
            allowed.check(command, root)?;
            words.push(command.clone());
        }
        Ok(words)
    }
}

impl Why {
    /// # Errors
    /// A message that names the part of the request that is not allowed.
    pub(crate) fn words(&self, allowed: &Allowed, root: &Path) -> Result<Vec<String>, String> {
        let mut words = vec!["why".to_owned(), "--json=-".to_owned()];
        words.push(timeout(self.timeout_s)?);
        if self.prove {
            words.push("--prove".to_owned());
        }
        words.extend(input(self.input.as_deref(), root)?);
        for command in self.compared_with.iter().chain([&self.command]) {
            allowed.check(command, root)?;
            words.push(command.clone());
        }
        Ok(words)
    }
}

impl Compare {
    /// # Errors
    /// A message that names the part of the request that is not allowed.
    pub(crate) fn words(&self, root: &Path) -> Result<Vec<String>, String> {
        let mut words = vec!["compare".to_owned(), "--json=-".to_owned()];
        words.extend(option("metric", self.metric.as_deref()));
        for side in [&self.base, &self.head] {
            if root.join(side).exists() {
                below(side, root)?;
            }
        }
        positional(
            &mut words,
            [&self.base, &self.head].into_iter().chain(&self.series),
        );
        Ok(words)
    }
}

impl History {
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["history".to_owned(), "--json=-".to_owned()];
        let metric = self.metric.as_deref().unwrap_or("wall");
        words.push(format!("--metric={metric}"));
        words.extend(option("since", self.since.as_deref()));
        positional(&mut words, &self.series);
        words
    }
}

impl MachineCheck {
    pub(crate) fn words() -> Vec<String> {
        ["machine", "--check", "--json=-", "--no-save"]
            .map(str::to_owned)
            .to_vec()
    }
}

/// Formats an option with its value as one word, so that the value can't be read as another option.
fn option(name: &str, value: Option<&str>) -> Option<String> {
    value.map(|value| format!("--{name}={value}"))
}

fn timeout(asked: Option<f64>) -> Result<String, String> {
    let seconds = seconds("timeout_s", asked, TIMEOUT_S)?;
    Ok(format!("--timeout={seconds}s"))
}

/// Appends words after `--`, so that none of them can be read as an option.
fn positional<'a>(words: &mut Vec<String>, more: impl IntoIterator<Item = &'a String>) {
    words.push("--".to_owned());
    words.extend(more.into_iter().cloned());
}

/// Checks a requested time in seconds.
fn seconds(what: &str, asked: Option<f64>, otherwise: f64) -> Result<f64, String> {
    match asked.unwrap_or(otherwise) {
        seconds if seconds > 0.0 && seconds <= LONGEST_S => Ok(seconds),
        _ => Err(format!("{what} must be above 0 and at most {LONGEST_S}")),
    }
}

fn input(file: Option<&str>, root: &Path) -> Result<Option<String>, String> {
    let Some(file) = file else { return Ok(None) };
    below(file, root)?;
    Ok(Some(format!("--input={file}")))
}

/// Checks that a file is below the root after resolving links.
fn below(file: &str, root: &Path) -> Result<(), String> {
    let found = root.join(file).canonicalize();
    let found = found.map_err(|error| format!("{}: {error}", name(file)))?;
    match found.starts_with(root) {
        true => Ok(()),
        false => Err(format!("{} is outside the root folder", name(file))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Allowed {
        Allowed::parse(&["*".to_owned()]).expect("a star")
    }

    #[test]
    fn what_is_asked_is_never_an_option_of_fathom() {
        let root = std::env::temp_dir().canonicalize().expect("a folder");
        let ask = |json| {
            let asked: Bench = serde_json::from_value(json).expect("a question");
            asked.words(&allowed(), &root)
        };
        let words = ask(serde_json::json!({"commands": ["a b", "c"], "metric": "--html=x"}));
        let words = words.expect("allowed");
        assert_eq!(
            words[2..],
            ["--timeout=30s", "--metric=--html=x", "a b", "c"]
        );
        for commands in [&["--html=x"][..], &[], &["a"; 9], &["-S"]] {
            assert!(ask(serde_json::json!({ "commands": commands })).is_err());
        }
        for wrong in ["0", "-1", "1e9"] {
            let time: f64 = wrong.parse().expect("a number");
            assert!(ask(serde_json::json!({"commands": ["a"], "time_s": time})).is_err());
        }
        let asked = Compare {
            base: "--html=x".to_owned(),
            head: "b".to_owned(),
            series: vec!["--csv=y".to_owned()],
            metric: None,
        };
        assert_eq!(
            asked.words(&root).expect("words")[2..],
            ["--", "--html=x", "b", "--csv=y"]
        );
    }

    #[test]
    fn files_outside_of_the_root_are_refused() {
        let root = std::env::temp_dir().canonicalize().expect("a folder");
        for file in ["/etc/passwd", "../etc/passwd", "no-such-file-here"] {
            let asked = Why {
                command: "cat".to_owned(),
                compared_with: None,
                prove: false,
                input: Some(file.to_owned()),
                timeout_s: None,
            };
            assert!(asked.words(&allowed(), &root).is_err(), "{file}");
        }
        let asked = Compare {
            base: "/etc/passwd".to_owned(),
            head: "HEAD".to_owned(),
            series: Vec::new(),
            metric: None,
        };
        assert!(asked.words(&root).is_err());
    }
}
