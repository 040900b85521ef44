//! Detects own code that mostly does one kind of library work of which well-made programs do little.

use fathom_model::without_type_arguments;

use super::below::{Below, Way, below, own_caller, way_to};
use crate::mechanisms::prelude::*;
use crate::runtimes::{
    Avoidable, COMPARING, SEARCHING, TEXT, avoidable, converts, group_of, is_through,
};

/// The minimum time, in ns. Loading the code of a large program throws and catches exceptions, too.
const LEAST_NS: f64 = 30e6;
/// The time, in ns for each byte read or written, from which most of what is converted isn't. C converts a byte in 5
/// to 20 ns, and Java and Python in up to 60.
const LEAST_NS_PER_BYTE: f64 = 200.0;

/// The part of all own code, of all threads, from which work on all threads sets the pace of the program.
const MOST_OF_ALL: f64 = 0.6;

/// The samples of each kind of work that can be avoided.
pub(crate) type Kinds = BTreeMap<&'static str, Below>;

fn kinds<'a>(analysis: &'a Analysis<'_>) -> &'a Kinds {
    analysis.library_kinds.get_or_init(|| all_kinds(analysis))
}

fn all_kinds(analysis: &Analysis<'_>) -> Kinds {
    let Some(stacks) = &analysis.trace.stacks else {
        return BTreeMap::new();
    };
    let frames = &stacks.tree.frames;
    let groups: Vec<Option<&'static str>> = frames.iter().map(group_of).collect();
    let leads: Vec<bool> = frames
        .iter()
        .map(|it| it.inlined || is_through(it))
        .collect();
    let prepares = analysis.frames_for(Use::Prepares);
    let sorts = analysis.frames_for(Use::Sorts);
    let converted: Vec<bool> = frames
        .iter()
        .zip(&groups)
        .map(|(frame, group)| converts(frame, *group))
        .collect();
    let tests_each = analysis.frames_for(Use::TestsEach);
    let kind_of = |at: usize| {
        let own = own_caller(analysis, at);
        let within = stacks.rows[at].node.into_iter();
        let within = within.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let within: Vec<u32> = within.take_while(|it| Some(*it) != own).collect();
        // A pattern that is made anew for each use is another finding.
        if within.iter().any(|number| prepares[*number as usize]) {
            return None;
        }
        if is_key_of_sort(analysis, at, &sorts, &converted) {
            return Some((COMPARING, way_to(analysis, at)));
        }
        let of_group = |number: u32| groups[number as usize];
        let only_compares = within
            .iter()
            .all(|it| leads[*it as usize] || of_group(*it) == Some(TEXT));
        // A list of bytes is a text, in which a test finds the ends of lines; elements that are texts are not bytes.
        let is_search = |through: u32| {
            of_group(through) == Some(SEARCHING)
                || tests_each[through as usize]
                    && within.iter().any(|it| of_group(*it) == Some(TEXT))
        };
        let handed = analysis.routes().handed_over(at).filter(|_| only_compares);
        if let Some((caller, through)) = handed.filter(|(_, through)| is_search(*through)) {
            return Some((SEARCHING, (Some(caller), Some(through))));
        }
        let way: Way = (own, analysis.routes().entry(at));
        // Outermost first: what the program asked for explains what the library then did.
        let mut is_direct = true;
        let kind = within.iter().rev().find_map(|number| {
            let asked = is_direct || way.1 == Some(*number);
            is_direct &= leads[*number as usize];
            let name = groups[*number as usize]?;
            (asked || !avoidable(name)?.direct).then_some(name)
        });
        Some((kind?, way))
    };
    below(analysis, kind_of)
}

/// Returns whether a row is in a conversion that a sort makes for a comparison.
fn is_key_of_sort(analysis: &Analysis<'_>, at: usize, sorts: &[bool], converts: &[bool]) -> bool {
    let Some(stacks) = &analysis.trace.stacks else {
        return false;
    };
    let innermost_first = stacks.rows[at].node.into_iter();
    let innermost_first = innermost_first.flat_map(|node| stacks.tree.frame_numbers_of(node));
    let mut is_converting = false;
    for number in innermost_first {
        if sorts[number as usize] {
            return is_converting;
        }
        is_converting |= converts[number as usize];
    }
    false
}

