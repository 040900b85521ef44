//! Records of `fathom startup` for tests.
#![allow(dead_code)]

use super::fingerprinted::fingerprint;
use fathom_model::{
    Agreement, Budget, BudgetResult, ByCore, Cache, ColdBy, ColdEvidence, Environment, Estimate,
    EvictedFile, Exit, FailedLookup, MoreRounds, PhaseTime, SCHEMA_VERSION, StampedBy,
    StartupComparison, StartupConditions, StartupMetric, StartupPhase, StartupProgram,
    StartupRecord, StartupRun, StartupSummary, StartupTrace, StopReason, Verdict, Warning,
};

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.98,
        high: value * 1.03,
        level: 0.95,
    }
}

pub(crate) fn run(program: usize, round: u32, cache: Cache) -> StartupRun {
    let first = 500_000 * (program as u64 + 1) + u64::from(round) * 1000;
    StartupRun {
        program,
        round,
        position: round,
        cache,
        first_output_ns: Some(first),
        first_output_by: Some(StampedBy::Watch),
        first_output_uncertainty_ns: Some(3_000),
        exit_ns: first + 40_000,
        exit_corrected: true,
        output_bytes: 14,
        run_queue_wait_ns: Some(1000),
        throttled_ns: Some(0),
        wait_is_exact: true,
        cpu_ns: 400_000,
        minor_faults: 97,
        major_faults: u64::from(cache == Cache::Cold) * 3,
        cpu: Some(1),
        cycles_per_addition: Some(0.23),
        read_bytes: Some(u64::from(cache == Cache::Cold) * 230_000),
        void: false,
        left_behind: 0,
        exit: Exit::Code(0),
    }
}

fn summary(program: usize, cache: Cache, metric: StartupMetric) -> StartupSummary {
    let ms = 0.0005 * (program as f64 + 1.0);
    StartupSummary {
        program,
        cache,
        metric,
        runs: 20,
        void_runs: 0,
        floor: ms,
        p50: estimate(ms * 1.1),
        p90: ms * 1.4,
        p99: ms * 2.0,
        max: ms * 7.0,
        by_core: Some(ByCore {
            alone_runs: 20,
            alone_p50: Some(estimate(ms * 1.1)),
            shared_runs: 0,
            shared_p50: None,
        }),
    }
}

fn program(name: &str, ran: &[&str]) -> StartupProgram {
    StartupProgram {
        name: name.to_string(),
        command: name.to_string(),
        arguments: vec![name.to_string()],
        ran: ran.iter().map(std::string::ToString::to_string).collect(),
    }
}

