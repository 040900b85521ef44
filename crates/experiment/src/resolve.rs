//! Resolves texts with placeholders, which results in words, paths and jobs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_conduct::redaction;
use fathom_model::Combination;

use crate::file::experiment::{
    Build, Content, Count, Experiment, Input, Measure, Registry, Subject, Tool,
};
use crate::file::placeholder;
use crate::sweep;
use crate::unpacked::{self, Finds};

/// Folders of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// The experiment's own folder, as an absolute path.
    pub here: PathBuf,
    /// The folder for builds, staged inputs and records of this run, as an absolute path.
    pub work: PathBuf,
}

impl Folders {
    /// Returns the folder in which tools are installed.
    pub fn tools(&self) -> PathBuf {
        self.work.join("tools")
    }

    /// Returns the folder in which one tool is installed.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.tools().join(name)
    }

    /// Returns the folder of the measures' records.
    pub fn records(&self) -> PathBuf {
        self.work.join("records")
    }
}

/// Where standard output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sink {
    /// `/dev/null`
    Null,
    /// A pipe.
    Pipe,
    /// A file.
    File(PathBuf),
}

/// A command that is ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Working directory.
    pub directory: PathBuf,
    /// Variables added to the environment.
    pub variables: Vec<(String, String)>,
    /// The file for standard input; nothing if absent.
    pub input: Option<PathBuf>,
    /// Standard output.
    pub output: Sink,
    /// Time limit.
    pub timeout: Option<Duration>,
}

impl Job {
    /// Returns the command line in shell syntax.
    pub fn line(&self) -> String {
        shell_words::join(&self.words)
    }

    /// Returns the job with its time limit reduced to the time that remains until the deadline.
    pub fn until(mut self, deadline: Option<Instant>) -> Job {
        if let Some(deadline) = deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            // A limit of 0 would mean that there is none, so the shortest possible one is used.
            let left = left.max(Duration::from_millis(1));
            self.timeout = Some(self.timeout.map_or(left, |own| own.min(left)));
        }
        self
    }

    /// Returns the command with its environment and redirections, for display.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.variables {
            text.push_str(&redaction::assignment(name, value));
            text.push(' ');
        }
        text.push_str(&self.line());
        if let Some(input) = &self.input {
            text.push_str(&format!(
                " < {}",
                shell_words::quote(&input.display().to_string())
            ));
        }
        match &self.output {
            Sink::Null => {}
            Sink::Pipe => text.push_str(" | (drained)"),
            Sink::File(path) => {
                text.push_str(&format!(
                    " > {}",
                    shell_words::quote(&path.display().to_string())
                ));
            }
        }
        text
    }
}

/// A subject, with the parameters on which it depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The subject.
    pub subject: String,
    /// The parameters.
    pub parameters: Combination,
    /// The command.
    pub job: Job,
    /// Whether a failing run counts as a result.
    pub may_fail: bool,
}

impl Target {
    /// Returns the label, such as `name[sink=null]`.
    pub fn label(&self) -> String {
        match self.parameters.is_empty() {
            true => self.subject.clone(),
            false => format!("{}[{}]", self.subject, sweep::label(&self.parameters)),
        }
    }

    /// Returns the label as part of a file name.
    pub fn file_part(&self) -> String {
        format!("{}{}", self.subject, sweep::file_part(&self.parameters))
    }
}

/// The stages of a pipeline as words, with the parameters on which it depends.
pub type Pipeline = (Combination, Vec<Vec<String>>);

/// Everything to which placeholders can refer.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'e> {
    /// The experiment.
    pub experiment: &'e Experiment,
    /// Folders of an experiment.
    pub folders: &'e Folders,
    /// Whether the quick set is used.
    pub quick: bool,
}

impl<'e> Scope<'e> {
    /// Returns all combinations of parameters of this run.
    pub fn combinations(&self) -> Vec<Combination> {
        sweep::combinations(self.experiment, self.quick)
    }

    fn value(&self, name: &str, combination: &Combination) -> Option<String> {
        let path = |path: &Path| path.display().to_string();
        if let Some((_, value)) = combination.iter().find(|(parameter, _)| parameter == name) {
            return Some(value.clone());
        }
        match name {
            "work" => Some(path(&self.folders.work)),
            "here" => Some(path(&self.folders.here)),
            "tools" => Some(path(&self.folders.tools())),
            _ => {
                if let Some(tool) = name.strip_prefix("tools.") {
                    return Some(path(&self.folders.tool(tool)));
                }
                let input = name.strip_prefix("inputs.")?;
                let input = self.input_named(input)?;
                Some(path(&self.staged(input, combination)))
            }
        }
    }

