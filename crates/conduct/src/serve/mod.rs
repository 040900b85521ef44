//! `serve`: measures cold start, load and latency of servers.

mod budget;
mod calls;
mod cold;
mod compare;
mod exchange;
mod find_rate;
mod launch;
mod neighbours;
mod order;
mod plan;
mod ramp;
mod results;
mod rounds;
mod running;
mod step;
mod warnings;
mod why;
mod words;

use fathom_measure::startup::{self as files, Chill, ColdFiles, Evictor};
use fathom_measure::{MeasureError, interrupt, now_rfc3339};
use fathom_model::{
    SCHEMA_VERSION, ServeConditions, ServeRecord, ServedServer, StopReason, Warning,
};
use fathom_trace::allowed_cpus;
use order::Orders;
pub use plan::{
    CONNECTIONS, LAUNCH_TIMEOUT, LAUNCHES, Limit, Limited, MESSAGE_BYTES, RAMP_ROUNDS, ROUNDS,
    ROUNDS_TO_COMPARE, Ramp, Ready, SHARE_OF_BEST, STEP, ServePlan, Served,
};
use rounds::{Load, Rounds};
use running::RunningServer;

use crate::{ConductError, Conducted, Observer, fingerprint, redaction};

/// Launches the servers in rounds, then loads them in rounds.
///
/// # Errors
/// If nothing can be measured at all. A failing server ends the measurement; the record then holds what was
/// measured before it.
pub fn serve(
    plan: &ServePlan,
    observer: &mut dyn Observer,
) -> Result<Conducted<ServeRecord>, ConductError> {
    let _limit = interrupt::until(plan.terms.deadline);
    fingerprint::take(observer);
    let mut measured = Measured::begin(plan);
    let failure = match measured.measure(plan, observer) {
        Ok(()) => None,
        Err(ConductError::Measure(error)) if measured.has_something() => Some(error),
        Err(error) => return Err(error),
    };
    if !measured.has_something() && interrupt::stopped() {
        return Err(MeasureError::Interrupted.into());
    }
    measured.keep(plan, failure.is_some())?;
    let record = measured.record(plan, failure.is_some());
    Ok(Conducted { record, failure })
}

/// The measurements so far.
#[derive(Clone)]
struct Measured {
    started_at: String,
    servers: Vec<ServedServer>,
    server_cpus: Vec<usize>,
    generator_cpus: Vec<usize>,
    warnings: Vec<Warning>,
}

impl Measured {
    fn begin(plan: &ServePlan) -> Measured {
        let threads = plan.generator_threads as usize;
        let (server_cpus, generator_cpus) = shares(&plan.terms.pin, &allowed_cpus(), threads);
        let servers = plan.servers.iter().map(|served| ServedServer {
            name: served.name().to_string(),
            arguments: match served {
                Served::Started(target) => target.benchmark.arguments.clone(),
                Served::Running(_) => Vec::new(),
            },
            address: None,
            status: None,
            body_bytes: None,
            cold: None,
            cold_evicted: None,
            load: Vec::new(),
            calls: None,
            highest_rate: None,
            ramp: None,
            websocket: Vec::new(),
            why: None,
        });
        Measured {
            started_at: now_rfc3339(),
            servers: servers.collect(),
            server_cpus,
            generator_cpus,
            warnings: Vec::new(),
        }
    }

    fn has_something(&self) -> bool {
        let has = |server: &ServedServer| {
            server.cold.is_some()
                || !server.load.is_empty()
                || !server.websocket.is_empty()
                || server.ramp.is_some()
        };
        self.servers.iter().any(has)
    }

