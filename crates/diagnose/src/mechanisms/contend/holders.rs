//! Finds what the holder of a lock does while others wait for it.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::{Activity, StackRow};

use crate::intervals::{by_thread, woken_ns};
use crate::lock_waits::is_for_lock;
use crate::mechanisms::prelude::*;

/// The maximum depth to which a chain of holders that wait for a lock themselves is followed.
const DEEPEST: u32 = 8;
/// The minimum part of the time at which an activity of the holder is mentioned.
const WORTH_A_WORD: f64 = 0.15;

/// A call, and its process and descriptor.
type Wait = (String, Option<(u32, i32)>);

/// What the holders did while others waited, in ns of the traced run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Meanwhile {
    /// Time on a CPU, or in calls that don't wait.
    ran: f64,
    /// Time in which they wanted a CPU and had none.
    ready: f64,
    /// Time in calls off the CPU.
    waited: BTreeMap<Wait, f64>,
    /// The threads.
    holders: BTreeSet<u32>,
}

/// The waits of each thread, in order.
struct Waits<'a, 't> {
    analysis: &'a Analysis<'t>,
    of: HashMap<u32, Vec<&'a Interval>>,
}

impl Waits<'_, '_> {
    /// Adds what a thread did between two moments.
    fn add(&self, tid: u32, (from, to): (u64, u64), depth: u32, sum: &mut Meanwhile) {
        sum.holders.insert(tid);
        let list = self.of.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = list.partition_point(|wait| wait.to_ns <= from);
        let mut ran = to.saturating_sub(from);
        for wait in list[first..].iter().take_while(|wait| wait.from_ns < to) {
            let span = (wait.from_ns.max(from), woken_ns(wait).min(to));
            let ns = span.1.saturating_sub(span.0);
            let ready = wait.to_ns.min(to).saturating_sub(woken_ns(wait).max(from));
            sum.ready += ready as f64;
            ran = ran.saturating_sub(ns + ready);
            if matches!(wait.cause, Cause::Preempted | Cause::Ready) {
                continue;
            }
            let call = wait.call.as_deref().unwrap_or_default();
            // Nobody ends a pause: it is over after its time, also if it is made in the call of locks.
            let is_pause = calls::is_lock(call) && is_by_nobody(self.analysis, wait.woken_by);
            if !calls::is_any_lock(call) || wait.object.is_some() || is_pause {
                let on = wait.fd.map(|fd| (wait.pid, fd));
                *sum.waited.entry((call.to_owned(), on)).or_default() += ns as f64;
            } else if let Some(by) = wait.woken_by.filter(|by| *by != tid && depth < DEEPEST) {
                self.add(by, span, depth + 1, sum);
            }
        }
        sum.ran += ran as f64;
    }
}

/// Returns whether no thread of the tree ended a wait.
fn is_by_nobody(analysis: &Analysis<'_>, woken_by: Option<u32>) -> bool {
    woken_by.is_none_or(|by| analysis.thread(by).is_none())
}

/// Returns what was done during these threads' lock waits by the threads that ended them.
pub(crate) fn meanwhile(analysis: &Analysis<'_>, waits_of: impl Fn(u32) -> bool) -> Meanwhile {
    let of = by_thread(analysis.trace);
    let waits = Waits { analysis, of };
    let mut sum = Meanwhile::default();
    let ended = analysis.ended_waits(calls::is_any_lock);
    for (wait, by) in
        ended.filter(|(wait, by)| waits_of(wait.tid) && analysis.thread(*by).is_some())
    {
        waits.add(by, (wait.from_ns, woken_ns(wait)), 0, &mut sum);
    }
    sum
}

/// Returns the place in the program's code where these threads wait for locks for most of the time.
pub(crate) fn taken_in(
    analysis: &Analysis<'_>,
    is_waiter: impl Fn(u32) -> bool,
) -> Option<CodePlace> {
    let waits = |row: &StackRow, call: &str| {
        is_waiter(row.tid) && calls::is_lock(call) && is_for_lock(frames_of(analysis, row))
    };
    longest_wait(analysis, waits)
}

fn frames_of<'a>(
    analysis: &'a Analysis<'_>,
    row: &StackRow,
) -> impl Iterator<Item = &'a fathom_stacks::Frame> {
    let stacks = analysis.trace.stacks.as_ref();
    let node = row.node.into_iter();
    node.flat_map(move |node| stacks.into_iter().flat_map(move |it| it.tree.path(node)))
}

/// Returns the place in the program's code with most of these waits.
fn longest_wait(
    analysis: &Analysis<'_>,
    is_meant: impl Fn(&StackRow, &str) -> bool,
) -> Option<CodePlace> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let mut places: BTreeMap<u32, u64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let call = row.call.as_deref().unwrap_or_default();
        if row.activity == Activity::Wait
            && is_meant(row, call)
            && let Some(own) = analysis.routes().own_caller(at)
        {
            *places.entry(own).or_default() += row.ns;
        }
    }
    let (place, _) = places.into_iter().max_by_key(|(_, ns)| *ns)?;
    analysis.place_of_frame(place)
}

