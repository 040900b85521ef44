//! Tests recorded traces of the corpus, which guards against unintended changes of their diagnosis.
//!
//! `tests/recorded/FINDING.PROGRAM.SIDE.KIND.json.gz` contains the timings and the trace of one run, made by
//! `corpus/record.py`. FINDING is the known problem of `slow`; `fast` is its repaired twin.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_diagnose::{Diagnosis, Observation, diagnose};
use fathom_model::{Finding, TimeAccount, TimeCategory};
use flate2::read::GzDecoder;

/// A recorded run and its findings.
struct Case {
    finding: String,
    /// The program, the side and the kind of a recorded run.
    name: String,
    diagnosis: Diagnosis,
}

fn read(path: &Path) -> Observation {
    let file = File::open(path).expect("a recorded trace can be opened");
    let mut text = Vec::new();
    let mut unpacked = GzDecoder::new(file);
    unpacked.read_to_end(&mut text).expect("it is compressed");
    // The trace isn't parsed from the reader, because reading byte by byte takes several times as long in a
    // debug build.
    serde_json::from_slice(&text).expect("a recorded trace is an observation")
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let entries = fs::read_dir(&folder).expect("traces are recorded");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    // All cores are used and kept equally busy, because in a debug build all cases take a minute on one core.
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
fn what_is_taken_down_at_the_end_has_a_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let name = "page-fault-heavy.c-copyonwrite.slow.kernel.json.gz";
    let diagnosis = diagnose(&read(&folder.join(name)));
    let part = TimeCategory::KernelProcesses;
    let rows = diagnosis.whereabouts.iter().filter(|row| row.kind == part);
    let ns: u64 = rows.clone().map(|row| row.ns).sum();
    let account = diagnosis.account.ns(part);
    assert!(ns <= account, "{ns} of {account}");
    let mut ends = rows.filter(|row| row.call.as_deref() == Some("exit_group"));
    let object = ends.next().and_then(|row| row.object.as_deref());
    let words = "memory that 4 processes return";
    assert!(object == Some(words), "{:?}", diagnosis.whereabouts);
}

