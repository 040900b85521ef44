//! Records of `fathom serve` for tests.
#![allow(dead_code)]

use fathom_test_browser::hostile::{MARKUP, names};
use std::collections::BTreeMap;

use super::fingerprinted::fingerprint;
use fathom_model::{
    AccountPart, CallRow, ColdStart, Doubt, Environment, Estimate, FunctionShare, HighestRate,
    Launch, ListeningBy, LoadResult, LoadRound, LoadSecond, MoreRounds, OwnCode, Percentiles,
    RampLimit, RampResult, RampWindow, SCHEMA_VERSION, ServeBudget, ServeComparison,
    ServeConditions, ServeMetric, ServeRecord, ServedServer, ServerCalls, ServerWhy, SlowLaunch,
    Spread, StopReason, TimeAccount, TimeCategory, TriedRate, Verdict, Warning, WebSocketClient,
    WebSocketLink, WebSocketResult, WebSocketRound,
};

pub(crate) mod stalling;

fn estimate(value: f64) -> Estimate {
    Estimate {
        value,
        low: value * 0.97,
        high: value * 1.04,
        level: 0.95,
    }
}

fn spread(ms: f64) -> Spread {
    Spread {
        min: ms * 0.9,
        p50: ms,
        p90: ms * 1.2,
        p95: Some(ms * 1.4),
        p99: None,
        max: ms * 1.9,
    }
}

fn launch(position: u32, ready_ms: f64, slow: Option<SlowLaunch>) -> Launch {
    Launch {
        position,
        evicted: false,
        exec_ms: 0.4,
        listening_ms: Some(ready_ms * 0.8),
        listening_by: Some(ListeningBy::Kernel),
        listening_uncertainty_us: Some(0.0),
        accepted_ms: ready_ms * 0.81,
        secured_ms: None,
        first_byte_ms: ready_ms * 0.98,
        ready_ms,
        cpu_ms: ready_ms * 0.9,
        run_queue_wait_ms: 0.1,
        read_bytes: 0,
        major_faults: 0,
        answers_before: 0,
        stop_ms: 1.2,
        killed: 0,
        slow,
    }
}

fn cold(ms: f64, by: Option<ListeningBy>) -> ColdStart {
    let causes = [
        None,
        Some(SlowLaunch::WaitedForCpu),
        Some(SlowLaunch::WaitedForDisk),
        Some(SlowLaunch::WorkedLonger),
        Some(SlowLaunch::Other),
    ];
    let runs = causes.into_iter().enumerate();
    ColdStart {
        launches: 30,
        exec_ms: spread(0.4),
        listening_ms: by.map(|_| spread(ms * 0.8)),
        listening_by: by,
        listening_uncertainty_us: by.map(|_| 0.0),
        accepted_ms: spread(ms * 0.81),
        secured_ms: None,
        first_byte_ms: spread(ms * 0.98),
        ready_ms: spread(ms),
        ready_median_ms: estimate(ms),
        cpu_ms: spread(ms * 0.9),
        stop_ms: spread(1.2),
        waited_for_cpu: 1,
        waited_for_disk: 1,
        worked_longer: 1,
        slow_otherwise: 1,
        runs: runs
            .map(|(index, why)| launch(index as u32, ms * (1.0 + 0.3 * index as f64), why))
            .collect(),
    }
}

fn percentiles(p50: f64) -> Percentiles {
    Percentiles {
        mean: Some(p50 * 1.1),
        p50: Some(p50),
        p90: Some(p50 * 1.5),
        p95: Some(p50 * 2.0),
        p99: Some(p50 * 4.0),
        p999: None,
        max: Some(p50 * 20.0),
    }
}