/// Returns whether all threads together mostly do work that only hands over other work.
pub(crate) fn mostly_hands_over(analysis: &Analysis<'_>) -> bool {
    let sets_pace = |(kind, done): (&&str, &Below)| {
        let is_on_all = avoidable(kind).is_some_and(|it| it.on_all_threads);
        is_on_all && done.part_of_all >= MOST_OF_ALL && done.samples >= t::LEAST_SAMPLES
    };
    kinds(analysis).iter().any(sets_pace)
}

/// The part of the time that either direction takes at least, if work is done and undone.
const EITHER_WAY: f64 = 0.15;

/// Returns the part of the work, 0 to 1, that can be avoided: all of it or, if that is only the case for work that
/// is undone again, the part below functions that do both.
fn avoidable_part(analysis: &Analysis<'_>, why: &Avoidable, done: &Below) -> f64 {
    let Some(stacks) = analysis.trace.stacks.as_ref().filter(|_| why.goes_back()) else {
        return 1.0;
    };
    let frame = |number: u32| &stacks.tree.frames[number as usize];
    let ways = done.ways.iter().map(|((caller, entry), samples)| {
        let function = caller.and_then(|it| frame(it).function.as_deref());
        let is_back = entry.is_some_and(|it| why.undoes(frame(it)));
        (function, (is_back, *samples))
    });
    let part = |ways: Vec<(bool, u64)>| {
        let all: u64 = ways.iter().map(|(_, samples)| samples).sum();
        let back = ways.iter().filter(|(is_back, _)| *is_back);
        let back: u64 = back.map(|(_, samples)| samples).sum();
        let least = EITHER_WAY * all as f64;
        match back.min(all - back) as f64 >= least {
            true => all,
            false => 0,
        }
    };
    let found: u64 = grouped(ways).into_values().map(part).sum();
    found as f64 / done.samples.max(1) as f64
}

/// Returns how much shorter the run would be without this work.
fn saving_ns(analysis: &Analysis<'_>, why: &Avoidable, done: &Below) -> f64 {
    if !why.on_all_threads || done.part_of_all < MOST_OF_ALL {
        return done.ns;
    }
    // The CPU time of all threads would shrink in proportion.
    let accounts = &analysis.trace.accounts;
    let in_user = part_of(accounts.user_ns, accounts.user_ns + accounts.system_ns);
    let cpu_ns = analysis.cpu_ns.min(analysis.timed_ns) * analysis.quiet;
    done.ns.max(done.part_of_all * in_user * cpu_ns)
}

