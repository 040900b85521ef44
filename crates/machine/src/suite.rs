//! Which probes run together: five canaries, the quick profile, everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::affinity;
use crate::context::Context;
use crate::deadline;
use crate::gate;
use crate::groups::GROUPS;
use crate::probes::{core_clock, load_latency, noise, read_bandwidth, spawn, system_call, timer};
use crate::result::{INTERRUPTED, NOT_REACHED, ProbeResult, Verdict};
use crate::track::{Track, interleave};
use crate::visits::Visits;

/// What a caller may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where files for the disk probes are made and deleted.
    pub directory: PathBuf,
    /// Asked all the time; when it says true the probe that is on ends, and no more are begun.
    pub stop: Option<fn() -> bool>,
}

impl Options {
    fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            directory: std::env::temp_dir(),
            stop: None,
        }
    }
}

/// Called with the title of what runs next.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

type Prepared = Result<Track, Box<ProbeResult>>;

/// Time of the canaries, also on a busy machine; what is left of 0.3 s gives the memory back.
const CANARIES: Duration = Duration::from_millis(250);

/// Time of the look whether there is a CPU for the canaries: two turns of the scheduler.
const LOOK: Duration = Duration::from_millis(6);

/// Most time of [`quick`].
const QUICK: Duration = Duration::from_secs(8);

/// Most time of [`everything`].
const EVERYTHING: Duration = Duration::from_secs(28);

/// Most time of [`full`].
const FULL: Duration = Duration::from_secs(88);

/// Kept of the whole time for the last visit to the fingerprint's probes, and for giving back.
const LAST_VISIT: Duration = Duration::from_millis(3500);

/// Five figures in at most 0.3 s (clock, first level, system call, read bandwidth, memory latency)
/// that tell before a measurement whether the machine is still the one of the fingerprint. What the
/// time does not suffice for says so.
pub fn canaries() -> Vec<ProbeResult> {
    let until = Instant::now() + CANARIES;
    let context = Context::new(Options::default().directory);
    // The memory of two of them would take seconds to build where others hold the CPUs (22 s at
    // load 10), for figures that would then be disturbed.
    let has_cpu = affinity::share_had(LOOK) >= gate::LEAST_SHARE;
    let cheap: Vec<Make<'_>> = vec![
        Box::new(core_clock::track),
        Box::new(load_latency::first),
        Box::new(system_call::track),
    ];
    let in_memory: Vec<Make<'_>> = vec![
        Box::new(|| read_bandwidth::track(&context)),
        Box::new(|| load_latency::memory(&context)),
    ];
    let end = if has_cpu { until } else { Instant::now() };
    let prepared: Vec<Prepared> = cheap
        .into_iter()
        .map(|make| prepare(make, until))
        .chain(in_memory.into_iter().map(|make| prepare(make, end)))
        .collect();
    let (results, _) = deadline::within(until, || together(prepared, CANARIES));
    results.into_iter().map(skipped_if_starved).collect()
}

/// A canary that the time did not suffice for says why it has no figure.
fn skipped_if_starved(mut result: ProbeResult) -> ProbeResult {
    if result.verdict == Verdict::NoAnswer && result.n == 0 {
        result.note = Some(NOT_REACHED.to_owned());
    }
    result
}

type Make<'a> = Box<dyn FnOnce() -> Prepared + 'a>;

/// Builds what a probe needs until `until`. What was built in part only is given back.
fn prepare(make: Make<'_>, until: Instant) -> Prepared {
    let (prepared, cut) = deadline::within(until, make);
    match prepared {
        Ok(track) if cut => Err(Box::new(ProbeResult::not_reached(track.heading()))),
        Err(result) if cut => Err(Box::new(result.cut_short())),
        prepared => prepared,
    }
}

/// The fingerprint: about 3 s, at most 8.
pub fn quick(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let until = Instant::now() + QUICK;
    let mut context = Context::new(options.directory.clone());
    let (results, _) = deadline::unless(options.stop, || {
        deadline::within(until, || {
            let mut fingerprint = Fingerprint::begin(&mut context, until, progress);
            fingerprint.visits.settle(until);
            fingerprint.results()
        })
    });
    told_why(options, results)
}

/// What was cut short by an interrupt was not cut short by a busy machine.
fn told_why(options: &Options, mut results: Vec<ProbeResult>) -> Vec<ProbeResult> {
    let cut = |result: &&mut ProbeResult| result.note.as_deref() == Some(NOT_REACHED);
    for result in results.iter_mut().filter(cut) {
        if options.stopped() {
            result.note = Some(INTERRUPTED.to_owned());
        }
    }
    results
}

