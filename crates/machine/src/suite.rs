//! Which probes run together: five canaries, the quick profile, the full one.

use std::path::PathBuf;
use std::time::Duration;

use crate::context::Context;
use crate::probes::{
    address_cache, bandwidth, branches, cache_levels, cache_line, chains, core_clock, core_to_core,
    energy, files, hand_over, hypervisor, load_latency, nodes, noise, page_fault, parallelism,
    read_bandwidth, spawn, system_call, throughput, timer,
};
use crate::result::ProbeResult;
use crate::track::{Track, interleave_around};

/// What a caller may choose.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where files for the disk probes are made and deleted.
    pub directory: PathBuf,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            directory: std::env::temp_dir(),
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
    together(canary_tracks(&context), Duration::from_millis(600), None)
}

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

/// Everything: 15 to 30 s.
pub fn full(options: &Options, progress: Progress<'_>) -> Vec<ProbeResult> {
    let mut context = Context::new(options.directory.clone());
    let mut results = quick_in(&mut context, progress);
    progress("cache line");
    results.extend(cache_line::run(&context));
    progress("address cache and huge pages");
    let addresses = address_cache::run(&context);
    progress("cache levels");
    results.extend(cache_levels::run(&context, &addresses));
    results.extend(addresses);
    progress("memory parallelism");
    results.push(parallelism::run(&context));
    progress("branches");
    results.extend(branches::run(&context));
    progress("chains and throughput");
    results.extend(chains::run(&context));
    results.extend(throughput::run(&context));
    progress("core to core, bandwidth by threads");
    results.push(core_to_core::run(&context));
    results.extend(bandwidth::run(&context));
    progress("page faults, threads, pipes, sockets");
    results.extend(page_fault::run());
    results.extend(hand_over::run(&context));
    progress("files");
    results.extend(files::run(&context));
    progress("hypervisor, nodes, energy");
    results.push(hypervisor::run());
    results.push(nodes::run(&context));
    results.push(energy::run());
    results
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
