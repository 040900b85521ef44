//! Detects threads or processes that wake each other more than they work.

use fathom_model::{CodePlace, without_type_arguments};
use fathom_trace::Activity;

use crate::analysis::WaitEnds;
use crate::mechanisms::prelude::*;

/// Removes threads that wait in pipes for a reader or writer that hardly waits itself. They don't alternate
/// with it: it sets the pace, as does the last stage of a pipeline if it computes.
fn leave_those_paced_by_others(analysis: &Analysis<'_>, threads: &mut BTreeMap<u32, (u64, f64)>) {
    let ended = analysis.ends_of_waits_by(calls::moves_bytes, |_, by| threads.contains_key(&by));
    threads.retain(|tid, (_, waited)| {
        let ends = ended.get(tid).copied().unwrap_or_default();
        let known = (ends.own.ns + ends.others.ns) as f64;
        // If only a few of the waits were recorded, those say nothing about the others.
        ends.others.ns <= ends.own.ns || known < 0.5 * *waited
    });
}

/// The maximum number of waits for each request of a client if a server hands over no more than it is asked: one
/// thread polls and another answers, and both then look for work. Go's server of an empty page has 2.
const WAITS_OF_A_REQUEST: u64 = 4;

/// Returns how many requests of clients these threads' processes read, if the command was already running. How
/// often such a server is woken is up to its clients.
fn requests(analysis: &Analysis<'_>, threads: &[&ThreadTimes]) -> u64 {
    let pids: HashSet<u32> = threads.iter().map(|times| times.pid).collect();
    let of_clients = |row: &&SyscallRow| {
        let accepted = |fd| analysis.descriptors.is_accepted(row.pid, fd);
        pids.contains(&row.pid) && calls::is_read(&row.name) && row.fd.is_some_and(accepted)
    };
    let rows = analysis.trace.syscalls.iter().filter(of_clients);
    let all = rows.map(|row| row.calls.saturating_sub(row.errors.max(row.would_block)));
    match analysis.trace.attached {
        Some(_) => all.sum(),
        None => 0,
    }
}