#[test]
fn ids_accounts_and_savings_are_as_recorded() {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut wordings: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut beyond = Vec::new();
    let all = cases();
    let (within, pairs) = within_intervals(&all);
    for case in all {
        assert_adds_up(&case);
        beyond.extend(beyond_account(&case));
        let text = texts.entry(case.finding).or_default();
        writeln!(text, "{}", case.name).unwrap();
        for finding in &case.diagnosis.findings {
            writeln!(text, "  {}", savings(finding)).unwrap();
            let of_id = wordings.entry(finding.id.to_string()).or_default();
            let words = wording(finding);
            of_id.entry(variant(&words)).or_insert(words);
        }
        writeln!(text, "  {}", account(&case.diagnosis)).unwrap();
    }
    for (finding, text) in texts {
        insta::assert_snapshot!(format!("diagnosed__{finding}"), text);
    }
    // The texts of a finding have their own file, so that new texts don't change any number.
    for (id, variants) in wordings {
        let all: Vec<String> = variants.into_values().collect();
        insta::assert_snapshot!(format!("words__{id}"), all.join("\n"));
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
    assert!(pairs > 300, "{pairs}");
    assert!(within * 100 >= pairs * 88, "{within} of {pairs}");
}

/// Asserts that the parts of each account add up to the whole.
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

/// Returns for how many pairs the time that the repaired program saved is within the interval of the
/// predicted saving, as it is for nearly nine of ten, and for how many pairs this is known.
fn within_intervals(all: &[Case]) -> (usize, usize) {
    // The time in which other programs had the CPU is random, so the predicted part of it counts as saved.
    let others = [TimeCategory::Ready, TimeCategory::Stolen];
    let own_ns = |case: &Case| {
        let account = &case.diagnosis.account;
        let others: u64 = others.iter().map(|part| account.ns(*part)).sum();
        account.wall_ns as i64 - others as i64
    };
    let by_name = |case: &Case| (case.finding.clone(), case.name.clone());
    let of: BTreeMap<_, _> = all.iter().map(|case| (by_name(case), case)).collect();
    let (mut within, mut pairs) = (0, 0);
    for case in all {
        let twin = (case.finding.clone(), case.name.replace(" slow ", " fast "));
        let mut found = case.diagnosis.findings.iter();
        let own = found.find(|it| it.id.as_str() == case.finding && it.could_win_cpu_ns == 0);
        let (Some(finding), Some(twin)) = (own, of.get(&twin)) else {
            continue;
        };
        let saving = finding.saving.expect("a saving has an interval");
        assert_eq!(saving.ns, finding.could_win_ns);
        let parts = finding.parts.iter();
        let waits = parts.filter(|part| others.contains(&part.spent));
        let waits: u64 = waits.map(|part| part.ns).sum();
        let saved = own_ns(case) - own_ns(twin) + waits as i64;
        pairs += 1;
        within += usize::from((saving.low_ns as i64..=saving.high_ns as i64).contains(&saved));
    }
    (within, pairs)
}

/// Returns a line for each violation of the rule that findings must not count any time twice, nor exceed the
/// account.
fn beyond_account(case: &Case) -> Vec<String> {
    let Diagnosis {
        account, findings, ..
    } = &case.diagnosis;
    let mut wrong = Vec::new();
    let mut taken: BTreeMap<TimeCategory, u64> = BTreeMap::new();
    for finding in findings {
        for part in &finding.parts {
            *taken.entry(part.spent).or_default() += part.ns;
        }
        let of_parts: u64 = finding.parts.iter().map(|part| part.ns).sum();
        if of_parts != finding.could_win_ns {
            wrong.push(format!("{} isn't its parts: {of_parts}", savings(finding)));
        }
        // CPU time that is saved off the critical path isn't in the account.
        let on_path = finding.could_win_cpu_ns == 0 && finding.could_win_latency_ns == 0;
        let counts_elsewhere = finding.statement.contains(" is counted with ");
        let says_another = (stated(finding) - 100.0 * finding.share).abs() > 1.0;
        if on_path && !counts_elsewhere && says_another {
            let share = 100.0 * finding.share;
            wrong.push(format!("{share:.1} %: {}", finding.statement));
        }
    }
    let more = taken
        .iter()
        .filter(|(spent, ns)| **ns > account.ns(**spent));
    wrong.extend(more.map(|(spent, ns)| format!("{ns} of {spent:?}")));
    let shares: f64 = findings.iter().map(|finding| finding.share).sum();
    let apart = findings
        .iter()
        .any(|it| it.could_win_cpu_ns + it.could_win_latency_ns > 0);
    if shares > 1.0 + 1e-6 && !apart {
        wrong.push(format!("shares add up to {shares}"));
    }
    let named = |line: String| format!("{}: {line}", case.name);
    wrong.into_iter().map(named).collect()
}

/// Returns the share at the end of a statement, in per cent.
fn stated(finding: &Finding) -> f64 {
    let (before, _) = finding
        .statement
        .split_once(" % of the wall time")
        .expect("a share");
    let (_, number) = before.rsplit_once(' ').expect("a number");
    number.parse().expect("a number")
}

/// Converts to microseconds, because these are rounded in the same way on every processor.
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

/// Returns the text without the parts that differ between programs: numbers with their units, names and
/// paths. Texts that are equal afterwards are the same variant.
fn variant(words: &str) -> String {
    let is_own = |word: &str| {
        let marks = ['`', '/', '\u{2026}'];
        word.starts_with(|c: char| c.is_ascii_digit()) || word.contains(marks)
    };
    let units = [
        "ns", "us", "\u{b5}s", "ms", "s", "KiB", "MiB", "GiB", "bytes", "GB/s",
    ];
    let first = words.lines().next().unwrap_or_default();
    let rest = words.strip_prefix(first).unwrap_or_default();
    let kept = first.split_whitespace().filter(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '`' && c != '/');
        !is_own(bare) && !units.contains(&bare)
    });
    let kept: Vec<&str> = kept.collect();
    format!("{}{}", kept.join(" "), advice_of(rest))
}

/// Returns the advice alone, because evidence and limits vary with the machine and don't make another
/// variant.
fn advice_of(rest: &str) -> &str {
    rest.split("\nevidence: ").next().unwrap_or_default()
}
