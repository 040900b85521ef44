//! Records of `bench` match their schema.

mod fingerprinted;
mod schemas;
mod support;

use fathom_model::{BenchRecord, Exit, InputFrom, MoreRounds, OutputTo, StopReason, Verdict};
use fingerprinted::fingerprint;
use schemas::{assert_fits, assert_refused};
use serde_json::Value;
use support::program::Program;
use support::{outcome_of, session, warning};

/// Records that together use every key and every alternative.
fn records() -> Vec<BenchRecord> {
    let failing = vec![(1, Exit::Signal(9)), (2, Exit::TimedOut)];
    let program = Program {
        failing,
        ..Program::new("seq 1000", 0.002)
    };
    let mut full = session(
        &[
            program,
            Program::new("seq 2000", 0.004),
            Program::new("seq 2001", 0.004),
        ],
        8,
    );
    full.conditions.pinned_cpus = Some(vec![1]);
    full.benchmarks[0].parameters = vec![("n".into(), "1000".into())];
    full.benchmarks[0].arguments_bytes = Some(vec![b"seq".to_vec(), vec![0xff]]);
    full.benchmarks[0].environment_variables = vec![("A".into(), "1".into())];
    full.benchmarks[0].input = InputFrom::File("in".into());
    full.benchmarks[0].output = OutputTo::File("out".into());
    full.benchmarks[1].output = OutputTo::Pipe;
    full.benchmarks[2].output = OutputTo::Inherit;
    full.runs[0].io = None;
    full.runs[0].throttled_ns = Some(5_000_000);
    full.environment.fingerprint = Some(fingerprint());
    let warmup = full.runs[1].clone();
    let outcome = outcome_of(&mut full);
    outcome.warnings = vec![warning(Some(0), "two_modes", "two modes")];
    outcome.notes = vec![warning(Some(1), "steal", "CPU steal in 1 run")];
    outcome.warmups = vec![warmup];
    let mut records = Vec::new();
    for verdict in [
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Same,
        Verdict::Undecided,
    ] {
        let mut record = full.clone();
        let comparison = &mut outcome_of(&mut record).comparisons[0];
        comparison.verdict = verdict;
        comparison.more_rounds = (verdict == Verdict::Undecided).then_some(MoreRounds(12));
        records.push(record);
    }
    for stop in [
        StopReason::RunCount,
        StopReason::Decided,
        StopReason::Precise,
        StopReason::TimeBudget,
        StopReason::MaximumRounds,
        StopReason::Interrupted,
        StopReason::Failed,
    ] {
        let mut record = full.clone();
        outcome_of(&mut record).stop = stop;
        outcome_of(&mut record).floor = None;
        records.push(record);
    }
    let mut unfinished = session(&[Program::new("true", 0.001)], 1);
    unfinished.benchmarks[0].output = OutputTo::Null;
    unfinished.outcome = None;
    unfinished.complete = false;
    records.push(unfinished);
    records
}

#[test]
fn every_record_fits_the_schema() {
    let values = records()
        .into_iter()
        .map(|record| serde_json::to_value(&record).expect("a record is JSON"));
    assert_fits("bench", values);
}

#[test]
fn what_does_not_fit_is_refused() {
    let value = serde_json::to_value(&records()[0]).expect("a record is JSON");
    let spoil: [&dyn Fn(&mut Value); 4] = [
        &|value| value["extra"] = Value::Bool(true),
        &|value| value["runs"][0]["wall_ns"] = Value::from(-1),
        &|value| value["outcome"]["comparisons"][0]["verdict"] = Value::from("better"),
        &|value| {
            drop(
                value
                    .as_object_mut()
                    .and_then(|object| object.remove("complete")),
            );
        },
    ];
    assert_refused("bench", &value, &spoil);
}
