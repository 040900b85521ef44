//! Which probes run together: the canaries, the quick profile, everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::affinity;
use crate::context::{Context, SMALLER_MEMORY_SET};
use crate::deadline;
use crate::fingerprint::{self, Fingerprint, Make, Prepared, in_places, prepare, split};
use crate::gate;
use crate::groups::{GROUPS, Group};
use crate::probes::{core_clock, core_shared, load_latency, read_bandwidth, system_call};
use crate::result::{Heading, INTERRUPTED, ProbeResult, ProbeVerdict};
use crate::track::interleave;

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

/// Time of the canaries, also on a busy machine; what is left of 0.3 s gives the memory back.
const CANARIES: Duration = Duration::from_millis(250);

/// Of it for sampling whether the core is shared.
const SHARED_SAMPLE: Duration = Duration::from_millis(20);

/// Time of the sample whether there is a CPU for the canaries: two turns of the scheduler.
const CPU_SAMPLE: Duration = Duration::from_millis(6);

/// Most time of [`quick`].
const QUICK: Duration = Duration::from_secs(8);

/// Most time of [`everything`].
const EVERYTHING: Duration = Duration::from_secs(28);

/// Most time of [`full`].
const FULL: Duration = Duration::from_secs(88);

/// Kept of the whole time for the last visit to the fingerprint's probes, and for giving back.
const LAST_VISIT: Duration = Duration::from_millis(3500);

/// Which canaries are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canaries {
    /// All, also those of memory, whose sets take 125 to 270 MiB, or what the limit of the own
    /// control group allows.
    All,
    /// Those that need no memory to speak of. A command that is measured is never killed for what
    /// Fathom itself took before it.
    WithoutMemory,
}

/// Figures in at most 0.3 s (clock, first level, system call; with [`Canaries::All`] read bandwidth
/// and memory latency too) that show before a measurement whether the machine is still the one of
/// the fingerprint, and one more that shows whether the core is shared just now. What the time does
/// not suffice for says so.
pub fn canaries(which: Canaries) -> Vec<ProbeResult> {
    let until = Instant::now() + CANARIES;
    let context = Context::new(Options::default().directory);
    let mut makes: Vec<(Make<'_>, Instant)> = vec![
        (Box::new(|| Ok(core_clock::track())), until),
        (Box::new(load_latency::first), until),
        (Box::new(|| Ok(system_call::track())), until),
    ];
    if which == Canaries::All {
        // The memory of two of them would take seconds to build where others hold the CPUs (22 s at
        // load 10), for figures that would then be disturbed.
        let has_cpu = affinity::share_had(CPU_SAMPLE) >= gate::LEAST_SHARE;
        let end = if has_cpu { until } else { Instant::now() };
        type Track = fn(&Context) -> Prepared;
        let in_memory: [(Heading, Track); 2] = [
            (read_bandwidth::HEADING, read_bandwidth::track),
            (load_latency::MEMORY, load_latency::memory),
        ];
        for (heading, track) in in_memory {
            let context = &context;
            let make = move || match context.has_usual_memory_set() {
                true => track(context),
                false => Err(Box::new(heading.not_measurable(SMALLER_MEMORY_SET))),
            };
            makes.push((Box::new(make), end));
        }
    }
    let makes = makes.into_iter();
    let prepared: Vec<Prepared> = makes.map(|(make, end)| prepare(make, end)).collect();
    let (results, _) = deadline::within(until, || together(prepared, CANARIES - SHARED_SAMPLE));
    let shared = core_shared::result(core_shared::spin(SHARED_SAMPLE));
    let results = results.into_iter().map(skipped_if_starved);
    results.chain([shared]).collect()
}

/// A canary that the time did not suffice for says why it has no figure.
fn skipped_if_starved(mut result: ProbeResult) -> ProbeResult {
    if result.verdict == ProbeVerdict::NoAnswer && result.n == 0 {
        result.note = Some(ProbeResult::NOT_REACHED.to_owned());
    }
    result
}

/// The fingerprint: about 3 s, at most 8.
pub fn quick(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let until = Instant::now() + QUICK;
    let context = Context::new(options.directory.clone());
    let (results, _) = deadline::unless(options.stop, || {
        deadline::within(until, || {
            let mut fingerprint = Fingerprint::begin(&context, until, &|_| true, progress);
            fingerprint.settle(until);
            fingerprint.results()
        })
    });
    with_interruption(options, results)
}

/// What was cut short by an interrupt was not cut short by a busy machine.
fn with_interruption(options: &Options, mut results: Vec<ProbeResult>) -> Vec<ProbeResult> {
    // The passes of one that has no answer were cut short as well.
    let cut = |result: &&mut ProbeResult| {
        result.note.as_deref() == Some(ProbeResult::NOT_REACHED)
            || result.verdict == ProbeVerdict::NoAnswer
    };
    for result in results.iter_mut().filter(cut) {
        if options.stopped() {
            result.note = Some(INTERRUPTED.to_owned());
        }
    }
    results
}

/// Everything: 12 to 28 s.
pub fn everything(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || {
        measured(options, progress, USUAL, &|_| true)
    });
    with_interruption(options, results)
}

