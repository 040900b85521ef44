//! An executor whose runs take no time, for exact tests of scheduling, statistics and reports.

use std::collections::VecDeque;
use std::time::Duration;

use fathom_model::{Exit, IoCounts, Run};

use crate::{Attempt, Executor, MeasureError, RunReport};

/// An event, recorded in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// `set_up` of a benchmark.
    SetUp(usize),
    /// A warm-up run of a benchmark.
    WarmUp(usize),
    /// A measured run: benchmark and round.
    Run(usize, u32),
    /// This many runs of the empty program.
    Floor(u32),
    /// `clean_up` of a benchmark.
    CleanUp(usize),
    /// The final sweep.
    Sweep,
}

/// Decides the outcome of a run.
pub type Behaviour<'a> = dyn FnMut(&Attempt) -> Run + 'a;

/// Simulates runs on its own clock.
pub struct Simulated<'a> {
    behaviour: Box<Behaviour<'a>>,
    now: Duration,
    interrupt_after: Option<u32>,
    made: u32,
    at_once: usize,
    ahead: VecDeque<RunReport>,
    /// All events, in order.
    pub events: Vec<Event>,
}

impl<'a> Simulated<'a> {
    /// Creates an executor that calls `behaviour` once for each run.
    pub fn new(behaviour: impl FnMut(&Attempt) -> Run + 'a) -> Simulated<'a> {
        Simulated {
            behaviour: Box::new(behaviour),
            now: Duration::ZERO,
            interrupt_after: None,
            made: 0,
            at_once: 1,
            ahead: VecDeque::new(),
            events: Vec::new(),
        }
    }

    /// Executes up to `at_once` runs before it returns the first of them.
    pub fn handing_over(mut self, at_once: usize) -> Self {
        self.at_once = at_once;
        self
    }

    /// Simulates Ctrl-C during run number `runs` (from 0).
    pub fn interrupted_after(mut self, runs: u32) -> Self {
        self.interrupt_after = Some(runs);
        self
    }
}

/// Returns a run of this length in which nothing else happened.
pub fn quiet_run(attempt: &Attempt, wall_ns: u64) -> Run {
    Run {
        benchmark: attempt.benchmark,
        round: attempt.round,
        position: attempt.position,
        started_ns: 0,
        wall_ns,
        spawn_ns: 0,
        cpu_ns: wall_ns,
        user_ns: wall_ns,
        system_ns: 0,
        run_queue_wait_ns: Some(0),
        harness_wait_ns: Some(0),
        undisturbed_ns: Some(wall_ns),
        peak_memory_bytes: 1 << 20,
        minor_faults: 50,
        major_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        io: Some(IoCounts::default()),
        steal_ns: Some(0),
        throttled_ns: None,
        delayed_ns: None,
        left_behind: 0,
        exit: Exit::Code(0),
    }
}

impl Simulated<'_> {
    fn make(&mut self, attempt: &Attempt) -> RunReport {
        self.events.push(if attempt.warmup {
            Event::WarmUp(attempt.benchmark)
        } else {
            Event::Run(attempt.benchmark, attempt.round)
        });
        let mut run = (self.behaviour)(attempt);
        run.started_ns = self.now.as_nanos() as u64;
        self.now += Duration::from_nanos(run.wall_ns);
        let interrupted = self.interrupt_after == Some(self.made);
        self.made += 1;
        RunReport {
            run,
            stderr_tail: Vec::new(),
            wrong_output: None,
            interrupted,
            recorded: false,
            piped_bytes: None,
        }
    }
}

impl Executor for Simulated<'_> {
    fn set_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.events.push(Event::SetUp(benchmark));
        Ok(())
    }

    fn settle(&mut self) {}

    fn run(&mut self, upcoming: &[Attempt]) -> Result<RunReport, MeasureError> {
        if self.ahead.is_empty() {
            for attempt in upcoming.iter().take(self.at_once) {
                let report = self.make(attempt);
                let stops = report.interrupted || !report.run.exit.is_success();
                self.ahead.push_back(report);
                if stops {
                    break;
                }
            }
        }
        Ok(self.ahead.pop_front().expect("one was made"))
    }

    fn is_ahead(&self) -> bool {
        !self.ahead.is_empty()
    }

    fn floor(&mut self, runs: u32) -> Result<Vec<u64>, MeasureError> {
        self.events.push(Event::Floor(runs));
        Ok(vec![300_000; runs as usize])
    }

    fn clean_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.events.push(Event::CleanUp(benchmark));
        Ok(())
    }

    fn sweep(&mut self) {
        self.events.push(Event::Sweep);
    }

    fn elapsed(&self) -> Duration {
        self.now
    }

    fn interrupted(&self) -> bool {
        self.interrupt_after.is_some_and(|after| self.made > after)
    }
}