fn load(connections: u32, rate: Option<f64>, per_second: f64) -> LoadResult {
    LoadResult {
        connections,
        rate_per_second: rate,
        arrivals: rate.map(|_| "constant".to_string()),
        requests_per_second: per_second,
        requests_per_second_interval: estimate(per_second),
        scheduled: 15_000,
        completed: 15_000,
        dropped: 0,
        errors: 0,
        errors_by_kind: BTreeMap::new(),
        response_ms: percentiles(f64::from(connections) / per_second * 1e3),
        service_ms: percentiles(f64::from(connections) / per_second * 1e3),
        generator_lag_us: percentiles(18.0),
        connect_ms: percentiles(0.04),
        handshake_ms: None,
        waited_for_connection: 0,
        most_waiting: 0,
        little: Some(0.998),
        server_cpu_us_per_request: Some(47.0),
        generator_cpu_us_per_request: 8.1,
        generator_cpu_share: 0.31,
        server_cpus_used: Some(0.99),
        server_peak_memory_bytes: Some(21_000_000),
        server_threads: Some(2),
        server_voluntary_switches_per_request: Some(0.4),
        server_involuntary_switches_per_request: Some(0.01),
        reconnects: 0,
        other_bodies: 0,
        received_bytes: 2_700_000,
        verdicts: Vec::new(),
        rounds: vec![LoadRound {
            round: 0,
            position: 3,
            requests_per_second: per_second,
            p50_ms: Some(0.7),
            p90_ms: Some(1.2),
            p95_ms: Some(1.7),
            p99_ms: Some(2.9),
            server_cpu_us_per_request: Some(47.0),
            generator_cpu_us_per_request: 8.1,
            generator_cpu_share: 0.31,
            server_cpus_used: Some(0.99),
            neighbours_share: 0.14,
            errors: 0,
        }],
        seconds: vec![LoadSecond {
            round: 0,
            second: 0,
            failed: 0,
            histogram_ns: vec![(700_000, 4000), (3_000_000, 12)],
        }],
        histogram_ns: vec![(700_000, 14_900), (3_000_000, 100)],
    }
}

fn server(name: &str, ms: f64, per_second: f64) -> ServedServer {
    ServedServer {
        name: name.to_string(),
        arguments: vec!["python3".to_string(), "app.py".to_string()],
        address: Some("127.0.0.1:40123".to_string()),
        status: Some(200),
        body_bytes: Some(13),
        cold: Some(cold(ms, Some(ListeningBy::Kernel))),
        cold_evicted: None,
        load: vec![
            load(1, None, per_second * 0.6),
            load(16, None, per_second),
            load(64, Some(per_second * 0.7), per_second * 0.7),
        ],
        calls: Some(ServerCalls {
            connections: 64,
            rate_per_second: Some(1490.0),
            requests: 1490,
            per_request: Some(4.02),
            why_not: None,
        }),
        highest_rate: None,
        ramp: None,
        websocket: Vec::new(),
        why: None,
    }
}

fn exchange(client: WebSocketClient, link: WebSocketLink, per_second: f64) -> WebSocketResult {
    WebSocketResult {
        client,
        link,
        extensions: (link == WebSocketLink::Echo).then(|| "permessage-deflate\x1b[2J".to_string()),
        message_bytes: 9,
        round_trips: 15_000,
        round_trips_per_second: per_second,
        round_trip_ms: percentiles(1e3 / per_second),
        messages: 30_000,
        other_messages: 0,
        server_cpu_us_per_round_trip: Some(52.0),
        verdicts: vec![Doubt::Neighbours],
        rounds: vec![WebSocketRound {
            round: 0,
            round_trips_per_second: per_second,
            p50_ms: Some(1e3 / per_second),
            server_cpu_us_per_round_trip: Some(52.0),
            neighbours_share: 0.3,
        }],
    }
}

/// Two servers measured by WebSocket.
pub(crate) fn websocket() -> ServeRecord {
    let mut record = full();
    (record.comparisons, record.budget, record.warnings) = (Vec::new(), Vec::new(), Vec::new());
    let links = [WebSocketLink::Relay, WebSocketLink::Echo];
    for (server, link) in record.servers.iter_mut().zip(links) {
        server.load.clear();
        (server.cold_evicted, server.highest_rate, server.why) = (None, None, None);
        server.websocket = vec![
            exchange(WebSocketClient::Blocking, link, 9_950.0),
            exchange(WebSocketClient::Spinning, link, 15_578.0),
        ];
    }
    record
}

