//! The sets of probes that run together: the canaries, the quick profile, everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::affinity;
use crate::context::{Context, SMALLER_MEMORY_SET};
use crate::cpu_gate;
use crate::deadline;
use crate::fingerprint::{self, Fingerprint, Make, Prepared, in_places, prepare, split};
use crate::groups::{GROUPS, Group};
use crate::probes::{core_clock, core_shared, load_latency, read_bandwidth, system_call};
use crate::result::{Heading, INTERRUPTED, ProbeResult, ProbeVerdict};
use crate::track::interleave;

/// Options of the caller.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder in which files of the disk probes are created and deleted.
    pub directory: PathBuf,
    /// Polled continuously; when it returns true, the current probe ends and no more begin.
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

/// Called with the title of the next probe.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// Time limit of the canaries, even on a busy machine; the rest of 0.3 s is for freeing the memory.
const CANARIES: Duration = Duration::from_millis(250);

/// The part of [`CANARIES`] for sampling whether the core is shared.
const SHARED_SAMPLE: Duration = Duration::from_millis(20);

/// Time for sampling whether a CPU is available for the canaries: two time slices of the scheduler.
const CPU_SAMPLE: Duration = Duration::from_millis(6);

/// Time limit of [`quick`].
const QUICK: Duration = Duration::from_secs(8);

/// Time limit of [`everything`].
const EVERYTHING: Duration = Duration::from_secs(28);

/// Time limit of [`full`].
const FULL: Duration = Duration::from_secs(88);

/// Time reserved for the last visit to the fingerprint's probes, and for freeing memory.
const LAST_VISIT: Duration = Duration::from_millis(3500);

/// Which canaries are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canaries {
    /// All, including those of memory, whose sets take 125 to 270 MiB, or less if the limit of this process's
    /// control group requires it.
    All,
    /// Only those that need almost no memory. A measured command is never killed because of memory that
    /// Fathom used before it.
    WithoutMemory,
}

/// Measures figures in at most 0.3 s that show before a measurement whether the machine still matches the
/// fingerprint: clock, first level and system call; with [`Canaries::All`] also read bandwidth and memory
/// latency. One more figure shows whether the core is currently shared. Figures for which there was not
/// enough time are reported as such.
pub fn canaries(which: Canaries) -> Vec<ProbeResult> {
    let until = Instant::now() + CANARIES;
    let context = Context::new(Options::default().directory);
    let mut makes: Vec<(Make<'_>, Instant)> = vec![
        (Box::new(|| Ok(core_clock::track())), until),
        (Box::new(load_latency::first), until),
        (Box::new(|| Ok(system_call::track())), until),
    ];
    if which == Canaries::All {
        // Building the memory sets of two of them would take seconds while others use the CPUs (22 s at a
        // load of 10), for figures that would then be disturbed.
        let has_cpu = affinity::share_had(CPU_SAMPLE) >= cpu_gate::LEAST_SHARE;
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

/// If a canary ran out of time, adds the reason why it has no figure.
fn skipped_if_starved(mut result: ProbeResult) -> ProbeResult {
    if result.verdict == ProbeVerdict::NoAnswer && result.n == 0 {
        result.note = Some(ProbeResult::NOT_REACHED.to_owned());
    }
    result
}

/// Measures the fingerprint: about 3 s, at most 8.
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

/// Marks results that were cut short by an interrupt and not by a busy machine.
fn with_interruption(options: &Options, mut results: Vec<ProbeResult>) -> Vec<ProbeResult> {
    // The passes of a probe without an answer were also cut short.
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

/// Measures everything: 12 to 28 s.
pub fn everything(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || {
        measured(options, progress, USUAL, &|_| true)
    });
    with_interruption(options, results)
}

/// Measures everything, and retries disturbed probes up to four times: up to 90 s on a busy machine.
pub fn full(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let results = deadline::unless(options.stop, || {
        measured(options, progress, PATIENT, &|_| true)
    });
    with_interruption(options, results)
}

/// Measures only the figures with these [`Heading::id`]s, as [`everything`] does or, if `patient`, as
/// [`full`] does. Ids that are not among [`headings`] have no figure.
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

/// Returns the headings of all figures of [`everything`].
pub fn headings() -> Vec<Heading> {
    let mut headings = fingerprint::headings();
    headings.extend(GROUPS.iter().flat_map(Group::headings));
    headings
}

/// The total time for the probes, and how often disturbed ones are retried.
struct Effort {
    time: Duration,
    repeats: usize,
}

/// The effort of [`everything`].
const USUAL: Effort = Effort {
    time: EVERYTHING,
    repeats: 1,
};

/// The effort of [`full`].
const PATIENT: Effort = Effort {
    time: FULL,
    repeats: 4,
};

/// Runs every group that contains a wanted figure, as a whole, and the wanted parts of the fingerprint.
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
    // Short groups first, because on a busy machine this reaches most figures. They are shown in the original
    // order.
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

/// Returns whether a probe deserves another try: a disturbed one may succeed at a quieter time, but a missing
/// capability won't appear.
fn deserves_another_try(result: &ProbeResult) -> bool {
    matches!(
        result.verdict,
        ProbeVerdict::Disturbed | ProbeVerdict::NoAnswer
    )
}

/// Adds figures missing in `results` from `later`.
fn fill_in(results: &mut [ProbeResult], later: Vec<ProbeResult>) {
    for new in later {
        let old = results.iter_mut().find(|result| result.id == new.id);
        if let Some(old) = old
            && deserves_another_try(old)
            && new.value.is_some()
        {
            *old = new;
            old.add_note("measured at the second attempt; the first was disturbed");
        }
    }
}

/// Runs the prepared probes interleaved, and keeps the order.
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
        assert!(results[1].note.as_ref().unwrap().contains("second attempt"));
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

    /// Checks the result `id` of a probe on this machine: it has a figure within `bounds` or tells why not.
    /// Whether it is the right figure is tested by `benches machine`: a test can't know the machine or its
    /// other users.
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