pub(crate) fn hand_overs(analysis: &Analysis<'_>) -> Option<Claim> {
    // Several samples of one long wait aren't wake-ups.
    if !analysis.counts_waits() {
        return None;
    }
    let by_each_other = polls_of_each_other(analysis);
    let inner = |pid: u32, fd: i32| {
        let kind = analysis.descriptors.waited_for(pid, fd);
        let standard = fd <= 2 && analysis.descriptors.is_of_command(pid, fd);
        matches!(kind, WaitKind::Pipe | WaitKind::Events | WaitKind::Socket) && !standard
    };
    let of_partner = |row: &OffCpuRow| {
        let call = row.call.as_deref().unwrap_or_default();
        let moves = calls::moves_bytes(call);
        let inner = |fd| inner(row.pid, fd);
        let polls = calls::is_poll(call) && by_each_other.contains(&row.tid);
        row.cause == Cause::Asleep
            && (calls::is_lock(call) || polls || moves && row.fd.is_some_and(inner))
    };
    let mut threads: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for row in analysis.trace.off_cpu.iter().filter(|row| of_partner(row)) {
        let sums = threads.entry(row.tid).or_default();
        sums.0 += row.count;
        sums.1 += row.total_ns as f64;
    }
    let yields = yielding(analysis);
    for (tid, calls) in &yields {
        threads.entry(*tid).or_default().0 += calls;
    }
    let on_one_cpu = add_taken_cpus(analysis, &mut threads);
    // There must be partners: at least two threads that wait often, where one works while the other waits.
    threads.retain(|_, (waits, _)| *waits >= t::MANY_WAKEUPS / 4);
    leave_those_paced_by_others(analysis, &mut threads);
    let waits: u64 = threads.values().map(|(n, _)| n).sum();
    let partners = analysis.threads_that(|times| threads.contains_key(&times.tid));
    let busy = partners.cpu_ns();
    let per_wait = busy / waits.max(1) as f64;
    let little = per_wait <= t::STORM_CPU_PER_WAIT_NS
        || per_wait <= t::STORM_KERNEL_PER_WAIT_NS && works_little(analysis, &partners, waits);
    if threads.len() < 2 || waits < t::MANY_WAKEUPS || !little {
        return None;
    }
    if waits <= WAITS_OF_A_REQUEST * requests(analysis, &partners) {
        return None;
    }
    // The cost of hand-overs is the part of the wall time in which none of the threads runs, and the calls.
    let span = analysis.trace.duration_ns as f64;
    let idle = match on_one_cpu {
        true => (span - busy).max(0.0),
        false => threads.values().map(|(_, ns)| *ns).sum::<f64>() / threads.len() as f64,
    };
    let waiting = analysis.untraced(idle.min(span));
    // With fewer, larger pieces, most calls would disappear too. The program's own computing would stay.
    let hands_over = |row: &SyscallRow| {
        let moves = calls::moves_bytes(&row.name);
        let yields = row.name == YIELD && yields.contains_key(&row.tid);
        let calls = calls::is_lock(&row.name) || calls::is_poll(&row.name) || yields;
        threads.contains_key(&row.tid)
            && (calls || moves && row.fd.is_some_and(|fd| inner(row.pid, fd)))
    };
    let calls = analysis.tally(hands_over);
    let small = (calls.bytes as f64) < t::BLOCK_BYTES * waits as f64;
    let in_calls = if small { calls.cost_ns } else { 0.0 };
    let own = analysis.spent_on(&[TimeCategory::UserCode, TimeCategory::PageFaults]);
    let most = (analysis.wall_ns - own).max(0.0);
    let sure = (waiting + analysis.within_kernel(in_calls)).min(most);
    // If small pieces go back and forth, only one thread runs at a time, and everything except the threads'
    // work would disappear.
    let turns = small.then(|| all_but_work_ns(analysis, &partners, hands_over));
    let cost = sure.max(turns.unwrap_or(0.0).min(most));
    let on_files = on_files(analysis, &threads);
    let all_woken = match on_files {
        Some(_) => None,
        None => {
            let of = threads.keys().filter_map(|tid| analysis.thread(*tid));
            let pids = of.map(|times| times.pid).collect();
            wakes_all(analysis, &pids, threads.len())
        }
    };
    let together = match on_files.is_none() && all_woken.is_none() {
        true => woken_together(analysis, &threads),
        false => None,
    };
    let statement = format!(
        "{} threads waited for each other {} times, once every {}{}; the hand-overs take about {}.{}{}",
        threads.len(),
        count(waits),
        time(per_wait),
        on_files
            .as_ref()
            .map_or_else(String::new, OnFiles::in_words),
        analysis.time_and_share(cost),
        all_woken
            .as_ref()
            .map_or_else(String::new, WakesAll::in_words),
        together
            .as_ref()
            .map_or_else(String::new, Together::in_words),
    );
    let claim = Claim::new(FindingId::WakeupStorm, analysis, cost, statement)
        .evidence("waits", waits, "calls")
        .evidence("CPU time per wait", per_wait, "ns")
        .evidence("threads", threads.len(), "threads")
        .weighing(sure)
        .likely();
    Some(match on_files {
        Some(on_files) => claim
            .evidence("calls on files that were handed over", on_files.calls, "calls")
            .pid(on_files.pid)
            .on(None, on_files.file.map(|file| file.name.to_string()))
            .advice(
                "Read each file once and keep its content. Where a call on a file is needed, make it in the thread \
                 that needs it, or hand over whole files.",
            ),
        None => match (all_woken, together) {
            (Some(WakesAll { code, .. }), _) => {
                let mut claim = claim.advice(WAKE_ONE);
                claim.code = code;
                claim
            }
            (None, Some(Together { code, .. })) => {
                let mut claim = claim.advice(
                    "Hand over more at a time. If only one of the threads finds something to do, wake only one for \
                     each item (`notify_one`, `notify`, `Signal`).",
                );
                claim.code = code;
                claim
            }
            (None, None) => claim.advice(
                "Hand over more at a time: send batches through the queue or pipe, or do both steps in one thread.",
            ),
        },
    })
}

pub(crate) const WAKE_ONE: &str = "Wake one thread for each item (`notify_one`, `pthread_cond_signal`, `notify`, `Signal`), and hand over more at a \
     time.";

/// The minimum number of threads that are woken at a time. Whoever gives a lock back and signals that there is work
/// wakes two.
const TOGETHER: f64 = 3.0;
/// The maximum time, in ns, between two threads that one call wakes. A call that wakes one takes about as long.
const APART_NS: u64 = 3_000;

/// A thread that wakes several others in one call.
struct Together {
    threads: f64,
    /// The program's function that makes most of its calls.
    code: CodePlace,
}

