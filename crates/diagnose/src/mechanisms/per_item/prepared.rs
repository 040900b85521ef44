//! Detects objects that can be used many times but are made anew for each use, such as compiled patterns.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::Activity;

use crate::mechanisms::prelude::*;

/// The minimum time, in ns. A program that makes such objects only once takes at most some tens of ms: the
/// modules of a Python program compile some dozens of patterns while it starts.
const LEAST_NS: f64 = 100e6;

/// Samples of a function that makes such objects.
#[derive(Default)]
struct Making<'a> {
    samples: u64,
    /// Their time, weighted by the part of their threads that is on the critical path.
    on_path: f64,
    pid: u32,
    callers: BTreeMap<Option<&'a str>, u64>,
}

pub(crate) fn prepared(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let makes = analysis.frames_for(Use::Prepares);
    let name = |number: u32| stacks.tree.frames[number as usize].function.as_deref();
    let (mut all, mut collecting) = (0.0, false);
    let mut found: BTreeMap<&str, Making<'_>> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        if row.activity != Activity::OwnCode || analysis.works.is_of_runtime(row.tid) {
            continue;
        }
        // A collector's time belongs to all code in proportion.
        let work = analysis.works.of_stack(at).map(|(work, _)| work.role);
        if work == Some(ThreadRole::Collector) {
            collecting = true;
            continue;
        }
        let on_path = row.ns as f64 * analysis.weight(row.tid);
        all += on_path;
        let frames = row.node.into_iter();
        let frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let outermost = frames.filter(|number| makes[*number as usize]).last();
        // A shell compiles its patterns itself, whatever the script does.
        let is_shell = || analysis.runtime(Some(row.pid)).has(Habit::RunsCommands);
        if let Some(function) = outermost.and_then(name).filter(|_| !is_shell()) {
            let making = found.entry(function).or_default();
            let caller = analysis.routes().own_caller(at).and_then(name);
            *making.callers.entry(caller).or_default() += row.samples;
            making.samples += row.samples;
            making.on_path += on_path;
            making.pid = row.pid;
        }
    }
    let (function, making) = largest(found, |(_, making)| making.on_path)?;
    if making.samples < t::LEAST_SAMPLES {
        return None;
    }
    let cost = analysis.spent_ns(TimeCategory::UserCode) * making.on_path / all.max(1.0);
    let name = without_type_arguments(function);
    let (caller, _) = making.callers.iter().max_by_key(|(_, samples)| **samples)?;
    let by = caller.map_or_else(String::new, |caller| {
        format!(", called by `{}`,", without_type_arguments(caller))
    });
    let collecting = if_so(collecting, || {
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
    Some(
        claim
            .evidence("time in it", cost, "ns")
            .advice(format!(
                "If `{name}` gets the same arguments again and again, call it once before the loop and keep the \
                 result, in a variable or in a table by its arguments."
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
    fn what_is_made_once_at_the_start_is_not() {
        assert!(below("regcomp", 90).findings().is_empty());
        assert!(below("regexec", 800).findings().is_empty());
    }
}
