//! Ramps: find the rate up to which a server keeps its limits.
//!
//! The loop is open: the times of all requests are fixed in advance, and latencies count from these times. A
//! request without a good answer counts as slower than any other.

use fathom_load::{Observed, Second, doubts, needed_for};
use fathom_measure::interrupt;
use fathom_model::{Doubt, RampLimit, RampResult, RampWindow};
use fathom_stats::median_interval;

use super::plan::{Limit, Limited, Ramp, ServePlan};
use super::results::percentiles;
use super::rounds::Rounds;
use super::running::RunningServer;
use super::step::Done;
use crate::{ConductError, Event, Observer};

/// The maximum number of parts of a ramp; each part is a row.
const MOST_WINDOWS: usize = 20;
/// The minimum number of parts, however few answers each of them has.
const FEWEST_WINDOWS: usize = 3;
/// The share of the parts that must have enough answers for the requested limits.
const JUDGED: f64 = 0.75;
/// The criterion if no limit is given: the knee is where the response time at this percentile...
const KNEE_PERCENTILE: f64 = 0.9;
/// ...exceeds its minimum by this factor.
const KNEE_FACTOR: f64 = 3.0;

/// Runs the ramp of each server in rounds, in random order. Returns results by server; after an interrupt,
/// they cover fewer rounds.
///
/// # Errors
/// If a server ends.
pub(super) fn make(
    rounds: &mut Rounds<'_>,
    ramp: Ramp,
    up: &mut [RunningServer],
    observer: &mut dyn Observer,
) -> Result<Vec<Option<RampResult>>, ConductError> {
    let plan = rounds.plan;
    let mut made: Vec<Vec<Done>> = up.iter().map(|_| Vec::new()).collect();
    let mut order: Vec<usize> = (0..up.len()).collect();
    'all: for round in 0..plan.rounds {
        rounds.orders.shuffle(&mut order);
        for server in order.iter().copied() {
            if interrupt::stopped() {
                break 'all;
            }
            observer.on(Event::LoadStep {
                server,
                connections: plan.most_connections(),
                rate: Some(ramp.rate.to),
                round,
                rounds: plan.rounds,
            });
            let done = rounds.ramp(ramp, &up[server], round, observer)?;
            up[server].check_alive()?;
            if done.outcome.stopped {
                break 'all;
            }
            made[server].push(done);
        }
    }
    Ok(made.iter().map(|done| result(plan, ramp, done)).collect())
}

/// Returns the result of all rounds of a server; `None` if no round was completed.
fn result(plan: &ServePlan, ramp: Ramp, done: &[Done]) -> Option<RampResult> {
    if done.is_empty() {
        return None;
    }
    let rounds: Vec<&[Second]> = done
        .iter()
        .map(|done| &done.outcome.totals.seconds[..])
        .collect();
    let limits: Vec<Asked> = asked(&plan.budget);
    let longest_ms = plan.request_timeout.as_secs_f64() * 1e3;
    let parts = parts(&rounds, ramp, &limits);
    let windows: Vec<RampWindow> = parts.iter().map(|part| part.window(ramp)).collect();
    let by_round: Vec<Vec<Part>> = rounds
        .iter()
        .map(|round| cut(&[round], ramp, width(&parts)))
        .collect();
    let limits: Vec<RampLimit> = limits
        .iter()
        .map(|limit| {
            let mut found = limit.judge(&parts, ramp, longest_ms);
            let each = by_round.iter();
            let each = each.map(|parts| limit.judge(parts, ramp, longest_ms));
            found.kept_up_to_by_round = each.map(|one| one.kept_up_to_per_second).collect();
            found
        })
        .collect();
    Some(RampResult {
        from_per_second: ramp.rate.from,
        to_per_second: ramp.rate.to,
        seconds: ramp.length.as_secs_f64(),
        arrivals: plan.arrivals_name().to_owned(),
        connections: plan.most_connections(),
        rounds: done.len() as u32,
        verdicts: verdicts(done, &windows, &limits),
        limits,
        windows,
    })
}

