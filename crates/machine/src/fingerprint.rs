//! The probes of the quick profile, which are repeated seconds later.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::deadline;
use crate::probes::{
    core_clock, core_shared, load_latency, noise, read_bandwidth, spawn, system_call, timer,
};
use crate::result::{Heading, ProbeResult, cut_short};
use crate::spaced_visits::Visits;
use crate::suite::Progress;
use crate::track::Track;

/// A probe that can run, or the reason why it can't.
pub(crate) type Prepared = Result<Track, Box<ProbeResult>>;

/// Prepares a probe.
pub(crate) type Make<'a> = Box<dyn FnOnce() -> Prepared + 'a>;

/// One of the repeated probes.
struct Member {
    heading: Heading,
    make: fn(&Context) -> Prepared,
}

/// All repeated probes, in display order.
const MEMBERS: [Member; 9] = [
    Member {
        heading: core_clock::HEADING,
        make: |_| Ok(core_clock::track()),
    },
    Member {
        heading: timer::COST,
        make: |_| Ok(timer::cost()),
    },
    Member {
        heading: load_latency::FIRST,
        make: |_| load_latency::first(),
    },
    Member {
        heading: load_latency::SECOND,
        make: load_latency::second,
    },
    Member {
        heading: load_latency::LAST,
        make: load_latency::last,
    },
    Member {
        heading: load_latency::MEMORY,
        make: load_latency::memory,
    },
    Member {
        heading: read_bandwidth::HEADING,
        make: read_bandwidth::track,
    },
    Member {
        heading: system_call::HEADING,
        make: |_| Ok(system_call::track()),
    },
    Member {
        heading: spawn::HEADING,
        make: |_| spawn::track(),
    },
];

/// The heading after which the timer steps are shown.
const BEHIND: Heading = timer::COST;

/// Returns the contents of the fingerprint.
pub(crate) fn headings() -> Vec<Heading> {
    let mut headings: Vec<Heading> = MEMBERS.iter().map(|member| member.heading).collect();
    headings.extend(timer::STEPS);
    headings.push(noise::HEADING);
    headings.push(core_shared::HEADING);
    headings
}

/// Measures some or all of the fingerprint.
pub(crate) struct Fingerprint {
    visits: Visits,
    /// All wanted probes, with the reason if one can't run.
    members: Vec<&'static Member>,
    places: Vec<Option<ProbeResult>>,
    steps: Vec<ProbeResult>,
    /// Results for time that others take without any accounting of it: gaps, and the core's other thread.
    others: Vec<ProbeResult>,
}

impl Fingerprint {
    /// Makes two visits to the `wanted` probes, with the search for gaps between them.
    pub(crate) fn begin(
        context: &Context,
        until: Instant,
        wanted: &dyn Fn(&Heading) -> bool,
        progress: Progress<'_>,
    ) -> Fingerprint {
        let members: Vec<&'static Member> = MEMBERS
            .iter()
            .filter(|member| wanted(&member.heading))
            .collect();
        let half = half_of(until);
        let prepared = members
            .iter()
            .map(|member| prepare(Box::new(|| (member.make)(context)), half))
            .collect();
        let (tracks, places) = split(prepared);
        let mut visits = Visits::new(tracks);
        let mut others = Vec::new();
        if !members.is_empty() {
            progress("clock, latencies, bandwidth, system call, gaps");
            visits.visit();
        }
        if wanted(&noise::HEADING) {
            let found = noise::spin(Duration::from_millis(500), context.cpu);
            others.push(noise::result(&found));
        }
        if wanted(&core_shared::HEADING) {
            let found = core_shared::spin(Duration::from_millis(250));
            others.push(core_shared::result(found));
        }
        if !members.is_empty() {
            visits.visit();
        }
        let mut steps = Vec::new();
        if timer::STEPS.iter().any(wanted) {
            steps = timer::steps();
            steps.retain(|step| timer::STEPS.iter().any(|h| h.id == step.id && wanted(h)));
        }
        Fingerprint {
            visits,
            members,
            places,
            steps,
            others,
        }
    }

    /// Returns whether any probe can be visited again.
    pub(crate) fn has_visits(&self) -> bool {
        !self.members.is_empty()
    }

    /// Makes another visit.
    pub(crate) fn visit(&mut self) {
        self.visits.visit();
    }

    /// Makes visits until all agree, or until `until` is too close for another one.
    pub(crate) fn settle(&mut self, until: Instant) {
        self.visits.settle(until);
    }

    /// Returns the results so far, in display order.
    pub(crate) fn results(&self) -> Vec<ProbeResult> {
        let mut results = in_places(&self.places, self.visits.results());
        let behind = self
            .members
            .iter()
            .position(|member| member.heading.id == BEHIND.id);
        let place = behind.map_or(results.len(), |before| before + 1);
        results.splice(place..place, self.steps.iter().cloned());
        results.extend(self.others.iter().cloned());
        results
    }
}

/// Returns when half of the remaining time is over: the other half is for measuring. With a load of 25 on two
/// CPUs, building two memory sets took all 8 s, and not even the clock had a result.
fn half_of(until: Instant) -> Instant {
    let now = Instant::now();
    now + until.saturating_duration_since(now) / 2
}

/// Prepares a probe before `until`. An incomplete preparation is released.
pub(crate) fn prepare(make: Make<'_>, until: Instant) -> Prepared {
    let (prepared, cut) = deadline::within(until, make);
    match prepared {
        Ok(track) if cut => Err(Box::new(track.heading().not_reached())),
        Err(result) if cut => Err(Box::new(cut_short(*result))),
        prepared => prepared,
    }
}

/// Splits prepared probes: returns those that can run, and for every probe the reason if it can't.
pub(crate) fn split(prepared: Vec<Prepared>) -> (Vec<Track>, Vec<Option<ProbeResult>>) {
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
    (tracks, places)
}

/// Inserts the results of the probes that ran at their places in the original order.
pub(crate) fn in_places(places: &[Option<ProbeResult>], ran: Vec<ProbeResult>) -> Vec<ProbeResult> {
    let mut ran = ran.into_iter();
    places
        .iter()
        .filter_map(|place| place.clone().or_else(|| ran.next()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_is_for_measuring() {
        let now = Instant::now();
        let until = now + Duration::from_secs(1000);
        let half = half_of(until);
        assert!(half >= now + Duration::from_secs(500) && half < until);
        assert!(half_of(now) >= now, "nothing can be built in no time");
    }
}
