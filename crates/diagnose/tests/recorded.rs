//! Recorded traces of the corpus: what is diagnosed of them changes on purpose only.
//!
//! `tests/recorded/FINDING.PROGRAM.SIDE.KIND.json.gz` is what was timed and traced of one run, made
//! by `corpus/record.py`. FINDING is what `slow` is known to suffer from; `fast` is its repaired
//! twin.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_diagnose::{Diagnosis, Observation, diagnose};
use fathom_model::{Finding, FindingId, TimeAccount, TimeCategory};
use flate2::read::GzDecoder;

/// A recorded run and what is found in it.
struct Case {
    finding: String,
    /// Program, side and kind.
    name: String,
    diagnosis: Diagnosis,
}

fn read(path: &Path) -> Observation {
    let file = File::open(path).expect("a recorded trace can be opened");
    let mut text = Vec::new();
    let mut unpacked = GzDecoder::new(file);
    unpacked.read_to_end(&mut text).expect("it is compressed");
    // Not from the reader: byte by byte that takes a debug build several times as long.
    serde_json::from_slice(&text).expect("a recorded trace is an observation")
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let entries = fs::read_dir(&folder).expect("traces are recorded");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    // All cores, and none that is done with its half early: a debug build takes a minute for all of
    // them on one.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let mut cases: Vec<Case> = std::thread::scope(|scope| {
        let share = || {
            let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            let paths = taken.map_while(|at| paths.get(at));
            paths.map(|path| case(path)).collect::<Vec<_>>()
        };
        let shares: Vec<_> = (0..cores).map(|_| scope.spawn(share)).collect();
        let shares = shares.into_iter();
        shares.flat_map(|share| share.join().unwrap()).collect()
    });
    let key = |case: &Case| (case.finding.clone(), case.name.clone());
    cases.sort_by_cached_key(key);
    cases
}

fn case(path: &Path) -> Case {
    let name = path.file_name().unwrap().to_str().unwrap();
    let name = name.strip_suffix(".json.gz").expect("a compressed trace");
    let (finding, name) = name.split_once('.').expect("the finding comes first");
    Case {
        finding: finding.to_owned(),
        name: name.replace('.', " "),
        diagnosis: diagnose(&read(path)),
    }
}