impl Together {
    fn in_words(&self) -> String {
        let by = self.code.function.as_deref().map(without_type_arguments);
        let by = by.map_or_else(|| "One thread".to_owned(), |by| format!("`{by}`"));
        format!(
            " {by} wakes {:.0} threads at a time on average.",
            self.threads
        )
    }
}

/// Returns how many of these threads the one that wakes most of them wakes at a time, if they are several. Not every
/// function that wakes all of them is in a stack: some end with the call.
fn woken_together(
    analysis: &Analysis<'_>,
    threads: &BTreeMap<u32, (u64, f64)>,
) -> Option<Together> {
    let waits = analysis.ended_waits(calls::is_lock);
    let waits = waits.filter(|(wait, _)| threads.contains_key(&wait.tid));
    let wakes = grouped(waits.filter_map(|(wait, by)| Some((by, wait.woken_ns?))));
    let (by, mut wakes) = wakes.into_iter().max_by_key(|(_, wakes)| wakes.len())?;
    wakes.sort_unstable();
    let times = 1 + wakes
        .windows(2)
        .filter(|pair| pair[1] - pair[0] > APART_NS)
        .count();
    let at_a_time = wakes.len() as f64 / times as f64;
    if (wakes.len() as u64) < t::MANY_WAKEUPS / 4 || at_a_time < TOGETHER {
        return None;
    }
    let rows = analysis.trace.stacks.iter().flat_map(|it| &it.rows);
    let calls = rows.enumerate().filter(|(_, row)| {
        let wakes = row.call.as_deref().is_some_and(calls::is_lock);
        row.activity == Activity::Call && row.tid == by && wakes
    });
    let callers =
        calls.filter_map(|(at, row)| Some((analysis.routes().own_caller(at)?, row.samples)));
    let caller = most(callers).and_then(|caller| analysis.place_of_frame(caller));
    Some(Together {
        threads: at_a_time,
        code: caller.unwrap_or_default(),
    })
}

/// The function by which all waiting threads are woken at once.
pub(crate) struct WakesAll {
    function: String,
    /// The program's function that calls it.
    pub code: CodePlace,
}

impl WakesAll {
    pub(crate) fn in_words(&self) -> String {
        let by = self.code.function.as_deref().map(without_type_arguments);
        let by = by.map_or_else(String::new, |by| format!(", called by `{by}`,"));
        format!(
            " `{}`{by} wakes all threads that wait; those that find nothing to do sleep again.",
            without_type_arguments(&self.function)
        )
    }
}

/// Returns how several threads or tasks of these processes are woken at once, as far as stacks of the calls that wake
/// show it. `waiting` is the number of those that wait.
pub(crate) fn wakes_all(
    analysis: &Analysis<'_>,
    pids: &BTreeSet<u32>,
    waiting: usize,
) -> Option<WakesAll> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let wakes = analysis.frames_for(Use::WakesAll);
    let mut callers: BTreeMap<(u32, Option<u32>), u64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        let frames = row.node.into_iter();
        let frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
        let on_cpu = matches!(row.activity, Activity::Call | Activity::OwnCode);
        if on_cpu
            && pids.contains(&row.pid)
            && let Some(by) = frames.filter(|number| wakes[*number as usize]).last()
        {
            let key = (by, analysis.routes().own_caller(at));
            *callers.entry(key).or_default() += row.samples;
        }
    }
    let (&(by, caller), _) = callers.iter().max_by_key(|(_, samples)| **samples)?;
    let samples: u64 = callers.values().sum();
    let is_shown = waiting > 2 && samples >= t::LEAST_SAMPLES_OF_NAMED;
    let code = caller.and_then(|caller| analysis.place_of_frame(caller));
    is_shown.then_some(WakesAll {
        function: stacks.tree.frames[by as usize].function.clone()?,
        code: code.unwrap_or_default(),
    })
}

/// The part of the calls of threads that get work from an event loop above which their work is these calls.
const NEARLY_ALL: f64 = 0.8;

/// Calls on files that an event loop lets other threads make.
struct OnFiles<'a> {
    pid: u32,
    calls: u64,
    /// The file that was opened most often, if it was for most of these calls.
    file: Option<&'a FileRow>,
}

impl OnFiles<'_> {
    fn in_words(&self) -> String {
        let file = self.file.map_or_else(String::new, |file| {
            let name = file.name.text();
            format!(
                ", mostly on `{}`, opened {} times",
                file_name(&name),
                count(file.opens)
            )
        });
        format!(
            ", because an event loop hands calls on files to other threads ({}{file})",
            count(self.calls)
        )
    }
}

