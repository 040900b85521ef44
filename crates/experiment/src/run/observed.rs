//! Runs `why`, `startup`, `pipe` and `machine`, and reads their records.

use fathom_conduct::machine::Probes;
use fathom_conduct::pipe::{Inputs, ObserveBy, Stages};
use fathom_conduct::startup::{OBSERVED_RUNS, WARMUP_ROUNDS};
use fathom_conduct::{
    ConductError, Event, MachinePlan, PipePlan, StartupPlan, WhyPlan, fresh_seed,
};
use fathom_measure::{MeasureError, Output};
use fathom_model::{ColdBy, Combination, PipeRecord, StartupRecord};

use super::bench::{Amount, no_time, try_out};
use super::verb::{self, End, Verb};
use super::{Interrupted, NO_TIME, Yield, records};
use crate::file::experiment::Measure;
use crate::metrics;
use crate::resolve::{Folders, Job, Scope, Sink, Target};
use crate::results::{Cause, Gap, Samples};
use crate::sweep;

/// Ignores the progress of a verb, because the status line already names the measure.
fn unwatched(_: Event<'_>) {}

/// Several calls of one verb, and their outcome.
pub(super) struct Session<'s> {
    folders: &'s Folders,
    amount: Amount,
    outcome: Yield,
    /// Whether the time was up before the last record was complete.
    cut: bool,
}