/// Two programs, warm and cold, traced, with a budget that is exceeded.
pub(crate) fn full() -> StartupRecord {
    let mut runs = Vec::new();
    let mut summaries = Vec::new();
    for program in 0..2 {
        for cache in [Cache::Warm, Cache::Cold] {
            runs.extend((0..20).map(|round| run(program, round, cache)));
            for metric in [StartupMetric::FirstOutput, StartupMetric::Exit] {
                summaries.push(summary(program, cache, metric));
            }
        }
    }
    let phase = |phase, ns| PhaseTime { phase, ns };
    StartupRecord {
        schema_version: SCHEMA_VERSION,
        kind: "startup".to_string(),
        fathom_version: "0.1.0".to_string(),
        started_at: "2026-11-21T09:00:00Z".to_string(),
        environment: Environment {
            fingerprint: Some(fingerprint()),
            kernel: "Linux 6.18".to_string(),
            architecture: "x86_64".to_string(),
            cpu_model: Some("A processor".to_string()),
            cpus: 2,
            memory_bytes: Some(1 << 33),
            host: Some("host".to_string()),
            governor: Some("performance".to_string()),
            virtual_machine: Some(true),
            load_average: Some(0.1),
        },
        conditions: StartupConditions {
            seed: 7,
            warmup_rounds: 3,
            rounds: 20,
            pinned_cpus: Some(vec![1]),
            timeout_seconds: Some(10.0),
            margin: 0.01,
            cold_by: Some(ColdBy::Evict),
            watching_cpus: vec![0],
        },
        programs: vec![
            program("./hello-c", &["/home/me/hello-c"]),
            program("./hello", &["/home/me/hello", "/usr/bin/dash"]),
        ],
        runs,
        complete: true,
        stop: StopReason::RunCount,
        summaries,
        comparisons: vec![StartupComparison {
            reference: 0,
            subject: 1,
            cache: Cache::Warm,
            metric: StartupMetric::FirstOutput,
            rounds: 20,
            ratio: estimate(2.0),
            p_value: 1e-6,
            verdict: Verdict::Slower,
            more_rounds: Some(MoreRounds(12)),
        }],
        floor: Some(estimate(0.0001)),
        traces: vec![StartupTrace {
            program: 0,
            tier: "kernel".to_string(),
            runs: 5,
            phases: vec![
                phase(StartupPhase::Exec, 148_000),
                phase(StartupPhase::Loader, 300_000),
                phase(StartupPhase::RuntimeAndMain, 41_000),
                phase(StartupPhase::FirstWrite, 7_000),
                phase(StartupPhase::Exit, 10_000),
            ],
            libraries: vec!["/lib/ld-linux-x86-64.so.2".into(), "/lib/libc.so.6".into()],
            files: vec!["/etc/ld.so.cache".to_string()],
            failed_lookups: 1,
            missing: vec![FailedLookup {
                path: "/etc/ld.so.preload".to_string(),
                call: "access".to_string(),
                calls: 1,
            }],
            bytes_read: 2400,
            minor_faults: 97,
            major_faults: 0,
            slowdown: Some(1.06),
            slowdown_metric: Some(StartupMetric::FirstOutput),
            agreement: Some(Agreement {
                pairs: vec![(520_000, 500_000), (531_000, 500_000)],
                median_difference_ns: 20_000,
                largest_difference_ns: 31_000,
            }),
            not_visible: vec!["what happens in mapped files".to_string()],
            findings: Vec::new(),
        }],
        cold: vec![ColdEvidence {
            program: 0,
            found_by: "kernel".to_string(),
            files: vec![
                EvictedFile {
                    path: "/lib/libc.so.6".to_string(),
                    pages: 471,
                    pages_left: Some(471),
                    refused: None,
                    mapped_by: vec!["bash".to_string(), "sshd".to_string()],
                },
                EvictedFile {
                    path: "/secret".to_string(),
                    pages: 1,
                    pages_left: None,
                    refused: Some("Permission denied".to_string()),
                    mapped_by: Vec::new(),
                },
            ],
            bytes: 2_100_000,
        }],
        budget: Some(Budget {
            seconds: 0.000_6,
            quantile: "p90".to_string(),
            results: vec![
                BudgetResult {
                    program: 0,
                    cache: Cache::Warm,
                    metric: StartupMetric::FirstOutput,
                    seconds: Some(0.000_55),
                    held: true,
                },
                BudgetResult {
                    program: 1,
                    cache: Cache::Cold,
                    metric: StartupMetric::FirstOutput,
                    seconds: None,
                    held: false,
                },
            ],
            held: false,
        }),
        warnings: vec![Warning {
            id: "left_behind".to_string(),
            benchmark: Some(1),
            message: "1 of 20 runs left processes running".to_string(),
        }],
    }
}

/// One silent program that could not be observed, in a run that was cut short.
pub(crate) fn sparse() -> StartupRecord {
    let mut record = full();
    record.programs.truncate(1);
    record.programs[0].ran.clear();
    record.runs = vec![StartupRun {
        first_output_ns: None,
        first_output_by: None,
        first_output_uncertainty_ns: None,
        read_bytes: None,
        ..run(0, 0, Cache::Warm)
    }];
    record.summaries.retain(|summary| {
        summary.program == 0
            && summary.cache == Cache::Warm
            && summary.metric == StartupMetric::Exit
    });
    record.comparisons.clear();
    record.traces.clear();
    record.cold.clear();
    record.budget = None;
    record.floor = None;
    record.complete = false;
    record.stop = StopReason::Interrupted;
    record.conditions.cold_by = None;
    record
}

/// A name that could affect a terminal or end an element of a page.
pub(crate) const NASTY: &str = "</title><script>alert(1)</script>\"'&\x1b[2J\u{202e}\nnext";

/// The full record with every untrusted text made hostile.
pub(crate) fn hostile() -> StartupRecord {
    let mut record = full();
    for program in &mut record.programs {
        program.name = NASTY.to_string();
        program.command = NASTY.to_string();
        program.ran = vec![NASTY.to_string()];
    }
    let trace = &mut record.traces[0];
    trace.libraries = vec![NASTY.to_string()];
    trace.files = vec![NASTY.to_string()];
    trace.missing[0].path = NASTY.to_string();
    record.cold[0].files[0].path = NASTY.to_string();
    record.cold[0].files[0].mapped_by = vec![NASTY.to_string()];
    record.warnings[0].message = NASTY.to_string();
    record
}
