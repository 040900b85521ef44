//! Runs chunks in gated passes until the passes agree, alternating between several probes.
//!
//! The passes of all probes are interleaved, so that a burst of other work disturbs each of them a little
//! instead of one of them completely; probes whose passes disagree get more passes.

use std::borrow::Cow;
use std::time::Duration;

use crate::core_state::Core;
use crate::cpu_gate::{self, CpuOf, Stretch};
use crate::deadline;
use crate::kernels;
use crate::result::{Heading, ProbeResult, ProbeVerdict};
use crate::samples::{
    Agreement, LEAST_CHUNKS, Samples, agree, agree_over_visits, judge, judge_over_visits,
};

/// Length in ns of a batch of chunks that is accepted or rejected as a whole.
const BATCH_NS: u64 = 1_000_000;

/// Maximum number of passes of one probe.
const MOST_PASSES: usize = 8;

/// A probe that repeats a chunk.
pub(crate) struct Track {
    heading: Heading,
    agreement: Agreement,
    cpu_of: CpuOf,
    pass_time: Duration,
    chunk: Box<dyn FnMut() -> f64>,
    passes: Vec<Samples>,
    inverted: bool,
    limit: Option<Limit>,
    core: Option<Core>,
    shared: bool,
}

/// The limit beyond which a pass measures something other than the heading says.
struct Limit {
    /// Passes with a higher estimate don't count.
    value: f64,
    /// What it means if all passes are beyond the limit.
    meaning: &'static str,
    /// Number of passes beyond the limit.
    beyond: usize,
}

impl Track {
    /// Creates a probe whose `chunk` does at most 100 us of work and returns the value in the heading's unit;
    /// each pass lasts `pass_time`.
    pub(crate) fn new(
        heading: Heading,
        agreement: Agreement,
        pass_time: Duration,
        chunk: impl FnMut() -> f64 + 'static,
    ) -> Track {
        Track {
            heading,
            agreement,
            cpu_of: CpuOf::Thread,
            pass_time,
            chunk: Box::new(chunk),
            passes: Vec::new(),
            inverted: false,
            limit: None,
            core: None,
            shared: false,
        }
    }

    /// Also counts cycles for each chunk, whose values must be ns of the core's own work.
    pub(crate) fn in_cycles(mut self) -> Track {
        self.beside_chunks().report_cycles();
        self
    }

    /// Counts only chunks that had the core to themselves: its other hardware thread was idle.
    pub(crate) fn alone_on_core(mut self) -> Track {
        self.beside_chunks().mind_sharing();
        self
    }

    fn beside_chunks(&mut self) -> &mut Core {
        self.core.get_or_insert_with(Core::new)
    }

    /// Ignores passes whose estimate is above `value`: they measure something else, described by `meaning`.
    pub(crate) fn below(mut self, value: f64, meaning: &'static str) -> Track {
        self.limit = Some(Limit {
            value,
            meaning,
            beyond: 0,
        });
        self
    }

    /// Marks the measured resource as shared with everything else on the machine.
    pub(crate) fn shared(mut self) -> Track {
        self.shared = true;
        self
    }

    /// Returns whether the measured resource is shared.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// Selects the CPU time that is compared with the wall time.
    pub(crate) fn gated_by(mut self, cpu_of: CpuOf) -> Track {
        self.cpu_of = cpu_of;
        self
    }

    /// Makes chunks return the inverse of the heading's unit: the shortest time is the highest rate.
    pub(crate) fn inverted(mut self) -> Track {
        self.inverted = true;
        self
    }

    fn pass(&mut self) {
        let mut samples = match &mut self.core {
            None => sample(self.cpu_of, self.pass_time, &mut self.chunk),
            Some(core) => {
                let mut chunk = || core.around(&mut self.chunk);
                let (chunks, mut samples) = sample_of(self.cpu_of, self.pass_time, &mut chunk);
                let (values, beside) = chunks.into_iter().unzip();
                samples.values = values;
                core.keep(beside);
                samples
            }
        };
        if let Some(limit) = &mut self.limit
            && samples
                .estimate(self.agreement.estimator)
                .is_some_and(|value| value > limit.value)
        {
            limit.beyond += 1;
            samples.rejected += samples.values.len();
            samples.values.clear();
        }
        self.passes.push(samples);
    }

