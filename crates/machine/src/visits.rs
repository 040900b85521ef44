//! Several probes measured in visits that lie seconds apart.
//!
//! Some figures have a second state that lasts for seconds: a system call took 185 ns, and 232 to
//! 416 while another program traced system calls; the third level took 15 ns, and 25 while others
//! filled it. Passes that follow each other at once agree on either state. Visits seconds apart see
//! both, and the figure stands only if they agree.

use std::time::{Duration, Instant};

use crate::deadline;
use crate::result::ProbeResult;
use crate::track::Track;

/// Least time between the end of a visit and the beginning of the next.
pub(crate) const APART: Duration = Duration::from_secs(1);

/// Most visits.
const MOST: usize = 6;

/// Passes of each probe in one visit.
const PASSES: usize = 2;

/// The probes and how often they were visited.
pub(crate) struct Visits {
    tracks: Vec<Track>,
    visits: usize,
    ended: Option<Instant>,
}

impl Visits {
    /// None yet.
    pub(crate) fn new(tracks: Vec<Track>) -> Visits {
        Visits {
            tracks,
            visits: 0,
            ended: None,
        }
    }

    /// One visit to all probes, after the pause that makes it count. Ends early at the deadline.
    pub(crate) fn visit(&mut self) {
        if let Some(ended) = self.ended {
            // Later it would be a part of the visit that comes, and confirm itself.
            if ended.elapsed() < APART / 2 {
                deadline::pause(APART / 2 - ended.elapsed().min(APART / 2));
                self.look_again();
            }
            deadline::pause(APART.saturating_sub(ended.elapsed()));
        }
        for _ in 0..PASSES {
            for track in &mut self.tracks {
                if deadline::passed() {
                    break;
                }
                track.pass_of_visit(self.visits);
            }
        }
        self.visits += 1;
        self.ended = Some(Instant::now());
    }

    /// One more pass of what others on the machine use too, which belongs to the visit before:
    /// neighbours come and go within tenths of a second.
    fn look_again(&mut self) {
        let before = self.visits.saturating_sub(1);
        for track in self.tracks.iter_mut().filter(|track| track.is_shared()) {
            if !deadline::passed() {
                track.pass_of_visit(before);
            }
        }
    }

    /// Visits until all agree, or `until` is too near for another one.
    pub(crate) fn settle(&mut self, until: Instant) {
        while self.visits < MOST
            && !deadline::passed()
            && Instant::now() + 2 * APART < until
            && !self.tracks.iter().all(Track::settled_over_visits)
        {
            self.visit();
        }
    }

    /// What is known so far.
    pub(crate) fn results(&self) -> Vec<ProbeResult> {
        self.tracks.iter().map(Track::over_visits).collect()
    }
}