/// Returns the calls on files that these threads make for the one that polls, if they do nothing else.
fn on_files<'a>(
    analysis: &Analysis<'a>,
    threads: &BTreeMap<u32, (u64, f64)>,
) -> Option<OnFiles<'a>> {
    let polls = |tid: &u32| {
        let polls = analysis.rows_of(*tid);
        let polls = polls.filter(|row| calls::is_poll(&row.name));
        polls.map(|row| row.calls).sum::<u64>()
    };
    let giver = threads.keys().max_by_key(|tid| polls(tid));
    let giver = *giver.filter(|tid| polls(tid) > 0)?;
    let pid = analysis.thread(giver)?.pid;
    let signals = |row: &SyscallRow| {
        let kind = |fd| analysis.descriptors.waited_for(row.pid, fd);
        let is_signal = |fd| matches!(kind(fd), WaitKind::Pipe | WaitKind::Events);
        calls::is_lock(&row.name) || row.fd.is_some_and(is_signal)
    };
    let workers = threads.keys().filter(|tid| **tid != giver);
    let work = workers.flat_map(|tid| analysis.rows_of(*tid));
    let work: Vec<_> = work.filter(|row| !signals(row)).collect();
    let all: u64 = work.iter().map(|row| row.calls).sum();
    let is_socket = |row: &SyscallRow| {
        let kind = |fd| analysis.descriptors.waited_for(row.pid, fd);
        row.fd.is_some_and(|fd| kind(fd) == WaitKind::Socket)
    };
    let is_on_file = |row: &&&SyscallRow| {
        calls::is_on_files(&row.name) || calls::moves_bytes(&row.name) && !is_socket(row)
    };
    let calls: u64 = work.iter().filter(is_on_file).map(|row| row.calls).sum();
    if calls < t::MANY_WAKEUPS / 4 || (calls as f64) < NEARLY_ALL * all as f64 {
        return None;
    }
    let files = || analysis.trace.files.iter().filter(|file| file.pid == pid);
    let opens: u64 = files().map(|file| file.opens).sum();
    let most = files().max_by_key(|file| file.opens);
    let file = most.filter(|file| 2 * file.opens > opens);
    Some(OnFiles { pid, calls, file })
}

/// Detects tasks of a runtime that pass single values on through channels. Most of that happens without calls
/// and waits of threads.
pub(crate) fn through_channels(analysis: &Analysis<'_>) -> Option<Claim> {
    let stacks = analysis.trace.stacks.as_ref()?;
    let of = |purpose| analysis.frames_for(purpose);
    let (channels, scheduler) = (of(Use::Channel), of(Use::Scheduler));
    let polls = of(Use::AsksChannel);
    let (mut all, mut passing, mut switching, mut samples) = (0.0, 0.0, 0.0, 0);
    let mut callers: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (at, row) in stacks.rows.iter().enumerate() {
        if row.activity != Activity::OwnCode {
            continue;
        }
        let ns = row.ns as f64 * analysis.weight(row.tid);
        all += ns;
        let named = |purpose: &[bool]| {
            let frames = row.node.into_iter();
            let mut frames = frames.flat_map(|node| stacks.tree.frame_numbers_of(node));
            frames.any(|number| purpose[number as usize])
        };
        if named(&channels) && !named(&polls) {
            passing += ns;
            samples += row.samples;
            if let Some(caller) = analysis.routes().own_caller(at) {
                *callers.entry((row.pid, caller)).or_default() += row.samples;
            }
        } else if named(&scheduler) {
            switching += ns;
        }
    }
    let (&(pid, caller), _) = callers.iter().max_by_key(|(_, samples)| **samples)?;
    if samples < t::LEAST_SAMPLES {
        return None;
    }
    // Tasks are also switched for other reasons.
    let part = (passing + switching.min(passing)) / all.max(1.0);
    let cost = analysis.spent_ns(TimeCategory::UserCode) * part;
    let tasks = analysis.runtime(Some(pid)).tasks();
    let statement = format!(
        "Passing values through channels, and switching between the {tasks} that wait for them, took {}.",
        analysis.time_and_share(cost),
    );
    let mut claim = Claim::new(FindingId::WakeupStorm, analysis, cost, statement);
    claim.code = CodePlace {
        function: stacks.tree.frames[caller as usize].function.clone(),
        ..CodePlace::default()
    };
    Some(
        claim
            .weighing(analysis.in_own_part(cost))
            .evidence("time in channels", part * analysis.cpu_ns, "ns")
            .advice(
                "Pass more at a time: send slices of values instead of single ones, or do both steps in one task. \
                 A buffered channel makes switches less frequent.",
            )
            .pid(pid)
            .likely()
            .pieces(vec![Piece::of(TimeCategory::UserCode, cost)]),
    )
}

