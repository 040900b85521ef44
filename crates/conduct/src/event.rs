//! What is going on, for who wants to show it.

use fathom_load::Tick;
use fathom_machine::remembered::Change;
use fathom_measure::pipeline::Kind;
use fathom_model::Run;
use fathom_trace::Tier;

/// Something begins, or is known now. Most come between two runs: what they are answered with
/// delays the next one.
#[derive(Debug, Clone, Copy)]
pub enum Event<'e> {
    /// The machine is not as it was when its profile was taken.
    MachineChanged(&'e [Change]),
    /// Measuring waits for the machine to be quiet; `None` when it goes on.
    WaitsForQuiet(Option<&'e str>),
    /// A round of runs begins; those to warm up do not count.
    Round {
        /// From 0.
        round: u32,
        /// Whether it does not count.
        warmup: bool,
    },
    /// A run of this benchmark is about to start.
    RunStarts(usize),
    /// A round of runs has ended; these are all that count so far.
    RoundDone(&'e [Run]),
    /// A run is observed by these means.
    Observes(Tier),
    /// A run of a pipeline is about to start, in this round.
    PipelineStarts(u32, Kind),
    /// A round of a pipeline is observed; its number from 0.
    PipelineObserved(u32),
    /// A version is checked out and built, unless that was done before.
    Builds {
        /// Its name.
        version: &'e str,
        /// Its place among those that are built, from 0.
        place: usize,
        /// How many are built; `None` where that is not known beforehand.
        of: Option<usize>,
    },
    /// Another Fathom builds this version; it is waited for.
    WaitsForBuild(&'e str),
    /// This version is run once, to see whether the command works on it.
    Tries(&'e str),
    /// A search halves these revisions.
    Halves {
        /// So many are left.
        left: usize,
    },
    /// The revision that is left of a search is compared with its parent.
    Confirms,
    /// A server is launched.
    Launches {
        /// Which.
        server: usize,
        /// Number of the round of launches, from 0.
        launch: u32,
        /// How many there will be.
        of: u32,
    },
    /// A step of load on a server begins.
    LoadStep {
        /// Which.
        server: usize,
        /// With so many connections.
        connections: u32,
        /// At this rate, if it is an open loop.
        rate: Option<f64>,
        /// Number of the round, from 0.
        round: u32,
        /// How many there will be.
        rounds: u32,
    },
    /// A second of a step is over. Comes while requests are under way, on a thread that sends none.
    LoadSecond(Tick),
    /// A gate has made some rounds.
    Gates {
        /// So many in all.
        rounds: usize,
        /// Benchmarks that aren't decided.
        undecided: usize,
        /// Benchmarks in all.
        of: usize,
        /// Some that looked worse are measured again.
        confirms: bool,
    },
    /// A probe of the machine begins.
    Probes(&'e str),
}

/// Is called with every [`Event`].
pub trait Observer {
    /// Must be quick, and not fail: what can't be shown is no reason to stop measuring.
    fn on(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn on(&mut self, event: Event<'_>) {
        self(event);
    }
}
