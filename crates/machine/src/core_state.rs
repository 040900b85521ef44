//! The state of the core around each chunk: its clock speed, and whether it was shared.

use crate::core_width::CoreWidth;
use crate::result::{ProbeResult, ProbeVerdict};
use crate::ruler::Ruler;
use crate::samples::{Samples, quantile};

/// Minimum fraction of the chunks of a pass that must have had the core to themselves. If fewer had it, they
/// had it only briefly: a system call took 142 ns if a twentieth of the chunks had the core, and 124 if most
/// of them did.
const ALONE_OF_A_PASS: f64 = 0.5;

/// A core that is shared for at least this fraction of the time is reported as the disturbance.
const SHARED_OF_NOTE: f64 = 0.3;

/// Fraction of the chunks, the fastest ones, from which cycles are reported. With a neighbour in the
/// second-level cache, the fastest quarter of the chunks had 16.5 cycles per load and the fastest tenth 16.2,
/// while the fastest twentieth always had 16.0 to 16.05.
const QUICKEST: f64 = 0.05;

/// The state of the core around the chunks of one probe.
#[derive(Debug)]
pub(crate) struct Core {
    ruler: Ruler,
    reports_cycles: bool,
    /// How wide the core was, if that matters.
    width: Option<CoreWidth>,
    /// The states of the core for each pass, in the order of the pass's values.
    passes: Vec<Vec<Beside>>,
}

/// The state of the core around one chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside {
    /// The measured value of the chunk.
    value: f64,
    /// The value in cycles of the clock at that time.
    cycles: f64,
    /// The longer of the samples before and after the chunk; 0 if none were taken.
    sample: f64,
}

impl Core {
    /// Creates a core that knows the clock, doesn't report cycles, and ignores sharing.
    pub(crate) fn new() -> Core {
        Core {
            ruler: Ruler::new(),
            reports_cycles: false,
            width: None,
            passes: Vec::new(),
        }
    }

    /// Also reports the figure in cycles.
    pub(crate) fn report_cycles(&mut self) {
        self.reports_cycles = true;
    }

    /// Counts only chunks that had the core to themselves.
    pub(crate) fn mind_sharing(&mut self) {
        self.width = Some(CoreWidth::default());
    }

    /// Measures a chunk and the state of the core around it.
    pub(crate) fn around(&mut self, chunk: &mut dyn FnMut() -> f64) -> (f64, Beside) {
        let ghz = self.ruler.ghz();
        let mut sample = || self.width.as_mut().map_or(0.0, |width| width.sample(ghz));
        let before = sample();
        let value = chunk();
        let after = sample();
        let beside = Beside {
            value,
            cycles: value * ghz,
            sample: before.max(after),
        };
        (value, beside)
    }

    /// Stores the state around the chunks of another pass.
    pub(crate) fn keep(&mut self, pass: Vec<Beside>) {
        self.passes.push(pass);
    }

    /// Returns the values of `passes` that count, for the stored passes; `None` if all of them do.
    pub(crate) fn counted(&self, passes: &[Samples]) -> Option<Vec<Samples>> {
        let limit = self.width.as_ref()?.limit();
        let passes = passes.iter().zip(&self.passes);
        let counted = passes.map(|(pass, beside)| {
            let alone = pass.values.iter().zip(beside);
            let alone = alone.filter(|(_, beside)| beside.sample <= limit);
            let mut values: Vec<f64> = alone.map(|(value, _)| *value).collect();
            if (values.len() as f64) < ALONE_OF_A_PASS * beside.len() as f64 {
                values.clear();
            }
            Samples {
                rejected: pass.rejected + pass.values.len() - values.len(),
                values,
                ..pass.clone()
            }
        });
        Some(counted.collect())
    }

    /// Adds the cycles to a figure. If the figure is missing, adds that the core was shared, with the values
    /// measured in `passes`.
    pub(crate) fn annotate(&self, result: &mut ProbeResult, passes: &[Samples]) {
        if result.verdict == ProbeVerdict::Ok {
            result.cycles = self.reports_cycles.then(|| self.cycles()).flatten();
            return;
        }
        let shared = self.width.as_ref().map_or(0.0, CoreWidth::shared);
        if shared >= SHARED_OF_NOTE {
            let values = passes.iter().flat_map(|pass| pass.values.iter().copied());
            let values: Vec<f64> = values.collect();
            result.verdict = ProbeVerdict::Disturbed;
            (result.min, result.median) = (quantile(&values, 0.0), quantile(&values, 0.5));
            result.note = Some(format!(
                "the core's other hardware thread was busy with other work {:.0} % of the time",
                shared * 100.0
            ));
        }
    }