/// Returns a sentence about the same; `None` if the trace doesn't have individual waits.
pub(crate) fn in_words(analysis: &Analysis<'_>, waits_of: impl Fn(u32) -> bool) -> Option<String> {
    meanwhile(analysis, waits_of).in_words(analysis)
}

impl Meanwhile {
    fn all_ns(&self) -> f64 {
        self.ran + self.ready + self.waited.values().sum::<f64>()
    }

    /// Returns the part of the time in which the holders had no CPU, 0 to 1.
    pub(crate) fn without_cpu(&self) -> f64 {
        self.ready / self.all_ns().max(1.0)
    }

    /// Returns whether the holders mostly computed, as far as they had a CPU.
    pub(crate) fn is_computing(&self) -> bool {
        self.ran * 2.0 >= self.all_ns() - self.ready
    }

    /// Returns whether the holders mostly slept or waited for something, as far as they had a CPU for the rest.
    pub(crate) fn is_asleep(&self) -> bool {
        let waited = self.waited.values().sum::<f64>();
        waited > 0.0 && waited * 2.0 >= self.all_ns() - self.ready
    }

    /// Returns where in the program's code the holders waited in this call, but not for a lock.
    fn place_of(&self, analysis: &Analysis<'_>, call: &str) -> Option<CodePlace> {
        longest_wait(analysis, |row, made| {
            // No thread ends a pause that is made in a call for locks.
            let is_pause =
                || is_by_nobody(analysis, row.woken_by) && !is_for_lock(frames_of(analysis, row));
            made == call && self.holders.contains(&row.tid) && (!calls::is_lock(call) || is_pause())
        })
    }

    pub(crate) fn in_words(&self, analysis: &Analysis<'_>) -> Option<String> {
        let all = self.all_ns();
        let percent = |ns: f64| format!("{:.0} % of that time", 100.0 * ns / all.max(1.0));
        let waited = |((call, on), ns): (&Wait, &f64)| {
            let object = on.and_then(|(pid, fd)| analysis.name_of(pid, fd));
            let object = object.map_or_else(String::new, |object| format!(" on {object}"));
            let place = self
                .place_of(analysis, call)
                .and_then(|place| place.function);
            let place = place.map(|function| without_type_arguments(&function));
            let does = match (call.as_str(), place) {
                (call, Some(place)) if calls::is_sleep(call) || calls::is_lock(call) => {
                    format!("slept in `{place}`")
                }
                (call, None) if calls::is_sleep(call) || calls::is_lock(call) => {
                    format!("slept (`{call}`)")
                }
                ("", _) => "waited for memory or a disk".to_owned(),
                (call, Some(place)) => format!("waited in `{call}`{object} (called by `{place}`)"),
                (call, None) => format!("waited in `{call}`{object}"),
            };
            (*ns, does)
        };
        let mut did: Vec<(f64, String)> = self.waited.iter().map(waited).collect();
        did.push((self.ran, "computed".to_owned()));
        did.push((self.ready, "had no CPU".to_owned()));
        did.retain(|(ns, _)| *ns >= WORTH_A_WORD * all && *ns > 0.0);
        did.sort_by(|a, b| b.0.total_cmp(&a.0));
        let did = did.iter().take(2);
        let did: Vec<String> = did
            .map(|(ns, did)| format!("{did} for {}", percent(*ns)))
            .collect();
        (!did.is_empty()).then(|| format!("Meanwhile the holder {}.", did.join(", and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, ROOT};

    #[test]
    fn what_a_holder_does_is_said_through_those_that_wait_themselves() {
        let mut fake = Fake::new(1000);
        for tid in [101, 102, 103] {
            fake.thread(ROOT, tid, 0, 1000, 1000);
        }
        fake.descriptor(5, "/data/journal");
        // 103 holds the lock, syncs and computes; 102 waits for 103, and 101 waits for 102.
        fake.wait_for(103, "fdatasync", Some(5), (10, 70, 70), None);
        fake.wait_for(102, "futex", None, (5, 105, 105), Some(103));
        fake.wait_for(101, "futex", None, (5, 105, 105), Some(102));
        let timed = [fake.run()];
        let observation = fake.observation(&timed);
        let analysis = Analysis::new(&observation);
        let said = in_words(&analysis, |_| true);
        let wanted = "Meanwhile the holder waited in `fdatasync` on /data/journal for 60 % of that time, and computed for 40 % of that time.";
        assert_eq!(said.as_deref(), Some(wanted));
        assert_eq!(in_words(&analysis, |tid| tid == 103), None);
    }
}
