//! The program was compiled without optimisation: each statement pays for what it loads and stores.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fathom_model::{FindingId, TimeCategory};
use fathom_stacks::Frame;
use fathom_trace::Activity;

use crate::analysis::Analysis;
use crate::claim::Claim;
use crate::numbers::time;
use crate::runtimes::is_put_into_callers;
use crate::thresholds as t;

/// What an optimising compiler leaves of it at most: loops over arrays took 0.2 to 0.5 of their time in C
/// and C++ (`-O2`), 0.02 to 0.3 in Rust.
const LEFT_WITH: f64 = 0.4;

/// Code of one kind, of own code on the critical path.
struct Unoptimised {
    ns: f64,
    /// The function with the most of it.
    function: Option<String>,
    binary: String,
    compiler: Compiler,
}

/// Who asks for optimisation, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Compiler {
    Rust,
    Other,
}

impl Compiler {
    fn of(frame: &Frame) -> Self {
        let source = frame.source_file.as_deref().unwrap_or_default();
        match Path::new(source).extension().is_some_and(|it| it == "rs") {
            true => Self::Rust,
            false => Self::Other,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Rust => {
                "Build it with optimisation before its speed is judged: `cargo build --release`, or `rustc -O`."
            }
            Self::Other => {
                "Build it with optimisation before its speed is judged: `-O2` (CMake: `-DCMAKE_BUILD_TYPE=Release`, Meson: `--buildtype=release`)."
            }
        }
    }
}

pub(crate) fn unoptimised(analysis: &Analysis<'_>) -> Option<Claim> {
    let found = by_notes(analysis).or_else(|| by_names(analysis))?;
    let saving = found.ns * (1.0 - LEFT_WITH);
    let most = match &found.function {
        Some(function) => format!(", most of them in `{function}`"),
        None => String::new(),
    };
    let statement = format!(
        "The program spent {} in code that was compiled without optimisation{most}: optimised it would take about {} less.",
        analysis.time_and_share(found.ns),
        time(saving),
    );
    Some(
        Claim::new(FindingId::UnoptimisedBuild, analysis, saving, statement)
            .weighing(found.ns)
            .evidence("time in code without optimisation", found.ns, "ns")
            .advice(found.compiler.advice())
            .on(None, found.binary)
            .likely(),
    )
}

/// By what the compiler noted of the code where the stacks of own code end.
fn by_notes(analysis: &Analysis<'_>) -> Option<Unoptimised> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let mut all = 0.0;
    let mut functions: BTreeMap<(&str, &str, Compiler), (f64, u64)> = BTreeMap::new();
    let own = stacks
        .rows
        .iter()
        .filter(|row| row.activity == Activity::OwnCode);
    for row in own {
        let ns = row.ns as f64 * analysis.weight(row.tid);
        all += ns;
        let innermost = row.node.and_then(|node| stacks.tree.path(node).next());
        if let Some(frame) = innermost.filter(|frame| frame.unoptimised) {
            let name = frame.function.as_deref().unwrap_or_default();
            let key = (frame.binary.as_str(), name, Compiler::of(frame));
            let sum = functions.entry(key).or_default();
            sum.0 += ns;
            sum.1 += row.samples;
        }
    }
    let (ns, samples) = functions
        .values()
        .fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let (most, _) = functions.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    (samples >= t::LEAST_SAMPLES_OF_NAMED && all > 0.0).then(|| Unoptimised {
        ns: analysis.spent_ns(TimeCategory::UserCode) * ns / all,
        function: (!most.1.is_empty()).then(|| most.1.to_owned()),
        binary: most.0.to_owned(),
        compiler: most.2,
    })
}

/// By functions of a library that an optimising compiler leaves nowhere: where such take a good part
/// of a program's own code, all of that was compiled alike.
fn by_names(analysis: &Analysis<'_>) -> Option<Unoptimised> {
    let profile = analysis.trace.profile.as_ref()?;
    let first = analysis.main_function(is_put_into_callers)?;
    let of_file = || {
        profile
            .functions
            .iter()
            .filter(|row| row.file == first.file)
    };
    let small = || of_file().filter(|row| row.samples > 0 && is_put_into_callers(row));
    let names: BTreeSet<&str> = small().filter_map(|row| row.function.as_deref()).collect();
    let sum: u64 = small().map(|row| row.samples).sum();
    let whole: u64 = of_file().map(|row| row.samples).sum();
    let rules = sum as f64 >= t::PART_OF_SMALL_FUNCTIONS * whole as f64;
    (rules && sum >= t::LEAST_SAMPLES_OF_NAMED).then(|| Unoptimised {
        ns: analysis.in_functions(|row| row.file == first.file),
        function: None,
        binary: first.file.clone(),
        compiler: match names.iter().any(|name| name.contains("core::")) {
            true => Compiler::Rust,
            false => Compiler::Other,
        },
    })
}

#[cfg(test)]
mod tests {
    use fathom_stacks::StackTree;
    use fathom_trace::{StackRow, Stacks};

    use super::*;
    use crate::fake::{Fake, ROOT, hold_words};

    /// A second of own code, so much of it in code without optimisation.
    fn noted(ms: u64, source: &str) -> Fake {
        let mut fake = Fake::new(1000);
        let mut tree = StackTree::default();
        let mut rows = Vec::new();
        for (name, unoptimised, samples) in [("count", true, ms), ("memchr", false, 1000 - ms)] {
            let node = tree.add(std::iter::once(Frame {
                binary: "/bin/program".to_owned(),
                function: Some(name.to_owned()),
                source_file: Some(source.to_owned()),
                unoptimised,
                ..Frame::default()
            }));
            rows.push(StackRow {
                pid: ROOT,
                tid: ROOT,
                activity: Activity::OwnCode,
                call: None,
                fd: None,
                path: None,
                woken_by: None,
                node,
                samples,
                ns: samples * 1_000_000,
                calls: 0,
            });
        }
        fake.trace.stacks = Some(Stacks {
            tree,
            rows,
            ..Stacks::default()
        });
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
    }
}
