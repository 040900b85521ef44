//! Every page, built from the records of the tests: for the browser test, and for viewing.

#![allow(dead_code, reason = "the example and the tests each use use a part")]

#[path = "../differed/mod.rs"]
pub(crate) mod differed;
#[path = "../experimented/mod.rs"]
mod experimented;
#[path = "../explained/mod.rs"]
pub(crate) mod explained;
#[path = "../fingerprinted/mod.rs"]
mod fingerprinted;
#[path = "../piped/mod.rs"]
mod piped;
#[path = "../probed/mod.rs"]
mod probed;
#[path = "../reported/mod.rs"]
pub(crate) mod reported;
#[path = "../served/mod.rs"]
pub(crate) mod served;
#[path = "../started/mod.rs"]
mod started;
#[path = "../support/mod.rs"]
mod support;

use fathom_model::{
    BenchRecord, Environment, Exit, Explanation, Metric, ProbeResult, StartupRecord, StopReason,
};
use fathom_report::{
    Origin, bench_html, difference_html, experiment_html, explain_html, machine_html, pipe_html,
    report_html, report_site, serve_html, startup_html,
};
use fathom_test_browser::hostile;
use support::program::Program;
use support::{asked, outcome_of, session, warning};

/// Returns all pages with their names. The names of hostile pages end with `hostile`.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("bench", bench_html(&two_commands())),
        ("bench-one", bench_html(&one_command())),
        ("bench-many", bench_html(&many_commands())),
        ("bench-recorded", bench_html(&recorded())),
        ("bench-metrics", bench_html(&by_metrics())),
        ("bench-partial", bench_html(&partial())),
        ("bench-hostile", bench_html(&hostile_bench())),
        ("why", explain_html(&explained::findings())),
        ("why-paths", explain_html(&explained::paths::with_paths())),
        ("why-clean", explain_html(&explained::clean())),
        ("why-shares", explain_html(&shares_only())),
        ("why-many", explain_html(&explained::tree::many(120))),
        ("why-most", explain_html(&explained::tree::many(4000))),
        ("why-hostile", explain_html(&hostile())),
        ("why-two", difference_html(&differed::record())),
        (
            "why-two-hostile",
            difference_html(&differed::spoiled(hostile::MARKUP)),
        ),
        ("pipe", pipe_html(&piped::delayed())),
        ("startup", startup_html(&startup())),
        ("serve", serve_html(&served::stalling::stalling().0)),
        ("serve-two", serve_html(&served::stalling::pair())),
        ("serve-ramp", serve_html(&served::ramp())),
        ("serve-websocket", serve_html(&served::websocket())),
        ("serve-sparse-hostile", serve_html(&served::sparse())),
        ("serve-hostile", serve_html(&served::hostile())),
        ("machine", machine(&figures())),
        (
            "run",
            experiment_html(&[experimented::record(), experimented::record()]),
        ),
        ("report", report_html(&reported::ordinary())),
        ("report-large", report_html(&reported::suite(100, 200))),
        ("report-index", site(&reported::ordinary(), 0)),
        ("report-one", site(&reported::ordinary(), 1)),
        (
            "report-records",
            report_html(&reported::with_records(served::stalling::pair())),
        ),
        (
            "report-records-hostile",
            report_html(&reported::with_hostile_records(served::hostile())),
        ),
        ("report-hostile", report_html(&reported::hostile())),
        ("report-one-hostile", site(&reported::hostile(), 1)),
    ]
}

/// Returns a page of a site.
fn site(report: &fathom_model::Report, place: usize) -> String {
    report_site(report).swap_remove(place).1
}

/// A comparison with slow runs, warm-up runs, and a note.
pub(crate) fn two_commands() -> BenchRecord {
    let mut fast = Program::new("gzip -1 -k -c /usr/share/dict/american-english", 0.0121);
    fast.noise = 0.02;
    fast.preempted = vec![(7, 0.004)];
    let mut slow = Program::new("gzip -6 -k -c /usr/share/dict/american-english", 0.0297);
    slow.noise = 0.015;
    slow.mysterious = vec![(12, 0.03), (31, 0.02)];
    let mut record = session(&[fast, slow], 60);
    record.benchmarks[1].working_directory = Some("/srv/data/corpus".to_owned());
    let mut warmups = record.runs[..2].to_vec();
    for run in &mut warmups {
        run.wall_ns = run.wall_ns * 5 / 4;
        run.undisturbed_ns = run.undisturbed_ns.map(|ns| ns * 5 / 4);
    }
    let outcome = outcome_of(&mut record);
    outcome.warmups = warmups;
    outcome.warnings = vec![warning(
        Some(0),
        "cpu_steal",
        "CPU steal in 3 runs: the hypervisor gave CPU time to other machines",
    )];
    record
}

