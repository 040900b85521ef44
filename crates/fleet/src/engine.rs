//! Starts a script on a machine with command templates; there is no code specific to an engine.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;

/// Commands that submit a script, list jobs and cancel them. A template is split into words as a shell would
/// do, then its placeholders are filled in; no shell runs it. An empty template counts as missing.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Engine {
    /// The name used with `--on`.
    pub name: String,
    /// Submits `{script}` and directs its output to `{log}`; for Slurm, `{log_pattern}` is the same path as a
    /// file name pattern. The last word of the first output line, up to a `;`, is the job's id.
    pub submit: String,
    /// Words added to `submit` if a `{partition}` is requested.
    pub partition: String,
    /// Words added if a `{constraint}` is requested.
    pub constraint: String,
    /// Words added if nodes were unfit; `{exclude}` is their list, separated by commas.
    pub exclude: String,
    /// Words added to run the script once for each number from 0 to `{last}`. The job with number NUMBER has
    /// the id `ID_NUMBER`.
    pub array: String,
    /// Maximum number of jobs in an array.
    pub array_size: usize,
    /// Prints Slurm's settings, including `MaxArraySize`; every array index must be smaller than that. Empty
    /// if `array_size` is known.
    #[serde(default)]
    pub array_limit: String,
    /// Lists the user's unfinished jobs, one per line: the id, then words that describe its state.
    pub state: String,
    /// Cancels the jobs `{ids}`.
    pub cancel: String,
    /// Whether a node must pass `fathom machine --check` before it measures anything.
    pub check: bool,
}

/// Requirements for the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// The engine's name for a group of machines.
    pub partition: Option<&'a str>,
    /// The required machine features, in the engine's words.
    pub constraint: Option<&'a str>,
    /// Nodes that were unfit.
    pub exclude: &'a [String],
    /// Number of the last job in an array.
    pub last: Option<usize>,
}

/// The Slurm setting that every array index must be below.
const ARRAY_LIMIT: &str = "MaxArraySize";

/// Maximum number of jobs in one `scancel` command, which could otherwise become too long.
const CANCELLED_AT_ONCE: usize = 500;

impl Engine {
    /// Returns the engine for Slurm 20.02 or newer. Its arrays have at most 1000 jobs, unless `MaxArraySize`
    /// says otherwise.
    pub fn slurm() -> Engine {
        let text = str::to_owned;
        Engine {
            name: text("slurm"),
            submit: text(
                "sbatch --parsable --exclusive --requeue --open-mode=append --job-name=fathom --output={log_pattern} {script}",
            ),
            partition: text("--partition={partition}"),
            constraint: text("--constraint={constraint}"),
            exclude: text("--exclude={exclude}"),
            array: text("--array=0-{last}"),
            array_size: 1_000,
            array_limit: text("scontrol show config"),
            // Excludes finished jobs, which Slurm keeps for some minutes.
            state: text(
                "squeue --me --array --noheader --format='%i %T (%r)' --states=PENDING,RUNNING,SUSPENDED,CONFIGURING,COMPLETING,REQUEUED,SPECIAL_EXIT,STOPPED",
            ),
            cancel: text("scancel {ids}"),
            check: true,
        }
    }

    /// Returns the words of the command that submits a script.
    ///
    /// # Errors
    /// [`Error::Template`].
    pub fn submission(
        &self,
        script: &Path,
        log: &Path,
        place: &Place,
    ) -> Result<Vec<String>, Error> {
        let mut values = HashMap::from([
            ("script", text(script)),
            ("log", text(log)),
            ("log_pattern", pattern(&text(log))),
        ]);
        let exclude = place.exclude.join(",");
        let asked = [
            (
                "partition",
                &self.partition,
                place.partition.map(str::to_owned),
            ),
            (
                "constraint",
                &self.constraint,
                place.constraint.map(str::to_owned),
            ),
            // An engine that can't exclude nodes may choose the same node again.
            (
                "exclude",
                &self.exclude,
                (!exclude.is_empty() && !self.exclude.is_empty()).then_some(exclude),
            ),
            ("last", &self.array, place.last.map(|last| last.to_string())),
        ];
        let mut optional = Vec::new();
        for (key, template, value) in asked {
            if let Some(value) = value {
                values.insert(key, value);
                optional.extend(filled(key, template, &values)?);
            }
        }
        let mut words = filled("submit", &self.submit, &values)?;
        // These words go before the script: words after it are the script's arguments.
        let script = text(script);
        let at = words.iter().position(|word| *word == script);
        let at = at.unwrap_or(words.len());
        words.splice(at..at, optional);
        Ok(words)
    }