    fn measure(
        &mut self,
        plan: &ServePlan,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductError> {
        let mut orders = Orders::new(plan.seed);
        self.launches(plan, &mut orders, observer)?;
        self.keep(plan, true)?;
        let no_load = plan.connections.is_empty()
            && plan.rates.as_ref().is_some_and(Vec::is_empty)
            && plan.find_rate.is_none()
            && plan.ramp.is_none()
            && plan.requests.websocket.is_none();
        if interrupt::stopped() || no_load || plan.rounds == 0 {
            return Ok(());
        }
        let mut up = running::bring_up(plan, &self.server_cpus)?;
        for (server, up) in self.servers.iter_mut().zip(&up) {
            server.address = Some(up.address.to_string());
            let first = &up.task.expected[0].answer;
            (server.status, server.body_bytes) = (Some(first.status), Some(first.body_bytes));
        }
        let stop = interrupt::flag();
        let mut rounds = Rounds {
            plan,
            cpus: self.generator_cpus.clone(),
            stop: &stop,
            orders,
            made: Vec::new(),
        };
        let outcome = self.load(&mut rounds, &mut up, observer);
        self.warnings
            .extend(warnings::of_load(plan, &self.servers, &rounds.made));
        let (patience, mut left) = (plan.stop_timeout.as_nanos() as u64, Vec::new());
        for (index, up) in up.into_iter().enumerate() {
            if up.has_daemonised() {
                self.warnings.push(warnings::daemonised(index));
            }
            if let Some(server) = up.server {
                let stopped = server.stop(patience)?;
                left.extend((stopped.left > 0).then(|| warnings::left(index, stopped.left)));
            }
        }
        self.warnings.extend(left);
        outcome
    }

    fn launches(
        &mut self,
        plan: &ServePlan,
        orders: &mut Orders,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductError> {
        let mut evictor = plan.cold.then(|| Evictor::new(cold_files(plan), false));
        let mut chill = |server: usize| match &mut evictor {
            Some(evictor) => evictor.chill(server).map_err(ConductError::from),
            None => Ok(()),
        };
        let all = cold::launches(plan, orders, &mut chill, observer)?;
        for (index, (server, (launches, about))) in self.servers.iter_mut().zip(all).enumerate() {
            let (evicted, warm) = launches.into_iter().partition(|launch| launch.evicted);
            server.cold = cold::summary(warm);
            server.cold_evicted = cold::summary(evicted);
            if let Some(about) = about {
                server.address = Some(about.address);
                server.status = Some(about.status);
                server.body_bytes = Some(about.body_bytes);
                if about.daemonised && plan.rounds == 0 {
                    self.warnings.push(warnings::daemonised(index));
                }
            }
            self.warnings.extend(warnings::of_launches(index, server));
        }
        Ok(())
    }

    /// Runs closed loops, then open ones at rates derived from them.
    fn load(
        &mut self,
        rounds: &mut Rounds<'_>,
        up: &mut [RunningServer],
        observer: &mut dyn Observer,
    ) -> Result<(), ConductError> {
        let plan = rounds.plan;
        if plan.requests.websocket.is_some() {
            let all = exchange::make(rounds, up, observer)?;
            for (server, results) in self.servers.iter_mut().zip(all) {
                server.websocket = results;
            }
            return Ok(());
        }
        let closed: Vec<Load> = plan
            .connections
            .iter()
            .map(|connections| Load {
                connections: *connections,
                rate: None,
            })
            .collect();
        let made = rounds.make(up, &closed, observer);
        self.take(plan, rounds, &closed);
        made?;
        let rates = match &plan.rates {
            Some(rates) => rates.clone(),
            None => self.share_of_best().into_iter().collect(),
        };
        let open: Vec<Load> = rates
            .into_iter()
            .map(|rate| Load {
                connections: plan.most_connections(),
                rate: Some(rate),
            })
            .collect();
        let made = rounds.make(up, &open, observer);
        self.take(plan, rounds, &open);
        made?;
        if let Some(ramp) = plan.ramp {
            let all = ramp::make(rounds, ramp, up, observer)?;
            for (server, result) in self.servers.iter_mut().zip(all) {
                server.ramp = result;
            }
        }
        // Use the load at a fixed rate, or otherwise the one with the most connections.
        if let Some(load) = open.last().or(closed.last()).copied() {
            for (server, up) in self.servers.iter_mut().zip(up.iter_mut()) {
                if !interrupt::stopped() {
                    server.calls = calls::count(rounds, up, load, observer)?;
                }
            }
        }
        if plan.why && !interrupt::stopped() {
            let load = why::load(plan, open.first().and_then(|load| load.rate));
            for (index, up) in up.iter_mut().enumerate() {
                match why::observe(rounds, up, index, load, observer) {
                    Ok(why) => self.servers[index].why = why,
                    Err(ended @ ConductError::Measure(_)) => return Err(ended),
                    // The earlier measurements are valid without it.
                    Err(why_not) => self.warnings.push(warnings::unobserved(index, &why_not)),
                }
            }
        }
        if let Some(limit) = &plan.find_rate {
            for (index, up) in up.iter_mut().enumerate() {
                let server = &mut self.servers[index];
                let best = best(server).unwrap_or(1000.0);
                let found = find_rate::find(rounds, up, index, limit, best, observer)?;
                server.highest_rate = Some(found);
            }
        }
        Ok(())
    }

    fn take(&mut self, plan: &ServePlan, rounds: &Rounds<'_>, loads: &[Load]) {
        for (index, server) in self.servers.iter_mut().enumerate() {
            for load in loads {
                let mine = |made: &&rounds::Made| made.server == index && made.load == *load;
                let steps: Vec<_> = rounds.made.iter().filter(mine).collect();
                server.load.extend(results::result(plan, *load, &steps));
            }
        }
    }

    /// Returns a rate that the slowest server can keep, so that all get the same load.
    fn share_of_best(&self) -> Option<f64> {
        let bests: Option<Vec<f64>> = self.servers.iter().map(best).collect();
        let slowest = bests?.into_iter().reduce(f64::min)?;
        let rate = (slowest * SHARE_OF_BEST).round();
        (rate >= 1.0).then_some(rate)
    }

    /// Writes the current record to the requested file.
    fn keep(&self, plan: &ServePlan, failed: bool) -> Result<(), ConductError> {
        let Some(path) = &plan.record else {
            return Ok(());
        };
        let record = self.clone().record(plan, failed);
        crate::write_record(path, &record).map_err(|error| {
            let path = path.clone();
            MeasureError::Journal { path, error }.into()
        })
    }

    fn record(self, plan: &ServePlan, failed: bool) -> ServeRecord {
        let interrupted = interrupt::stopped();
        ServeRecord {
            schema_version: SCHEMA_VERSION,
            kind: "serve".to_string(),
            fathom_version: env!("CARGO_PKG_VERSION").to_string(),
            started_at: self.started_at,
            environment: fingerprint::environment(),
            conditions: ServeConditions {
                seed: plan.seed,
                launches: plan.launches,
                rounds: plan.rounds,
                step_seconds: plan.step.as_secs_f64(),
                warmup_seconds: plan.warmup().as_secs_f64(),
                drain_seconds: plan.drain().as_secs_f64(),
                method: plan.requests.method.clone(),
                paths: plan
                    .requests
                    .paths
                    .iter()
                    .map(|path| redaction::text(path))
                    .collect(),
                headers: redaction::pairs(&plan.requests.headers),
                body_bytes: plan.requests.body.len(),
                keep_alive: plan.requests.keep_alive,
                tls: plan.tls.is_some(),
                http2_streams: plan.requests.http2.then_some(plan.streams),
                request_timeout_seconds: plan.request_timeout.as_secs_f64(),
                launch_timeout_seconds: plan.launch_timeout.as_secs_f64(),
                server_cpus: self.server_cpus,
                generator_cpu: self.generator_cpus.first().copied(),
                generator_threads: plan.generator_threads,
                margin: plan.margin,
            },
            comparisons: compare::comparisons(&self.servers, plan.margin),
            budget: budget::budget(&plan.budget, &self.servers),
            servers: self.servers,
            warnings: self.warnings,
            complete: !failed && !interrupted,
            stop: match (failed, interrupted) {
                (true, _) => StopReason::Failed,
                (_, true) => StopReason::Interrupted,
                _ => StopReason::RunCount,
            },
        }
    }
}

/// Returns the highest throughput of the closed loops.
fn best(server: &ServedServer) -> Option<f64> {
    let closed = server
        .load
        .iter()
        .filter(|load| load.rate_per_second.is_none());
    closed.map(|load| load.requests_per_second).reduce(f64::max)
}

/// Returns the CPUs for the servers and those for the generator's threads. The two sets must not overlap; if
/// there are enough CPUs, the generator gets the last ones. `pinned` are the CPUs that the user assigned to
/// the servers.
fn shares(pinned: &[usize], allowed: &[usize], threads: usize) -> (Vec<usize>, Vec<usize>) {
    if !pinned.is_empty() {
        let free = allowed.iter().rev().filter(|cpu| !pinned.contains(cpu));
        return (pinned.to_vec(), free.take(threads).copied().collect());
    }
    match allowed.len().checked_sub(threads) {
        None | Some(0) => (Vec::new(), Vec::new()),
        Some(servers) => {
            let generators = allowed[servers..].iter().rev().copied();
            (allowed[..servers].to_vec(), generators.collect())
        }
    }
}

/// Returns the files of the program and of its interpreter.
fn cold_files(plan: &ServePlan) -> Vec<ColdFiles> {
    plan.servers
        .iter()
        .map(|served| match served {
            Served::Started(target) => {
                let folder = std::path::absolute(target.command.folder());
                let folder = folder.unwrap_or_else(|_| "/".into());
                let mut found = files::files_of(&target.command.program, &folder);
                // One of the arguments may be a script for an interpreter.
                let words = target.command.arguments.iter().skip(1);
                let named = words
                    .map(|word| folder.join(word))
                    .filter(|path| path.is_file());
                found.extend(named);
                ColdFiles {
                    found_by: "none".to_string(),
                    files: found,
                }
            }
            Served::Running(_) => ColdFiles::default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn the_generator_has_a_cpu_of_its_own_where_there_are_two() {
        assert_eq!(shares(&[], &[0, 1, 2], 1), (vec![0, 1], vec![2]));
        assert_eq!(shares(&[], &[0, 1, 2], 2), (vec![0], vec![2, 1]));
        assert_eq!(shares(&[], &[3], 1), (vec![], vec![]));
        assert_eq!(shares(&[2], &[0, 1, 2], 1), (vec![2], vec![1]));
        assert_eq!(shares(&[0, 1], &[0, 1], 1), (vec![0, 1], vec![]));
    }
}