    /// Returns the input of this name.
    pub fn input_named(&self, name: &str) -> Option<&'e Input> {
        (self.experiment.inputs.iter()).find(|input| input.name.value == name)
    }

    /// Returns the build of this name.
    pub fn build_named(&self, name: &str) -> Option<&'e Build> {
        (self.experiment.builds.iter()).find(|build| build.name.value == name)
    }

    /// Fills in the placeholders of a text.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn fill(&self, text: &str, combination: &Combination) -> Result<String, String> {
        placeholder::fill(text, &|name| self.value(name, combination))
    }

    /// Returns a command as words. It is split before placeholders are filled in, so a value never becomes
    /// several words.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn words(
        &self,
        command: &str,
        combination: &Combination,
        more: &[(&str, String)],
    ) -> Result<Vec<String>, String> {
        let words = shell_words::split(command).map_err(|error| error.to_string())?;
        let value = |name: &str| {
            let own = more.iter().find(|(known, _)| *known == name);
            own.map(|(_, value)| value.clone())
                .or_else(|| self.value(name, combination))
        };
        words
            .iter()
            .map(|word| placeholder::fill(word, &value))
            .collect()
    }

    /// Returns the parameters on which an input depends.
    pub fn input_part(&self, input: &Input, combination: &Combination) -> Combination {
        let needs: Vec<String> = input.needs.iter().map(|need| need.value.clone()).collect();
        let texts = sweep::input_text(input);
        sweep::part(
            combination,
            &sweep::names_used(self.experiment, texts, &needs),
        )
    }

    /// Returns the path of a staged input.
    pub fn staged(&self, input: &Input, combination: &Combination) -> PathBuf {
        let part = self.input_part(input, combination);
        let name = format!("{}{}", input.name.value, sweep::file_part(&part));
        self.folders.work.join("inputs").join(name)
    }

    /// Returns the size of an input in this run.
    pub fn size(&self, input: &Input) -> Option<u64> {
        match self.quick {
            true => input.quick_size.or(input.size),
            false => input.size,
        }
    }

    /// Returns the command of a generator.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn generator(
        &self,
        input: &Input,
        combination: &Combination,
    ) -> Result<Option<Job>, String> {
        let Content::Generated(command) = &input.content else {
            return Ok(None);
        };
        let size = self.size(input).unwrap_or(0).to_string();
        let more = [("seed", input.seed.to_string()), ("size", size)];
        Ok(Some(Job {
            words: self.words(command, combination, &more)?,
            directory: self.folders.here.clone(),
            variables: self.search(Finds::Sources, &[]),
            input: None,
            output: Sink::File(self.staged(input, combination)),
            timeout: None,
        }))
    }

    /// Returns the command of a build.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn build(&self, build: &Build, combination: &Combination) -> Result<Job, String> {
        Ok(Job {
            words: self.words(&build.command, combination, &[])?,
            directory: self.directory(build.cwd.as_deref(), combination)?,
            variables: self.variables(&build.env, Finds::Sources, combination)?,
            input: None,
            output: Sink::Null,
            timeout: build.timeout,
        })
    }

    /// Returns the parameters on which a build depends.
    pub fn build_part(&self, build: &Build, combination: &Combination) -> Combination {
        let needs: Vec<String> = build.needs.iter().map(|need| need.value.clone()).collect();
        let texts = sweep::build_texts(build);
        sweep::part(
            combination,
            &sweep::names_used(self.experiment, texts, &needs),
        )
    }

    fn directory(
        &self,
        cwd: Option<&String>,
        combination: &Combination,
    ) -> Result<PathBuf, String> {
        Ok(match cwd {
            Some(text) => self.folders.here.join(self.fill(text, combination)?),
            None => self.folders.here.clone(),
        })
    }

    fn variables(
        &self,
        env: &[(
            crate::file::problem::Located<String>,
            crate::file::problem::Located<String>,
        )],
        finds: Finds,
        combination: &Combination,
    ) -> Result<Vec<(String, String)>, String> {
        let own = env
            .iter()
            .map(|(name, text)| Ok((name.value.clone(), self.fill(text, combination)?)))
            .collect::<Result<Vec<_>, String>>()?;
        Ok([self.search(finds, &own), own].concat())
    }

    /// Returns the variables through which unpacked packages are found, except those that the file sets
    /// itself.
    fn search(&self, finds: Finds, own: &[(String, String)]) -> Vec<(String, String)> {
        let is_apt = |tool: &&Tool| matches!(&tool.packages, Some((Registry::Apt, _)));
        let roots: Vec<PathBuf> = (self.experiment.tools.iter())
            .filter(is_apt)
            .map(|tool| self.folders.tool(&tool.name.value))
            .filter(|folder| folder.is_dir())
            .collect();
        let mut all = unpacked::variables(&roots, finds);
        all.retain(|(name, _)| !own.iter().any(|(set, _)| set == name));
        all
    }

    /// Returns the command that checks for a tool.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn check(&self, command: &str) -> Result<Job, String> {
        Ok(Job {
            words: self.words(command, &Vec::new(), &[])?,
            directory: self.folders.here.clone(),
            variables: self.search(Finds::Sources, &[]),
            input: None,
            output: Sink::Null,
            timeout: Some(Duration::from_secs(60)),
        })
    }

    /// Returns the command of a count.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn count(&self, count: &Count, combination: &Combination) -> Result<Job, String> {
        Ok(Job {
            words: self.words(&count.command, combination, &[])?,
            directory: self.folders.here.clone(),
            variables: self.search(Finds::Sources, &[]),
            input: None,
            output: Sink::Null,
            timeout: Some(Duration::from_secs(120)),
        })
    }

    /// Returns what a subject needs: tools, builds and inputs, including those that its texts mention.
    pub fn needs(&self, subject: &Subject, combination: &Combination) -> BTreeSet<String> {
        let texts = sweep::subject_texts(subject);
        let mut needs: BTreeSet<String> = subject.needs.iter().map(|n| n.value.clone()).collect();
        needs.extend(self.mentioned(texts));
        if let Some(input) = &subject.input
            && let Ok(name) = self.fill(input, combination)
        {
            needs.insert(name);
        }
        needs
    }

    /// Returns the tools and inputs that texts mention.
    pub fn mentioned<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
        texts
            .into_iter()
            .flat_map(placeholder::names)
            .filter_map(|name| {
                let name = name
                    .strip_prefix("inputs.")
                    .or_else(|| name.strip_prefix("tools."))?;
                Some(name.to_string())
            })
            .collect()
    }

    /// Returns the subjects of a measure under all parameters on which they depend.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn targets(
        &self,
        measure: &Measure,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Target>, String> {
        let mut all: Vec<Target> = Vec::new();
        for name in crate::check::measured_subjects(self.experiment, measure) {
            let subjects = &self.experiment.subjects;
            let Some(subject) = subjects.iter().find(|s| s.name.value == name) else {
                continue;
            };
            if !wanted(&name) {
                continue;
            }
            for combination in self.combinations() {
                let allowed = sweep::allowed(&measure.only, &combination)
                    && sweep::allowed(&subject.only, &combination);
                if !allowed {
                    continue;
                }
                let target = self.target(measure, subject, &combination)?;
                let same = |other: &&Target| {
                    other.subject == target.subject && other.parameters == target.parameters
                };
                if !all.iter().any(|other| same(&other)) {
                    all.push(target);
                }
            }
        }
        Ok(all)
    }

    fn target(
        &self,
        measure: &Measure,
        subject: &Subject,
        combination: &Combination,
    ) -> Result<Target, String> {
        let needs: Vec<String> = self.needs(subject, combination).into_iter().collect();
        let texts = sweep::subject_texts(subject);
        let mut names = sweep::names_used(self.experiment, texts, &needs);
        names.extend(subject.only.iter().map(|(name, _)| name.value.clone()));
        names.extend(measure.only.iter().map(|(name, _)| name.value.clone()));
        let parameters = sweep::part(combination, &names);
        let input = match &subject.input {
            Some(text) => {
                let name = self.fill(text, combination)?;
                let input = self
                    .input_named(&name)
                    .ok_or_else(|| format!("no input {name:?}"))?;
                Some(self.staged(input, combination))
            }
            None => None,
        };
        let output = match &subject.output {
            None => Sink::Null,
            Some(text) => match self.fill(text, combination)?.as_str() {
                "pipe" => Sink::Pipe,
                "file" => {
                    let name = format!("{}{}", subject.name.value, sweep::file_part(&parameters));
                    Sink::File(self.folders.work.join("outputs").join(name))
                }
                _ => Sink::Null,
            },
        };
        Ok(Target {
            subject: subject.name.value.clone(),
            job: Job {
                words: self.words(&subject.command, combination, &[])?,
                directory: self.directory(subject.cwd.as_deref(), combination)?,
                variables: self.variables(&subject.env, Finds::Programs, combination)?,
                input,
                output,
                timeout: subject.timeout.or(measure.timeout),
            },
            parameters,
            may_fail: subject.may_fail,
        })
    }

    /// Returns the stages of a pipeline under all parameters on which they depend.
    ///
    /// # Errors
    /// A message; this doesn't happen for a checked file.
    pub fn pipelines(&self, measure: &Measure) -> Result<Vec<Pipeline>, String> {
        let texts = || measure.stages.iter().map(|stage| stage.value.as_str());
        let needs: Vec<String> = self.mentioned(texts()).into_iter().collect();
        let names = sweep::names_used(self.experiment, texts(), &needs);
        let mut all: Vec<Pipeline> = Vec::new();
        for combination in self.combinations() {
            let part = sweep::part(&combination, &names);
            if !sweep::allowed(&measure.only, &combination)
                || all.iter().any(|(other, _)| *other == part)
            {
                continue;
            }
            let stages = texts()
                .map(|stage| self.words(stage, &combination, &[]))
                .collect::<Result<_, _>>()?;
            all.push((part, stages));
        }
        Ok(all)
    }
}
