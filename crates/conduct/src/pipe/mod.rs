//! `pipe`: times a pipeline and each of its stages alone, and observes which stage waits for which.

mod conclude;
mod journal;
mod observe;

use std::path::PathBuf;
use std::time::Duration;

use conclude::{Parts, begun, conclude};
use fathom_measure::pipeline::{self, HowMany, MOST_STAGES, Staging};
use fathom_measure::{CommandLine, Hook, interrupt, now_rfc3339};
use fathom_model::{InputFrom, OutputTo, PipeRecord, PipeStage, StopReason};
use fathom_trace::Tier;
use journal::Recorder;
use observe::Observed;

use crate::throttling::Throttling;
use crate::{ConductError, Observer, RunTerms, Target, fingerprint};

/// The time to spend on short pipelines, which is long enough for their medians; longer pipelines are run
/// `FEWEST` times.
const PATIENCE: Duration = Duration::from_secs(5);
const FEWEST: u32 = 5;
const MOST: u32 = 30;
/// The default memory limit for staged inputs, in bytes.
const MOST_STAGED: u64 = 1 << 30;

/// The stages, ready to run.
#[derive(Debug, Clone)]
pub struct Stages {
    /// The commands, in pipeline order.
    pub commands: Vec<CommandLine>,
    /// The descriptions of the stages, for the record.
    pub described: Vec<PipeStage>,
    /// Standard input of the first stage.
    pub input: InputFrom,
    /// Standard output of the last stage.
    pub output: OutputTo,
    /// The shell that interprets each stage, if any.
    pub shell: Option<String>,
    /// A hook to run before each run, observed or not.
    pub prepare: Option<Hook>,
}

impl Stages {
    /// Builds a pipeline from the stages' commands. Input and `--prepare` are taken from the first, output
    /// from the last.
    ///
    /// # Errors
    /// If the number of stages is too small or too large.
    pub fn of(targets: Vec<Target>) -> Result<Stages, ConductError> {
        if !(2..=MOST_STAGES).contains(&targets.len()) {
            return Err(ConductError::Refused(format!(
                "a pipeline has 2 to {MOST_STAGES} stages, not {}",
                targets.len()
            )));
        }
        let names = names(&targets);
        let (first, last) = (&targets[0], &targets[targets.len() - 1]);
        let described = targets.iter().zip(names).map(|(target, name)| PipeStage {
            name,
            command: target.benchmark.command.clone(),
            arguments: target.benchmark.arguments.clone(),
            working_directory: target.benchmark.working_directory.clone(),
        });
        Ok(Stages {
            described: described.collect(),
            input: first.benchmark.input.clone(),
            output: last.benchmark.output.clone(),
            shell: first.benchmark.shell.clone(),
            prepare: first.hooks.prepare.clone(),
            commands: targets.into_iter().map(|target| target.command).collect(),
        })
    }
}

/// Returns the file name of each program, with `#2` and so on for duplicates.
fn names(targets: &[Target]) -> Vec<String> {
    let plain: Vec<String> = targets
        .iter()
        .map(|target| {
            let benchmark = &target.benchmark;
            let first = match benchmark.shell {
                Some(_) => benchmark.command.split_whitespace().next().unwrap_or("sh"),
                None => &benchmark.arguments[0],
            };
            first.rsplit('/').next().unwrap_or(first).to_string()
        })
        .collect();
    let mut names: Vec<String> = Vec::new();
    for (index, name) in plain.iter().enumerate() {
        let before = plain[..index].iter().filter(|other| *other == name).count();
        names.push(match before {
            0 => name.clone(),
            more => format!("{name}#{}", more + 1),
        });
    }
    names
}

/// How to observe rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ObserveBy {
    /// Observe with the best permitted tier.
    #[default]
    Best,
    /// Observe with this tier.
    Tier(Tier),
    /// Don't observe; use only what the kernel reports about ended processes.
    Accounts,
}

/// How to store the inputs of the stages, so that each stage can run alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inputs {
    /// The maximum number of bytes in total; if absent, a quarter of the free memory, at most 1 GiB.
    pub limit_bytes: Option<u64>,
    /// A folder in which to keep the inputs.
    pub folder: Option<PathBuf>,
}