    /// Returns the passes, reduced to the values that count.
    fn counted(&self) -> Cow<'_, [Samples]> {
        let counted = self
            .core
            .as_ref()
            .and_then(|core| core.counted(&self.passes));
        counted.map_or(Cow::Borrowed(&self.passes), Cow::Owned)
    }

    fn settled(&self) -> bool {
        let estimates: Vec<f64> = self
            .counted()
            .iter()
            .filter_map(|p| p.estimate(self.agreement.estimator))
            .collect();
        agree(&estimates, self.agreement).is_some()
    }

    /// Returns the heading of the figure.
    pub(crate) fn heading(&self) -> Heading {
        self.heading
    }

    /// Makes one pass of the visit with this number.
    pub(crate) fn pass_of_visit(&mut self, visit: usize) {
        self.pass();
        if let Some(pass) = self.passes.last_mut() {
            pass.visit = visit;
        }
    }

    /// Returns whether the visits agree.
    pub(crate) fn settled_over_visits(&self) -> bool {
        agree_over_visits(&self.counted(), self.agreement, self.chunks_are_rates()).is_some()
    }

    /// Returns the combined result of the visits.
    pub(crate) fn over_visits(&self) -> ProbeResult {
        let rate = self.chunks_are_rates();
        self.shown(judge_over_visits(
            self.heading,
            self.agreement,
            &self.counted(),
            rate,
        ))
    }

    /// Returns whether chunks are rates; those of an inverted probe are times.
    fn chunks_are_rates(&self) -> bool {
        self.heading.unit.ends_with("/s") && !self.inverted
    }

    fn finish(self) -> ProbeResult {
        self.shown(judge(self.heading, self.agreement, &self.counted()))
    }

    /// Converts a result to the heading's unit.
    fn shown(&self, mut result: ProbeResult) -> ProbeResult {
        if let Some(limit) = self.limit.as_ref().filter(|limit| limit.beyond > 0)
            && result.verdict != ProbeVerdict::Ok
        {
            let passes = self.passes.len();
            result.note = Some(format!(
                "in {} of {passes} passes, {}",
                limit.beyond, limit.meaning
            ));
        }
        if let Some(core) = &self.core {
            core.annotate(&mut result, &self.passes);
        }
        if self.inverted {
            for field in [
                &mut result.value,
                &mut result.min,
                &mut result.p10,
                &mut result.median,
            ] {
                *field = field.map(|value| 1.0 / value);
            }
        }
        result
    }
}

/// Minimum number of chunks: a pass with fewer continues beyond its time, up to [`LONGEST_NS`].
const ENOUGH: usize = 20;

/// Maximum wall time of a pass that found too few chunks. Under a load of 10 on two CPUs, a thread gets a
/// time slice of 3 ms every 20 ms: passes of 2 ms, and of six times that, found no batch with the CPU.
const LONGEST_NS: u64 = 80_000_000;

/// Runs one pass: chunks for `time`, in batches, keeping those that pass the gate; it takes longer if few of
/// them had the CPU.
pub(crate) fn sample(cpu_of: CpuOf, time: Duration, chunk: &mut dyn FnMut() -> f64) -> Samples {
    let (values, samples) = sample_of(cpu_of, time, chunk);
    Samples { values, ..samples }
}

/// Runs one pass of chunks that return more than a value; the samples' own values stay empty.
fn sample_of<T>(cpu_of: CpuOf, time: Duration, chunk: &mut dyn FnMut() -> T) -> (Vec<T>, Samples) {
    warm_up();
    let mut values = Vec::new();
    let mut samples = Samples::default();
    let (steal, switches) = (cpu_gate::steal_ns(), cpu_gate::involuntary_switches());
    let whole = Stretch::begin(cpu_of);
    let mut batch = Vec::new();
    let end = time.as_nanos() as u64;
    while !deadline::passed() {
        let wall = whole.wall_ns();
        let starved = samples.rejected > 0 && values.len() < ENOUGH;
        let may_go_on = starved && wall < end.max(LONGEST_NS);
        // A pass that was off the CPU for its whole duration has not measured anything yet.
        let did_its_least = values.len() + samples.rejected >= LEAST_CHUNKS;
        if wall >= end && did_its_least && !may_go_on {
            break;
        }
        batch.clear();
        let stretch = Stretch::begin(cpu_of);
        loop {
            batch.push(chunk());
            if stretch.wall_ns() >= BATCH_NS.min(end) {
                break;
            }
        }
        if stretch.passes() {
            values.append(&mut batch);
        } else {
            samples.rejected += batch.len();
        }
    }
    samples.share = whole.share();
    samples.steal_ns = cpu_gate::steal_ns().saturating_sub(steal);
    samples.involuntary_switches = cpu_gate::involuntary_switches().saturating_sub(switches);
    (values, samples)
}

