//! Launches all servers in an interleaved order, and measures the launches.

use fathom_load::{LaunchCosts, SlowBy, why_slow};
use fathom_measure::interrupt;
use fathom_measure::server::SeenBy;
use fathom_model::{ColdStart, Launch, ListeningBy, SlowLaunch, Spread};
use fathom_stats::{median_interval, quantile};

use super::launch;
use super::plan::{ServePlan, Served};
use crate::{ConductError, Event, Observer, Target};

/// With fewer launches, the 99th percentile would be the largest value.
const LAUNCHES_FOR_P99: usize = 100;
/// With fewer launches, the 95th percentile would be the largest value.
const LAUNCHES_FOR_P95: usize = 20;

/// Measures one launch, then stops the server.
///
/// # Errors
/// If the server fails.
pub(super) fn measure(
    plan: &ServePlan,
    target: &Target,
    position: u32,
    evicted: bool,
) -> Result<(Launch, About), ConductError> {
    let launched = launch::launch(plan, target, &plan.terms.pin)?;
    // The usage is read right away, because work after the first answer is not part of the launch.
    let usage = launched.server.usage();
    if position == 0 {
        launch::check_alone(&launched)?;
    }
    let begin = launched.server.launched();
    let ms = |at: u64| at.saturating_sub(begin) as f64 / 1e6;
    let about = About {
        address: launched.address.to_string(),
        status: launched.first.expected.answer.status,
        body_bytes: launched.first.expected.answer.body_bytes,
        daemonised: launched.daemonised,
    };
    let exec_ms = ms(launched.server.executed());
    let stopped = launched.server.stop(plan.stop_timeout.as_nanos() as u64)?;
    let listening = launched.listening;
    let launch = Launch {
        position,
        evicted,
        exec_ms,
        listening_ms: listening.as_ref().map(|listening| ms(listening.at)),
        listening_by: listening.as_ref().map(|listening| match listening.seen_by {
            SeenBy::Kernel => ListeningBy::Kernel,
            SeenBy::Look(_) => ListeningBy::Look,
        }),
        listening_uncertainty_us: listening.map(|listening| match listening.seen_by {
            SeenBy::Kernel => 0.0,
            SeenBy::Look(ns) => ns as f64 / 1e3,
        }),
        accepted_ms: ms(launched.first.connected),
        secured_ms: launched.first.secured.map(ms),
        first_byte_ms: ms(launched.first.first_byte),
        ready_ms: ms(launched.first.complete),
        cpu_ms: usage.cpu_ns as f64 / 1e6,
        run_queue_wait_ms: usage.run_queue_wait_ns as f64 / 1e6,
        read_bytes: usage.read_bytes,
        major_faults: usage.major_faults,
        answers_before: launched.answers_before,
        stop_ms: stopped.took_ns as f64 / 1e6,
        killed: stopped.killed,
        slow: None,
    };
    Ok((launch, about))
}

/// Facts about a server from its launch, other than times.
pub(super) struct About {
    pub(super) address: String,
    pub(super) status: u16,
    pub(super) body_bytes: u64,
    pub(super) daemonised: bool,
}

/// The launches of one server, and the facts about it.
pub(super) type Launched = (Vec<Launch>, Option<About>);