/// Two commands that are compared by memory and by counts.
pub(crate) fn by_metrics() -> BenchRecord {
    let programs = [
        Program {
            memory: 214_958_080,
            ..Program::new("sort --parallel=2 big.txt", 0.0431)
        },
        Program {
            memory: 9_958_080,
            read_calls: 9204,
            ..Program::new("sort -S 1M big.txt", 0.0612)
        },
    ];
    let metrics = [(Metric::PeakMemory, 0.05), (Metric::ReadCalls, 0.0)];
    asked(session(&programs, 40), &metrics)
}

pub(crate) fn one_command() -> BenchRecord {
    session(&[Program::new("jq . package-lock.json", 0.0841)], 120)
}

/// Twelve commands with very different times, some with long names.
pub(crate) fn many_commands() -> BenchRecord {
    let programs: Vec<Program> = (0..12)
        .map(|index| {
            let path = "/opt/toolchains/2026-11/x86_64-unknown-linux-gnu/bin/".repeat(index % 3);
            let name = format!("{path}tool-{index} --threads {index} --input corpus/large.bin");
            Program::new(&name, 0.002 * 1.6f64.powi(index as i32))
        })
        .collect();
    session(&programs, 25)
}

/// A record of a real session, written by an old version of Fathom.
pub(crate) fn recorded() -> BenchRecord {
    serde_json::from_str(include_str!("../version1/bench.json")).expect("a record")
}

/// An interrupted session with a failing command.
pub(crate) fn partial() -> BenchRecord {
    let mut failing = Program::new("./flaky", 0.4);
    failing.failing = vec![(1, Exit::Signal(11))];
    let mut record = session(&[Program::new("./steady", 0.4), failing], 4);
    record.runs.pop();
    record.complete = false;
    outcome_of(&mut record).stop = StopReason::Interrupted;
    record
}

/// Names that could become markup, reverse the line, or break the layout.
pub(crate) fn hostile_bench() -> BenchRecord {
    let evil = hostile::MARKUP;
    let names = hostile::names().into_iter();
    let names: Vec<String> = names.chain(["/very/long/path/".repeat(6_000)]).collect();
    let programs: Vec<Program> = names.iter().map(|name| Program::new(name, 0.01)).collect();
    let mut record = session(&programs, 12);
    for benchmark in &mut record.benchmarks {
        benchmark.command = format!("{evil}{}", benchmark.name);
        benchmark.environment_variables = vec![(evil.to_owned(), evil.repeat(50))];
        benchmark.working_directory = Some(evil.to_owned());
    }
    record.environment.cpu_model = Some(evil.to_owned());
    record.environment.kernel = evil.repeat(90);
    record.started_at = evil.to_owned();
    record.fathom_version = evil.to_owned();
    let outcome = outcome_of(&mut record);
    outcome.warnings = vec![warning(Some(2), evil, &evil.repeat(400))];
    outcome.notes = vec![warning(None, evil, evil)];
    record
}

pub(crate) fn startup() -> StartupRecord {
    started::full()
}

pub(crate) fn figures() -> Vec<ProbeResult> {
    probed::results()
}

fn machine(results: &[ProbeResult]) -> String {
    let environment = Environment {
        kernel: "Linux 6.18.44".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("AMD EPYC 9R14".into()),
        cpus: 2,
        host: Some("lab".into()),
        ..Environment::default()
    };
    let origin = Origin {
        environment: &environment,
        started_at: "2026-11-21T06:25:46Z",
        fathom_version: "0.1.0",
    };
    machine_html(results, true, origin)
}

/// An explanation from a run so slow because of tracing that only shares may be quoted.
fn shares_only() -> Explanation {
    let mut explanation = explained::tree::many(120);
    explanation.explaining.times_are_quoted = false;
    explanation.explaining.slowdown = 13.4;
    explanation
}

/// Names that could become markup.
fn hostile() -> Explanation {
    let mut explanation = explained::tree::many(120);
    explanation.paths = explained::paths::with_paths().paths;
    explained::hostile::spoil(&mut explanation);
    explanation
}
