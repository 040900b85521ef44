//! Detects own code that mostly does one kind of library work of which well-made programs do little.

use fathom_model::without_type_arguments;

use super::below::below;
use crate::mechanisms::prelude::*;
use crate::runtimes::{avoidable, group_of};

/// The minimum time, in ns. Loading the code of a large program throws and catches exceptions, too.
const LEAST_NS: f64 = 30e6;
/// The time, in ns for each written byte, from which most of the formatted text isn't written. C formats a byte
/// in 5 to 20 ns, and Java and Python in up to 60.
const LEAST_NS_PER_BYTE: f64 = 200.0;

pub(crate) fn library_work(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let frames = &stacks.tree.frames;
    let groups: Vec<Option<&'static str>> = frames.iter().map(group_of).collect();
    let group = |number: u32| groups[number as usize];
    let prepares = analysis.frames_for(Use::Prepares);
    let kind_of = |at: usize| {
        let own = analysis.routes().own_caller(at);
        let within = stacks.rows[at].node.into_iter();
        let within = within.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let within: Vec<u32> = within.take_while(|it| Some(*it) != own).collect();
        // A pattern that is made anew for each use is another finding.
        if within.iter().any(|number| prepares[*number as usize]) {
            return None;
        }
        let entry = analysis.routes().entry(at);
        // Outermost first: what the program asked for explains what the library then did.
        let mut is_direct = true;
        within.iter().rev().find_map(|number| {
            let asked = is_direct || entry == Some(*number);
            is_direct &= frames[*number as usize].inlined;
            let name = group(*number)?;
            (asked || !avoidable(name)?.direct).then_some(name)
        })
    };
    let written = || analysis.tally_calls(calls::is_write).bytes.max(1) as f64;
    let is_reached = |kind: &str, ns: f64, samples: u64| {
        avoidable(kind).is_some_and(|it| {
            let least = Least::share(it.share).with_ns(LEAST_NS);
            samples >= t::LEAST_SAMPLES
                && least.is_reached(analysis, ns)
                && (!it.unwritten || ns >= LEAST_NS_PER_BYTE * written())
        })
    };
    let found = below(analysis, kind_of).into_iter();
    let found = found.filter(|(kind, work)| is_reached(kind, work.ns, work.samples));
    let (kind, done) = largest(found, |(_, work)| work.ns)?;
    let why = avoidable(kind)?;
    let caller = done.main_caller();
    let code = caller
        .and_then(|it| analysis.place_of_frame(it))
        .unwrap_or_default();
    let by = code.function.as_deref().map(without_type_arguments);
    let by = by.map_or_else(String::new, |by| format!(", mostly for `{by}`"));
    let statement = format!(
        "{} took {}{by}.",
        why.work,
        analysis.time_and_share(done.ns),
    );
    let mut claim = Claim::new(FindingId::LibraryWork, analysis, done.ns, statement);
    claim.code = code;
    Some(
        claim
            .evidence("time in it", done.ns, "ns")
            .evidence("samples", done.samples, "samples")
            .advice(why.advice.as_str())
            .pid(done.pid)
            .likely()
            .pieces(vec![Piece::of(TimeCategory::UserCode, done.ns)])
            .least(Least::share(why.share).with_ns(LEAST_NS)),
    )
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
        let words = "Throwing and catching exceptions took 600 ms, 60 % of the wall time, mostly for `load`.";
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
    fn text_is_formatted_in_vain_if_little_is_written() {
        let formats = |bytes: u64| {
            let mut fake = below(&[(LIBC, "__vsnprintf_internal")], 600);
            fake.calls("write", Some(1), 1_000, bytes / 1_000, 1_000);
            reported(&mut fake)
        };
        assert!(formats(100_000).is_some());
        assert_eq!(formats(20_000_000), None);
    }

    #[test]
    fn well_made_programs_also_match_patterns_and_sort() {
        assert!(reported(&mut below(&[(LIBC, "regexec")], 900)).is_some());
        assert_eq!(reported(&mut below(&[(LIBC, "regexec")], 700)), None);
        assert_eq!(reported(&mut below(&[(LIBC, "qsort")], 900)), None);
    }
}