    /// Returns the median of the fastest chunks: any disturbance adds time, and a clock change within a chunk
    /// is equally likely in either direction.
    fn cycles(&self) -> Option<f64> {
        let limit = self.width.as_ref().map_or(f64::INFINITY, CoreWidth::limit);
        let all = self.passes.iter().flatten();
        let mut alone: Vec<&Beside> = all.filter(|beside| beside.sample <= limit).collect();
        alone.sort_by(|a, b| a.value.total_cmp(&b.value));
        alone.truncate((alone.len() as f64 * QUICKEST).ceil() as usize);
        let cycles: Vec<f64> = alone.iter().map(|beside| beside.cycles).collect();
        quantile(&cycles, 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::test_result;

    fn beside(samples: &[f64]) -> Vec<Beside> {
        let one = |sample: &f64| Beside {
            value: 100.0,
            cycles: 400.0,
            sample: *sample,
        };
        samples.iter().map(one).collect()
    }

    /// Returns a core that was sampled often and found unshared at 0.22 cycles per addition.
    fn minding(passes: &[&[f64]]) -> Core {
        Core {
            width: Some(CoreWidth::of(&[0.22; 500])),
            passes: passes.iter().map(|samples| beside(samples)).collect(),
            ..Core::new()
        }
    }

    fn pass(values: &[f64]) -> Samples {
        Samples {
            values: values.to_vec(),
            ..Samples::default()
        }
    }

    #[test]
    fn only_chunks_alone_on_the_core_count() {
        let core = minding(&[&[0.22, 0.28, 0.221], &[0.22, 0.28, 0.27]]);
        let counted = core.counted(&[pass(&[1.0, 2.0, 3.0]), pass(&[4.0, 5.0, 6.0])]);
        let counted = counted.expect("sharing matters");
        assert_eq!(counted[0].values, [1.0, 3.0]);
        assert_eq!(counted[0].rejected, 1);
        assert!(counted[1].values.is_empty(), "a third of a pass is luck");
        assert_eq!(Core::new().counted(&[pass(&[1.0])]), None);
    }

    #[test]
    fn cycles_are_told_where_they_are_asked_for() {
        let mut core = minding(&[&[0.22]]);
        let mut result = test_result("x", Some(1.0));
        core.annotate(&mut result, &[]);
        assert_eq!(result.cycles, None);
        core.report_cycles();
        core.annotate(&mut result, &[]);
        assert_eq!(result.cycles, Some(400.0));
    }

    #[test]
    fn cycles_are_those_of_the_quickest_chunks() {
        let mut core = Core::new();
        core.report_cycles();
        let slow = |n: usize| Beside {
            value: 110.0 + n as f64,
            cycles: 330.0 + n as f64,
            sample: 0.0,
        };
        let mut pass: Vec<Beside> = (0..57).map(slow).collect();
        // One of the fastest chunks has fewer cycles than it took, because the clock sped up within it.
        pass.extend([280.0, 300.0, 301.0].map(|cycles| Beside {
            value: 100.0,
            cycles,
            sample: 0.0,
        }));
        core.keep(pass);
        let mut result = test_result("x", Some(100.0));
        core.annotate(&mut result, &[]);
        assert_eq!(result.cycles, Some(300.0));
    }

    #[test]
    fn a_missing_figure_says_that_the_core_was_shared() {
        let core = Core {
            width: Some(CoreWidth::of(&[[0.22; 64], [0.3; 64]].concat())),
            ..Core::new()
        };
        let mut missing = test_result("x", None);
        core.annotate(&mut missing, &[pass(&[150.0, 160.0, 170.0])]);
        assert_eq!(missing.verdict, ProbeVerdict::Disturbed);
        assert_eq!((missing.min, missing.median), (Some(150.0), Some(160.0)));
        assert!(
            missing
                .note
                .unwrap()
                .ends_with("busy with other work 50 % of the time")
        );
    }
}
