//! Tests recorded runs of programs whose runtime does much additional work, and checks that this work is
//! named.
//!
//! `tests/runtimes/NAME.json.gz` contains the timings and the trace, with stacks, of the program next to it.
//! It ran on two CPUs that other programs also used; the README.md in that folder describes how.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use fathom_diagnose::{Diagnosis, diagnose};
use fathom_model::{FindingId, ThreadRole, TimeCategory, WhereRow};
use flate2::read::GzDecoder;

fn recorded(name: &str) -> Diagnosis {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtimes");
    let file = File::open(folder.join(name).with_extension("json.gz")).expect("it is recorded");
    let mut text = Vec::new();
    let mut unpacked = GzDecoder::new(file);
    unpacked.read_to_end(&mut text).expect("it is compressed");
    diagnose(&serde_json::from_slice(&text).expect("it is an observation"))
}

/// Returns the rows of a kind of time in which a runtime does this work.
fn rows(diagnosis: &Diagnosis, kind: TimeCategory, role: ThreadRole) -> Vec<&WhereRow> {
    let rows = diagnosis.whereabouts.iter();
    rows.filter(|row| row.kind == kind && row.role == Some(role))
        .collect()
}

/// Returns the fraction, 0 to 1, of that kind of time that these rows have.
fn part(diagnosis: &Diagnosis, kind: TimeCategory, role: ThreadRole) -> f64 {
    let ns = rows(diagnosis, kind, role).into_iter().map(|row| row.ns);
    ns.sum::<u64>() as f64 / diagnosis.account.ns(kind) as f64
}

fn ids(diagnosis: &Diagnosis) -> Vec<FindingId> {
    diagnosis.findings.iter().map(|it| it.id).collect()
}

/// Returns whether the rows name `what` among the things that change them.
fn are_changed_by(rows: &[&WhereRow], what: &str) -> bool {
    let says = |row: &&WhereRow| row.changed_by.iter().any(|it| it == what);
    !rows.is_empty() && rows.iter().all(says)
}

#[test]
fn a_heap_that_is_nearly_full_is_collected_and_no_lock() {
    let java = recorded("java");
    let (own, collector) = (TimeCategory::UserCode, ThreadRole::Collector);
    let collected = part(&java, own, collector);
    assert!(collected > 0.6, "{collected}: {:#?}", java.whereabouts);
    assert!(are_changed_by(&rows(&java, own, collector), "-Xmx"));
    let locks = java.account.ns(TimeCategory::Locks) as f64 / java.account.wall_ns as f64;
    assert!(locks < 0.1, "{:?}", java.account);
    assert!(!ids(&java).contains(&FindingId::LockContention));
}

#[test]
fn lists_that_stay_are_visited_by_pythons_collector() {
    let python = recorded("python");
    let (own, collector) = (TimeCategory::UserCode, ThreadRole::Collector);
    let collected = part(&python, own, collector);
    assert!(collected > 0.4, "{collected}: {:#?}", python.whereabouts);
    let rows = rows(&python, own, collector);
    assert!(are_changed_by(&rows, "gc.freeze()"));
}

#[test]
fn collectors_that_work_beside_the_program_are_named() {
    for (name, option) in [("go", "GOGC"), ("node", "--max-semi-space-size")] {
        let diagnosis = recorded(name);
        let (own, collector) = (TimeCategory::UserCode, ThreadRole::Collector);
        let rows = rows(&diagnosis, own, collector);
        assert!(
            are_changed_by(&rows, option),
            "{:#?}",
            diagnosis.whereabouts
        );
        assert!(!ids(&diagnosis).contains(&FindingId::LockContention));
    }
}

#[test]
fn barriers_with_more_threads_than_cpus_are_idling_and_the_advice_names_the_variable() {
    let openmp = recorded("openmp");
    for kind in [TimeCategory::KernelWaiting, TimeCategory::UserCode] {
        let idle = rows(&openmp, kind, ThreadRole::Idle);
        assert!(
            are_changed_by(&idle, "OMP_WAIT_POLICY"),
            "{:#?}",
            openmp.whereabouts
        );
    }
    // It is known which thread is waited for, so this doesn't look like queueing for a lock.
    let locks = openmp.account.ns(TimeCategory::Locks) as f64;
    assert!(
        locks < 0.1 * openmp.account.wall_ns as f64,
        "{:?}",
        openmp.account
    );
    let first = openmp.findings.first().expect("a finding");
    assert_eq!(first.id, FindingId::CpuStarved);
    // Two threads take a tenth of the time.
    assert!(first.share > 0.7, "{}", first.statement);
    assert!(
        first.advice.contains("`OMP_NUM_THREADS`"),
        "{}",
        first.advice
    );
}
