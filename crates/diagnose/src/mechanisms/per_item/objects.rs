//! Detects own code that spends most of its time allocating and releasing objects, without calling the
//! system.

use crate::mechanisms::prelude::*;

/// The time that allocated objects cost outside of the allocator, as a part of the time in it. An object is
/// filled, copied and taken apart, and its memory isn't in the caches. From corpus programs compared with
/// their twins, it was 0.43 for Rust, 0.51 for Go, and 0.68 for C++. For C's nodes, which the twin fills too,
/// it was nothing.
const BESIDE_THE_ALLOCATOR: f64 = 0.4;

pub(crate) fn objects(analysis: &Analysis<'_>) -> Option<Claim> {
    // A shell allocates a string for each word of each command, whatever the script does.
    let pids = analysis.trace.processes.iter().map(|process| process.pid);
    let is_shell = |pid: &u32| analysis.runtime(Some(*pid)).has(Habit::RunsCommands);
    let shells: HashSet<u32> = pids.filter(is_shell).collect();
    let shells = &shells;
    let own = |uses: &'static [Use]| {
        move |row: &FunctionRow| !shells.contains(&row.pid) && uses.iter().any(|of| of.is_of(row))
    };
    let bare = analysis.in_functions(own(&[Use::Allocator]));
    // Allocated memory is filled. If there isn't much time in the allocator, it is unknown whether the memory
    // that was filled was newly allocated.
    let allocator = match analysis.share(bare) >= t::LEAST_SHARE {
        true => analysis.in_functions(own(&[Use::Allocator, Use::Objects])),
        false => bare,
    };
    let collector = analysis.in_functions(own(&[Use::Collector]));
    let measured = allocator + collector;
    let others = (analysis.spent_ns(TimeCategory::UserCode) - measured).max(0.0);
    let beside = (BESIDE_THE_ALLOCATOR * measured).min(others);
    let collecting = CallCost::of_collectors(analysis);
    let cost = measured + beside + collecting.in_kernel_ns;
    let allocated = allocator >= collector;
    let (most, whose, topics): (_, _, &[Topic]) = match allocated {
        true => (
            &[Use::Allocator],
            "the allocator and in the code that fills the memory",
            &[Topic::Allocated, Topic::Objects],
        ),
        false => (
            &[Use::Collector],
            "the allocator and the garbage collector",
            &[Topic::Objects],
        ),
    };
    let first = analysis.main_function(own(most))?;
    let statement = format!(
        "The program's own code spent {} in {whose}; together with the other work on the objects (modelled), that \
         is {}.",
        time(measured),
        analysis.time_and_share(cost),
    );
    Some(
        collecting
            .evidence(
                Claim::new(FindingId::AllocatorChurn, analysis, cost, statement),
                measured + beside,
            )
            .weighing(measured)
            .guessing(beside)
            .evidence("time in the allocator", bare + collector, "ns")
            .evidence(
                "time in the allocator and filling the memory",
                measured,
                "ns",
            )
            .advice(analysis.runtime(Some(first.pid)).advice(topics))
            .pid(first.pid),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, ROOT};
    use crate::runtimes::Language;

    #[test]
    fn own_code_that_mostly_allocates_is_found() {
        let reported = |allocating: u64| {
            let mut fake = Fake::new(1000);
            fake.in_function(ROOT, "/lib/libc.so.6", "malloc", allocating);
            fake.in_function(ROOT, "/bin/program", "parse", 1000 - allocating);
            fake.findings()
        };
        let found = reported(500);
        assert_eq!(found[0].id, FindingId::AllocatorChurn);
        assert!((found[0].share - 0.7).abs() < 0.02, "{}", found[0].share);
        // A parser that builds a tree spends a quarter of its time allocating.
        assert!(reported(250).is_empty());
    }

    #[test]
    fn a_collector_has_the_words_of_its_language() {
        let mut fake = Fake::new(1000);
        fake.language = Some(Language::Go);
        fake.in_function(ROOT, "/bin/program", "runtime.gcDrain", 400);
        fake.in_function(ROOT, "/bin/program", "runtime.mallocgc", 200);
        fake.in_function(ROOT, "/bin/program", "main.main", 400);
        let found = &fake.findings()[0];
        assert_eq!(found.id, FindingId::AllocatorChurn);
        assert!(found.advice.contains("sync.Pool"));
    }

    #[test]
    fn words_of_a_shell_are_no_objects_of_the_script() {
        let reported = |language| {
            let mut fake = Fake::new(1000);
            fake.language = Some(language);
            fake.in_function(ROOT, "/lib/libc.so.6", "malloc", 350);
            fake.in_function(ROOT, "/bin/bash", "execute_command", 650);
            !fake.ids().is_empty()
        };
        assert!(reported(Language::C));
        assert!(!reported(Language::Shell));
    }

    #[test]
    fn a_few_samples_show_nothing() {
        let mut fake = Fake::new(1000);
        fake.in_function(ROOT, "/lib/libc.so.6", "malloc", 9);
        assert!(fake.ids().is_empty());
    }
}