impl<'s> Session<'s> {
    pub(super) fn new(folders: &'s Folders, amount: Amount) -> Session<'s> {
        Session {
            folders,
            amount,
            outcome: Yield::default(),
            cut: false,
        }
    }

    /// Returns the result of `conduct`; returns `None` and records the reason if there is none. `name` is the
    /// name of the record, without its extension.
    pub(super) fn call<R>(
        &mut self,
        name: &str,
        conduct: impl FnOnce(&Verb) -> Result<R, ConductError>,
    ) -> Result<R, String> {
        let verb = Verb::new(name, self.amount, self.folders);
        if self.amount.is_over() {
            self.cut = true;
            return Err(NO_TIME.to_string());
        }
        let result = conduct(&verb);
        let end = verb.ended();
        self.cut = end == End::Cut;
        self.outcome.interrupted |= end == End::Interrupted;
        self.outcome.records.extend(verb.record());
        if self.cut {
            let note = format!("{name} was cut short by its time limit");
            self.outcome.notes.push(note);
        }
        result.map_err(|error| match end {
            End::Cut => NO_TIME.to_string(),
            End::Interrupted => "interrupted".to_string(),
            End::ByItself => verb.said(&error),
        })
    }

    /// Returns the outcome so far.
    pub(super) fn outcome(&mut self) -> &mut Yield {
        &mut self.outcome
    }

    /// Returns the whole outcome.
    pub(super) fn into_outcome(self) -> Yield {
        self.outcome
    }

    pub(super) fn gap(
        &mut self,
        measure: &Measure,
        subject: Option<&str>,
        parameters: &Combination,
        why: &str,
    ) {
        let failed = !self.outcome.interrupted && !self.cut;
        self.outcome.failed |= failed;
        let what = match subject {
            Some(subject) => format!("{} of {subject}", measure.how.name()),
            None => measure.how.name().to_string(),
        };
        self.outcome.results.gaps.push(Gap {
            measure: Some(measure.id.value.clone()),
            subject: subject.map(str::to_string),
            parameters: parameters.clone(),
            reason: format!("{what}: {why}"),
            cause: match failed {
                true => Cause::Failed,
                false => Cause::NotMeasured,
            },
        });
    }
}

/// Explains each target.
pub fn why(measure: &Measure, targets: &[Target], amount: Amount, scope: &Scope<'_>) -> Yield {
    let mut session = Session::new(scope.folders, amount);
    // Each metric is listed once, although the list has one entry for each subject.
    let asked: Vec<String> = metrics::of(scope.experiment, measure)
        .into_iter()
        .map(|known| known.metric)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    for target in targets {
        if session.outcome.interrupted {
            session.gap(
                measure,
                Some(&target.subject),
                &target.parameters,
                "interrupted",
            );
            continue;
        }
        if amount.is_over() {
            session.outcome.results.gaps.push(no_time(measure, target));
            continue;
        }
        let name = format!("{}.{}", measure.id.value, target.file_part());
        let explanation = session.call(&name, |verb| {
            let plan = WhyPlan {
                target: verb::find(&target.job)?,
                runs: Some(verb::count(amount.rounds)),
                ignore_failure: verb::ignored(std::slice::from_ref(target)),
                tier: None,
                measure_limits: false,
                terms: verb.terms(std::iter::once(&target.job)),
            };
            let explained = fathom_conduct::why(&plan, &mut unwatched)?;
            verb.write(&explained.explanation)?;
            Ok(explained.explanation)
        });
        match explanation {
            Ok(explanation) => {
                let (samples, findings) = records::why(
                    &explanation,
                    &measure.id.value,
                    &target.subject,
                    &target.parameters,
                    &asked,
                );
                session.outcome.results.samples.extend(samples);
                if let Some(limited) = &findings.limited {
                    // The gap is reported if a claim needs a count that this tier doesn't make.
                    session.outcome.results.gaps.push(Gap {
                        measure: Some(measure.id.value.clone()),
                        subject: Some(target.subject.clone()),
                        parameters: target.parameters.clone(),
                        reason: limited.clone(),
                        cause: Cause::Missing,
                    });
                }
                session.outcome.results.findings.push(findings);
            }
            Err(why) => session.gap(measure, Some(&target.subject), &target.parameters, &why),
        }
    }
    session.outcome
}

/// Measures first output and exit of all targets.
pub fn startup(
    measure: &Measure,
    targets: Vec<Target>,
    amount: Amount,
    scope: &Scope<'_>,
) -> Result<Yield, Interrupted> {
    let mut session = Session::new(scope.folders, amount);
    // A failing target would end the whole session.
    let (targets, seconds) = try_out(
        targets,
        measure,
        amount,
        scope.folders,
        &mut session.outcome,
    )?;
    if targets.is_empty() {
        return Ok(session.outcome);
    }
    let caches = measure.cache.len().max(1) as f64;
    let rounds = amount.fitting(seconds * caches);
    if rounds < amount.rounds {
        session.outcome.notes.push(format!(
            "{rounds} rounds instead of {}, to stay within the time limit",
            amount.rounds
        ));
    }
    let targets = targets.as_slice();
    let measured = session.call(&amount.record_name(measure), |verb| {
        let plan = startup_plan(measure, targets, rounds, verb)?;
        let measured = fathom_conduct::startup(&plan, &mut unwatched)?;
        let failure = measured.failure.map(ConductError::from);
        Ok((measured.record, failure.map(|error| verb.said(&error))))
    });
    match measured {
        Ok((record, failure)) => {
            let subjects: Vec<(String, Combination)> = targets
                .iter()
                .map(|target| (target.subject.clone(), target.parameters.clone()))
                .collect();
            take_startup(&mut session.outcome, &record, measure, &subjects);
            if let Some(why) = failure {
                session.outcome.failed = true;
                session.outcome.notes.push(why);
            }
        }
        Err(why) => {
            for target in targets {
                session.gap(measure, Some(&target.subject), &target.parameters, &why);
            }
        }
    }
    Ok(session.outcome)
}

fn take_startup(
    outcome: &mut Yield,
    record: &StartupRecord,
    measure: &Measure,
    subjects: &[(String, Combination)],
) {
    let (samples, waits) = records::startup(&record.runs, &measure.id.value, subjects);
    outcome.results.samples = samples;
    outcome.results.waits.extend(&waits);
    outcome.notes.extend(records::of_load(record));
}

fn startup_plan(
    measure: &Measure,
    targets: &[Target],
    rounds: u64,
    verb: &Verb,
) -> Result<StartupPlan, MeasureError> {
    let found = |target: &Target| {
        let mut found = verb::find(&target.job)?;
        // The first byte can only be observed if output goes to a pipe.
        found.command.output = Output::Pipe;
        Ok(found)
    };
    let is_cold = measure.also_cold();
    Ok(StartupPlan {
        targets: targets
            .iter()
            .map(found)
            .collect::<Result<_, MeasureError>>()?,
        rounds: Some(verb::count(rounds)),
        time: None,
        warmup: WARMUP_ROUNDS,
        margin: fathom_conduct::bench::MARGIN,
        seed: fresh_seed(),
        ignore_failure: verb::ignored(targets),
        cold: is_cold.then_some(ColdBy::Evict),
        observed_runs: OBSERVED_RUNS,
        tier: None,
        budget: None,
        record: Some(verb.path.clone()),
        terms: verb.terms(targets.iter().map(|target| &target.job)),
    })
}

/// Measures each pipeline with its stages.
pub fn pipe(measure: &Measure, amount: Amount, scope: &Scope<'_>) -> Yield {
    let mut session = Session::new(scope.folders, amount);
    let pipelines = match scope.pipelines(measure) {
        Ok(pipelines) => pipelines,
        Err(why) => {
            session.gap(measure, None, &Vec::new(), &why);
            return session.outcome;
        }
    };
    let names = metrics::stage_names(measure);
    for (parameters, stages) in pipelines {
        let name = format!("{}{}", measure.id.value, sweep::file_part(&parameters));
        let measured = session.call(&name, |verb| {
            let jobs: Vec<Job> = stages
                .into_iter()
                .map(|words| stage(words, measure, scope))
                .collect();
            let plan = pipe_plan(&jobs, amount, verb)?;
            fathom_conduct::pipe(&plan, &mut unwatched)
        });
        match measured {
            Ok(record) => take_pipe(&mut session.outcome, &record, measure, &names, &parameters),
            Err(why) => session.gap(measure, None, &parameters, &why),
        }
        if session.outcome.interrupted {
            break;
        }
    }
    session.outcome
}

fn take_pipe(
    outcome: &mut Yield,
    record: &PipeRecord,
    measure: &Measure,
    names: &[String],
    parameters: &Combination,
) {
    let samples = records::pipe(record, &measure.id.value, names, parameters);
    let waits = samples.iter().any(|samples| samples.metric == "wait_input");
    outcome.results.samples.extend(samples);
    outcome.notes.extend(records::of_pipe_load(record));
    if !waits {
        let why = "its waits were not seen, or observing slowed it down by more than 10 %; in either case, only \
             share_wait_input and share_wait_output are reported";
        outcome.results.gaps.push(Gap {
            measure: Some(measure.id.value.clone()),
            subject: None,
            parameters: parameters.clone(),
            reason: why.to_string(),
            cause: Cause::Missing,
        });
    }
}

fn stage(words: Vec<String>, measure: &Measure, scope: &Scope<'_>) -> Job {
    Job {
        words,
        directory: scope.folders.here.clone(),
        variables: Vec::new(),
        input: None,
        output: Sink::Null,
        timeout: measure.timeout,
    }
}

fn pipe_plan(jobs: &[Job], amount: Amount, verb: &Verb) -> Result<PipePlan, ConductError> {
    let found: Result<_, MeasureError> = jobs.iter().map(verb::find).collect();
    Ok(PipePlan {
        stages: Stages::of(found?)?,
        rounds: Some(verb::count(amount.rounds)),
        observed_rounds: None,
        observe_by: ObserveBy::Best,
        delays: None,
        inputs: Some(Inputs::default()),
        seed: fresh_seed(),
        ignore_failure: false,
        record: Some(verb.path.clone()),
        terms: verb.terms(jobs.iter()),
    })
}

/// Runs the probes of this machine.
pub fn machine(measure: &Measure, amount: Amount, folders: &Folders) -> Yield {
    let mut session = Session::new(folders, amount);
    let read = session.call(&measure.id.value, |verb| {
        let plan = MachinePlan {
            probes: match measure.full {
                true => Probes::Full,
                false => Probes::Default,
            },
            directory: None,
            deadline: amount.deadline,
        };
        let record = fathom_conduct::machine(&plan, &mut unwatched);
        verb.write(&record)?;
        Ok(record.results)
    });
    let read = read.and_then(|results| records::machine(&results, &measure.id.value));
    match read {
        Ok((samples, without)) => {
            session.outcome.results.samples = samples;
            for (id, why) in without {
                // A probe without a result is listed by its metric, so that claims about it can state the
                // reason.
                session.outcome.results.samples.push(Samples {
                    measure: measure.id.value.clone(),
                    metric: id.clone(),
                    subject: None,
                    parameters: Vec::new(),
                    unit: String::new(),
                    values: Vec::new(),
                    exact: true,
                    primary: false,
                    is_share: false,
                });
                session.outcome.notes.push(format!("{id}: {why}"));
            }
        }
        Err(why) => session.gap(measure, None, &Vec::new(), &why),
    }
    session.outcome
}
