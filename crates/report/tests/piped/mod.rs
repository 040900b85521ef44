//! A record of `pipe` for tests: a slow writer, a compressor, a counter.

use super::fingerprinted::fingerprint;
use fathom_model::{
    AloneRuns, DelayedRounds, Environment, Estimate, Exit, InputFrom, IoCounts, OutputTo,
    PipeBytesFrom, PipeConditions, PipeExplaining, PipeModel, PipeRecord, PipeRound, PipeStage,
    PipeState, PipeStretch, PipeSummary, SCHEMA_VERSION, StageRun, StageSummary, StagedInput,
    StopReason, WhatIf,
};

/// A millisecond in nanoseconds.
pub(crate) const MS: u64 = 1_000_000;

fn estimate(seconds: f64) -> Estimate {
    Estimate {
        value: seconds,
        low: seconds * 0.98,
        high: seconds * 1.02,
        level: 0.95,
    }
}

/// A stage that ran from 0 to `end` milliseconds.
pub(crate) fn run(end: u64) -> StageRun {
    StageRun {
        cpu_ns: 10 * MS,
        peak_memory_bytes: 1 << 20,
        ..StageRun::unobserved(0, end * MS, Exit::Code(0))
    }
}

fn seen(end: u64, waits: [u64; 3], stretches: &[(u64, u64, PipeState)]) -> StageRun {
    let [input, reader, other] = waits.map(|ms| ms * MS);
    StageRun {
        first_in_ns: Some(end / 2 * MS),
        last_in_ns: Some((end - 1) * MS),
        first_out_ns: Some(end / 2 * MS),
        running_ns: Some(end * MS - input - reader - other),
        wait_input_ns: Some(input),
        wait_output_ns: Some(reader),
        other_wait_ns: Some(other),
        no_cpu_ns: Some(0),
        bytes_in: Some(1000),
        bytes_out: Some(1000),
        stretches: stretches
            .iter()
            .map(|(from, to, state)| PipeStretch {
                from_ns: from * MS,
                to_ns: to * MS,
                state: *state,
            })
            .collect(),
        ..run(end)
    }
}

/// The observed round.
pub(crate) fn observed() -> PipeRound {
    PipeRound {
        wall_ns: 102 * MS,
        stages: vec![
            StageRun {
                first_in_ns: None,
                last_in_ns: None,
                bytes_in: None,
                ..seen(
                    100,
                    [0, 30, 60],
                    &[
                        (0, 60, PipeState::OtherWait),
                        (60, 90, PipeState::WaitingForReader),
                        (90, 100, PipeState::Running),
                    ],
                )
            },
            seen(
                101,
                [60, 0, 1],
                &[
                    (0, 60, PipeState::WaitingForInput),
                    (60, 99, PipeState::Running),
                    (99, 101, PipeState::NoCpu),
                ],
            ),
            StageRun {
                first_out_ns: None,
                bytes_out: None,
                ..seen(
                    102,
                    [95, 0, 0],
                    &[
                        (0, 95, PipeState::WaitingForInput),
                        (95, 102, PipeState::Running),
                    ],
                )
            },
        ],
        left_behind: 0,
    }
}

fn timed() -> PipeRound {
    let io = IoCounts {
        read_bytes: 5000,
        ..IoCounts::default()
    };
    PipeRound {
        wall_ns: 102 * MS,
        stages: [100, 101, 102]
            .map(|end| StageRun {
                io: Some(io),
                ..run(end)
            })
            .to_vec(),
        left_behind: 0,
    }
}

fn stage_summary(wall: f64, alone: f64) -> StageSummary {
    StageSummary {
        start: estimate(0.0),
        end: estimate(wall),
        wall: estimate(wall),
        cpu: estimate(0.01),
        alone: Some(estimate(alone)),
        bytes_in: Some(1000),
        bytes_out: Some(1000),
        bytes_from: Some(PipeBytesFrom::Trace),
        exit: Exit::Code(0),
        failures: 0,
        sigpipes: 0,
    }
}

