//! Detects programs that were compiled without optimization, in which each statement pays for its loads and
//! stores.

use crate::mechanisms::prelude::*;
use crate::runtimes::{Language, compiled_from};
use fathom_trace::{Activity, StackRow};

/// Unoptimized code of one kind within the own code on the critical path.
struct Unoptimised {
    ns: f64,
    /// The function that contains most of it.
    function: Option<String>,
    binary: String,
    language: Option<Language>,
}

pub(crate) fn unoptimised(analysis: &Analysis<'_>) -> Option<Claim> {
    let samples = samples(analysis);
    let whole: f64 = samples.iter().map(|one| one.ns).sum();
    let own_ns = analysis.spent_ns(TimeCategory::UserCode);
    let found = [by_notes(&samples), by_names(&samples)];
    let found = largest(found.into_iter().flatten(), |found| found.ns)?;
    let spent_ns = own_ns * found.ns / whole.max(1.0);
    let runtime = Runtime::of(found.language);
    let saving = spent_ns * (1.0 - runtime.left_by_optimising);
    let most = found
        .function
        .map(|function| format!(", most of it in `{function}`"));
    let most = most.unwrap_or_default();
    let statement = format!(
        "The program spent {} in code compiled without optimisation{most}: optimised, it would take about {} less.",
        analysis.time_and_share(spent_ns),
        time(saving),
    );
    Some(
        Claim::new(FindingId::UnoptimisedBuild, analysis, saving, statement)
            .weighing(spent_ns)
            .evidence("time in code without optimisation", spent_ns, "ns")
            .advice(runtime.advice(&[Topic::Unoptimised]))
            .on(None, found.binary)
            .likely(),
    )
}

/// Samples of own code that found a thread in one function.
struct Sample {
    row: FunctionRow,
    language: Option<Language>,
    /// The time on the critical path that the samples represent, in ns.
    ns: f64,
    is_noted: bool,
}

/// Returns the samples of all runs, if stacks were sampled; a single short run has only few.
fn samples(analysis: &Analysis<'_>) -> Vec<Sample> {
    let Some(stacks) = &analysis.trace.stacks else {
        let functions = analysis.trace.profile.iter().flat_map(|it| &it.functions);
        let sample = |row: &FunctionRow| Sample {
            language: compiled_from("", row.function.as_deref()),
            ns: row.samples as f64 * analysis.weight(row.tid),
            is_noted: false,
            row: row.clone(),
        };
        return functions.map(sample).collect();
    };
    let own = stacks
        .rows
        .iter()
        .filter(|row| row.activity == Activity::OwnCode);
    let sample = |row: &StackRow| {
        // An inlined function no longer exists as a separate function in the program.
        let frame = stacks.tree.path(row.node?).find(|frame| !frame.inlined)?;
        Some(Sample {
            language: compiled_from(
                frame.source_file.as_deref().unwrap_or_default(),
                frame.function.as_deref(),
            ),
            ns: row.ns as f64 * analysis.weight(row.tid),
            is_noted: frame.unoptimised,
            row: FunctionRow {
                pid: row.pid,
                tid: row.tid,
                file: frame.binary.clone(),
                function: frame.function.clone(),
                samples: row.samples,
                spins: 0,
            },
        })
    };
    own.filter_map(sample).collect()
}

/// Sums these samples, and determines the function that has most of them.
fn sum<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Unoptimised> {
    let mut count = 0;
    let functions = totals(samples.map(|one| {
        count += one.row.samples;
        let name = one.row.function.as_deref().unwrap_or_default();
        ((one.row.file.as_str(), name, one.language), one.ns)
    }));
    let ns = functions.values().sum();
    let ((binary, function, language), _) = largest(functions, |(_, ns)| *ns)?;
    (count >= t::LEAST_SAMPLES_OF_NAMED).then(|| Unoptimised {
        ns,
        function: (!function.is_empty()).then(|| function.to_owned()),
        binary: binary.to_owned(),
        language,
    })
}