/// Returns the time in which at least two of these threads are alive, minus what they compute outside of the
/// calls that hand over.
fn all_but_work_ns(
    analysis: &Analysis<'_>,
    partners: &[&ThreadTimes],
    hands_over: impl Fn(&SyscallRow) -> bool,
) -> f64 {
    let spans = partners.iter().map(|times| (times.from_ns, times.to_ns));
    let (mut from, mut to): (Vec<u64>, Vec<u64>) = spans.unzip();
    from.sort_unstable();
    to.sort_unstable_by_key(|to| std::cmp::Reverse(*to));
    let (Some(from), Some(to)) = (from.get(1), to.get(1)) else {
        return 0.0;
    };
    let work = partners
        .iter()
        .map(|times| analysis.work_ns(times, &hands_over));
    let together = analysis.untraced(to.saturating_sub(*from) as f64) * analysis.quiet;
    together - work.sum::<f64>()
}

/// Adds hand-overs that ended by preemption, and reports whether there are any. If two threads share a CPU,
/// the woken one takes the CPU from the other before that one waits, because its next piece is already
/// available.
fn add_taken_cpus(analysis: &Analysis<'_>, threads: &mut BTreeMap<u32, (u64, f64)>) -> bool {
    let most = threads.values().map(|(waits, _)| *waits).max().unwrap_or(0);
    let mut any = false;
    for thread in &analysis.trace.threads {
        let taken = thread.involuntary_switches.unwrap_or(0).min(most);
        if let Some((waits, _)) = threads.get_mut(&thread.tid)
            && taken >= t::MANY_WAKEUPS / 4
            && *waits * 2 < most
        {
            *waits += taken;
            any = true;
        }
    }
    any
}

const YIELD: &str = "sched_yield";

/// Returns threads that hand over to each other by yielding several times before they sleep, as in Java's
/// `SynchronousQueue`. Each comes with the number of those calls.
fn yielding(analysis: &Analysis<'_>) -> BTreeMap<u32, u64> {
    let by_yields = |pid| analysis.runtime(Some(pid)).has(Habit::HandsOverByYields);
    let rows = analysis.calls(|row| row.name == YIELD && row.calls >= t::MANY_WAKEUPS / 4);
    let rows = rows.filter(|row| by_yields(row.pid));
    let mut threads: BTreeMap<u32, u64> = rows.map(|row| (row.tid, row.calls)).collect();
    // A hand-over yields once for each item on either side; a thread that searches for work alone has no such
    // partner.
    let most = threads.values().copied().max().unwrap_or(0);
    threads.retain(|_, calls| *calls * 2 >= most);
    if threads.len() < 2 {
        threads.clear();
    }
    threads
}

/// Reports whether threads hand over to each other by yielding; if so, their lock waits are for each other.
pub(crate) fn is_by_yields(analysis: &Analysis<'_>) -> bool {
    !yielding(analysis).is_empty()
}

/// Reports whether these threads do little other than waking each other and handing over small pieces.
fn works_little(analysis: &Analysis<'_>, partners: &[&ThreadTimes], waits: u64) -> bool {
    use TimeCategory::{Kernel, KernelIo, KernelWaiting};
    let handing = [KernelIo, KernelWaiting, Kernel];
    let work = |times: &ThreadTimes| {
        let calls = times.sums.of_any(&handing);
        (times.on_cpu_ns - calls).max(0.0)
    };
    let work: f64 = partners.iter().map(|times| work(times)).sum();
    let moved = analysis.tally_calls(calls::moves_bytes);
    // Moving large blocks takes kernel time as well.
    work / waits.max(1) as f64 <= t::STORM_WORK_PER_WAIT_NS
        && (moved.bytes as f64) < t::BLOCK_BYTES * waits as f64
}

