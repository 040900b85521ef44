//! The timeline of the page: a lane for each thread, with as many stretches as the page can hold.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fathom_model::{Explanation, Stretch, TimeAccount, TimeCategory};
use serde::Serialize;

use super::page_data::Limits;
use super::processes::{ordered, program, programs};
use crate::text::bounded as safe;

/// All lanes, and the texts that their stretches refer to.
#[derive(Serialize)]
pub(super) struct Timeline {
    pub(super) lanes: Vec<Lane>,
    details: Vec<String>,
    /// Sentences on stretches that aren't drawn exactly as observed.
    notes: Vec<String>,
}

/// The lane of one thread.
#[derive(Serialize)]
pub(super) struct Lane {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// The depth of the thread's process in the tree.
    depth: usize,
    /// Whether this is the first lane of its process.
    head: bool,
    /// The complete command line of the thread's process.
    pub(super) process: String,
    /// The name shown in the margin.
    pub(super) name: String,
    /// How the thread's process ended.
    end: String,
    pub(super) from: u64,
    pub(super) to: u64,
    /// What the thread's time was spent on, largest first: part and nanoseconds.
    pub(super) account: Vec<(usize, u64)>,
    /// Four numbers for each stretch: the nanoseconds since the end of the previous one, its length, its
    /// part, and the index of its detail from 1; 0 for no detail, -n for n short stretches drawn as one.
    runs: Vec<i64>,
}

/// One stretch to draw.
struct Drawn<'a> {
    from: u64,
    to: u64,
    part: usize,
    detail: Option<&'a str>,
    merged: usize,
}

/// Builds the timeline of `explanation` within `limits`.
pub(super) fn timeline(explanation: &Explanation, limits: &Limits) -> Timeline {
    let mut stretches: BTreeMap<(u32, u32), Vec<&Stretch>> = BTreeMap::new();
    for stretch in explanation.timeline.iter().filter(|s| s.to_ns > s.from_ns) {
        let key = (stretch.pid, stretch.tid);
        stretches.entry(key).or_default().push(stretch);
    }
    for list in stretches.values_mut() {
        list.sort_by_key(|stretch| stretch.from_ns);
    }
    let mut notes = Vec::new();
    let mut lanes = empty_lanes(explanation, &stretches);
    let left_out = keep_longest(&mut lanes, limits.lanes);
    if left_out > 0 {
        notes.push(format!(
            "{left_out} more threads, the shortest-lived, are not drawn."
        ));
    }
    add_accounts(&mut lanes, explanation);
    let shown: Vec<&[&Stretch]> = lanes
        .iter()
        .map(|lane| {
            stretches
                .get(&(lane.pid, lane.tid))
                .map_or(&[][..], Vec::as_slice)
        })
        .collect();
    let (drawn, merged) = coarsen_to(&shown, limits.stretches);
    if merged > 0 {
        notes.push(format!(
            "{} of {} stretches were too short to draw individually; adjacent ones are drawn as one, in the colour \
             of their largest part.",
            crate::format_count(merged as f64),
            crate::format_count(explanation.timeline.len() as f64)
        ));
    }
    let mut texts = Texts::new(limits);
    for (lane, drawn) in lanes.iter_mut().zip(&drawn) {
        lane.runs = encode(drawn, &mut texts);
    }
    if texts.left_out > 0 {
        notes.push(format!(
            "The details of {} stretches are omitted to keep the page small.",
            texts.left_out
        ));
    }
    Timeline {
        lanes,
        details: texts.list,
        notes,
    }
}

