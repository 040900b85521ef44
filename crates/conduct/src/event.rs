//! Progress events, for display.

use fathom_load::Tick;
use fathom_machine::remembered::Change;
use fathom_measure::pipeline::Kind;
use fathom_model::Run;
use fathom_trace::Tier;

/// Something has begun or has become known. Most events arrive between two runs, so a slow handler delays the
/// next run.
#[derive(Debug, Clone, Copy)]
pub enum Event<'e> {
    /// The machine has changed since its profile was taken.
    MachineChanged(&'e [Change]),
    /// Measuring waits until the machine becomes quiet; the text says why. `None` when measuring resumes.
    WaitsForQuiet(Option<&'e str>),
    /// A round of runs begins; warm-up rounds don't count.
    Round {
        /// The number of the round, from 0.
        round: u32,
        /// Whether it is a warm-up round.
        warmup: bool,
    },
    /// A run of the benchmark with this index is about to start.
    RunStarts(usize),
    /// A round of runs has ended; holds all counted runs so far.
    RoundDone(&'e [Run]),
    /// A run is about to be observed with this tier.
    Observes(Tier),
    /// A run of a pipeline is about to start: the round and the kind of run.
    PipelineStarts(u32, Kind),
    /// A round of a pipeline is observed; its number, from 0.
    PipelineObserved(u32),
    /// A version is about to be checked out and built, unless that has already been done.
    Builds {
        /// Its name.
        version: &'e str,
        /// Its position among the versions to build, from 0.
        place: usize,
        /// The number of versions to build; `None` if it isn't known in advance.
        of: Option<usize>,
    },
    /// Fathom is waiting for another Fathom process that is building this version.
    WaitsForBuild(&'e str),
    /// This version is about to be run once, to check that the command works on it.
    Tries(&'e str),
    /// A search is about to halve the remaining revisions.
    Halves {
        /// The number of revisions left.
        left: usize,
    },
    /// The last revision of a search is about to be compared with its parent.
    Confirms,
    /// A server is launched.
    Launches {
        /// The index of the server.
        server: usize,
        /// The number of the launch round, from 0.
        launch: u32,
        /// The total number of rounds.
        of: u32,
    },
    /// A load step on a server begins.
    LoadStep {
        /// The index of the server.
        server: usize,
        /// The number of connections.
        connections: u32,
        /// The request rate, if it is an open loop.
        rate: Option<f64>,
        /// The number of the round, from 0.
        round: u32,
        /// The total number of rounds.
        rounds: u32,
    },
    /// A second of a step has passed. The event is sent while requests are in flight, on a thread that sends
    /// no requests.
    LoadSecond(Tick),
    /// A gate has completed some rounds.
    Gates {
        /// The total number of rounds so far.
        rounds: usize,
        /// The number of undecided benchmarks.
        undecided: usize,
        /// The total number of benchmarks.
        of: usize,
        /// Whether benchmarks that looked worse are being measured again to confirm it.
        confirms: bool,
    },
    /// A probe of the machine begins.
    Probes(&'e str),
}

/// Receives every [`Event`].
pub trait Observer {
    /// Handles one event. Must be quick and must not fail: a display problem is not a reason to stop
    /// measuring.
    fn on(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn on(&mut self, event: Event<'_>) {
        self(event);
    }
}
