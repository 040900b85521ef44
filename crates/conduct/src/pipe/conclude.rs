//! Turns rounds into the record: medians, the bottleneck, and warnings about anything misleading.

use fathom_diagnose::pipeline::modelled::{self, Known, Phases};
use fathom_diagnose::pipeline::{ObservedRound, summarize};
use fathom_measure::pipeline::{self, PipePlan, PipeSession};
use fathom_model::{
    DelayedRounds, PipeBytesFrom, PipeConditions, PipeExplaining, PipeModel, PipeRecord, PipeRound,
    PipeSummary, SCHEMA_VERSION, StageSummary, StagedInput, StopReason,
};
use fathom_trace::Tier;

use super::Stages;
use super::observe::Observed;
use crate::fingerprint;

/// Returns the record as it is before anything is measured. If it is left unchanged, it says that measuring
/// was cut short.
pub(super) fn begun(plan: &PipePlan, stages: &Stages, started_at: String) -> PipeRecord {
    let count = stages.described.len();
    PipeRecord {
        schema_version: SCHEMA_VERSION,
        kind: "pipe".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at,
        environment: fingerprint::environment(),
        conditions: PipeConditions {
            seed: plan.seed,
            warmup_rounds: 1,
            pinned_cpus: (!plan.pin.is_empty()).then(|| plan.pin.clone()),
            timeout_seconds: plan.timeout.map(|limit| limit.as_secs_f64()),
            shell: stages.shell.clone(),
            input: stages.input.clone(),
            output: stages.output.clone(),
            pipe_capacity_bytes: pipeline::capacity(),
        },
        stages: stages.described.clone(),
        rounds: Vec::new(),
        explained: Vec::new(),
        explaining: None,
        staged: Vec::new(),
        alone: Vec::new(),
        summary: summarize(&[], &[], count),
        bottleneck: None,
        model: None,
        delayed: plan.delays.as_ref().map(|delays| DelayedRounds {
            delay_ns: delays.iter().map(|delay| delay.as_nanos() as u64).collect(),
            rounds: Vec::new(),
            explained: Vec::new(),
            summary: summarize(&[], &[], count),
        }),
        notes: Vec::new(),
        complete: false,
        stop: StopReason::Interrupted,
    }
}

/// All measurements.
pub(super) struct Parts<'a> {
    pub plan: &'a PipePlan,
    /// The record from [`begun`].
    pub record: PipeRecord,
    pub session: PipeSession,
    pub observed: Observed,
    pub interrupted: bool,
}

/// Returns the record with everything that follows from the rounds, except its notes.
pub(super) fn conclude(parts: Parts<'_>) -> PipeRecord {
    let Parts {
        plan,
        record,
        session,
        observed,
        interrupted,
    } = parts;
    let count = record.stages.len();
    let mut summary = summarize(&session.rounds, &session.alone, count);
    let explaining = explaining(&observed, &summary);
    let middle = middle(&observed.rounds);
    fill_bytes(&mut summary, middle.map(|one| &one.round), &session.staged);
    let (model, own) = model(plan, &observed, &summary);
    let delayed = record.delayed.map(|begun| {
        let mut summary = summarize(&session.delayed, &[], count);
        let middle = self::middle(&observed.delayed);
        fill_bytes(&mut summary, middle.map(|one| &one.round), &[]);
        DelayedRounds {
            delay_ns: begun.delay_ns,
            rounds: session.delayed,
            explained: sorted(observed.delayed),
            summary,
        }
    });
    let stop = match session.stop {
        _ if interrupted => StopReason::Interrupted,
        stop => stop,
    };
    PipeRecord {
        rounds: session.rounds,
        explained: sorted(observed.rounds),
        explaining,
        staged: session.staged,
        alone: session.alone,
        bottleneck: model
            .as_ref()
            .and_then(|model| modelled::bottleneck(model, &own, summary.wall.value)),
        model,
        summary,
        delayed,
        complete: stop != StopReason::Interrupted,
        stop,
        ..record
    }
}

/// Returns the observed round with the median wall time.
fn middle(rounds: &[ObservedRound]) -> Option<&ObservedRound> {
    let mut order: Vec<&ObservedRound> = rounds.iter().collect();
    order.sort_by_key(|one| one.round.wall_ns);
    order.get(order.len().saturating_sub(1) / 2).copied()
}