    /// Submits a script; returns the engine's id of the job.
    ///
    /// # Errors
    /// [`Error::Engine`] with the engine's message.
    pub fn submit(&self, words: &[String]) -> Result<String, Error> {
        let output = run(words)?;
        let first = output.lines().next().unwrap_or_default();
        let last = first.split_whitespace().last().unwrap_or_default();
        let id = last.split(';').next().unwrap_or_default();
        if id.is_empty() {
            return Err(Error::Engine {
                program: words[0].clone(),
                why: "it printed no job id".to_owned(),
            });
        }
        Ok(id.to_owned())
    }

    /// Asks the engine how many jobs an array may have. Without an answer, `array_size` stays as it is.
    pub fn ask_array_size(&mut self) {
        let answer = words("array_limit", &self.array_limit).and_then(|words| run(&words));
        let limit = answer.ok().and_then(|answer| {
            let line = answer
                .lines()
                .find_map(|line| line.strip_prefix(ARRAY_LIMIT))?;
            line.trim_start_matches([' ', '='])
                .trim()
                .parse::<usize>()
                .ok()
        });
        if let Some(limit) = limit {
            self.array_size = limit.saturating_sub(1);
        }
    }

    /// Returns the ids of the unfinished jobs, each with the words that describe its state.
    ///
    /// # Errors
    /// [`Error::Template`], [`Error::Engine`].
    pub fn jobs(&self) -> Result<HashMap<String, String>, Error> {
        let output = run(&filled("state", &self.state, &HashMap::new())?)?;
        let line = |line: &str| {
            let (id, state) = line.trim().split_once(char::is_whitespace)?;
            // Slurm prints this for a job without a reason.
            let state = state.trim().to_lowercase().replace(" (none)", "");
            Some((id.to_owned(), state))
        };
        Ok(output.lines().filter_map(line).collect())
    }

    /// Cancels jobs. With most engines, jobs that have already ended are not an error.
    ///
    /// # Errors
    /// [`Error::Template`], [`Error::Engine`].
    pub fn cancel(&self, ids: &[String]) -> Result<(), Error> {
        let words = words("cancel", &self.cancel)?;
        for ids in ids.chunks(CANCELLED_AT_ONCE) {
            let mut all = Vec::new();
            for word in &words {
                match word.as_str() {
                    "{ids}" => all.extend_from_slice(ids),
                    _ => all.push(word.clone()),
                }
            }
            run(&all)?;
        }
        Ok(())
    }
}

/// Returns the path as a Slurm file name pattern, in which `%j` would be the job's id. Slurm doesn't accept a
/// path with a backslash, so the output is then discarded.
fn pattern(path: &str) -> String {
    match path.contains('\\') {
        true => "/dev/null".to_owned(),
        false => path.replace('%', "%%"),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn words(key: &'static str, template: &str) -> Result<Vec<String>, Error> {
    let wrong = |why: String| Error::Template { key, why };
    let words = shell_words::split(template).map_err(|error| wrong(error.to_string()))?;
    match words.is_empty() {
        true => Err(wrong("it is required here, but missing".to_owned())),
        false => Ok(words),
    }
}

/// Returns the words of a filled template. A value stays within its word, whatever characters it contains.
fn filled(
    key: &'static str,
    template: &str,
    values: &HashMap<&str, String>,
) -> Result<Vec<String>, Error> {
    let fill = |word: String| {
        let mut out = String::new();
        let mut rest = word.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}') else {
                break;
            };
            let value = values.get(name).ok_or_else(|| {
                let mut known: Vec<_> = values.keys().map(|name| format!("{{{name}}}")).collect();
                known.sort();
                let known = known.join(", ");
                let why =
                    format!("no placeholder is named {{{name}}}; the placeholders are {known}");
                Error::Template { key, why }
            })?;
            out += before;
            out += value;
            rest = behind;
        }
        Ok(out + rest)
    };
    words(key, template)?.into_iter().map(fill).collect()
}