/// Leaves the idle state: the clock of the core ramps up for about 42 us after a sleep.
fn warm_up() {
    let stretch = Stretch::begin(CpuOf::Nobody);
    while stretch.wall_ns() < 300_000 {
        kernels::dependent_adds(40);
    }
}

/// Runs all `tracks` interleaved: two passes each, then more for those whose passes disagree, until all
/// agree, each has had [`MOST_PASSES`], or `cap` is over.
pub(crate) fn interleave(mut tracks: Vec<Track>, cap: Duration) -> Vec<ProbeResult> {
    let clock = Stretch::begin(CpuOf::Nobody);
    for round in 0..MOST_PASSES {
        for track in &mut tracks {
            let in_time = u128::from(clock.wall_ns()) < cap.as_nanos();
            if deadline::passed() || !(round < 2 || (in_time && !track.settled())) {
                continue;
            }
            if round >= 2 {
                // Other programs run in the meantime, which changes the states.
                std::thread::sleep(Duration::from_millis(10));
            }
            track.pass();
        }
    }
    tracks.into_iter().map(Track::finish).collect()
}

/// Runs one track alone.
pub(crate) fn alone(track: Track) -> ProbeResult {
    let cap = track.pass_time * MOST_PASSES as u32;
    let heading = track.heading;
    let mut results = interleave(vec![track], cap);
    results
        .pop()
        .unwrap_or_else(|| heading.no_answer("did not run"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Estimator;

    const HEAD: Heading = Heading {
        id: "x",
        title: "x",
        unit: "ns",
        method: "m",
    };
    const LEAST: Agreement = Agreement {
        estimator: Estimator::Minimum,
        tolerance: 0.03,
    };

    fn ungated(chunk: impl FnMut() -> f64 + 'static) -> Track {
        Track::new(HEAD, LEAST, Duration::from_micros(50), chunk).gated_by(CpuOf::Nobody)
    }

    #[test]
    fn a_steady_chunk_gives_its_value() {
        let result = alone(ungated(|| 3.0));
        assert_eq!(
            (result.verdict, result.value),
            (ProbeVerdict::Ok, Some(3.0))
        );
    }

    #[test]
    fn a_pass_that_was_off_the_cpu_for_its_time_goes_on() {
        // Each chunk takes longer than the whole pass.
        let result = alone(ungated(|| {
            std::thread::sleep(Duration::from_millis(1));
            3.0
        }));
        assert_eq!(
            (result.verdict, result.value),
            (ProbeVerdict::Ok, Some(3.0))
        );
    }

    #[test]
    fn a_chunk_that_never_settles_gives_no_figure() {
        let mut value = 1e9;
        let result = alone(ungated(move || {
            value *= 0.9;
            value
        }));
        assert_eq!(result.value, None);
    }

    #[test]
    fn additions_that_need_each_other_take_a_cycle_each() {
        let mut track = ungated(|| crate::ruler::ns_per_cycle(40)).in_cycles();
        track.agreement.tolerance = 1e3;
        let result = alone(track);
        assert_eq!(result.verdict, ProbeVerdict::Ok);
        // Other programs on this machine lengthen either side.
        let cycles = result.cycles.expect("cycles");
        assert!((0.2..5.0).contains(&cycles), "{cycles}");
        assert_eq!(alone(ungated(|| 3.0)).cycles, None);
    }

    #[test]
    fn passes_of_something_else_do_not_count() {
        let mut track = ungated(|| 3.0).below(50.0, "loads came from memory");
        track.chunk = Box::new(|| 100.0);
        track.pass();
        track.chunk = Box::new(|| 3.0);
        (0..2).for_each(|_| track.pass());
        let result = track.finish();
        assert_eq!(
            (result.value, result.verdict),
            (Some(3.0), ProbeVerdict::Ok)
        );

        let never = alone(ungated(|| 100.0).below(50.0, "loads came from memory"));
        assert_eq!((never.value, never.verdict), (None, ProbeVerdict::NoAnswer));
        let note = never.note.unwrap();
        assert!(note.ends_with("passes, loads came from memory"), "{note}");
    }

    #[test]
    fn tracks_keep_their_order() {
        let results = interleave(
            vec![ungated(|| 1.0), ungated(|| 2.0)],
            Duration::from_millis(5),
        );
        let values: Vec<_> = results.iter().map(|r| r.value).collect();
        assert_eq!(values, [Some(1.0), Some(2.0)]);
    }
}