/// Returns a lane for every thread known from the accounts or from its stretches, in the order of the tree,
/// main threads first.
fn empty_lanes(
    explanation: &Explanation,
    stretches: &BTreeMap<(u32, u32), Vec<&Stretch>>,
) -> Vec<Lane> {
    let mut threads: BTreeMap<u32, BTreeMap<u32, (u64, u64, &str)>> = BTreeMap::new();
    for thread in &explanation.threads {
        let life = (thread.from_ns, thread.to_ns, thread.name.as_str());
        threads
            .entry(thread.pid)
            .or_default()
            .insert(thread.tid, life);
    }
    for (&(pid, tid), list) in stretches {
        let from = list.first().map_or(0, |stretch| stretch.from_ns);
        let to = list
            .iter()
            .map(|stretch| stretch.to_ns)
            .max()
            .unwrap_or(from);
        threads
            .entry(pid)
            .or_default()
            .entry(tid)
            .or_insert((from, to, ""));
    }
    let mut lanes = Vec::new();
    for (depth, row) in ordered(&explanation.processes) {
        let mut own = threads.remove(&row.pid).unwrap_or_default();
        own.entry(row.pid).or_insert((row.from_ns, row.to_ns, ""));
        let process = safe(&programs(row), 300);
        push_process(&mut lanes, row.pid, depth, own, |lane| {
            if lane.head {
                lane.name = safe(&program(row), 60);
            }
            lane.process = process.clone();
            lane.end = safe(&row.end, 60);
        });
    }
    for (pid, own) in threads {
        push_process(&mut lanes, pid, 0, own, |_| {});
    }
    lanes
}

fn push_process(
    lanes: &mut Vec<Lane>,
    pid: u32,
    depth: usize,
    own: BTreeMap<u32, (u64, u64, &str)>,
    name: impl Fn(&mut Lane),
) {
    let mut order: Vec<_> = own.into_iter().collect();
    order.sort_by_key(|&(tid, (from, _, _))| (tid != pid, from, tid));
    for (index, (tid, (from, to, thread))) in order.into_iter().enumerate() {
        let mut lane = Lane {
            pid,
            tid,
            depth: depth.min(8),
            head: index == 0,
            process: String::new(),
            name: safe(thread, 60),
            end: String::new(),
            from,
            to,
            account: Vec::new(),
            runs: Vec::new(),
        };
        name(&mut lane);
        lanes.push(lane);
    }
}

/// Adds the largest parts of each lane.
fn add_accounts(lanes: &mut [Lane], explanation: &Explanation) {
    let accounts: HashMap<(u32, u32), &TimeAccount> = explanation
        .threads
        .iter()
        .map(|thread| ((thread.pid, thread.tid), &thread.account))
        .collect();
    for lane in lanes {
        let Some(account) = accounts.get(&(lane.pid, lane.tid)) else {
            continue;
        };
        let mut parts: Vec<(usize, u64)> = account
            .parts
            .iter()
            .map(|part| (part.spent as usize, part.ns))
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.1));
        parts.truncate(4);
        lane.account = parts;
    }
}

/// Keeps the `most` lanes that lasted longest, in their original order. Returns how many were removed.
fn keep_longest(lanes: &mut Vec<Lane>, most: usize) -> usize {
    if lanes.len() <= most {
        return 0;
    }
    let mut order: Vec<usize> = (0..lanes.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(lanes[at].to.saturating_sub(lanes[at].from)));
    let kept: BTreeSet<usize> = order.into_iter().take(most).collect();
    let before = lanes.len();
    let mut at = 0;
    lanes.retain(|_| {
        at += 1;
        kept.contains(&(at - 1))
    });
    before - lanes.len()
}

/// Merges short neighbours, doubling the limit for "short" until at most `most` stretches are left. Returns
/// them lane by lane, and how many of the originals were merged.
fn coarsen_to<'a>(lanes: &[&[&'a Stretch]], most: usize) -> (Vec<Vec<Drawn<'a>>>, usize) {
    let ends = lanes.iter().copied().flatten().map(|one| one.to_ns);
    let whole = ends.max().unwrap_or(0);
    let mut short = 0;
    loop {
        let drawn: Vec<Vec<Drawn>> = lanes.iter().map(|lane| coarsen(lane, short)).collect();
        let count: usize = drawn.iter().map(Vec::len).sum();
        if count <= most || short > whole.saturating_mul(2) {
            let all = drawn.iter().flatten();
            let merged = all.map(|one| one.merged).filter(|merged| *merged > 1).sum();
            return (drawn, merged);
        }
        short = (short * 2).max(whole / 65_536).max(1);
    }
}