/// Returns the observed rounds. The one with the median wall time comes first, because it is the one shown.
fn sorted(rounds: Vec<ObservedRound>) -> Vec<PipeRound> {
    let shown = middle(&rounds).map(|one| one.round.clone());
    let mut all: Vec<PipeRound> = rounds.into_iter().map(|one| one.round).collect();
    if let Some(at) = all.iter().position(|round| Some(round) == shown.as_ref()) {
        all.swap(0, at);
    }
    all
}

fn explaining(observed: &Observed, summary: &PipeSummary) -> Option<PipeExplaining> {
    let Some(shown) = middle(&observed.rounds) else {
        return (!observed.why_not.is_empty()).then(|| PipeExplaining {
            tier: "accounts".to_string(),
            slowdown: 1.0,
            times_are_quoted: false,
            not_visible: observed.why_not.clone(),
            lost: Vec::new(),
        });
    };
    let timed = summary.wall.value.max(1e-9);
    let slowdown = shown.round.wall_ns as f64 / 1e9 / timed;
    let mut not_visible = shown.not_visible.clone();
    not_visible.extend(observed.why_not.iter().cloned());
    Some(PipeExplaining {
        tier: observed.tier.map_or("accounts", Tier::name).to_string(),
        slowdown,
        times_are_quoted: fathom_diagnose::is_quotable(slowdown),
        not_visible,
        lost: shown.lost.clone(),
    })
}

/// Fills in the byte counts from the trace, or otherwise from the staging round.
fn fill_bytes(summary: &mut PipeSummary, traced: Option<&PipeRound>, staged: &[StagedInput]) {
    for (index, stage) in summary.stages.iter_mut().enumerate() {
        let run = traced.map(|round| &round.stages[index]);
        if let Some(run) = run
            && (run.bytes_in.is_some() || run.bytes_out.is_some())
        {
            stage.bytes_in = run.bytes_in;
            stage.bytes_out = run.bytes_out;
            stage.bytes_from = Some(PipeBytesFrom::Trace);
            continue;
        }
        let input = staged.iter().find(|input| input.stage == index);
        let output = staged.iter().find(|input| input.stage == index + 1);
        stage.bytes_in = input.map(|input| input.bytes_taken);
        stage.bytes_out = output.map(|output| output.bytes_written);
        stage.bytes_from = (input.is_some() || output.is_some()).then_some(PipeBytesFrom::Staging);
    }
}

/// Returns the model, and each stage's own time in seconds.
fn model(
    plan: &PipePlan,
    observed: &Observed,
    summary: &PipeSummary,
) -> (Option<PipeModel>, Vec<f64>) {
    let cpus = match plan.pin.len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        pinned => pinned,
    };
    let cpu: Vec<f64> = summary.stages.iter().map(|stage| stage.cpu.value).collect();
    let shown = middle(&observed.rounds);
    let phases: Vec<Phases> = shown.map_or(Vec::new(), |one| {
        let phases = one.phases.iter().zip(&cpu);
        phases
            .map(|(phases, cpu)| phases.scaled(without_observing(phases, *cpu)))
            .collect()
    });
    let own: Vec<f64> = match shown {
        Some(_) if !phases.is_empty() => phases.iter().map(|phases| phases.whole).collect(),
        Some(one) => one.own_ns.iter().map(|ns| *ns as f64 / 1e9).collect(),
        None => {
            let alone = summary
                .stages
                .iter()
                .map(|stage| stage.alone.map(|a| a.value));
            match alone.collect::<Option<Vec<f64>>>() {
                Some(alone) => alone,
                None => return (None, Vec::new()),
            }
        }
    };
    let least: Vec<f64> = summary.stages.iter().zip(&own).map(least).collect();
    let known = Known {
        measured: summary.wall.value,
        cpus,
        least: &least,
    };
    let model = match phases.is_empty() {
        false => modelled::by_phases(&phases, &known),
        true => modelled::by_own_times(&own, &cpu, &known),
    };
    (Some(model), own)
}

/// Returns the minimum time, in seconds, of a pipeline with this stage. It is the larger of two times: the
/// stage's own time, and its time when run alone, capped at its time in the pipeline.
fn least((summary, own): (&StageSummary, &f64)) -> f64 {
    let alone = summary.alone.map_or(0.0, |alone| alone.value);
    own.max(alone.min(summary.wall.value))
}

/// Returns the part of a stage's own time that remains after subtracting the CPU time added by observing.
fn without_observing(phases: &Phases, cpu: f64) -> f64 {
    let added = (phases.cpu - cpu).clamp(0.0, phases.whole * 0.9);
    match phases.whole > 0.0 {
        true => (phases.whole - added) / phases.whole,
        false => 1.0,
    }
}
