//! Counts requests of a load test that got no good answer.

use crate::collector::{Collector, Measure};

/// The number of such requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Failed(u64);

impl Failed {
    /// Counts answers with this status.
    pub(crate) fn status(&mut self, status: &str, count: u64) {
        let good = matches!(status.trim().parse(), Ok(200..=399));
        if !good {
            self.no_answer(count);
        }
    }

    /// Counts requests without an answer.
    pub(crate) fn no_answer(&mut self, count: u64) {
        self.0 = self.0.saturating_add(count);
    }

    /// Writes the number of such requests as a series, unless it is zero.
    pub(crate) fn write(self, name: &str, out: &mut Collector) {
        self.write_as(Measure::new(name, "failed_responses", ""), out);
    }

    /// Like [`Self::write`], for a test that is identified by more than its name.
    pub(crate) fn write_as(self, measure: Measure, out: &mut Collector) {
        if self.0 > 0 {
            out.value(measure.lower(), Some(self.0 as f64));
        }
    }
}
