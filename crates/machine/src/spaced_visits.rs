//! Several probes measured in visits that are seconds apart.
//!
//! Some figures have a second state that lasts for seconds: a system call took 185 ns, and 232 to 416 while
//! another program traced system calls; the third level took 15 ns, and 25 while others filled it. Passes in
//! direct sequence agree on either state. Visits seconds apart see both, and the figure is valid only if they
//! agree.

use std::time::{Duration, Instant};

use crate::deadline;
use crate::result::ProbeResult;
use crate::track::Track;

/// Minimum time between the end of a visit and the beginning of the next.
pub(crate) const APART: Duration = Duration::from_secs(1);

/// Maximum number of visits.
const MOST: usize = 6;

/// Passes of each probe in one visit.
const PASSES: usize = 2;

/// The probes and the number of their visits.
pub(crate) struct Visits {
    tracks: Vec<Track>,
    visits: usize,
    ended: Option<Instant>,
}

impl Visits {
    /// Creates the visits without making one.
    pub(crate) fn new(tracks: Vec<Track>) -> Visits {
        Visits {
            tracks,
            visits: 0,
            ended: None,
        }
    }

    /// Visits all probes, after the pause that makes the visit count. Ends early at the deadline.
    pub(crate) fn visit(&mut self) {
        if let Some(ended) = self.ended {
            // Later than this, the pass would be part of the next visit, and confirm itself.
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

    /// Makes another pass of shared resources, which belongs to the previous visit: neighbours come and go
    /// within tenths of a second.
    fn look_again(&mut self) {
        let before = self.visits.saturating_sub(1);
        for track in self.tracks.iter_mut().filter(|track| track.is_shared()) {
            if !deadline::passed() {
                track.pass_of_visit(before);
            }
        }
    }

    /// Makes visits until all agree, or until `until` is too close for another one.
    pub(crate) fn settle(&mut self, until: Instant) {
        while self.visits < MOST
            && !deadline::passed()
            && Instant::now() + 2 * APART < until
            && !self.tracks.iter().all(Track::settled_over_visits)
        {
            self.visit();
        }
    }

    /// Returns the results so far.
    pub(crate) fn results(&self) -> Vec<ProbeResult> {
        self.tracks.iter().map(Track::over_visits).collect()
    }
}