/// Returns threads whose polls mostly ended because another thread of their process did something. Such polls
/// are for messages between event loops, not for a server's requests.
fn polls_of_each_other(analysis: &Analysis<'_>) -> HashSet<u32> {
    let polls = analysis.ends_of_waits(calls::is_poll);
    let mostly = |ends: &WaitEnds| ends.own.count * 5 >= ends.all().count * 4;
    let threads = polls.into_iter().filter(|(_, ends)| mostly(ends));
    threads.map(|(tid, _)| tid).collect()
}

#[cfg(test)]
mod tests {
    use fathom_trace::Cause;

    use crate::fake::{Fake, ROOT};

    fn pair(waits: u64, us: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.descriptor(3, "pipe");
        fake.descriptor(4, "pipe");
        fake.waits(Some("read"), Some(3), Cause::Asleep, waits, us);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        fake.waits_of(101, Some("read"), Some(4), Cause::Asleep, waits, us);
        fake
    }

    #[test]
    fn stages_that_wait_for_one_that_computes_take_no_turns() {
        let left = |by: [u32; 2]| {
            let mut fake = Fake::new(1000);
            fake.thread(ROOT, 101, 0, 1000, 500);
            fake.thread(ROOT, 102, 0, 1000, 990);
            for turn in 0..20 {
                let (from, to) = (turn * 50, turn * 50 + 20);
                fake.wait_for(ROOT, "read", Some(3), (from, to, to), Some(by[0]));
                let (from, to) = (from + 25, to + 25);
                fake.wait_for(101, "write", Some(4), (from, to, to), Some(by[1]));
            }
            let observation = fake.observation(&[]);
            let analysis = crate::analysis::Analysis::new(&observation);
            let mut threads = [ROOT, 101].map(|tid| (tid, (5_000, 400e6))).into();
            super::leave_those_paced_by_others(&analysis, &mut threads);
            threads.into_keys().collect::<Vec<u32>>()
        };
        assert_eq!(left([101, ROOT]), [ROOT, 101]);
        assert_eq!(left([101, 102]), [ROOT], "the second waits for a third");
    }

    #[test]
    fn ping_pong_is_found() {
        assert_eq!(pair(30_000, 20).ids(), ["wakeup-storm"]);
    }

    fn storm(fake: &mut Fake) -> fathom_model::Finding {
        let found = fake.findings().into_iter();
        let mut storms = found.filter(|it| it.id.as_str() == "wakeup-storm");
        storms.next().expect("they wait for each other")
    }