#[test]
fn ids_accounts_and_savings_are_as_recorded() {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut wordings: BTreeMap<String, String> = BTreeMap::new();
    let mut beyond = Vec::new();
    for case in cases() {
        assert_adds_up(&case);
        // Accounts of the other tiers don't divide the kernel's time, so their parts hold less.
        if case.name.ends_with("kernel") {
            beyond.extend(beyond_parts(&case));
        }
        let text = texts.entry(case.finding).or_default();
        writeln!(text, "{}", case.name).unwrap();
        for finding in &case.diagnosis.findings {
            writeln!(text, "  {}", savings(finding)).unwrap();
            wordings
                .entry(finding.id.to_string())
                .or_insert_with(|| wording(finding));
        }
        writeln!(text, "  {}", account(&case.diagnosis)).unwrap();
    }
    for (finding, text) in texts {
        insta::assert_snapshot!(format!("diagnosed__{finding}"), text);
    }
    // A finding's words have a file of their own, so that new words touch no number.
    for (id, wording) in wordings {
        insta::assert_snapshot!(format!("words__{id}"), wording);
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// The parts of each account are its whole.
fn assert_adds_up(case: &Case) {
    let sum = |account: &TimeAccount| account.parts.iter().map(|part| part.ns).sum::<u64>();
    let account = &case.diagnosis.account;
    if !account.parts.is_empty() {
        assert_eq!(sum(account), account.wall_ns, "{}", case.name);
    }
    for thread in &case.diagnosis.threads {
        let lasted = thread.to_ns - thread.from_ns;
        assert_eq!(sum(&thread.account), lasted, "{} {}", case.name, thread.tid);
    }
}

/// Waits and costs of which a part of the account is made: a finding has no more than its part.
const PARTS: [(FindingId, &[TimeCategory]); 8] = {
    use TimeCategory as Part;
    [
        (FindingId::Sleeping, &[Part::Sleeping]),
        (FindingId::WaitingForInput, &[Part::WaitingForInput]),
        (FindingId::WaitingForOutput, &[Part::WaitingForOutput]),
        (FindingId::WaitingForNetwork, &[Part::Network]),
        (FindingId::PageFaultHeavy, &[Part::PageFaults]),
        (FindingId::UnbufferedOutput, OF_BYTES),
        (FindingId::UnbufferedInput, OF_BYTES),
        (FindingId::LineBufferedOutput, OF_BYTES),
    ]
};
const OF_BYTES: &[TimeCategory] = &[
    TimeCategory::KernelIo,
    TimeCategory::KernelFiles,
    TimeCategory::KernelMemory,
    TimeCategory::UserCode,
    TimeCategory::PageFaults,
    TimeCategory::Disk,
];

/// Findings whose share or saving is above the parts of the account that they can come from, or
/// whose statement says another share than they have.
fn beyond_parts(case: &Case) -> Vec<String> {
    let account = &case.diagnosis.account;
    let is_beyond = |finding: &&Finding| {
        let parts = PARTS.iter().find(|(id, _)| *id == finding.id);
        let most = parts.map_or(account.wall_ns, |(_, parts)| {
            parts.iter().map(|part| account.ns(*part)).sum()
        });
        // What saves CPU time beside the critical path isn't in the account.
        let on_path = finding.could_win_cpu_ns == 0 && finding.could_win_latency_ns == 0;
        let share = most as f64 / account.wall_ns as f64;
        let says_another = (stated(finding) - 100.0 * finding.share).abs() > 1.0;
        finding.could_win_ns > most || on_path && (finding.share > share + 1e-9 || says_another)
    };
    let findings = case.diagnosis.findings.iter().filter(is_beyond);
    let shown = |finding: &Finding| {
        let share = 100.0 * finding.share;
        format!("{}: {share:.1} %: {}", case.name, finding.statement)
    };
    findings.map(shown).collect()
}

/// The share that a statement ends with, per cent.
fn stated(finding: &Finding) -> f64 {
    let (before, _) = finding
        .statement
        .split_once(" % of the wall time")
        .expect("a share");
    let (_, number) = before.rsplit_once(' ').expect("a number");
    number.parse().expect("a number")
}

/// Microseconds, which every processor rounds alike.
fn us(ns: u64) -> u64 {
    ns / 1_000
}

fn savings(finding: &Finding) -> String {
    let mut text = format!("{}: {} us", finding.id, us(finding.could_win_ns));
    for (what, ns) in [
        ("CPU", finding.could_win_cpu_ns),
        ("latency", finding.could_win_latency_ns),
    ] {
        if ns > 0 {
            write!(text, ", {} us {what}", us(ns)).unwrap();
        }
    }
    text
}

fn account(diagnosis: &Diagnosis) -> String {
    let parts = diagnosis.account.parts.iter();
    let parts = parts.map(|part| {
        let name = serde_json::to_value(part.spent).expect("a part has a name");
        format!("{} {}", name.as_str().unwrap_or_default(), us(part.ns))
    });
    let parts: Vec<String> = parts.collect();
    format!(
        "of {} us: {}",
        us(diagnosis.account.wall_ns),
        parts.join(", ")
    )
}

fn wording(finding: &Finding) -> String {
    let limit = finding.limit.as_deref().unwrap_or("none");
    let evidence = finding.evidence.iter();
    let evidence = evidence.map(|it| format!("{} ({})", it.name, it.unit));
    let evidence: Vec<String> = evidence.collect();
    format!(
        "{}\nadvice: {}\nevidence: {}\nlimit: {limit}\n",
        finding.statement,
        finding.advice,
        evidence.join(", ")
    )
}
