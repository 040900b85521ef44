//! Detects objects that can be used many times but are made anew for each use, such as compiled patterns.

use fathom_model::{CodePlace, without_type_arguments};

use super::below::{Below, below, way_to};
use crate::mechanisms::prelude::*;

/// The minimum time, in ns. A program that makes such objects only once takes at most some tens of ms: the
/// modules of a Python program compile some dozens of patterns while it starts.
const LEAST_NS: f64 = 100e6;

/// Returns the class or package of a function; if it has none, its name.
fn class_of(function: &str) -> &str {
    let end = [function.rfind("::"), function.rfind('.')];
    let end = end.into_iter().flatten().max();
    &function[..end.unwrap_or(function.len())]
}

pub(crate) fn prepared(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let makes = analysis.frames_for(Use::Prepares);
    let name = |number: u32| stacks.tree.frames[number as usize].function.as_deref();
    let found = below(analysis, |at| {
        let frames = stacks.rows[at].node.into_iter();
        let frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let outermost = frames.filter(|number| makes[*number as usize]).last();
        Some((outermost.and_then(name)?, way_to(analysis, at)))
    });
    // One function of a class calls another, and may be inlined into its caller.
    let by_class = grouped(found.into_iter().map(|one| (class_of(one.0), one)));
    let added = by_class.into_values().filter_map(|functions| {
        let function = largest(&functions, |(_, making)| making.ns)?.0;
        let mut making = Below::default();
        functions.into_iter().for_each(|(_, one)| making.add(one));
        Some((function, making))
    });
    let (function, making) = largest(added, |(_, making)| making.ns)?;
    if making.samples < t::LEAST_SAMPLES {
        return None;
    }
    let cost = making.ns;
    let caller = making.main_caller().and_then(name);
    // The program may not ask for the object itself, but for something that needs it.
    let entry = making.main_entry().and_then(name);
    let entry = entry.filter(|entry| *entry != function && Some(*entry) != caller);
    let short = without_type_arguments;
    let name = short(function);
    let by = match (entry, caller) {
        (Some(entry), Some(caller)) => {
            format!(", which `{}` called for `{}`,", short(entry), short(caller))
        }
        (None, Some(caller)) => format!(", called by `{}`,", short(caller)),
        (_, None) => String::new(),
    };
    let collecting = if_so(making.with_collection, || {
        " with its part of the garbage collection".to_owned()
    });
    let statement = format!(
        "`{name}`{by} took {}{collecting}; what it makes can be used many times.",
        analysis.time_and_share(cost),
    );
    let place = |function: &str| CodePlace {
        function: Some(function.to_owned()),
        ..CodePlace::default()
    };
    let mut claim = Claim::new(FindingId::AllocatorChurn, analysis, cost, statement);
    claim.code = place(function);
    claim.callers = caller.iter().map(|caller| place(caller)).collect();
    let instead = entry.map_or_else(String::new, |entry| {
        format!(
            " Then use that object's own functions instead of `{}`.",
            short(entry)
        )
    });
    Some(
        claim
            .evidence("time in it", cost, "ns")
            .advice(format!(
                "If `{name}` gets the same arguments again and again, call it once before the loop and keep the \
                 result, in a variable or in a table by its arguments.{instead}"
            ))
            .pid(making.pid)
            .likely()
            .pieces(vec![Piece::of(TimeCategory::UserCode, cost)])
            .least(Least::share(t::LEAST_WAIT_SHARE).with_ns(LEAST_NS)),
    )
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;
    use fathom_trace::Activity;

    use crate::fake::{Fake, hold_words};

    /// Returns a program that spends this much of its second below a function of a library.
    fn below(function: &str, milliseconds: u64) -> Fake {
        let mut fake = Fake::new(1000);
        let frame = |binary: &str, name: &str| Frame {
            binary: binary.to_owned(),
            function: Some(name.to_owned()),
            ..Frame::default()
        };
        let own = [
            frame("/bin/program", "main"),
            frame("/bin/program", "parse"),
        ];
        let library = [
            frame("/usr/lib/libc.so.6", function),
            frame("/usr/lib/libc.so.6", "malloc"),
        ];
        let way = own.iter().chain(&library).cloned();
        fake.stack(Activity::OwnCode, None, way, milliseconds);
        fake.stack(Activity::OwnCode, None, own, 1000 - milliseconds);
        fake
    }

    #[test]
    fn what_could_be_made_once_is_named_with_its_caller() {
        let found = below("regcomp", 800).findings();
        hold_words("prepared", &found[0]);
        let begin = "`regcomp`, called by `parse`, took 800 ms, 80 % of the wall time";
        assert!(found[0].statement.starts_with(begin), "{found:?}");
        assert_eq!(found[0].could_win_ns / 1_000_000, 800);
    }

    #[test]
    fn what_another_function_of_the_library_makes_each_time_is_named_with_it() {
        let mut fake = Fake::new(1000);
        let python = |name: &str, file: &str| Frame {
            binary: file.to_owned(),
            function: Some(name.to_owned()),
            source_file: Some(file.to_owned()),
            ..Frame::default()
        };
        let library = |name, file: &str| python(name, &format!("/usr/lib/python3.11/re/{file}.py"));
        let way = [
            python("dispatch", "/srv/app.py"),
            library("match", "__init__"),
            library("_compile", "__init__"),
            library("compile", "_compiler"),
            library("_parse_sub", "_parser"),
        ];
        fake.stack(Activity::OwnCode, None, way, 900);
        let found = fake.findings();
        assert_eq!(found[0].id.as_str(), "allocator-churn", "{found:?}");
        let (statement, advice) = (&found[0].statement, &found[0].advice);
        let begin = "`compile`, which `match` called for `dispatch`, took";
        assert!(statement.starts_with(begin), "{statement}");
        assert!(advice.ends_with("instead of `match`."), "{advice}");
    }

    #[test]
    fn a_stream_for_each_conversion_is_made_anew() {
        let init = "std::basic_ios<char, std::char_traits<char> >::init";
        let found = below(init, 400).findings();
        let begin = "`std::basic_ios::init`, called by `parse`, took 400 ms";
        assert!(found[0].statement.starts_with(begin), "{found:?}");
    }

    #[test]
    fn what_is_made_once_at_the_start_is_not() {
        assert!(below("regcomp", 90).findings().is_empty());
        assert!(below("regexec", 700).findings().is_empty());
    }
}