/// A ramp of 16 windows, in which the server is overloaded from 1,200 requests per second on.
fn ramp_of(limit: &str) -> RampResult {
    let window = |place: u32| {
        let beyond = f64::from(place.saturating_sub(11));
        let ms = 1.2 + 90.0 * beyond;
        let scheduled = 100 * u64::from(place) + 50;
        let lost = if place < 14 { 0 } else { scheduled / 3 };
        RampWindow {
            from_per_second: 100.0 * f64::from(place),
            to_per_second: 100.0 * f64::from(place + 1),
            scheduled: 3 * scheduled,
            answered: 3 * (scheduled - lost),
            errors: 2 * lost,
            dropped: lost,
            response_ms: percentiles(ms),
            service_ms: percentiles(1.1),
            generator_lag_us: 11.0 + beyond,
            generator_late: place == 15,
            histogram_ns: vec![((ms * 1e6) as u64, 3 * (scheduled - lost))],
        }
    };
    let along = |limit: &str, left: Option<usize>, worst: Option<f64>| RampLimit {
        limit: limit.to_owned(),
        left_in: left,
        kept_up_to_per_second: worst.map(|_| left.map_or(1600.0, |left| 100.0 * left as f64)),
        kept_up_to_by_round: vec![Some(1100.0), Some(1200.0), Some(1300.0)],
        worst,
        not_judged: 1,
        broken_before: usize::from(left.is_some()),
    };
    RampResult {
        from_per_second: 0.0,
        to_per_second: 1600.0,
        seconds: 16.0,
        arrivals: "constant".to_owned(),
        connections: 64,
        rounds: 3,
        limits: vec![
            along(limit, Some(12), Some(1222.0)),
            along("p50=1s", None, Some(361.2)),
            along("p99.9=1s", None, None),
        ],
        verdicts: Vec::new(),
        windows: (0..16).map(window).collect(),
    }
}

/// One server under a growing rate.
pub(crate) fn ramp() -> ServeRecord {
    let mut record = plain();
    (record.comparisons, record.budget) = (Vec::new(), Vec::new());
    let server = &mut record.servers[0];
    server.load.clear();
    (server.calls, server.ramp) = (None, Some(ramp_of("p99=5ms")));
    record
}

/// Like [`ramp`], without a limit.
pub(crate) fn knee() -> ServeRecord {
    let mut record = ramp();
    let ramp = record.servers[0].ramp.as_mut().expect("it has one");
    ramp.limits.truncate(1);
    ramp.limits[0].limit = "knee".to_owned();
    record
}

/// One server, nothing remarkable.
pub(crate) fn plain() -> ServeRecord {
    ServeRecord {
        schema_version: SCHEMA_VERSION,
        kind: "serve".to_string(),
        fathom_version: "0.1.0".to_string(),
        started_at: "2026-11-25T23:00:00Z".to_string(),
        environment: Environment {
            kernel: "Linux 6.18".to_string(),
            architecture: "x86_64".to_string(),
            cpu_model: None,
            cpus: 2,
            memory_bytes: Some(1 << 34),
            host: None,
            governor: None,
            virtual_machine: Some(true),
            load_average: Some(0.1),
            fingerprint: Some(fingerprint()),
        },
        conditions: ServeConditions {
            seed: 40,
            launches: 30,
            rounds: 5,
            step_seconds: 3.0,
            warmup_seconds: 1.0,
            drain_seconds: 10.0,
            method: "GET".to_string(),
            paths: vec!["/".to_string()],
            headers: vec![("X-A".to_string(), "b".to_string())],
            body_bytes: 0,
            keep_alive: true,
            tls: false,
            http2_streams: None,
            request_timeout_seconds: 10.0,
            launch_timeout_seconds: 30.0,
            server_cpus: vec![0],
            generator_cpu: Some(1),
            generator_threads: 1,
            margin: 0.01,
        },
        servers: vec![server("python3 app.py {port}", 48.0, 2130.0)],
        comparisons: Vec::new(),
        budget: Vec::new(),
        warnings: Vec::new(),
        complete: true,
        stop: StopReason::RunCount,
    }
}