/// Everything, and what was disturbed up to four times more: up to 90 s on a busy machine.
pub fn full(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || {
        measured(options, progress, PATIENT, &|_| true)
    });
    with_interruption(options, results)
}

/// Only the figures with these [`Heading::id`]s, as [`everything`] measures them or, if `patient`,
/// as [`full`] does. Ids that are not among [`headings`] have no figure.
pub fn only(
    ids: &[String],
    patient: bool,
    options: &Options,
    progress: Progress<'_>,
) -> Vec<ProbeResult> {
    let asked = |heading: &Heading| ids.iter().any(|id| id == heading.id);
    let effort = if patient { PATIENT } else { USUAL };
    let mut results =
        deadline::unless(options.stop, || measured(options, progress, effort, &asked));
    results.retain(|result| ids.contains(&result.id));
    with_interruption(options, results)
}

/// All that [`everything`] measures.
pub fn headings() -> Vec<Heading> {
    let mut headings = fingerprint::headings();
    headings.extend(GROUPS.iter().flat_map(Group::headings));
    headings
}

/// How long the probes may take together, and how often what was disturbed is tried again.
struct Effort {
    time: Duration,
    repeats: usize,
}

/// Of [`everything`].
const USUAL: Effort = Effort {
    time: EVERYTHING,
    repeats: 1,
};

/// Of [`full`].
const PATIENT: Effort = Effort {
    time: FULL,
    repeats: 4,
};

/// Runs the groups in which something is wanted, whole, and of the fingerprint what is wanted.
fn measured(
    options: &Options,
    progress: Progress<'_>,
    effort: Effort,
    wanted: &dyn Fn(&Heading) -> bool,
) -> Vec<ProbeResult> {
    let until = Instant::now() + effort.time;
    let groups_until = until.checked_sub(LAST_VISIT).unwrap_or(until);
    let groups: Vec<&Group> = GROUPS
        .iter()
        .filter(|group| group.headings().any(|heading| wanted(&heading)))
        .collect();
    let context = Context::new(options.directory.clone());
    let (mut fingerprint, _) = deadline::within(until, || {
        let until = Instant::now() + QUICK;
        Fingerprint::begin(&context, until, wanted, progress)
    });
    // The short ones first: on a busy machine most figures are reached so. Shown in their order.
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|a, b| groups[*a].seconds.total_cmp(&groups[*b].seconds));
    let mut found = vec![Vec::new(); groups.len()];
    for index in order {
        if options.stopped() {
            break;
        }
        progress(groups[index].title);
        found[index] = groups[index].run_until(&context, groups_until);
    }
    for _ in 0..effort.repeats {
        for (group, results) in groups.iter().zip(&mut found) {
            let time = Duration::from_secs_f32(group.seconds);
            if options.stopped() || Instant::now() + time > groups_until {
                continue;
            }
            let again = |result: &ProbeResult| {
                deserves_another_try(result)
                    && group.headings().any(|h| h.id == result.id && wanted(&h))
            };
            if results.iter().any(again) {
                progress(&format!("again: {}", group.title));
                fill_in(results, group.run_until(&context, groups_until));
            }
        }
    }
    if !options.stopped() && fingerprint.has_visits() {
        progress("clock, latencies, bandwidth, system call once more");
        deadline::within(until, || {
            fingerprint.visit();
            fingerprint.settle(until);
        });
    }
    let mut results = fingerprint.results();
    results.extend(found.into_iter().flatten());
    results
}

/// Another time may be quieter; what the machine lacks it still lacks then.
fn deserves_another_try(result: &ProbeResult) -> bool {
    matches!(
        result.verdict,
        ProbeVerdict::Disturbed | ProbeVerdict::NoAnswer
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::{cache_levels, cache_line};
    use crate::result::test_result;

    fn result(id: &'static str, value: Option<f64>, verdict: ProbeVerdict) -> ProbeResult {
        ProbeResult {
            verdict,
            ..test_result(id, value)
        }
    }

    #[test]
    fn another_try_fills_in_what_was_disturbed_and_nothing_else() {
        let mut results = vec![
            result("a", Some(1.0), ProbeVerdict::Ok),
            result("b", None, ProbeVerdict::Disturbed),
            result("c", None, ProbeVerdict::NotMeasurable),
            result("d", None, ProbeVerdict::NoAnswer),
        ];
        let later = ["a", "b", "c"].map(|id| result(id, Some(9.0), ProbeVerdict::Ok));
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
                assert_eq!(result.verdict, ProbeVerdict::Ok, "{result:?}");
            }
            None => {
                assert_ne!(result.verdict, ProbeVerdict::Ok, "{result:?}");
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
    fn a_canary_whose_memory_was_not_built_in_time_says_so() {
        let context = Context::new(std::env::temp_dir());
        let make: Make<'_> = Box::new(|| load_latency::memory(&context));
        let result = prepare(make, Instant::now()).err().unwrap();
        assert_eq!(result.id, "memory_latency");
        assert!(result.value.is_none());
    }
}