/// Merges neighbours shorter than `short` until the result is at least that long.
fn coarsen<'a>(stretches: &[&'a Stretch], short: u64) -> Vec<Drawn<'a>> {
    let mut out: Vec<Drawn> = Vec::new();
    let mut sums = [0u64; TimeCategory::ALL.len()];
    let mut open = false;
    for stretch in stretches {
        let length = stretch.to_ns - stretch.from_ns;
        let part = stretch.spent as usize;
        let last = out.last_mut().filter(|last| {
            open && length < short
                && last.to - last.from < short
                && stretch.from_ns.saturating_sub(last.to) < short
        });
        if let Some(last) = last {
            sums[part] += length;
            last.to = last.to.max(stretch.to_ns);
            last.merged += 1;
            last.detail = None;
            last.part = (0..sums.len()).max_by_key(|&at| sums[at]).unwrap_or(part);
            continue;
        }
        sums = [0; TimeCategory::ALL.len()];
        sums[part] = length;
        open = length < short;
        out.push(Drawn {
            from: stretch.from_ns,
            to: stretch.to_ns,
            part,
            detail: stretch.detail.as_deref(),
            merged: 1,
        });
    }
    out
}

/// Details, each stored once.
struct Texts<'a> {
    list: Vec<String>,
    known: HashMap<&'a str, i64>,
    most: usize,
    longest: usize,
    left_out: usize,
}

impl<'a> Texts<'a> {
    fn new(limits: &Limits) -> Texts<'a> {
        Texts {
            list: Vec::new(),
            known: HashMap::new(),
            most: limits.details,
            longest: limits.text,
            left_out: 0,
        }
    }

    /// Returns the index of `text` from 1; 0 if there is no room.
    fn place(&mut self, text: &'a str) -> i64 {
        if let Some(&place) = self.known.get(text) {
            return place;
        }
        if self.list.len() >= self.most {
            self.left_out += 1;
            return 0;
        }
        self.list.push(safe(text, self.longest));
        let place = self.list.len() as i64;
        self.known.insert(text, place);
        place
    }
}

fn encode<'a>(drawn: &[Drawn<'a>], texts: &mut Texts<'a>) -> Vec<i64> {
    let mut out = Vec::with_capacity(drawn.len() * 4);
    let mut end = 0;
    for one in drawn {
        let detail = match one.detail {
            _ if one.merged > 1 => -(one.merged as i64),
            Some(text) => texts.place(text),
            None => 0,
        };
        let gap = one.from as i64 - end;
        out.extend([gap, (one.to - one.from) as i64, one.part as i64, detail]);
        end = one.to as i64;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::TimeCategory;

    fn stretches(lengths: &[(u64, TimeCategory)]) -> Vec<Stretch> {
        let mut at = 0;
        lengths
            .iter()
            .map(|&(length, spent)| {
                at += length;
                Stretch {
                    pid: 1,
                    tid: 1,
                    from_ns: at - length,
                    to_ns: at,
                    spent,
                    detail: Some("read".into()),
                }
            })
            .collect()
    }

    #[test]
    fn short_neighbours_become_one_of_the_larger_part() {
        let all = stretches(&[
            (100, TimeCategory::UserCode),
            (2, TimeCategory::KernelIo),
            (3, TimeCategory::UserCode),
            (2, TimeCategory::KernelIo),
            (100, TimeCategory::Disk),
        ]);
        let list: Vec<&Stretch> = all.iter().collect();
        let drawn = coarsen(&list, 50);
        let shape: Vec<(u64, u64, usize, usize)> = drawn
            .iter()
            .map(|d| (d.from, d.to, d.part, d.merged))
            .collect();
        let io = TimeCategory::KernelIo as usize;
        assert_eq!(
            shape,
            [
                (0, 100, 0, 1),
                (100, 107, io, 3),
                (107, 207, TimeCategory::Disk as usize, 1)
            ]
        );
        assert_eq!(drawn[1].detail, None);
        assert_eq!(drawn[2].detail, Some("read"));
    }

    #[test]
    fn as_many_are_left_as_fit_and_no_time_is_lost() {
        let all =
            stretches(&[(3, TimeCategory::UserCode), (5, TimeCategory::KernelIo)].repeat(20_000));
        let list: Vec<&Stretch> = all.iter().collect();
        let (drawn, merged) = coarsen_to(&[&list], 1000);
        assert!((100..=1000).contains(&drawn[0].len()), "{}", drawn[0].len());
        assert_eq!(merged, 40_000);
        assert_eq!(drawn[0].iter().map(|d| d.to - d.from).sum::<u64>(), 160_000);
    }
}