    #[test]
    fn whoever_wakes_all_that_wait_is_named() {
        let reported = |threads: u32| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 10_000, 50);
            for tid in 101..100 + threads {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 10_000, 80);
            }
            let frames = [
                ("/bin/program", "put"),
                ("/usr/lib/libc.so.6", "pthread_cond_broadcast"),
            ];
            let frames = frames.map(|(binary, function)| fathom_stacks::Frame {
                binary: binary.to_owned(),
                function: Some(function.to_owned()),
                ..fathom_stacks::Frame::default()
            });
            fake.stack(fathom_trace::Activity::Call, Some("futex"), frames, 20);
            storm(&mut fake)
        };
        let found = reported(5);
        crate::fake::hold_words("wakes_all", &found);
        let words = "`pthread_cond_broadcast`, called by `put`, wakes all threads that wait";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert_eq!(found.code.function.as_deref(), Some("put"));
        assert!(!reported(2).statement.contains("wakes all"));
    }

    #[test]
    fn whoever_wakes_several_at_a_time_is_named() {
        let reported = |apart_ns: u64| {
            let mut fake = Fake::new(1000);
            fake.waits(Some("futex"), None, Cause::Asleep, 10_000, 50);
            for tid in 101..=105 {
                fake.thread(ROOT, tid, 0, 1000, 1000);
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 10_000, 80);
            }
            for turn in 0..300 {
                for tid in 101..=105 {
                    fake.wait_for(
                        tid,
                        "futex",
                        None,
                        (turn * 3, turn * 3 + 2, turn * 3 + 2),
                        Some(ROOT),
                    );
                    let waits = fake.trace.timeline.as_mut().expect("just made");
                    let wait = waits.last_mut().expect("just made");
                    wait.woken_ns = wait.woken_ns.map(|at| at + u64::from(tid - 101) * apart_ns);
                }
            }
            let frames = ["Queue::put", "syscall"].map(|function| fathom_stacks::Frame {
                binary: "/bin/program".to_owned(),
                function: Some(function.to_owned()),
                ..fathom_stacks::Frame::default()
            });
            fake.stack(fathom_trace::Activity::Call, Some("futex"), frames, 20);
            storm(&mut fake)
        };
        let found = reported(1_000);
        let words = "wakes 5 threads at a time on average";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert!(found.code.function.is_some());
        assert!(!reported(20_000).statement.contains("at a time"));
    }

    #[test]
    fn hand_overs_beside_a_thread_that_computes_save_no_more_than_the_rest() {
        let mut fake = Fake::new(1000);
        for (tid, fd) in [(101, 3), (102, 4)] {
            fake.descriptor(fd, "pipe");
            fake.thread(ROOT, tid, 0, 1000, 1000);
            fake.waits_of(tid, Some("read"), Some(fd), Cause::Asleep, 30_000, 20);
        }
        let timed = [crate::fake::run(
            1000 * crate::fake::MS,
            1000 * crate::fake::MS,
        )];
        let explanation = crate::diagnose(&fake.observation(&timed));
        let own = explanation.account.ns(fathom_model::TimeCategory::UserCode);
        assert!(own > 600_000_000, "{own}");
        let saved = explanation.findings.iter().map(|it| it.could_win_ns);
        assert!(
            saved.sum::<u64>() <= 1_000_000_000 - own,
            "{own}: {:?}",
            explanation.findings
        );
    }

    /// Returns two threads with event loops that wait 5000 times each and are woken by `wakers`.
    fn loops(wakers: [Option<u32>; 2]) -> Fake {
        let mut fake = Fake::new(1000);
        fake.thread(ROOT, 101, 0, 1000, 1000);
        for (tid, waker) in [ROOT, 101].into_iter().zip(wakers) {
            fake.waits_of(tid, Some("epoll_wait"), Some(3), Cause::Asleep, 5_000, 170);
            fake.wait_for(tid, "epoll_wait", Some(3), (10, 11, 11), waker);
        }
        fake
    }

    #[test]
    fn event_loops_that_wake_each_other_are_reported_and_a_servers_are_not() {
        let storm = "wakeup-storm";
        assert_eq!(loops([Some(101), Some(ROOT)]).ids(), ["wakeup-storm"]);
        assert!(!loops([None, Some(7)]).ids().contains(&storm));
    }

    #[test]
    fn a_servers_threads_that_clients_keep_awake_are_not() {
        let reported = |requests: u64, attached: bool| {
            let mut fake = pair(20_000, 45);
            fake.descriptor(9, "accepted socket from socket at 127.0.0.1:80");
            fake.calls("read", Some(9), requests, 80, 1_000);
            fake.trace.attached = attached.then(|| fathom_trace::Attached {
                listening: vec![ROOT],
                ..fathom_trace::Attached::default()
            });
            fake.ids().contains(&"wakeup-storm")
        };
        assert!(!reported(20_000, true));
        assert!(reported(2_000, true) && reported(20_000, false));
    }

    #[test]
    fn a_pool_that_only_makes_an_event_loops_calls_on_files_is_named_as_that() {
        let statement = |calls: u64| {
            let mut fake = pair(30_000, 20);
            fake.calls("epoll_wait", Some(8), 30_000, 0, 500);
            fake.calls_of(101, "openat", None, 10_000, 0, 2_000);
            fake.calls_of(101, "ioctl", None, calls, 0, 300);
            fake.file("/srv/index.html", 10_000, 10_000, 160_000, 0);
            fake.findings().remove(0)
        };
        let found = statement(0);
        assert_eq!(found.id, fathom_model::FindingId::WakeupStorm);
        let words = "hands calls on files to other threads (10,000, mostly on `index.html`, opened 10,000 times)";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert!(found.advice.starts_with("Read each file once"));
        assert!(!statement(9_000).statement.contains("event loop"));
    }

    #[test]
    fn samples_are_no_wake_ups() {
        let mut fake = pair(30_000, 20);
        fake.trace.tier = Some(fathom_trace::Tier::Sample);
        assert!(!fake.ids().contains(&"wakeup-storm"));
    }

    #[test]
    fn a_few_hand_overs_of_much_work_are_not() {
        assert!(!pair(100, 3_000).ids().contains(&"wakeup-storm"));
    }

    /// Returns the findings for two threads that wait 20 000 times each, with 50 µs of CPU time for each
    /// wait, some of it in calls.
    fn costly(call_us: u64, bytes: u64) -> Vec<&'static str> {
        let mut fake = Fake::new(4_000);
        fake.trace.threads[0].on_cpu_ns = Some(3_000 * crate::fake::MS);
        fake.thread(ROOT, 101, 0, 4_000, 3_000);
        for (tid, fd) in [(ROOT, 3), (101, 4)] {
            fake.descriptor(fd, "socket pair");
            fake.waits_of(tid, Some("read"), Some(fd), Cause::Asleep, 20_000, 100);
            fake.calls_of(tid, "read", Some(fd), 20_000, bytes, call_us * 1_000);
        }
        fake.ids()
    }

    #[test]
    fn hand_overs_that_cost_more_than_the_work_between_them_are_a_storm() {
        assert_eq!(costly(40, 8), ["wakeup-storm"]);
        let storm = "wakeup-storm";
        assert!(!costly(5, 8).contains(&storm), "45 us of work for each");
        assert!(!costly(40, 65_536).contains(&storm), "large blocks");
    }

    #[test]
    fn on_one_cpu_the_one_that_is_woken_takes_it_from_the_other() {
        let reported = |taken: u64| {
            let mut fake = pair(20_000, 30);
            fake.thread(ROOT, 102, 0, 1000, 400);
            fake.waits_of(102, Some("read"), Some(4), Cause::Asleep, 300, 30);
            fake.trace.threads.retain(|thread| thread.tid != 101);
            fake.trace.off_cpu.retain(|row| row.tid != 101);
            let other = fake.trace.threads.last_mut().expect("it is there");
            other.involuntary_switches = Some(taken);
            fake.ids().contains(&"wakeup-storm")
        };
        assert!(reported(19_000));
        assert!(!reported(900));
    }

    #[test]
    fn javas_threads_that_hand_over_mostly_by_yields_are_found() {
        let reported = |language| {
            let mut fake = Fake::new(1_000);
            fake.language = Some(language);
            fake.trace.threads[0].on_cpu_ns = Some(500 * crate::fake::MS);
            fake.thread(ROOT, 101, 0, 1_000, 500);
            for tid in [ROOT, 101] {
                fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 100, 1_500);
                fake.calls_of(tid, "futex", None, 100, 0, 20_000);
                fake.calls_of(tid, "sched_yield", None, 30_000, 0, 5_000);
            }
            fake.ids()
        };
        assert_eq!(reported(crate::Language::Java), ["wakeup-storm"]);
        assert_eq!(reported(crate::Language::C)[0], "busy-polling");
    }

    #[test]
    fn single_values_through_channels_are_found_and_a_few_batches_are_not() {
        let reported = |passing: u64| {
            let mut fake = Fake::new(1_000);
            fake.language = Some(crate::Language::Go);
            let own = |functions: &[&str]| {
                let frame = |function: &&str| fathom_stacks::Frame {
                    function: Some((*function).to_owned()),
                    binary: "/bin/program".to_owned(),
                    ..fathom_stacks::Frame::default()
                };
                functions.iter().map(frame).collect::<Vec<_>>()
            };
            for (functions, ms) in [
                (
                    &["main.parse", "runtime.chansend1", "runtime.chansend"][..],
                    passing,
                ),
                (
                    &["runtime.mcall", "runtime.park_m", "runtime.schedule"][..],
                    2 * passing,
                ),
                (&["main.parse", "main.parseOne"][..], 1_000 - 3 * passing),
            ] {
                fake.stack(fathom_trace::Activity::OwnCode, None, own(functions), ms);
            }
            fake.findings()
        };
        let found = &reported(250)[0];
        assert_eq!(found.id.as_str(), "wakeup-storm");
        crate::fake::hold_words("through_channels", found);
        let words = "50 % of the wall time";
        assert!(found.statement.contains(words), "{}", found.statement);
        assert!(reported(60).is_empty());
    }

    #[test]
    fn threads_that_hand_over_by_yields_and_locks_queue_for_none() {
        let mut fake = Fake::new(1_000);
        fake.trace.threads[0].on_cpu_ns = Some(1_000 * crate::fake::MS);
        fake.thread(ROOT, 101, 0, 1_000, 1_000);
        for tid in [ROOT, 101] {
            fake.waits_of(tid, Some("futex"), None, Cause::Asleep, 9_000, 50);
            fake.calls_of(tid, "futex", None, 9_000, 0, 30_000);
            fake.calls_of(tid, "sched_yield", None, 30_000, 0, 5_000);
        }
        assert_eq!(fake.ids(), ["wakeup-storm"]);
    }
}