fn run(words: &[String]) -> Result<String, Error> {
    let failed = |why: String| Error::Engine {
        program: words[0].clone(),
        why,
    };
    let output = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        return Err(failed(match said.is_empty() {
            true => output.status.to_string(),
            false => {
                // Slurm's commands already prefix messages with their name.
                let lines = said.lines().map(|line| {
                    let line = line.trim();
                    let own = line.strip_prefix(&*words[0]).unwrap_or(line);
                    own.trim_start_matches(": ")
                });
                lines.collect::<Vec<_>>().join("; ")
            }
        }));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission(engine: &Engine, place: &Place) -> Result<Vec<String>, Error> {
        engine.submission(Path::new("/a b/job.sh"), Path::new("/a b/log"), place)
    }

    #[test]
    fn what_is_asked_of_the_machine_stands_before_the_script() {
        let exclude = ["n1".to_owned(), "n2".to_owned()];
        let place = Place {
            partition: Some("big ones"),
            exclude: &exclude,
            ..Place::default()
        };
        let words = submission(&Engine::slurm(), &place).unwrap();
        let last: Vec<_> = words.iter().rev().take(4).map(String::as_str).collect();
        assert_eq!(
            last,
            [
                "/a b/job.sh",
                "--exclude=n1,n2",
                "--partition=big ones",
                "--output=/a b/log"
            ]
        );
        assert!(!words.iter().any(|word| word.contains('{')));
    }

    #[test]
    fn an_unknown_placeholder_names_those_that_there_are() {
        let engine = Engine {
            submit: "go {scrip}".to_owned(),
            ..Engine::slurm()
        };
        let error = submission(&engine, &Place::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "[fleet] submit: no placeholder is named {scrip}; the placeholders are {log_pattern}, {log}, {script}"
        );
    }

    #[test]
    fn slurm_replaces_nothing_in_the_name_of_the_log() {
        for (log, output) in [
            ("/50%j/log", "--output=/50%%j/log"),
            ("/a\\b/log", "--output=/dev/null"),
        ] {
            let words =
                Engine::slurm().submission(Path::new("/job.sh"), Path::new(log), &Place::default());
            assert!(words.unwrap().contains(&output.to_owned()), "{log}");
        }
    }

    #[test]
    fn what_an_engine_cannot_give_is_refused() {
        let engine = Engine {
            constraint: String::new(),
            ..Engine::slurm()
        };
        let place = Place {
            constraint: Some("arm"),
            ..Place::default()
        };
        let error = submission(&engine, &place).unwrap_err();
        assert_eq!(
            error.to_string(),
            "[fleet] constraint: it is required here, but missing"
        );
    }

    #[test]
    fn the_id_is_read_from_what_engines_print() {
        let says = |text: &str| vec!["echo".to_owned(), text.to_owned()];
        for (text, id) in [
            ("17", "17"),
            ("17;cluster", "17"),
            ("Submitted batch job 17", "17"),
            ("12.server\nmore", "12.server"),
        ] {
            assert_eq!(Engine::slurm().submit(&says(text)).unwrap(), id);
        }
        assert!(Engine::slurm().submit(&says("")).is_err());
    }

    #[test]
    fn an_engine_that_fails_has_not_said_that_a_job_ended() {
        let jobs = |template: &str| {
            let engine = Engine {
                state: template.to_owned(),
                ..Engine::slurm()
            };
            engine.jobs()
        };
        assert_eq!(jobs("true").unwrap().len(), 0);
        let two = jobs("printf '  7 RUNNING (None)\\n8_1 PENDING (Resources)\\n'").unwrap();
        assert_eq!(two["7"], "running");
        assert_eq!(two["8_1"], "pending (resources)");
        assert!(jobs("false").is_err());
        assert!(jobs("/no/such/program").is_err());
    }

    #[test]
    fn indices_of_arrays_are_below_what_the_engine_says() {
        let asked = |template: &str| {
            let mut engine = Engine {
                array_limit: template.to_owned(),
                ..Engine::slurm()
            };
            engine.ask_array_size();
            engine.array_size
        };
        let says = |number: &str| {
            asked(&format!(
                "printf 'A = 1\\nMaxArraySize            = {number}\\n'"
            ))
        };
        assert_eq!(says("4001"), 4_000);
        assert_eq!(says("many"), 1_000);
        assert_eq!(asked("false"), 1_000);
        assert_eq!(asked(""), 1_000);
    }

    #[test]
    fn all_ids_go_to_one_command_as_words_of_their_own() {
        let engine = Engine {
            cancel: "sh -c 'test \"$#\" = 2 && test \"$2\" = 9_1' sh {ids}".to_owned(),
            ..Engine::slurm()
        };
        engine.cancel(&["8".to_owned(), "9_1".to_owned()]).unwrap();
        assert!(engine.cancel(&["8".to_owned()]).is_err());
    }
}