/// Returns the doubts about the whole ramp. If the generator is late only after every limit was exceeded, the
/// result isn't affected.
fn verdicts(done: &[Done], windows: &[RampWindow], limits: &[RampLimit]) -> Vec<Doubt> {
    let sum = |of: fn(&Done) -> u64| done.iter().map(of).sum::<u64>();
    let shares: Vec<f64> = done.iter().map(|done| done.neighbours_share).collect();
    let mut verdicts = doubts(&Observed {
        open: true,
        generator_cpu_share: sum(|done| done.outcome.cpu) as f64
            / sum(|done| done.outcome.wall).max(1) as f64,
        neighbours_share: median_interval(&shares, 0.95).map_or(0.0, |median| median.value),
        ..Observed::default()
    });
    let matters = |place: usize| {
        let left = |limit: &RampLimit| limit.left_in.is_none_or(|left| place <= left);
        limits.iter().any(left)
    };
    let late = windows.iter().position(|window| window.generator_late);
    if late.is_some_and(matters) {
        verdicts.push(Doubt::Lagging);
    }
    verdicts
}

/// A limit to judge along a ramp.
struct Asked<'p> {
    text: &'p str,
    of: Of,
}

#[derive(Clone, Copy)]
enum Of {
    /// A percentile of the response time, and its limit in milliseconds.
    Response(f64, f64),
    /// The maximum number of requests without a good answer.
    Errors(f64),
    Knee,
}

/// Returns the limits of the budget that depend on a rate, and the knee if none limits response times.
fn asked(budget: &[Limit]) -> Vec<Asked<'_>> {
    let limits = budget.iter().filter_map(|limit| {
        let of = match limit.of {
            Limited::Response(share) => Of::Response(share, limit.most),
            Limited::Errors => Of::Errors(limit.most),
            Limited::Ready | Limited::Cpu => return None,
        };
        let text = limit.text.as_str();
        Some(Asked { text, of })
    });
    let mut all: Vec<Asked<'_>> = limits.collect();
    if !all.iter().any(|one| matches!(one.of, Of::Response(..))) {
        let (text, of) = ("knee", Of::Knee);
        all.push(Asked { text, of });
    }
    all
}

impl Asked<'_> {
    /// Returns the percentile on which the limit depends.
    fn share(&self) -> Option<f64> {
        match self.of {
            Of::Response(share, _) => Some(share),
            Of::Errors(_) => None,
            Of::Knee => Some(KNEE_PERCENTILE),
        }
    }

    /// Returns the value in a part, in milliseconds or as a number of requests; `None` if it is based on too
    /// few requests.
    fn value(&self, part: &Part) -> Option<f64> {
        match self.share() {
            Some(share) => part.percentile_ms(share),
            None => Some(part.all.scheduled.saturating_sub(part.answered()) as f64),
        }
    }

    /// Finds the part from which the limit is exceeded until the end of the ramp.
    fn judge(&self, parts: &[Part], ramp: Ramp, longest_ms: f64) -> RampLimit {
        let values: Vec<Option<f64>> = parts.iter().map(|part| self.value(part)).collect();
        let known = || values.iter().copied().flatten();
        let most = match self.of {
            Of::Response(_, most) | Of::Errors(most) => most,
            Of::Knee => KNEE_FACTOR * known().fold(f64::INFINITY, f64::min),
        };
        let kept: Vec<Option<bool>> = values.iter().map(|one| Some((*one)? <= most)).collect();
        // Go backwards from the last part that could be judged for as long as the limit is exceeded.
        let judged = || {
            kept.iter()
                .enumerate()
                .filter_map(|(at, kept)| Some((at, (*kept)?)))
        };
        let left_in = judged()
            .rev()
            .take_while(|(_, kept)| !kept)
            .last()
            .map(|(at, _)| at);
        let before = |at: usize| judged().take_while(move |(place, _)| *place < at);
        let kept_up_to = match left_in {
            Some(at) => before(at).next().map(|_| parts[at].from(ramp)),
            None => judged().next().map(|_| ramp.rate.to),
        };
        let is_time = self.share().is_some();
        RampLimit {
            limit: self.text.to_owned(),
            left_in,
            kept_up_to_per_second: kept_up_to,
            kept_up_to_by_round: Vec::new(),
            // A request without an answer counts with the longest possible time.
            worst: known().reduce(f64::max).map(|worst| match is_time {
                true => worst.min(longest_ms),
                false => worst,
            }),
            not_judged: kept.iter().filter(|kept| kept.is_none()).count(),
            broken_before: before(left_in.unwrap_or(usize::MAX))
                .filter(|(_, kept)| !kept)
                .count(),
        }
    }
}

/// A part of a ramp, some seconds long, from one round or from all of them.
struct Part {
    /// The offset from the beginning, in seconds.
    begin: f64,
    end: f64,
    /// The length of the ramp.
    length: f64,
    all: Second,
}

impl Part {
    fn from(&self, ramp: Ramp) -> f64 {
        ramp.rate.after(self.begin / self.length)
    }

