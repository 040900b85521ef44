//! Which probes run together: five canaries, the quick profile, everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::affinity;
use crate::context::Context;
use crate::gate;
use crate::probes::{
    address_cache, bandwidth, branches, cache_levels, cache_line, chains, core_clock, core_to_core,
    energy, files, hand_over, hypervisor, load_latency, loaded_latency, nodes, noise, page_fault,
    parallelism, read_bandwidth, spawn, system_call, throughput, timer,
};
use crate::result::{ProbeResult, Verdict};
use crate::track::{Track, interleave_around};

/// What a caller may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where files for the disk probes are made and deleted.
    pub directory: PathBuf,
    /// Asked between groups of probes; when it says true, no more are begun.
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

/// Five figures in about 0.3 s (clock, first level, memory latency, read bandwidth, system call)
/// that tell before a measurement whether the machine is still the one of the fingerprint.
pub fn canaries() -> Vec<ProbeResult> {
    let context = Context::new(Options::default().directory);
    if affinity::share_had(LOOK) >= gate::LEAST_SHARE {
        return together(canary_tracks(&context), Duration::from_millis(600), None);
    }
    // Its memory alone would take seconds to build where others hold the CPUs (22 s at load 10), for
    // figures that would then be disturbed.
    let mut results = together(
        vec![
            core_clock::track(),
            load_latency::first(),
            system_call::track(),
        ],
        Duration::from_millis(200),
        None,
    );
    results.insert(2, load_latency::memory_was_busy());
    results.insert(3, read_bandwidth::was_busy());
    results
}

/// Time of the look whether there is a CPU for the canaries: two turns of the scheduler.
const LOOK: Duration = Duration::from_millis(6);

fn canary_tracks(context: &Context) -> Vec<Prepared> {
    vec![
        core_clock::track(),
        load_latency::first(),
        load_latency::memory(context),
        read_bandwidth::track(context),
        system_call::track(),
    ]
}

/// The fingerprint: about 3 s.
pub fn quick(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let mut context = Context::new(options.directory.clone());
    quick_in(&mut context, progress)
}

fn quick_in(context: &mut Context, progress: Progress<'_>) -> Vec<ProbeResult> {
    progress("clock, latencies, bandwidth, system call, gaps");
    let mut tracks = canary_tracks(context);
    tracks.insert(1, Ok(timer::cost()));
    tracks.insert(3, load_latency::second(context));
    tracks.insert(4, load_latency::last(context));
    tracks.push(spawn::track());
    let mut gaps = None;
    let mut spin = || gaps = Some(noise::spin(Duration::from_millis(500), context.cpu));
    let mut results = together(tracks, Duration::from_millis(3000), Some(&mut spin));
    results.extend(gaps.as_ref().map(noise::result));
    context.ghz = results
        .iter()
        .find(|r| r.id == "core_clock")
        .and_then(|r| r.value);
    results.splice(2..2, timer::steps());
    results
}

