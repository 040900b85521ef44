//! The findings: one declaration for each, and the functions that use the declarations.
//!
//! A [`Declaration`] says what detects the finding, from which categories of the account it may take time,
//! its reporting threshold, and its causes. `docs/findings.md` is generated from the declarations.

mod declaration;
#[cfg(test)]
mod document;
mod ledger;
mod memory;
mod reading;
mod starting;
mod threads;
mod waiting;

use std::collections::BTreeMap;

use fathom_model::{Finding, FindingId, TimeCategory as Part};

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::mechanisms::contend;

pub(crate) use declaration::Declaration;
use declaration::Mechanism;

/// A group, with its heading in the documentation.
type Group = (&'static str, &'static [Declaration]);

/// All groups, in the order of the documentation.
const GROUPS: &[Group] = &[
    ("reading and writing", reading::ALL),
    ("waiting for somebody", waiting::ALL),
    ("threads and CPUs", threads::ALL),
    ("starting things", starting::ALL),
    ("memory and the kernel", memory::ALL),
];

/// Categories of calls that move or map bytes, with the library code around them, their files, and the
/// resulting disk activity.
const OF_BYTES: &[Part] = &[
    Part::KernelIo,
    Part::KernelFiles,
    Part::KernelMemory,
    Part::UserCode,
    Part::PageFaults,
    Part::Disk,
];

fn declarations() -> impl Iterator<Item = &'static Declaration> {
    GROUPS.iter().flat_map(|(_, declarations)| *declarations)
}

/// Returns the declaration of a finding.
pub(crate) fn declaration(id: FindingId) -> &'static Declaration {
    let mut all = declarations();
    all.find(|declared| declared.id == id)
        .expect("each id has a declaration")
}

/// Returns all claims, before thresholds are applied and time is assigned.
fn claims(analysis: &Analysis<'_>) -> impl Iterator<Item = Claim> {
    // The start of a process that was already running was not observed.
    let seen = |declared: &&Declaration| {
        declared.mechanism != Mechanism::Start || analysis.trace.attached.is_none()
    };
    let variants = declarations()
        .filter(seen)
        .flat_map(|declared| declared.variants);
    variants.filter_map(|variant| variant.claim(analysis))
}

/// Returns how large each finding would be, in ns, even if it is too small to be reported.
pub(crate) fn sizes(analysis: &Analysis<'_>) -> BTreeMap<FindingId, u64> {
    let mut sizes = BTreeMap::new();
    for claim in claims(analysis) {
        let size = sizes.entry(claim.id).or_insert(0);
        *size = claim.rank_ns().max(*size);
    }
    sizes
}