    fn answered(&self) -> u64 {
        self.all.response.count()
    }

    /// Returns the percentile over all scheduled requests; those without a good answer count as infinity.
    fn percentile_ms(&self, share: f64) -> Option<f64> {
        let scheduled = self.all.scheduled;
        if scheduled == 0 || (share < 1.0 && scheduled < needed_for(share)) {
            return None;
        }
        let rank = (share * scheduled as f64).ceil();
        if rank > self.answered() as f64 {
            return Some(f64::INFINITY);
        }
        let steps = self.all.response.steps();
        let mut seen = 0;
        let at = steps.iter().find(|(_, count)| {
            seen += count;
            seen as f64 >= rank
        });
        at.map(|(ns, _)| *ns as f64 / 1e6)
    }

    fn window(&self, ramp: Ramp) -> RampWindow {
        let (all, answered) = (&self.all, self.answered());
        let lag = all.lag_sum as f64 / all.scheduled.max(1) as f64;
        let observed = Observed {
            open: true,
            lag_p95_ns: Some(lag as u64),
            response_p50_ns: all.response.percentile(0.5),
            ..Observed::default()
        };
        RampWindow {
            from_per_second: self.from(ramp),
            to_per_second: ramp.rate.after(self.end / self.length),
            scheduled: all.scheduled,
            answered,
            errors: all.failed,
            dropped: all.scheduled.saturating_sub(answered + all.failed),
            response_ms: percentiles(&all.response, 1e6),
            service_ms: percentiles(&all.service, 1e6),
            generator_lag_us: lag / 1e3,
            generator_late: doubts(&observed).contains(&Doubt::Lagging),
            histogram_ns: all.response.steps(),
        }
    }
}

