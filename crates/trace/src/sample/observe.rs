//! Runs commands under the sampling tier.

use std::time::Duration;

use super::affinity::SamplerAffinity;
use super::tree::Tree;
use crate::command::{Member, TraceCommand, TraceOptions};
use crate::error::TraceError;
use crate::group::{Group, descriptors_of};
use crate::orphans::Orphans;
use crate::perf::Recorder;
use crate::result::{GroupTrace, Sampling, Tier, Trace, not_seen_to_end};
use crate::watch::{Limits, now};

/// The limitation of a run in which calls aren't seen; a second run under ptrace shows some of this.
pub const NO_CALLS: &str =
    "the number of calls, their bytes and errors: samples show only shares of time";

/// The limitation that is reported if stacks are wanted but perf isn't allowed.
const NO_STACKS: &str = "the callers of the program's own code: perf_event_open(2) would show them";

/// Number of rounds between searches for new threads and processes: listing costs 20 us per process.
const ROUNDS_PER_LISTING: u64 = 4;
/// Number of rounds between searches for orphans that have ended.
const ROUNDS_PER_BURIAL: u64 = 256;

/// Runs the command and reports what the samples showed. In the perf tier, also uses the kernel's records of
/// its switches.
pub(crate) fn observe(
    command: &TraceCommand,
    tier: Tier,
    options: &TraceOptions,
) -> Result<Trace, TraceError> {
    let group = Group::hold([(command, Duration::ZERO)], None, &[])?;
    watch(group, tier, command.timeout, options).map(GroupTrace::into_single)
}

/// Does the same as [`observe`] for commands that run concurrently.
pub(crate) fn observe_group(
    members: Vec<Member>,
    tier: Tier,
    options: &TraceOptions,
) -> Result<GroupTrace, TraceError> {
    let unwanted = descriptors_of(&members);
    let timeout = members.iter().filter_map(|m| m.command.timeout).min();
    let commands = members.iter().map(|m| (&m.command, m.delay));
    let group = Group::hold(commands, None, &unwanted)?;
    // Close our copies of the pipes between the commands; otherwise no reader would ever see the end of
    // input.
    drop(members);
    watch(group, tier, timeout, options)
}

fn watch(
    mut group: Group,
    tier: Tier,
    timeout: Option<Duration>,
    options: &TraceOptions,
) -> Result<GroupTrace, TraceError> {
    let limits = Limits::start(timeout, options.stop.clone());
    let orphans = Orphans::adopt();
    let roots = group.pids();
    let mut recorder = match tier {
        Tier::Perf => Some(Recorder::attach(&roots, options)?),
        _ => None,
    };
    let start = now();
    recorder.iter_mut().for_each(|one| one.begin(start));
    let mut sampler = Sampler::new(recorder, start, options);
    sampler.tree.name_maps.clone_from(&group.name_maps);
    // The descriptors of a command are named while it is held.
    roots.iter().for_each(|pid| sampler.tree.name(*pid));
    group.begin(now());
    let let_go = |group: &mut Group, sampler: &mut Sampler| {
        let at = now();
        for pid in group.release_due(at)? {
            sampler
                .recorder
                .iter_mut()
                .for_each(|one| one.released(pid, at));
            sampler.tree.add_root(pid, at);
        }
        Ok::<(), TraceError>(())
    };
    let_go(&mut group, &mut sampler)?;

    let mut cut_short = false;
    loop {
        if group.all_ended(limits.shorten(sampler.until_next())) {
            break;
        }
        let_go(&mut group, &mut sampler)?;
        if limits.reached() && !cut_short {
            cut_short = true;
            group.kill();
            sampler.tree.survivors(&roots).iter().for_each(kill);
        }
        // If no sample is due, one of several commands has ended or was released.
        if sampler.until_next().is_zero() {
            sampler.sample();
            if sampler.sampling.ticks.is_multiple_of(ROUNDS_PER_BURIAL) {
                orphans.bury();
            }
        }
    }
    let end = now();
    group.check_started()?;
    // Sample once more, so that threads that ended with the command don't seem to have outlived it.
    sampler.tree.sample(now);
    let survivors = sampler.tree.survivors(&roots);
    survivors.iter().for_each(kill);
    let outlived = orphans.end().max(survivors.len());
    let mut trace = sampler.finish(&roots, end);
    if !cut_short {
        trace.not_visible.extend(not_seen_to_end(outlived));
    }
    let mut seen = group.reap(trace, start, cut_short)?;
    for root in &mut seen.trace.processes {
        if let Some(member) = seen.members.iter().find(|m| m.pid == root.pid) {
            root.end = Some(member.end);
            root.ended_ns = Some(member.ended_ns);
        }
    }
    Ok(seen)
}