/// Returns all findings, largest first. Only if there are none, checks whether the command bound its threads
/// to too few CPUs.
pub(crate) fn all(analysis: &Analysis<'_>) -> Vec<Finding> {
    let found = ledger::settle(analysis, claims(analysis));
    match found.is_empty() {
        true => ledger::settle(analysis, contend::cpus::bound(analysis).into_iter()),
        false => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_small_to_be_reported_has_a_size() {
        let mut fake = crate::fake::Fake::new(1000);
        fake.waits(
            Some("nanosleep"),
            None,
            fathom_trace::Cause::Asleep,
            1,
            9_000,
        );
        assert!(fake.ids().is_empty());
        let observation = fake.observation(&[]);
        assert_eq!(crate::sizes(&observation)[&FindingId::Sleeping], 9_000_000);
    }

    #[test]
    fn each_id_is_declared_once_and_has_a_pair() {
        let mut declared: Vec<FindingId> = declarations().map(|declared| declared.id).collect();
        declared.sort_unstable();
        assert_eq!(declared, FindingId::ALL);
        let corpus = include_str!("../../../../corpus/corpus.toml");
        for declared in declarations() {
            assert!(
                !declared.variants.is_empty(),
                "nothing finds {}",
                declared.id
            );
            let pair = format!("finding = \"{}\"", declared.id);
            assert!(corpus.contains(&pair), "the corpus has no {pair}");
        }
    }

    /// Words that occur in only one variant, for each finding with several variants.
    const WORDS: &[(FindingId, &[&str])] = &[
        (
            FindingId::AllocatorChurn,
            &[
                "calls took memory from the system",
                "own code spent",
                "The garbage collector took",
                "what it makes can be used many times",
                "collects all garbage at once",
            ],
        ),
        (
            FindingId::BusyPolling,
            &[
                "and got nothing",
                "spun in `main`",
                "spun in `runtime.empty`",
                "did nothing but yield",
            ],
        ),
        (
            FindingId::ClockCalls,
            &["asked the kernel for the time", "through the vDSO"],
        ),
        (
            FindingId::CpuStarved,
            &[
                "of its control group",
                "wait for each other",
                "busy threads share",
            ],
        ),
        (
            FindingId::DynamicLinking,
            &[
                "before the program began",
                "(`dlopen`)",
                "finding and binding them",
            ],
        ),
        (
            FindingId::IdleCores,
            &["does all the work, on", "created together"],
        ),
        (
            FindingId::KernelBound,
            &[
                "and similar calls",
                "generates its content",
                "signals were handled",
            ],
        ),
        (
            FindingId::LockContention,
            &[
                "and no thread released them",
                "and no thread worked on these tasks",
                "goroutines waited",
                "its holder was asleep",
                "threads waited",
                "for a lock that another thread held",
                "A process waited",
                "for a briefly held lock that",
                "contended for a briefly held lock",
                "`pthread_spin_lock`",
                "tries to lock",
            ],
        ),
        (
            FindingId::LibraryWork,
            &[
                "hrowing and catching exceptions took",
                "stops all threads of the program",
            ],
        ),
        (
            FindingId::Rereading,
            &[
                "was opened",
                "read to its end",
                "times its size",
                "were listed",
            ],
        ),
        (
            FindingId::SmallFileIo,
            &[
                "were opened, read",
                "mapped (`mmap`)",
                "moved",
                "each after a seek",
            ],
        ),
        (FindingId::StartupDominated, &["Before `", "files of code"]),
        (
            FindingId::ThreadSpawning,
            &["ending them", "were created and ended"],
        ),
        (
            FindingId::UnoptimisedBuild,
            &[
                "compiled without optimisation",
                "which checks its code at run time",
            ],
        ),
        (
            FindingId::WaitingForChild,
            &["ran one after another", "was asked to end"],
        ),
        (
            FindingId::WaitingForNetwork,
            &["waited for the network", "making and closing them took"],
        ),
        (
            FindingId::WakeupStorm,
            &["threads waited for each other", "switching between"],
        ),
    ];

    #[test]
    fn the_words_of_each_variant_are_held() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
        let files = std::fs::read_dir(folder).expect("there are snapshots");
        let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        let held = |id: FindingId| {
            let is_of = |name: &str| {
                let made_up = format!("made_up__{id}__");
                name.ends_with(&format!("words__{id}.snap")) || name.starts_with(&made_up)
            };
            let own = files.iter().filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(is_of)
            });
            let texts = own.map(|path| std::fs::read_to_string(path).expect("it is text"));
            texts.collect::<String>()
        };
        for declared in declarations() {
            let mut known = WORDS.iter().filter(|(id, _)| *id == declared.id);
            let words = known.next().map_or(&[""] as &[&str], |(_, words)| words);
            let id = declared.id;
            let held = held(id);
            assert!(
                !held.is_empty(),
                "no snapshot has the words of {id}: record a pair"
            );
            assert_eq!(
                words.len(),
                declared.variants.len(),
                "WORDS lists the variants of {id}"
            );
            for words in words {
                assert!(
                    held.contains(words),
                    "no snapshot of {id} has '{words}': record a pair, or `hold_words`"
                );
            }
        }
    }
}