/// Probes that run together, with the title that is shown meanwhile.
type Group = (&'static str, fn(&Context) -> Vec<ProbeResult>);

const GROUPS: [Group; 12] = [
    ("cache line", cache_line::run),
    ("caches, address cache, huge pages", |context| {
        let addresses = address_cache::run(context);
        let mut results = cache_levels::run(context, &addresses);
        results.extend(addresses);
        results
    }),
    ("memory parallelism", |context| {
        vec![parallelism::run(context)]
    }),
    ("branches", branches::run),
    ("chains and throughput", |context| {
        let mut results = chains::run(context);
        results.extend(throughput::run(context));
        results
    }),
    ("clock beside wide vectors", |context| {
        vec![core_clock::beside_vectors(context)]
    }),
    ("core to core", |context| vec![core_to_core::run(context)]),
    ("bandwidth by threads", bandwidth::run),
    ("latency beside readers", |context| {
        vec![loaded_latency::run(context)]
    }),
    ("page faults, threads, pipes, sockets", |context| {
        let mut results = page_fault::run(context);
        results.extend(hand_over::run(context));
        results
    }),
    ("files", files::run),
    ("hypervisor, nodes, energy", |context| {
        vec![hypervisor::run(), nodes::run(context), energy::run()]
    }),
];

/// While less than this has passed, what was disturbed is tried once more: with it all ends
/// within 30 s, also beside other programs.
const AGAIN_WITHIN: Duration = Duration::from_secs(18);

/// The same for [`full`].
const FULL_AGAIN_WITHIN: Duration = Duration::from_secs(75);

/// Everything: 12 to 30 s.
pub fn everything(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    all(options, progress, AGAIN_WITHIN, 1)
}

/// Everything, and what was disturbed up to four times more: up to 90 s on a busy machine.
pub fn full(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    all(options, progress, FULL_AGAIN_WITHIN, 4)
}

fn all(
    options: &Options,
    progress: Progress<'_>,
    again_within: Duration,
    most_repeats: usize,
) -> Vec<ProbeResult> {
    let began = Instant::now();
    let mut context = Context::new(options.directory.clone());
    let mut groups = vec![quick_in(&mut context, progress)];
    for (title, run) in GROUPS {
        if options.stopped() {
            break;
        }
        progress(title);
        groups.push(run(&context));
    }
    for _ in 0..most_repeats {
        // The quick profile is the first group; the others follow in their order.
        for (index, (title, run)) in GROUPS.iter().enumerate() {
            let Some(results) = groups.get_mut(index + 1) else {
                break;
            };
            if options.stopped() || began.elapsed() > again_within {
                break;
            }
            if results.iter().any(deserves_another_try) {
                progress(&format!("again: {title}"));
                fill_in(results, run(&context));
            }
        }
    }
    groups.into_iter().flatten().collect()
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
fn together(
    prepared: Vec<Prepared>,
    cap: Duration,
    between: Option<&mut dyn FnMut()>,
) -> Vec<ProbeResult> {
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
    let mut run = interleave_around(tracks, cap, between).into_iter();
    places
        .into_iter()
        .filter_map(|place| place.or_else(|| run.next()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Estimator, Heading};

    fn result(id: &'static str, value: Option<f64>, verdict: Verdict) -> ProbeResult {
        let head = Heading {
            id,
            title: id,
            unit: "ns",
            method: "m",
        };
        ProbeResult {
            value,
            ..ProbeResult::blank(head, Estimator::Minimum, verdict)
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

    /// The result `id` of the first of some tries that has a figure.
    fn tried(id: &str, run: impl Fn(&Context) -> Vec<ProbeResult>) -> ProbeResult {
        let context = Context::new(std::env::temp_dir());
        let mut last = None;
        for _ in 0..4 {
            let found = run(&context).into_iter().find(|result| result.id == id);
            if found.as_ref().is_some_and(|result| result.value.is_some()) {
                return found.unwrap();
            }
            last = found;
        }
        last.unwrap()
    }

    /// Line and size of the first level are facts: either the probe finds exactly what the kernel's
    /// table says, or it must not give a figure.
    fn as_reported(result: &ProbeResult) {
        match (result.value, result.reported) {
            (Some(value), Some(reported)) => assert_eq!(value, reported, "{result:?}"),
            (Some(_), None) => assert_eq!(result.verdict, Verdict::Ok),
            (None, _) => assert_ne!(result.verdict, Verdict::Ok, "{result:?}"),
        }
    }

    #[test]
    fn the_line_is_exactly_that_of_the_kernels_table() {
        as_reported(&tried("cache_line", cache_line::run));
    }

    #[test]
    fn the_first_level_is_exactly_as_large_as_the_kernels_table_says() {
        as_reported(&tried("l1_size", |context| cache_levels::run(context, &[])));
    }
}