fn summary() -> PipeSummary {
    PipeSummary {
        wall: estimate(0.102),
        stages: vec![
            stage_summary(0.100, 0.070),
            stage_summary(0.101, 0.040),
            stage_summary(0.102, 0.005),
        ],
    }
}

/// `./produce | gzip -1 | wc -c`, observed in the kernel.
pub(crate) fn record() -> PipeRecord {
    let stages = [
        ("produce", "./produce"),
        ("gzip", "gzip -1"),
        ("wc", "wc -c"),
    ];
    PipeRecord {
        schema_version: SCHEMA_VERSION,
        kind: "pipe".to_string(),
        fathom_version: "0.1.0".to_string(),
        started_at: "2026-11-21T08:00:00Z".to_string(),
        environment: Environment {
            kernel: "Linux 6.18".to_string(),
            architecture: "x86_64".to_string(),
            cpus: 2,
            fingerprint: Some(fingerprint()),
            ..Environment::default()
        },
        conditions: PipeConditions {
            seed: 7,
            warmup_rounds: 1,
            pinned_cpus: None,
            timeout_seconds: None,
            shell: None,
            input: InputFrom::Null,
            output: OutputTo::Null,
            pipe_capacity_bytes: 65_536,
        },
        stages: stages
            .map(|(name, command)| PipeStage {
                name: name.to_string(),
                command: command.to_string(),
                arguments: command.split(' ').map(str::to_string).collect(),
                working_directory: None,
            })
            .to_vec(),
        rounds: vec![timed(); 5],
        explained: vec![observed()],
        explaining: Some(PipeExplaining {
            tier: "kernel".to_string(),
            slowdown: 1.02,
            times_are_quoted: true,
            not_visible: vec!["work without calls".to_string()],
            lost: Vec::new(),
        }),
        staged: (1..3)
            .map(|stage| StagedInput {
                stage,
                bytes_written: 1000,
                bytes_taken: 1000,
                file: None,
                not_kept: None,
            })
            .collect(),
        alone: (0..3)
            .map(|stage| AloneRuns {
                stage,
                wall_ns: vec![40 * MS; 5],
                cpu_ns: vec![10 * MS; 5],
                read_bytes: Some(1000),
                not_run: None,
            })
            .collect(),
        summary: summary(),
        bottleneck: Some(0),
        model: Some(PipeModel {
            method: "phases".to_string(),
            as_is_seconds: 0.1,
            if_free: (0..3)
                .map(|stage| WhatIf {
                    stage,
                    wall_seconds: [0.044, 0.080, 0.101][stage],
                })
                .collect(),
        }),
        delayed: None,
        notes: Vec::new(),
        complete: true,
        stop: StopReason::RunCount,
    }
}

/// Like [`record`], with the second stage 200 ms late.
pub(crate) fn delayed() -> PipeRecord {
    let mut record = record();
    let mut summary = summary();
    summary.wall = estimate(0.25);
    summary.stages[0].end = estimate(0.24);
    summary.stages[1].wall = estimate(0.045);
    record.delayed = Some(DelayedRounds {
        delay_ns: vec![0, 200 * MS, 0],
        rounds: vec![timed(); 5],
        explained: vec![observed()],
        summary,
    });
    record
}

/// Characters that a name should not contain.
#[allow(dead_code)] // not every test file needs it
pub(crate) const EVIL: &str = "</title><script>alert(1)</script>\"'&\u{202e}\x1b[31m";

/// Inserts [`EVIL`] into every text of the record.
#[allow(dead_code)] // as above
pub(crate) fn spoil(record: &mut PipeRecord) {
    let evil = EVIL;
    for stage in &mut record.stages {
        stage.name = evil.to_string();
        stage.command = evil.to_string();
    }
    for alone in &mut record.alone {
        alone.not_run = Some(evil.to_string());
    }
    for staged in &mut record.staged {
        staged.file = Some(evil.to_string());
    }
    if let Some(explaining) = &mut record.explaining {
        explaining.not_visible = vec![evil.to_string()];
        explaining.lost = vec![evil.to_string()];
    }
}