/// Returns the causes that `--why` adds.
fn why(rate_per_second: Option<f64>) -> ServerWhy {
    let part = |spent, ns| AccountPart { spent, ns };
    let call = |name: &str, calls, total_ns| CallRow {
        name: name.to_string(),
        calls,
        errors: 0,
        total_ns: Some(total_ns),
        blocked_ns: Some(0),
        bytes: 90,
    };
    ServerWhy {
        connections: 16,
        rate_per_second,
        tier: "kernel".to_string(),
        seconds: 3.0,
        requests_per_second: 1_500.0,
        account: TimeAccount {
            wall_ns: 3_000_000_000,
            parts: vec![
                part(TimeCategory::UserCode, 1_500_000_000),
                part(TimeCategory::KernelIo, 900_000_000),
                part(TimeCategory::WaitingForEvents, 600_000_000),
            ],
        },
        calls: vec![
            call("sendto", 4_500, 700_000_000),
            call("recvfrom", 4_512, 200_000_000),
            call("futex\u{1b}[2J", 90, 3_000_000),
        ],
        own_code: Some(OwnCode {
            period_ns: 3_989_000,
            samples: 376,
            functions: vec![FunctionShare {
                function: Some("_PyEval_EvalFrameDefault".to_string()),
                file: "/usr/bin/python3.11".to_string(),
                samples: 211,
                share: 0.56,
            }],
        }),
        not_visible: vec!["work without system calls".to_string()],
    }
}

pub(crate) fn full() -> ServeRecord {
    let mut record = plain();
    record.servers.push(server("./app {port}", 3.1, 21_300.0));
    record.servers[1].why = Some(ServerWhy {
        own_code: None,
        ..why(Some(1_000.0))
    });
    let first = &mut record.servers[0];
    first.cold_evicted = Some(cold(480.0, Some(ListeningBy::Look)));
    let bad = &mut first.load[1];
    let kinds = [
        "connect",
        "no_port",
        "handshake",
        "reset",
        "closed",
        "timed_out",
        "malformed",
        "status",
        "body",
    ];
    bad.errors_by_kind = kinds
        .into_iter()
        .map(|kind| (kind.to_string(), 2))
        .collect();
    (bad.errors, bad.dropped, bad.scheduled) = (18, 3, 15_003);
    bad.verdicts = vec![
        Doubt::GeneratorBound,
        Doubt::Neighbours,
        Doubt::Little,
        Doubt::NotSteady,
    ];
    first.load[2].verdicts = vec![Doubt::Lagging];
    first.why = Some(why(None));
    first.highest_rate = Some(HighestRate {
        limit: "p99<5ms".to_string(),
        rate_per_second: Some(1720.0),
        tried: vec![TriedRate {
            rate_per_second: 1720.0,
            value_ms: Some(4.4),
            errors: 0,
            met: true,
        }],
    });
    (record.conditions.tls, record.conditions.http2_streams) = (true, Some(10));
    by_tls(&mut record.servers[1]);
    let metrics = [
        (ServeMetric::Ready, None, 0.065, Verdict::Faster),
        (ServeMetric::TimePerRequest, Some(1), 1.002, Verdict::Same),
        (ServeMetric::P99, Some(2), 1.6, Verdict::Slower),
        (ServeMetric::ServerCpu, Some(2), 0.98, Verdict::Undecided),
    ];
    record.comparisons = metrics
        .into_iter()
        .map(|(metric, load, ratio, verdict)| ServeComparison {
            reference: 0,
            subject: 1,
            metric,
            load,
            rounds: 8,
            ratio: estimate(ratio),
            claim_level: 0.99,
            verdict,
            more_rounds: (verdict == Verdict::Undecided).then_some(MoreRounds(12)),
            doubts: Vec::new(),
        })
        .collect();
    record.comparisons[3].doubts = vec!["errors differ".to_string()];
    record.budget = vec![
        ServeBudget {
            server: 0,
            limit: "p99=2ms".to_string(),
            value: Some(2.9),
            met: false,
        },
        ServeBudget {
            server: 1,
            limit: "errors=0".to_string(),
            value: None,
            met: false,
        },
    ];
    record.warnings = vec![Warning {
        id: "killed".to_string(),
        benchmark: Some(0),
        message: "it did not end after SIGTERM".to_string(),
    }];
    record
}

