//! Rounds of load over all servers: each step of each server runs once per round, in random order.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_load::{Open, Step};
use fathom_measure::interrupt;

use super::order::Orders;
use super::plan::{Ramp, ServePlan};
use super::running::RunningServer;
use super::step::{self, Done, StepPlan};
use crate::{ConductError, Event, Observer};

/// A load: a closed loop, or an open one at this rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    pub(super) connections: u32,
    pub(super) rate: Option<f64>,
}

/// A completed step.
pub(super) struct Made {
    pub(super) server: usize,
    pub(super) load: Load,
    pub(super) round: u32,
    pub(super) position: u32,
    pub(super) done: Done,
}

/// State that all rounds of a measurement share.
pub(super) struct Rounds<'r> {
    pub(super) plan: &'r ServePlan,
    /// The CPUs of the generator's threads, if CPUs are reserved for them.
    pub(super) cpus: Vec<usize>,
    pub(super) stop: &'r AtomicBool,
    pub(super) orders: Orders,
    pub(super) made: Vec<Made>,
}

impl Rounds<'_> {
    /// Runs all rounds with these loads.
    ///
    /// # Errors
    /// If a server ends.
    pub(super) fn make(
        &mut self,
        up: &mut [RunningServer],
        loads: &[Load],
        observer: &mut dyn Observer,
    ) -> Result<(), ConductError> {
        let mut steps: Vec<(usize, Load)> = (0..up.len())
            .flat_map(|server| loads.iter().map(move |load| (server, *load)))
            .collect();
        for round in 0..self.plan.rounds {
            self.orders.shuffle(&mut steps);
            for (server, load) in steps.iter().copied() {
                if interrupt::stopped() {
                    return Ok(());
                }
                observer.on(Event::LoadStep {
                    server,
                    connections: load.connections,
                    rate: load.rate,
                    round,
                    rounds: self.plan.rounds,
                });
                let done = self.step(&up[server], load, round, observer)?;
                up[server].check_alive()?;
                if done.outcome.stopped {
                    return Ok(());
                }
                self.made.push(Made {
                    server,
                    load,
                    round,
                    position: self.made.len() as u32,
                    done,
                });
            }
        }
        Ok(())
    }

    /// Runs one step, and returns the result without storing it.
    ///
    /// # Errors
    /// If no such client can be created.
    pub(super) fn step(
        &self,
        up: &RunningServer,
        load: Load,
        round: u32,
        observer: &mut dyn Observer,
    ) -> Result<Done, ConductError> {
        self.step_of(self.plan.step, up, load, round, observer)
    }

    /// Runs one step of this length.
    ///
    /// # Errors
    /// As for [`Rounds::step`].
    pub(super) fn step_of(
        &self,
        length: Duration,
        up: &RunningServer,
        load: Load,
        round: u32,
        observer: &mut dyn Observer,
    ) -> Result<Done, ConductError> {
        let warmup = Some(self.part(load, round, self.plan.warmup()));
        let step = self.part(load, round, length);
        self.run(up, load, warmup, step, observer)
    }

    /// Runs one step that lasts as long as a warm-up and isn't preceded by one. The result isn't stored.
    ///
    /// # Errors
    /// If no such client can be created.
    pub(super) fn unwarmed(
        &self,
        up: &RunningServer,
        load: Load,
        observer: &mut dyn Observer,
    ) -> Result<Done, ConductError> {
        let step = self.part(load, self.plan.rounds, self.plan.warmup());
        self.run(up, load, None, step, observer)
    }

    /// Runs a ramp, after a warm-up at its initial rate. The result isn't stored.
    ///
    /// # Errors
    /// As for [`Rounds::step`].
    pub(super) fn ramp(
        &self,
        ramp: Ramp,
        up: &RunningServer,
        round: u32,
        observer: &mut dyn Observer,
    ) -> Result<Done, ConductError> {
        let load = Load {
            connections: self.plan.most_connections(),
            rate: Some(ramp.rate.from.max(1.0)),
        };
        let warmup = self.part(load, round, self.plan.warmup());
        let step = Step {
            open: warmup.open.map(|open| Open {
                rate: ramp.rate,
                ..open
            }),
            length: ramp.length.as_nanos() as u64,
            ..warmup
        };
        self.run(up, load, Some(warmup), step, observer)
    }

    fn part(&self, load: Load, round: u32, length: Duration) -> Step {
        let arrivals = self.plan.arrivals(round);
        Step {
            open: load.rate.map(|rate| Open::at(rate, arrivals)),
            length: length.as_nanos() as u64,
            drain: self.plan.drain().as_nanos() as u64,
        }
    }

    fn run(
        &self,
        up: &RunningServer,
        load: Load,
        warmup: Option<Step>,
        step: Step,
        observer: &mut dyn Observer,
    ) -> Result<Done, ConductError> {
        let plan = StepPlan {
            connections: load.connections,
            warmup,
            step,
            threads: self.plan.generator_threads,
            cpus: &self.cpus,
        };
        step::run(&plan, &up.task, up.server.as_ref(), self.stop, observer)
    }
}