pub(crate) fn library_work(analysis: &Analysis<'_>) -> Option<Claim> {
    let moved = || analysis.tally_calls(calls::moves_bytes).bytes.max(1) as f64;
    let found = kinds(analysis).iter().filter_map(|(kind, done)| {
        let why = avoidable(kind)?;
        let ns = saving_ns(analysis, why, done) * avoidable_part(analysis, why, done);
        let is_reached = done.samples >= t::LEAST_SAMPLES
            && Least::share(why.share)
                .with_ns(LEAST_NS)
                .is_reached(analysis, ns)
            && (!why.goes_back() || ns >= LEAST_NS_PER_BYTE * moved());
        is_reached.then_some((why, ns, done))
    });
    let (why, ns, done) = largest(found, |(_, ns, _)| *ns)?;
    let caller = done.main_caller();
    let code = caller
        .and_then(|it| analysis.place_of_frame(it))
        .unwrap_or_default();
    let called = done.main_entry().filter(|entry| Some(*entry) != caller);
    let called = called.and_then(|it| analysis.place_of_frame(it)?.function);
    let [by, called] = [code.function.as_deref(), called.as_deref()].map(|name| {
        name.filter(|name| !name.is_empty())
            .map(without_type_arguments)
    });
    let by = match (by, called) {
        (Some(by), Some(called)) => format!(", mostly for `{by}`, which calls `{called}`"),
        (Some(by), None) => format!(", mostly for `{by}`"),
        (None, _) => String::new(),
    };
    let statement = format!("{} took {}{by}.", why.work, analysis.time_and_share(ns));
    let mut claim = Claim::new(FindingId::LibraryWork, analysis, ns, statement);
    claim.code = code;
    let claim = claim
        .evidence("time in it", ns, "ns")
        .evidence("samples", done.samples, "samples")
        .advice(why.advice.as_str())
        .pid(done.pid)
        .likely()
        .least(Least::share(why.share).with_ns(LEAST_NS));
    Some(match why.on_all_threads {
        true => claim,
        false => claim.pieces(vec![Piece::of(TimeCategory::UserCode, ns)]),
    })
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;
    use fathom_trace::Activity;

    use crate::fake::{Fake, hold_words};

    const LIBC: &str = "/usr/lib/libc.so.6";

    /// Returns a program that spends this much of its second in the last of these library functions, called by
    /// its function `load`.
    fn below(functions: &[(&str, &str)], milliseconds: u64) -> Fake {
        let mut fake = Fake::new(1000);
        let frame = |(binary, name): &(&str, &str)| Frame {
            binary: (*binary).to_owned(),
            function: Some((*name).to_owned()),
            interpreter: name.starts_with("StubRoutines"),
            ..Frame::default()
        };
        let own = [("/bin/program", "main"), ("/bin/program", "load")];
        let way = own.iter().chain(functions).map(frame);
        fake.stack(Activity::OwnCode, None, way, milliseconds);
        fake.stack(
            Activity::OwnCode,
            None,
            own.iter().map(frame),
            1000 - milliseconds,
        );
        fake
    }

    fn reported(fake: &mut Fake) -> Option<String> {
        let found = fake.findings().into_iter();
        let mut own = found.filter(|it| it.id.as_str() == "library-work");
        own.next().map(|it| it.statement)
    }

    #[test]
    fn exceptions_are_named_with_who_meets_them() {
        let throws = [
            ("/usr/lib/libstdc++.so.6", "__cxa_throw"),
            ("/usr/lib/libgcc_s.so.1", "_Unwind_Find_FDE"),
        ];
        let found = below(&throws, 600).findings();
        hold_words("library_work", &found[0]);
        let words = "Throwing and catching exceptions took 600 ms, 60 % of the wall time, mostly for `load`, which calls `__cxa_throw`.";
        assert_eq!(found[0].statement, words);
        assert_eq!(found[0].could_win_ns / 1_000_000, 600);
        assert_eq!(reported(&mut below(&throws, 150)), None);
    }

    #[test]
    fn memory_that_exceptions_take_is_no_cause_of_its_own() {
        let throws = [
            ("/usr/lib/libstdc++.so.6", "__cxa_allocate_exception"),
            (LIBC, "malloc"),
        ];
        let mut fake = below(&throws, 600);
        fake.in_function(crate::fake::ROOT, LIBC, "malloc", 600);
        fake.in_function(crate::fake::ROOT, "/bin/program", "load", 400);
        assert_eq!(fake.ids(), ["library-work"]);
    }

    #[test]
    fn copies_that_other_library_functions_make_are_part_of_their_work() {
        let copy = (LIBC, "__memmove_avx_unaligned_erms");
        assert!(reported(&mut below(&[copy], 600)).is_some());
        let mut inlined = below(&[("/bin/program", "std::vector<int>::erase"), copy], 600);
        let stacks = inlined.trace.stacks.as_mut().expect("just made");
        for frame in &mut stacks.tree.frames {
            let name = frame.function.as_deref();
            frame.inlined = name.is_some_and(|name| name.contains("erase"));
        }
        assert!(reported(&mut inlined).is_some());
        assert_eq!(reported(&mut below(&[(LIBC, "getline"), copy], 600)), None);
        let ends = [(LIBC, "sscanf"), (LIBC, "__strlen_avx2")];
        assert!(reported(&mut below(&ends, 600)).is_some());
    }

    #[test]
    fn elements_that_a_container_moves_are_copied_for_its_caller() {
        let file = "/bin/program";
        let copy = (LIBC, "__memmove_avx_unaligned_erms");
        let erases = [(file, "std::vector<int>::_M_erase"), copy];
        assert!(reported(&mut below(&erases, 600)).is_some());
        let grows = [(file, "std::vector<int>::_M_realloc_append"), copy];
        assert_eq!(reported(&mut below(&grows, 600)), None);
        let moves = [
            ("//anon", "java.util.ArrayList.remove"),
            ("//anon", "StubRoutines (2)"),
        ];
        assert!(reported(&mut below(&moves, 600)).is_some());
        let encrypts = [
            ("//anon", "com.sun.crypto.provider.AESCrypt.crypt"),
            ("//anon", "StubRoutines (2)"),
        ];
        assert_eq!(reported(&mut below(&encrypts, 600)), None);
    }

    #[test]
    fn a_copy_by_way_of_text_is_named_and_a_filter_is_not() {
        let of = |[parsing, writing]: [u64; 2], bytes: u64| {
            let mut fake = Fake::new(1000);
            for (name, ms) in [("Parse", parsing), ("Stringify", writing)] {
                let frame = |binary: &str, name: &str| Frame {
                    binary: binary.to_owned(),
                    function: Some(name.to_owned()),
                    ..Frame::default()
                };
                let builtin = format!("v8::internal::Builtin_Json{name}");
                let way = [frame("//anon", "edit"), frame("/usr/bin/node", &builtin)];
                fake.stack(Activity::OwnCode, None, way, ms);
            }
            fake.calls("read", Some(0), 1_000, bytes / 1_000, 1_000);
            reported(&mut fake)
        };
        let found = of([500, 400], 0).expect("it is copied");
        assert!(found.contains("mostly for `edit`, which"), "{found}");
        assert_eq!(of([500, 400], 100_000_000), None, "it is read");
        assert_eq!(of([900, 20], 0), None, "nothing is copied");
    }

    #[test]
    fn a_pool_that_hands_over_single_items_is_named_without_a_caller() {
        let mut fake = Fake::new(1000);
        let frame = Frame {
            binary: "//python".to_owned(),
            function: Some("Pool._handle_tasks".to_owned()),
            source_file: Some("/usr/lib/python3.11/multiprocessing/pool.py".to_owned()),
            ..Frame::default()
        };
        fake.stack(Activity::OwnCode, None, [frame], 1000);
        let statement = reported(&mut fake).expect("it is all of the time");
        assert!(statement.ends_with("of the wall time."), "{statement}");
    }

    #[test]
    fn what_a_pool_does_beside_the_critical_path_counts_if_it_is_most_of_all() {
        let ids = |work_ms: u64| {
            let mut fake = Fake::new(1000);
            let root = crate::fake::ROOT;
            let all = fathom_trace::Cause::Asleep;
            fake.waits(Some("futex"), None, all, 1, 999_000);
            for tid in 101..106 {
                fake.thread(root, tid, 0, 1000, 1000);
                let ready = fathom_trace::Cause::Preempted;
                fake.waits_of(tid, None, None, ready, 100, 6_000);
            }
            fake.calls("accept4", Some(3), 20, 0, 1_000);
            let python = |name: &str, file: &str| Frame {
                binary: file.to_owned(),
                function: Some(name.to_owned()),
                source_file: Some(file.to_owned()),
                ..Frame::default()
            };
            let pool = python(
                "Pool._handle_tasks",
                "/usr/lib/python3.11/multiprocessing/pool.py",
            );
            fake.stack(Activity::OwnCode, None, [pool], 2_000);
            fake.stack(
                Activity::OwnCode,
                None,
                [python("work", "/srv/work.py")],
                work_ms,
            );
            let stacks = fake.trace.stacks.as_mut().expect("just made");
            for row in &mut stacks.rows {
                row.tid = 101;
            }
            fake.trace.accounts.user_ns = 1_900_000_000;
            fake.ids()
        };
        assert_eq!(ids(100), ["library-work"]);
        assert_eq!(ids(2_000), ["cpu-starved"]);
    }

    #[test]
    fn lists_that_are_searched_for_each_item_are_named() {
        let file = "/bin/program";
        let compares = (LIBC, "__memcmp_evex_movbe");
        for search in [
            (file, "slices.Contains[go.shape.[]string,go.shape.string]"),
            (file, "core::slice::<impl [T]>::contains"),
            ("//anon", "java.util.ArrayList.contains"),
            ("/usr/bin/node", "Builtins_ArrayIncludesSmiOrObject"),
            (
                file,
                "std::find<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, int>",
            ),
        ] {
            let found = reported(&mut below(&[search, compares], 600)).expect(search.1);
            let begin = "Searching lists from one end took 600 ms";
            assert!(found.starts_with(begin), "{found}");
            assert_eq!(reported(&mut below(&[search, compares], 400)), None);
        }
        let test = (file, "load::{{closure}}");
        let iterator = "<core::slice::iter::Iter<T> as core::iter::traits::iterator::Iterator>";
        let [find, any] = ["find", "any"].map(|name| format!("{iterator}::{name}"));
        let found = reported(&mut below(&[(file, &find), test], 600)).expect("it searches");
        assert!(found.contains("mostly for `load`, which calls"), "{found}");
        assert!(reported(&mut below(&[(file, &any), test, compares], 600)).is_some());
        // The elements may be bytes, and what a test computes is not known to be a comparison.
        assert_eq!(reported(&mut below(&[(file, &any), test], 900)), None);
        let computes = [(file, find.as_str()), test, (LIBC, "qsort")];
        assert_eq!(reported(&mut below(&computes, 900)), None);
        let text = "std::find<__gnu_cxx::__normal_iterator<char const*, std::string>, char>";
        assert_eq!(reported(&mut below(&[(file, text)], 900)), None);
        assert_eq!(reported(&mut below(&[(LIBC, "memchr")], 900)), None);
    }

    #[test]
    fn elements_that_are_counted_off_from_the_start_and_formats_are_named() {
        for (functions, begin) in [
            (
                ["java.util.LinkedList.get", "java.util.LinkedList.node"],
                "Going to elements by their number",
            ),
            (
                ["fmt.Sscanf", "fmt.(*ss).doScanf"],
                "Parsing text by a format",
            ),
        ] {
            let functions = functions.map(|name| ("/usr/lib/go/src/fmt", name));
            let found = reported(&mut below(&functions, 600)).expect(begin);
            assert!(found.starts_with(begin), "{found}");
            let end = format!("mostly for `load`, which calls `{}`.", functions[0].1);
            assert!(found.ends_with(&end), "{found}");
            assert_eq!(reported(&mut below(&functions, 250)), None);
        }
    }

    #[test]
    fn conversions_count_if_a_sort_repeats_them() {
        let sort = (LIBC, "msort_with_tmp");
        let compare = ("/bin/program", "by_date");
        let parse = (LIBC, "strptime");
        let found = reported(&mut below(&[sort, compare, parse], 400)).expect("it is most");
        assert!(
            found.ends_with("for `by_date`, which calls `strptime`."),
            "{found}"
        );
        assert_eq!(reported(&mut below(&[parse], 900)), None);
        assert_eq!(reported(&mut below(&[compare, parse, sort], 900)), None);
        let text = (LIBC, "__strcmp_avx2");
        assert_eq!(reported(&mut below(&[sort, compare, text], 900)), None);
    }

    #[test]
    fn well_made_programs_also_match_patterns_format_and_sort() {
        // What is not written may be parsed or looked up.
        let formats = [(LIBC, "__vsnprintf_internal")];
        assert_eq!(reported(&mut below(&formats, 900)), None);
        assert!(reported(&mut below(&[(LIBC, "regexec")], 900)).is_some());
        assert_eq!(reported(&mut below(&[(LIBC, "regexec")], 700)), None);
        assert_eq!(reported(&mut below(&[(LIBC, "qsort")], 900)), None);
    }
}