/// Changes `server` to one that uses TLS, and whose system calls could not be counted.
fn by_tls(server: &mut ServedServer) {
    if let Some(cold) = &mut server.cold {
        cold.secured_ms = Some(spread(cold.ready_ms.p50 * 0.9));
        for run in &mut cold.runs {
            run.secured_ms = Some(run.ready_ms * 0.9);
        }
    }
    for load in &mut server.load {
        load.handshake_ms = Some(percentiles(1.2));
    }
    if let Some(calls) = &mut server.calls {
        calls.per_request = None;
        calls.why_not = Some("counting them needs root or CAP_PERFMON".to_string());
    }
}

/// A server that is already running, about which little is known; with names that attack a terminal.
pub(crate) fn sparse() -> ServeRecord {
    let mut record = plain();
    record.environment.fingerprint = None;
    record.conditions.server_cpus = Vec::new();
    record.conditions.generator_cpu = None;
    let server = &mut record.servers[0];
    server.name = "http://localhost:1/\x1b[2J\n\u{202e}".to_string();
    (
        server.cold,
        server.address,
        server.status,
        server.body_bytes,
    ) = (None, None, None, None);
    server.load.truncate(1);
    let load = &mut server.load[0];
    load.response_ms = Percentiles::default();
    load.service_ms = Percentiles::default();
    load.little = None;
    load.server_cpu_us_per_request = None;
    load.server_cpus_used = None;
    load.server_peak_memory_bytes = None;
    load.server_threads = None;
    load.server_voluntary_switches_per_request = None;
    load.server_involuntary_switches_per_request = None;
    load.rounds[0].p50_ms = None;
    load.rounds[0].p99_ms = None;
    load.rounds[0].server_cpu_us_per_request = None;
    load.rounds[0].server_cpus_used = None;
    (record.complete, record.stop) = (false, StopReason::Interrupted);
    record
}

/// A server whose listening was not observed.
pub(crate) fn unseen() -> ServeRecord {
    let mut record = plain();
    let cold_start = &mut record.servers[0].cold;
    *cold_start = Some(cold(48.0, None));
    for run in &mut cold_start.as_mut().expect("just set").runs {
        (
            run.listening_ms,
            run.listening_by,
            run.listening_uncertainty_us,
        ) = (None, None, None);
    }
    record.servers[0].highest_rate = Some(HighestRate {
        limit: "p99<5ms".to_string(),
        rate_per_second: None,
        tried: vec![TriedRate {
            rate_per_second: 90.0,
            value_ms: None,
            errors: 4,
            met: false,
        }],
    });
    record
}

/// Names and texts that could become markup, reverse the line, or break the layout.
pub(crate) fn hostile() -> ServeRecord {
    let evil = MARKUP;
    let [attribute, ..] = names();
    let mut record = full();
    record.servers[0].name = attribute;
    record.servers[1].name = format!(
        "a\u{202e}gnp.exe\u{2066}\u{200b}{}",
        "/very/long/path".repeat(6_000)
    );
    for server in &mut record.servers {
        server.arguments = vec![evil.repeat(20)];
        server.address = Some(evil.to_owned());
        for load in &mut server.load {
            load.errors_by_kind = [(evil.to_owned(), 3)].into();
            load.errors = 3;
        }
        server.highest_rate = Some(HighestRate {
            limit: evil.repeat(30),
            rate_per_second: None,
            tried: Vec::new(),
        });
        server.ramp = Some(ramp_of(&evil.repeat(30)));
        server.websocket = vec![exchange(
            WebSocketClient::Blocking,
            WebSocketLink::Echo,
            99.0,
        )];
        server.websocket[0].extensions = Some(evil.repeat(30));
    }
    record.budget[0].limit = evil.to_owned();
    record.warnings[0].message = evil.repeat(400);
    record.comparisons[3].doubts = vec![evil.to_owned()];
    record.environment.kernel = evil.repeat(90);
    record.environment.cpu_model = Some(evil.to_owned());
    record.started_at = evil.to_owned();
    record.fathom_version = evil.to_owned();
    record
}
