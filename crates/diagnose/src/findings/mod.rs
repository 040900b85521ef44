//! The findings: one declaration each, and what is made of them.
//!
//! A [`Declaration`] says what finds it, from which parts of the account it may take time,
//! from where on it is reported and whose effect it is. `docs/findings.md` is written from them.

mod declaration;
mod document;
mod ledger;
mod memory;
mod reading;
mod starting;
mod threads;
mod waiting;

use fathom_model::{Finding, FindingId, TimeCategory as Part};

use crate::analysis::Analysis;
use crate::mechanisms::contend;

pub(crate) use declaration::Declaration;
use declaration::Mechanism;
pub use document::findings_page;

/// A group with its heading in the documentation.
type Group = (&'static str, &'static [Declaration]);

/// All of them, in the order of the documentation.
const GROUPS: &[Group] = &[
    (
        "reading and writing",
        &[
            reading::UNBUFFERED_INPUT,
            reading::UNBUFFERED_OUTPUT,
            reading::LINE_BUFFERED_OUTPUT,
            reading::SMALL_FILE_IO,
            reading::REREADING,
            reading::SYNC_WRITES,
        ],
    ),
    (
        "waiting for somebody",
        &[
            waiting::WAITING_FOR_INPUT,
            waiting::WAITING_FOR_OUTPUT,
            waiting::WAITING_FOR_DISK,
            waiting::COLD_FILES,
            waiting::WAITING_FOR_NETWORK,
            waiting::DELAYED_ACK_STALL,
            waiting::WAITING_FOR_CHILD,
            waiting::SLEEPING,
        ],
    ),
    (
        "threads and CPUs",
        &[
            threads::LOCK_CONTENTION,
            threads::WAKEUP_STORM,
            threads::IDLE_CORES,
            threads::CPU_STARVED,
            threads::BUSY_POLLING,
        ],
    ),
    (
        "starting things",
        &[
            starting::PROCESS_SPAWNING,
            starting::THREAD_SPAWNING,
            starting::STARTUP_DOMINATED,
            starting::DYNAMIC_LINKING,
            starting::MISSING_FILE_LOOKUPS,
        ],
    ),
    (
        "memory and the kernel",
        &[
            memory::PAGE_FAULT_HEAVY,
            memory::ALLOCATOR_CHURN,
            memory::CLOCK_CALLS,
            memory::UNOPTIMISED_BUILD,
            memory::KERNEL_BOUND,
        ],
    ),
];

/// Calls that move bytes or map them, with the library around them, the files that they are of, and
/// what they make the disk do.
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

/// What is declared of a finding.
pub(crate) fn declaration(id: FindingId) -> &'static Declaration {
    let mut all = declarations();
    all.find(|declared| declared.id == id)
        .expect("each id has a declaration")
}

/// All findings, the largest first. That other programs had the CPUs is asked where there are none, and
/// nothing of the command's own part `stands_out`.
pub(crate) fn all(analysis: &Analysis<'_>, stands_out: bool) -> Vec<Finding> {
    // Of a process that ran already nobody saw its start.
    let seen = |declared: &&Declaration| {
        declared.mechanism != Mechanism::Start || analysis.trace.attached.is_none()
    };
    let find = declarations()
        .filter(seen)
        .flat_map(|declared| declared.find);
    let found = ledger::settle(analysis, find.filter_map(|find| find(analysis)));
    match found.is_empty() {
        true => ledger::settle(
            analysis,
            contend::cpus::by_others(analysis, stands_out).into_iter(),
        ),
        false => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_declared_once_and_has_a_pair() {
        let mut declared: Vec<FindingId> = declarations().map(|declared| declared.id).collect();
        declared.sort_unstable();
        assert_eq!(declared, FindingId::ALL);
        let corpus = include_str!("../../../../corpus/corpus.toml");
        for declared in declarations() {
            assert!(!declared.find.is_empty(), "nothing finds {}", declared.id);
            let pair = format!("finding = \"{}\"", declared.id);
            assert!(corpus.contains(&pair), "the corpus has no {pair}");
        }
    }
}