/// The probes of the quick profile, which are visited again seconds later.
struct Fingerprint {
    visits: Visits,
    /// For each probe what keeps it from running, if anything does.
    places: Vec<Option<ProbeResult>>,
    steps: Vec<ProbeResult>,
    gaps: noise::Gaps,
}

impl Fingerprint {
    /// Two visits with the look for gaps between them.
    fn begin(context: &mut Context, until: Instant, progress: Progress<'_>) -> Fingerprint {
        progress("clock, latencies, bandwidth, system call, gaps");
        let seen = &*context;
        let makes: Vec<Make<'_>> = vec![
            Box::new(core_clock::track),
            Box::new(|| Ok(timer::cost())),
            Box::new(load_latency::first),
            Box::new(|| load_latency::second(seen)),
            Box::new(|| load_latency::last(seen)),
            Box::new(|| load_latency::memory(seen)),
            Box::new(|| read_bandwidth::track(seen)),
            Box::new(system_call::track),
            Box::new(spawn::track),
        ];
        let half = half_of(until);
        let prepared = makes.into_iter().map(|make| prepare(make, half)).collect();
        let (tracks, places) = split(prepared);
        let mut visits = Visits::new(tracks);
        visits.visit();
        let gaps = noise::spin(Duration::from_millis(500), seen.cpu);
        visits.visit();
        let clock = |r: &ProbeResult| r.id == "core_clock";
        context.ghz = visits
            .results()
            .into_iter()
            .find(clock)
            .and_then(|r| r.value);
        Fingerprint {
            visits,
            places,
            steps: timer::steps(),
            gaps,
        }
    }

    /// What is known so far, in the order in which it is shown.
    fn results(&self) -> Vec<ProbeResult> {
        let mut results = in_places(&self.places, self.visits.results());
        results.push(noise::result(&self.gaps));
        results.splice(2..2, self.steps.iter().cloned());
        results
    }
}

/// When half of what is left is over: the other half is for measuring. At load 25 on two CPUs building two
/// sets of memory took all 8 s, and even the clock had no answer.
fn half_of(until: Instant) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now) / 2
}

/// Everything: 12 to 28 s.
pub fn everything(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || all(options, progress, EVERYTHING, 1));
    told_why(options, results)
}

/// Everything, and what was disturbed up to four times more: up to 90 s on a busy machine.
pub fn full(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || all(options, progress, FULL, 4));
    told_why(options, results)
}

fn all(
    options: &Options,
    progress: Progress<'_>,
    time: Duration,
    most_repeats: usize,
) -> Vec<ProbeResult> {
    let until = Instant::now() + time;
    let groups_until = until.checked_sub(LAST_VISIT).unwrap_or(until);
    let mut context = Context::new(options.directory.clone());
    let (fingerprint, _) = deadline::within(until, || {
        Fingerprint::begin(&mut context, Instant::now() + QUICK, progress)
    });
    let mut fingerprint = fingerprint;
    // The short ones first: on a busy machine most figures are reached so. Shown in their order.
    let mut order: Vec<usize> = (0..GROUPS.len()).collect();
    order.sort_by(|a, b| GROUPS[*a].seconds.total_cmp(&GROUPS[*b].seconds));
    let mut groups = vec![Vec::new(); GROUPS.len()];
    for index in order {
        if options.stopped() {
            break;
        }
        progress(GROUPS[index].title);
        groups[index] = GROUPS[index].run_until(&context, groups_until);
    }
    for _ in 0..most_repeats {
        for (group, results) in GROUPS.iter().zip(&mut groups) {
            let time = Duration::from_secs_f32(group.seconds);
            if options.stopped() || Instant::now() + time > groups_until {
                continue;
            }
            if results.iter().any(deserves_another_try) {
                progress(&format!("again: {}", group.title));
                fill_in(results, group.run_until(&context, groups_until));
            }
        }
    }
    if !options.stopped() {
        progress("clock, latencies, bandwidth, system call once more");
        deadline::within(until, || {
            fingerprint.visits.visit();
            fingerprint.visits.settle(until);
        });
    }
    let mut results = fingerprint.results();
    results.extend(groups.into_iter().flatten());
    results
}

/// Another time may be quieter; what the machine lacks it still lacks then.
fn deserves_another_try(result: &ProbeResult) -> bool {
    matches!(result.verdict, Verdict::Disturbed | Verdict::NoAnswer)
}