/// Runs all launches, in random order within each round; after an interrupt, returns those completed.
///
/// # Errors
/// If a server fails.
pub(super) fn launches(
    plan: &ServePlan,
    orders: &mut super::order::Orders,
    chill: &mut dyn FnMut(usize) -> Result<(), ConductError>,
    observer: &mut dyn Observer,
) -> Result<Vec<Launched>, ConductError> {
    let mut all: Vec<Launched> = Vec::new();
    all.resize_with(plan.servers.len(), Default::default);
    let mut kinds: Vec<(usize, bool)> = (0..plan.servers.len()).map(|s| (s, false)).collect();
    if plan.cold {
        kinds.extend((0..plan.servers.len()).map(|server| (server, true)));
    }
    let mut position = 0;
    for round in 0..plan.launches {
        orders.shuffle(&mut kinds);
        for (server, evicted) in kinds.iter().copied() {
            let Served::Started(target) = &plan.servers[server] else {
                continue;
            };
            if interrupt::stopped() {
                return Ok(all);
            }
            observer.on(Event::Launches {
                server,
                launch: round,
                of: plan.launches,
            });
            if evicted {
                chill(server)?;
            }
            match measure(plan, target, position, evicted) {
                Ok((launch, about)) => {
                    all[server].0.push(launch);
                    all[server].1 = Some(about);
                }
                Err(error) if error.is_interruption() => return Ok(all),
                Err(error) => return Err(error),
            }
            position += 1;
        }
    }
    Ok(all)
}

/// Returns the distribution over the launches; `None` if there are none.
pub(super) fn summary(mut runs: Vec<Launch>) -> Option<ColdStart> {
    let costs: Vec<LaunchCosts> = runs
        .iter()
        .map(|run| LaunchCosts {
            took_ns: run.ready_ms * 1e6,
            cpu_ns: run.cpu_ms * 1e6,
            run_queue_wait_ns: run.run_queue_wait_ms * 1e6,
            read_bytes: run.read_bytes as f64,
        })
        .collect();
    for (run, why) in runs.iter_mut().zip(why_slow(&costs)) {
        run.slow = why.map(|why| match why {
            SlowBy::WaitedForCpu => SlowLaunch::WaitedForCpu,
            SlowBy::WaitedForDisk => SlowLaunch::WaitedForDisk,
            SlowBy::WorkedLonger => SlowLaunch::WorkedLonger,
            SlowBy::Other => SlowLaunch::Other,
        });
    }
    let of = |value: fn(&Launch) -> f64| spread(runs.iter().map(value).collect());
    let slow = |why| runs.iter().filter(|run| run.slow == Some(why)).count();
    let ready: Vec<f64> = runs.iter().map(|run| run.ready_ms).collect();
    let by = |by| {
        runs.iter()
            .filter(|run| run.listening_by == Some(by))
            .count()
    };
    let (kernel, look) = (by(ListeningBy::Kernel), by(ListeningBy::Look));
    let uncertainties = runs.iter().filter_map(|run| run.listening_uncertainty_us);
    Some(ColdStart {
        launches: runs.len(),
        exec_ms: of(|run| run.exec_ms)?,
        listening_ms: spread(runs.iter().filter_map(|run| run.listening_ms).collect()),
        listening_by: match (kernel, look) {
            (0, 0) => None,
            (kernel, look) if kernel >= look => Some(ListeningBy::Kernel),
            _ => Some(ListeningBy::Look),
        },
        listening_uncertainty_us: uncertainties.reduce(f64::max),
        accepted_ms: of(|run| run.accepted_ms)?,
        secured_ms: spread(runs.iter().filter_map(|run| run.secured_ms).collect()),
        first_byte_ms: of(|run| run.first_byte_ms)?,
        ready_ms: of(|run| run.ready_ms)?,
        ready_median_ms: median_interval(&ready, 0.95)?,
        cpu_ms: of(|run| run.cpu_ms)?,
        stop_ms: of(|run| run.stop_ms)?,
        waited_for_cpu: slow(SlowLaunch::WaitedForCpu),
        waited_for_disk: slow(SlowLaunch::WaitedForDisk),
        worked_longer: slow(SlowLaunch::WorkedLonger),
        slow_otherwise: slow(SlowLaunch::Other),
        runs,
    })
}

fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_by(f64::total_cmp);
    Some(Spread {
        min: *values.first()?,
        p50: quantile(&values, 0.5),
        p90: quantile(&values, 0.9),
        p95: (values.len() >= LAUNCHES_FOR_P95).then(|| quantile(&values, 0.95)),
        p99: (values.len() >= LAUNCHES_FOR_P99).then(|| quantile(&values, 0.99)),
        max: *values.last()?,
    })
}