/// Samples a tree repeatedly. In the perf tier, also reads the kernel's records.
pub(super) struct Sampler {
    pub(super) tree: Tree,
    pub(super) recorder: Option<Recorder>,
    affinity: SamplerAffinity,
    sampling: Sampling,
    start: u64,
    next: u64,
    /// Whether stacks are wanted.
    stacks: bool,
    _slack: Slack,
}

impl Sampler {
    /// Creates a sampler whose first sample is due one period after `start`.
    pub(super) fn new(recorder: Option<Recorder>, start: u64, options: &TraceOptions) -> Self {
        let period = options.sample_period.as_nanos().max(100_000) as u64;
        Self {
            tree: match recorder {
                Some(_) => Tree::for_recorder(start, options),
                None => Tree::new(start, options),
            },
            recorder,
            affinity: SamplerAffinity::begin(),
            sampling: Sampling {
                period_ns: period,
                ..Sampling::default()
            },
            start,
            next: start + period,
            stacks: options.stacks.is_some(),
            _slack: Slack::least(),
        }
    }

    /// Returns the time until the next sample is due.
    pub(super) fn until_next(&self) -> Duration {
        Duration::from_nanos(self.next.saturating_sub(now()))
    }

    /// Samples all threads, and reads the kernel's records.
    pub(super) fn sample(&mut self) {
        let (sampling, tree) = (&mut self.sampling, &mut self.tree);
        let late = now().saturating_sub(self.next);
        sampling.late_ticks += u64::from(late > sampling.period_ns / 2);
        sampling.worst_lateness_ns = sampling.worst_lateness_ns.max(late);
        tree.sample(now);
        self.affinity.leave(&tree.busy_cpus());
        let recorder = self.recorder.as_mut();
        let news = recorder.map(|one| one.read(tree.taken()));
        let is_new = match &news {
            Some(news) => news.begun,
            None => sampling.ticks.is_multiple_of(ROUNDS_PER_LISTING),
        };
        if is_new {
            tree.discover(now());
        }
        let execs = news.into_iter().flat_map(|news| news.execs);
        execs.for_each(|pid| tree.executed(pid, now()));
        sampling.ticks += 1;
        // Missed rounds are not made up for: each sample represents the time since the previous one.
        self.next = (self.next + sampling.period_ns).max(now());
    }

    /// Returns the observations up to `end`. Threads of processes other than `roots` that still exist have
    /// outlived the commands.
    pub(super) fn finish(self, roots: &[u32], end: u64) -> Trace {
        let tier = match self.recorder {
            Some(_) => Tier::Perf,
            None => Tier::Sample,
        };
        let mut trace = Trace {
            tier: Some(tier),
            duration_ns: end - self.start,
            sampling: Some(self.sampling),
            not_visible: vec![NO_CALLS.to_owned()],
            ..Trace::default()
        };
        trace.not_visible.push(match tier {
            Tier::Perf => {
                "which calls caused waits under a millisecond: these waits are divided among the calls in which a \
                 sample found a thread waiting"
                    .to_owned()
            }
            _ => "processes that live for less than a few milliseconds".to_owned(),
        });
        if self.stacks && tier == Tier::Sample {
            trace.not_visible.push(NO_STACKS.to_owned());
        }
        let refused = self.tree.finish(roots, end, &mut trace);
        if let Some(recorder) = self.recorder {
            recorder.finish(end, &refused, &mut trace);
        }
        trace
    }
}

fn kill(pid: &u32) {
    // SAFETY: sends a signal to a process of the sampled tree that was alive when last sampled.
    unsafe { libc::kill(*pid as i32, libc::SIGKILL) };
}

/// The timer slack of this thread, lowered while it samples: the default 50 us would be 5 % of a period.
struct Slack(libc::c_int);

impl Slack {
    fn least() -> Self {
        // SAFETY: reads and sets an attribute of this thread.
        unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
            Self(before)
        }
    }
}

impl Drop for Slack {
    fn drop(&mut self) {
        // SAFETY: restores the value read above.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.0.max(1)) };
    }
}
