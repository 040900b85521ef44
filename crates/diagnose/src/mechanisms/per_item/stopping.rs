//! Detects programs that ask their runtime to collect all garbage, or for something for which it stops all threads.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::Activity;

use crate::mechanisms::prelude::*;

/// The minimum share of the wall time. Well-made programs never ask for it while they work.
const SHARE: f64 = 0.15;

/// What a program asks for.
struct Asked {
    pid: u32,
    function: String,
    /// The program's function that asks for it.
    code: CodePlace,
    samples: u64,
    /// How long it took, of an untraced run.
    ns: f64,
}

impl Asked {
    /// Returns the sentence, with what the call does.
    fn statement(&self, analysis: &Analysis<'_>, does: &str) -> String {
        let by = self.code.function.as_deref().map(without_type_arguments);
        let by = by.map_or_else(String::new, |by| format!(", called by `{by}`,"));
        format!(
            "`{}`{by} {does}, which took {}.",
            without_type_arguments(&self.function),
            analysis.time_and_share(self.ns)
        )
    }
}

/// Returns what a program asks for by functions with this purpose, if that takes a good part of the time.
fn asked(analysis: &Analysis<'_>, purpose: Use) -> Option<Asked> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let asks = analysis.frames_for(purpose);
    let mut callers: BTreeMap<(u32, u32, Option<u32>), u64> = BTreeMap::new();
    let (mut samples, mut busy_ns) = (0, 0);
    let mut of_threads: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let frames = row.node.into_iter();
        let frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let Some(by) = frames.filter(|number| asks[*number as usize]).last() else {
            continue;
        };
        let caller = analysis.routes().own_caller(at);
        *callers.entry((row.pid, by, caller)).or_default() += row.ns;
        samples += row.samples;
        *of_threads.entry(row.tid).or_default() += row.ns;
        if row.activity != Activity::Wait {
            busy_ns += row.ns;
        }
    }
    let (&(pid, by, caller), _) = callers.iter().max_by_key(|(_, ns)| **ns)?;
    // Only one thread at a time can stop the others. Those that want to at the same time wait for it.
    let ns = of_threads.into_values().max().unwrap_or(0).max(busy_ns);
    let ns = analysis.untraced(ns as f64);
    // In runtimes with tasks, another thread collects, and the task that asked for it only yields until then.
    let ns = match purpose == Use::Collects && analysis.runtime(Some(pid)).has(Habit::MovesWork) {
        true => ns.max(by_others(analysis)),
        false => ns,
    };
    let found = Asked {
        pid,
        function: stacks.tree.frames[by as usize].function.clone()?,
        code: caller
            .and_then(|it| analysis.place_of_frame(it))
            .unwrap_or_default(),
        samples,
        ns: ns.min(analysis.wall_ns),
    };
    let is_enough = samples >= t::LEAST_SAMPLES_OF_NAMED && analysis.share(found.ns) >= SHARE;
    is_enough.then_some(found)
}

/// Returns the time on the critical path in which the collector works, or tasks without a function of the program
/// yield.
fn by_others(analysis: &Analysis<'_>) -> f64 {
    let yields = analysis.frames_for(Use::Yields);
    let stacks = analysis.trace.stacks.iter();
    let rows = stacks.flat_map(|stacks| stacks.rows.iter().map(move |row| (stacks, row)));
    let (mut all, mut found) = (0.0, 0.0);
    for (at, (stacks, row)) in rows.enumerate() {
        if row.activity != Activity::OwnCode {
            continue;
        }
        let ns = row.ns as f64 * analysis.weight(row.tid);
        all += ns;
        let work = analysis.works.of_stack(at).map(|(work, _)| work.role);
        let mut frames = row
            .node
            .into_iter()
            .flat_map(|node| stacks.tree.frame_numbers_of(node));
        if work == Some(ThreadRole::Collector) || frames.any(|number| yields[number as usize]) {
            found += ns;
        }
    }
    analysis.spent_ns(TimeCategory::UserCode) * found / all.max(1.0)
}

/// Returns whether the program itself asks for the collections that take a good part of the time.
pub(crate) fn collects(analysis: &Analysis<'_>) -> bool {
    asked(analysis, Use::Collects).is_some()
}

pub(crate) fn collections(analysis: &Analysis<'_>) -> Option<Claim> {
    let asked = asked(analysis, Use::Collects)?;
    let statement = asked.statement(analysis, "collects all garbage at once");
    claim(
        analysis,
        FindingId::AllocatorChurn,
        &asked,
        statement,
        COLLECT_LESS,
    )
}

pub(crate) fn stops(analysis: &Analysis<'_>) -> Option<Claim> {
    let asked = asked(analysis, Use::StopsThreads)?;
    let statement = asked.statement(analysis, "stops all threads of the program for each call");
    claim(
        analysis,
        FindingId::LibraryWork,
        &asked,
        statement,
        STOP_LESS,
    )
}

const COLLECT_LESS: &str = "Remove the call: the runtime collects when it has to. If memory must go back at a certain time, ask once, after \
     a large step.";
const STOP_LESS: &str = "Don't call it for each piece of work: call it by a timer and keep the last answer, or keep counters of your \
     own.";

fn claim(
    analysis: &Analysis<'_>,
    id: FindingId,
    asked: &Asked,
    statement: String,
    advice: &str,
) -> Option<Claim> {
    let mut claim = Claim::new(id, analysis, asked.ns, statement);
    claim.code = asked.code.clone();
    Some(
        claim
            .evidence("time in it", asked.ns, "ns")
            .evidence("samples", asked.samples, "samples")
            .advice(advice)
            .pid(asked.pid)
            .likely()
            .least(Least::share(SHARE)),
    )
}

#[cfg(test)]
mod tests {
    use fathom_stacks::Frame;
    use fathom_trace::{Activity, Cause};

    use crate::fake::{Fake, hold_words};

    /// Returns a program that waits this long below a library function that `Cache.tidy` calls.
    fn program(function: &str, milliseconds: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.waits(Some("futex"), None, Cause::Asleep, 100, milliseconds * 10);
        let frame = |name: &str| Frame {
            binary: "//anon".to_owned(),
            function: Some(name.to_owned()),
            ..Frame::default()
        };
        let way = [frame("Cache.tidy"), frame(function)];
        fake.stack(Activity::Wait, Some("futex"), way, milliseconds);
        fake.stack(
            Activity::OwnCode,
            None,
            [frame("Cache.fill")],
            1000 - milliseconds,
        );
        fake
    }

    #[test]
    fn collections_that_a_program_asks_for_are_named_with_who_asks() {
        let found = program("java.lang.System.gc", 600).findings();
        hold_words("collections", &found[0]);
        let words = "`java.lang.System.gc`, called by `Cache.tidy`, collects all garbage at once, which took 600 ms";
        assert!(found[0].statement.starts_with(words), "{found:?}");
        assert_eq!(found[0].code.function.as_deref(), Some("Cache.tidy"));
        let ids = program("java.lang.System.gc", 100).ids();
        assert!(!ids.contains(&"allocator-churn"), "{ids:?}");
    }

    #[test]
    fn what_stops_all_threads_is_named_with_who_asks() {
        let found = program("java.lang.Thread.getAllStackTraces", 600).findings();
        hold_words("stops", &found[0]);
        let words =
            "`java.lang.Thread.getAllStackTraces`, called by `Cache.tidy`, stops all threads";
        assert!(found[0].statement.starts_with(words), "{found:?}");
        let ids = program("java.lang.Object.wait", 600).ids();
        assert!(!ids.contains(&"library-work"), "{ids:?}");
    }
}