/// What to measure, and how.
#[derive(Debug, Clone)]
pub struct PipePlan {
    /// The pipeline.
    pub stages: Stages,
    /// The number of timed rounds; 5 to 30, about 5 s, if absent.
    pub rounds: Option<u32>,
    /// The number of observed rounds; if absent, 3, or 1 for a long pipeline.
    pub observed_rounds: Option<u32>,
    /// How to observe.
    pub observe_by: ObserveBy,
    /// The start delay of each stage, for a comparison with late starts.
    pub delays: Option<Vec<Duration>>,
    /// How to store inputs; if `None`, they aren't stored and no stage is run alone.
    pub inputs: Option<Inputs>,
    /// The seed of the run order.
    pub seed: u64,
    /// Whether to count failing stages instead of ending the measurement.
    pub ignore_failure: bool,
    /// A file to which the whole record is written after every run.
    pub record: Option<PathBuf>,
    /// How the stages are run.
    pub terms: RunTerms,
}

impl PipePlan {
    fn timed(&self) -> pipeline::PipePlan {
        let described = self.stages.described.iter();
        pipeline::PipePlan {
            names: described.map(|stage| stage.name.clone()).collect(),
            delays: self.delays.clone(),
            staging: self.inputs.as_ref().map(|inputs| Staging {
                limit_bytes: inputs.limit_bytes.unwrap_or_else(usual_limit),
                keep: inputs.folder.clone(),
            }),
            rounds: match self.rounds {
                Some(count) => HowMany::Exactly(count),
                None => HowMany::Until {
                    minimum: FEWEST,
                    maximum: MOST,
                    soft: PATIENCE,
                },
            },
            timeout: self.terms.timeout,
            pin: self.terms.pin.clone(),
            show_output: self.terms.show_output,
            seed: self.seed,
            ignore_failure: self.ignore_failure,
            prepare: self.stages.prepare.clone(),
            stages: self.stages.commands.clone(),
        }
    }
}

/// Times the pipeline and each stage alone, then observes the pipeline.
///
/// # Errors
/// If a stage can't be run or observed, fails, or takes too long; or if measuring is stopped before a round
/// is complete.
pub fn pipe(plan: &PipePlan, observer: &mut dyn Observer) -> Result<PipeRecord, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    let timed = plan.timed();
    let means = observe::means(plan)?;
    fingerprint::take(observer);
    let begun = begun(&timed, &plan.stages, now_rfc3339());
    let mut recorder = Recorder::new(observer, plan.record.as_deref(), &begun)?;
    let throttled = Throttling::begin();
    let session = pipeline::conduct(&timed, &mut recorder)?;
    let observed = match session.stop {
        StopReason::Interrupted => Observed::default(),
        _ => observe::observe(plan, &timed, &session, means, &mut recorder)?,
    };
    let mut record = conclude(Parts {
        plan: &timed,
        record: begun,
        session,
        observed,
        interrupted: interrupt::stopped(),
    });
    record.notes = fathom_diagnose::pipeline::notes(&record);
    record.notes.extend(throttled.note());
    recorder.complete(&record)?;
    Ok(record)
}

/// Returns a quarter of the free memory, at most 1 GiB.
fn usual_limit() -> u64 {
    (fathom_machine::available_memory() / 4).min(MOST_STAGED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommandPlan;
    use fathom_measure::{Input, Output};

    fn target(words: &[&str]) -> Target {
        let plan = CommandPlan {
            text: words.join(" "),
            words: words.iter().map(Into::into).collect(),
            shell: None,
            parameters: Vec::new(),
            directory: None,
            variables: Vec::new(),
            input: Input::Null,
            output: Output::Null,
            expect: None,
            show_output: false,
        };
        plan.find().unwrap()
    }

    #[test]
    fn stages_are_named_after_their_programs_and_twins_are_numbered() {
        let commands = [&["/bin/cat", "f"][..], &["cat"], &["sh", "-c", "wc"]];
        let stages = Stages::of(commands.map(target).to_vec()).unwrap();
        let names: Vec<&str> = stages.described.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["cat", "cat#2", "sh"]);
    }

    #[test]
    fn one_command_is_no_pipeline() {
        let error = Stages::of(vec![target(&["cat"])]).unwrap_err();
        assert!(error.to_string().contains("not 1"), "{error}");
    }
}