/// Detects unoptimized code by the compiler's notes.
fn by_notes(samples: &[Sample]) -> Option<Unoptimised> {
    sum(samples.iter().filter(|one| one.is_noted))
}

/// Detects unoptimized code by library functions that an optimizing compiler always inlines. If they take a
/// good part of a program's own code, all of that code was compiled without optimization.
fn by_names(samples: &[Sample]) -> Option<Unoptimised> {
    let small = samples
        .iter()
        .filter(|one| Use::PutIntoCallers.is_of(&one.row));
    let small = sum(small)?;
    let of_file = || samples.iter().filter(|one| one.row.file == small.binary);
    let whole: f64 = of_file().map(|one| one.ns).sum();
    let found = sum(of_file())?;
    (small.ns >= t::PART_OF_SMALL_FUNCTIONS * whole).then_some(Unoptimised {
        function: None,
        language: small.language,
        ..found
    })
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;

    use super::*;
    use crate::fake::{Fake, ROOT, hold_words};

    /// Returns a second of own code, of which `ms` are in unoptimized code.
    fn noted(ms: u64, source: &str) -> Fake {
        let mut fake = Fake::new(1000);
        for (name, unoptimised, samples) in [("count", true, ms), ("memchr", false, 1000 - ms)] {
            let frame = Frame {
                binary: "/bin/program".to_owned(),
                function: Some(name.to_owned()),
                source_file: Some(source.to_owned()),
                unoptimised,
                ..Frame::default()
            };
            fake.stack(Activity::OwnCode, None, [frame], samples);
        }
        fake
    }

    #[test]
    fn code_without_optimisation_is_named_with_the_flag() {
        let found = noted(900, "wc.c").findings();
        assert_eq!(found[0].id, FindingId::UnoptimisedBuild);
        hold_words("notes", &found[0]);
        let statement = &found[0].statement;
        assert!(
            statement.contains("900 ms, 90 % of the wall time"),
            "{statement}"
        );
        assert!(statement.contains("`count`"), "{statement}");
        assert!(found[0].advice.contains("`-O2`"));
        assert!(
            noted(900, "wc.rs").findings()[0]
                .advice
                .contains("--release")
        );
    }

    #[test]
    fn a_little_of_it_is_not_worth_a_word() {
        assert!(noted(100, "wc.c").ids().is_empty());
    }

    #[test]
    fn functions_that_optimisation_leaves_nowhere_show_its_lack() {
        let reported = |small: [u64; 2]| {
            let mut fake = Fake::new(1000);
            let names = [
                "core::iter::range::<impl core::iter::traits::iterator::Iterator for core::ops::range::Range<A>>::next",
                "core::ptr::const_ptr::<impl *const T>::add",
            ];
            for (name, samples) in names.iter().zip(small) {
                fake.in_function(ROOT, "/bin/program", name, samples);
            }
            fake.in_function(
                ROOT,
                "/bin/program",
                "program::count",
                1000 - small[0] - small[1],
            );
            fake.ids()
        };
        assert_eq!(reported([300, 200]), ["unoptimised-build"]);
        assert!(reported([30, 20]).is_empty());
        for name in [
            "<core::ops::range::Range<T> as core::iter::range::RangeIteratorImpl>::spec_next",
            "<usize as core::slice::index::SliceIndex<[T]>>::index",
            "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
            "core::num::<impl usize>::unchecked_add::precondition_check",
            "core::iter::adapters::map::map_fold::{{closure}}",
            "<f64 as core::iter::traits::accum::Sum<&f64>>::sum::{{closure}}",
            "core::option::Option<T>::or_else",
            "core::iter::adapters::chain::and_then_or_clear",
            "std::remove_reference<int&>::type&& std::move<int&>(int&)",
        ] {
            let mut fake = Fake::new(1000);
            fake.in_function(ROOT, "/bin/program", name, 300);
            fake.in_function(ROOT, "/bin/program", "distance", 700);
            assert_eq!(fake.ids(), ["unoptimised-build"], "{name}");
        }
    }
}