/// Splits the ramp into as many parts as possible such that each has enough answers for the limits.
fn parts(rounds: &[&[Second]], ramp: Ramp, limits: &[Asked<'_>]) -> Vec<Part> {
    let seconds = rounds.iter().map(|round| round.len()).max().unwrap_or(0);
    let finest = seconds.div_ceil(MOST_WINDOWS).max(1);
    let coarsest = (seconds / FEWEST_WINDOWS).max(finest);
    let enough = |parts: &[Part]| {
        let judged = parts.iter().filter(|part| {
            let mut values = limits.iter().map(|limit| limit.value(part));
            values.all(|value| value.is_some())
        });
        judged.count() as f64 >= JUDGED * parts.len() as f64
    };
    let tried = (finest..=coarsest).map(|width| cut(rounds, ramp, width));
    let mut tried = tried.peekable();
    while let Some(parts) = tried.next() {
        if enough(&parts) || tried.peek().is_none() {
            return parts;
        }
    }
    Vec::new()
}

/// Returns the length of a part in seconds.
fn width(parts: &[Part]) -> usize {
    let first = parts.first().map_or(1.0, |part| part.end - part.begin);
    first.ceil().max(1.0) as usize
}

/// Splits the ramp into parts of `width` seconds, each over all rounds.
fn cut(rounds: &[&[Second]], ramp: Ramp, width: usize) -> Vec<Part> {
    let seconds = rounds.iter().map(|round| round.len()).max().unwrap_or(0);
    let length = ramp.length.as_secs_f64();
    (0..seconds)
        .step_by(width)
        .map(|first| {
            let mut all = Second::default();
            for round in rounds {
                let own = round.iter().skip(first).take(width);
                own.for_each(|second| all.add(second));
            }
            Part {
                begin: (first as f64).min(length),
                end: ((first + width) as f64).min(length),
                length,
                all,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fathom_load::Rate;

    use super::*;

    const RAMP: Ramp = Ramp {
        rate: Rate {
            from: 0.0,
            to: 2000.0,
        },
        length: Duration::from_secs(20),
    };

    /// Returns a second of a server that answers in `ms`, and loses `lost` requests.
    fn second(number: usize, ms: f64, lost: u64) -> Second {
        let mut second = Second {
            scheduled: 100 * number as u64 + 50,
            ..Second::default()
        };
        for request in 0..second.scheduled - lost {
            // One in ten takes twice as long.
            let factor = if request % 10 == 9 { 2.0 } else { 1.0 };
            second.response.record((ms * factor * 1e6) as u64);
        }
        second
    }

    /// Returns a second of a server that answers in 1 ms up to a rate of 1200, and takes 40 ms more for each
    /// second beyond that. From a rate of 1600 on, it loses requests.
    fn overloaded(number: usize) -> Second {
        let beyond = number.saturating_sub(11) as f64;
        second(
            number,
            1.0 + 40.0 * beyond,
            if number < 16 { 0 } else { 400 },
        )
    }

    fn limit(text: &str, of: Limited, most: f64) -> Limit {
        Limit {
            text: text.to_owned(),
            of,
            most,
        }
    }

    fn judged(limits: &[Limit], rounds: &[Vec<Second>]) -> Vec<RampLimit> {
        let rounds: Vec<&[Second]> = rounds.iter().map(|round| &round[..]).collect();
        let asked = asked(limits);
        let parts = parts(&rounds, RAMP, &asked);
        let judge = |one: &Asked<'_>| one.judge(&parts, RAMP, 10_000.0);
        asked.iter().map(judge).collect()
    }

    #[test]
    fn each_limit_is_kept_up_to_a_rate_of_its_own() {
        let round: Vec<Second> = (0..20).map(overloaded).collect();
        let limits = [
            limit("p90=5ms", Limited::Response(0.9), 5.0),
            limit("p50=100ms", Limited::Response(0.5), 100.0),
            limit("errors=0", Limited::Errors, 0.0),
            limit("cpu=1us", Limited::Cpu, 1.0),
        ];
        let found = judged(&limits, &[round]);
        let kept: Vec<_> = found
            .iter()
            .map(|one| (one.limit.as_str(), one.kept_up_to_per_second))
            .collect();
        // Each part is one second, and its rate is 100 requests per second higher than that of the part
        // before.
        assert_eq!(
            kept,
            [
                ("p90=5ms", Some(1200.0)),
                ("p50=100ms", Some(1400.0)),
                ("errors=0", Some(1600.0))
            ]
        );
        assert_eq!(found[0].left_in, Some(12));
        assert_eq!(found[2].worst, Some(400.0));
        // 50 requests are too few for a p90, which needs ten values beyond it.
        assert_eq!((found[0].not_judged, found[1].not_judged), (1, 0));
    }

    #[test]
    fn lost_requests_are_slower_than_any() {
        let round: Vec<Second> = (0..20)
            .map(|number| second(number, 1.0, if number < 10 { 0 } else { 400 }))
            .collect();
        let found = judged(&[limit("p90=9s", Limited::Response(0.9), 9000.0)], &[round]);
        assert_eq!(found[0].kept_up_to_per_second, Some(1000.0));
        assert_eq!(found[0].worst, Some(10_000.0), "as long as one may take");
    }

    #[test]
    fn without_a_limit_the_knee_is_found() {
        let round = || (0..20).map(overloaded).collect();
        let found = judged(&[], &[round(), round()]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].limit, "knee");
        assert_eq!(found[0].kept_up_to_per_second, Some(1200.0));
        let calm: Vec<Second> = (0..20).map(|number| second(number, 1.0, 0)).collect();
        let found = judged(&[], &[calm]);
        assert_eq!(found[0].kept_up_to_per_second, Some(2000.0));
        assert_eq!(found[0].left_in, None);
    }

    #[test]
    fn a_standstill_amid_the_ramp_is_no_end_of_it() {
        let round: Vec<Second> = (0..20)
            .map(|number| second(number, if number == 7 { 80.0 } else { 1.0 }, 0))
            .collect();
        let found = judged(&[limit("p90=5ms", Limited::Response(0.9), 5.0)], &[round]);
        assert_eq!(found[0].left_in, None);
        assert_eq!(found[0].kept_up_to_per_second, Some(2000.0));
        assert_eq!(found[0].broken_before, 1);
    }

    #[test]
    fn parts_are_as_long_as_the_percentile_takes() {
        let round: Vec<Second> = (0..20).map(overloaded).collect();
        let rounds: [&[Second]; 1] = [&round];
        let count = |share| {
            let limits = [limit("", Limited::Response(share), 1.0)];
            parts(&rounds, RAMP, &asked(&limits)).len()
        };
        assert_eq!(count(0.9), 20);
        // A p99 needs 1000 requests, which two seconds in the upper half of the ramp have.
        assert!((5..=10).contains(&count(0.99)), "{}", count(0.99));
        assert_eq!(count(0.9999), 4, "six seconds each, however few");
    }

    #[test]
    fn a_rate_that_no_part_could_judge_is_not_said() {
        let found = judged(
            &[limit("p99.9=1ms", Limited::Response(0.999_999), 1.0)],
            &[(0..20).map(overloaded).collect()],
        );
        assert_eq!(
            (found[0].kept_up_to_per_second, found[0].left_in),
            (None, None)
        );
        assert_eq!(found[0].worst, None);
    }
}