/// Takes from `later` the figures that `results` lacks.
fn fill_in(results: &mut [ProbeResult], later: Vec<ProbeResult>) {
    for new in later {
        let old = results.iter_mut().find(|result| result.id == new.id);
        if let Some(old) = old
            && deserves_another_try(old)
            && new.value.is_some()
        {
            *old = new;
            old.add_note("at another try; the first was disturbed");
        }
    }
}

/// Runs what can run, interleaved, and keeps the order.
fn together(prepared: Vec<Prepared>, cap: Duration) -> Vec<ProbeResult> {
    let (tracks, places) = split(prepared);
    in_places(&places, interleave(tracks, cap))
}

/// The probes that can run, and for each of all what keeps it from running, if anything does.
fn split(prepared: Vec<Prepared>) -> (Vec<Track>, Vec<Option<ProbeResult>>) {
    let mut tracks = Vec::new();
    let mut places = Vec::new();
    for one in prepared {
        places.push(match one {
            Ok(track) => {
                tracks.push(track);
                None
            }
            Err(result) => Some(*result),
        });
    }
    (tracks, places)
}

/// Puts the results of those that ran into the places of the others' order.
fn in_places(places: &[Option<ProbeResult>], ran: Vec<ProbeResult>) -> Vec<ProbeResult> {
    let mut ran = ran.into_iter();
    places
        .iter()
        .filter_map(|place| place.clone().or_else(|| ran.next()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::{cache_levels, cache_line};
    use crate::result::made_up;

    fn result(id: &'static str, value: Option<f64>, verdict: Verdict) -> ProbeResult {
        ProbeResult {
            verdict,
            ..made_up(id, value)
        }
    }

    #[test]
    fn another_try_fills_in_what_was_disturbed_and_nothing_else() {
        let mut results = vec![
            result("a", Some(1.0), Verdict::Ok),
            result("b", None, Verdict::Disturbed),
            result("c", None, Verdict::NotMeasurable),
            result("d", None, Verdict::NoAnswer),
        ];
        let later = ["a", "b", "c"].map(|id| result(id, Some(9.0), Verdict::Ok));
        fill_in(&mut results, later.into());
        let values: Vec<_> = results.iter().map(|r| r.value).collect();
        assert_eq!(values, [Some(1.0), Some(9.0), None, None]);
        assert!(results[1].note.as_ref().unwrap().contains("another try"));
    }

    #[test]
    fn a_profile_that_is_stopped_has_what_was_measured_so_far() {
        let options = Options {
            stop: Some(|| true),
            ..Options::default()
        };
        let mut titles = Vec::new();
        let results = everything(&options, &mut |title| titles.push(title.to_owned()));
        assert_eq!(titles.len(), 1, "{titles:?}");
        assert!(results.iter().any(|result| result.id == "core_clock"));
        assert!(results.iter().all(|result| result.id != "cache_line"));
    }

    /// The result `id` of a probe run on this machine, which has a figure within `bounds` or says
    /// why not. That it is the figure of the kernel's table is for `benches machine` to show: whose
    /// machine this is, and who else is on it, is nothing that a test can know.
    fn answers(id: &str, bounds: std::ops::RangeInclusive<f64>, results: &[ProbeResult]) {
        let result = results.iter().find(|result| result.id == id).unwrap();
        match result.value {
            Some(value) => {
                assert!(bounds.contains(&value), "{result:?}");
                assert_eq!(result.verdict, Verdict::Ok, "{result:?}");
            }
            None => {
                assert_ne!(result.verdict, Verdict::Ok, "{result:?}");
                assert!(result.note.is_some(), "{result:?}");
            }
        }
    }

    #[test]
    fn the_line_is_measured_or_why_not_is_said() {
        let context = Context::new(std::env::temp_dir());
        answers("cache_line", 16.0..=256.0, &cache_line::run(&context));
    }

    #[test]
    fn the_first_level_is_measured_or_why_not_is_said() {
        let context = Context::new(std::env::temp_dir());
        let results = cache_levels::run(&context, &[]);
        answers("l1_size", 4096.0..=524_288.0, &results);
    }

    #[test]
    fn half_of_the_time_is_for_measuring() {
        let now = Instant::now();
        let until = now + Duration::from_secs(1000);
        let half = half_of(until);
        assert!(half >= now + Duration::from_secs(500) && half < until);
        assert!(half_of(now) >= now, "no time left is no time to build in");
    }

    #[test]
    fn a_canary_whose_memory_was_not_built_in_time_says_so() {
        let context = Context::new(std::env::temp_dir());
        let make: Make<'_> = Box::new(|| load_latency::memory(&context));
        let result = prepare(make, Instant::now()).err().unwrap();
        assert_eq!(result.id, "memory_latency");
        assert!(result.value.is_none());
    }
}
