//! Requests of a load test that had no good answer.

use crate::collector::{Collector, Measure};

/// Their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Failed(u64);

impl Failed {
    /// Answers with a status.
    pub(crate) fn status(&mut self, status: &str, count: u64) {
        let good = matches!(status.trim().parse(), Ok(200..=399));
        if !good {
            self.no_answer(count);
        }
    }

    /// Requests that ended without one.
    pub(crate) fn no_answer(&mut self, count: u64) {
        self.0 = self.0.saturating_add(count);
    }

    /// A series of their number, where there are any.
    pub(crate) fn write(self, name: &str, out: &mut Collector) {
        self.write_as(Measure::new(name, "failed_responses", ""), out);
    }

    /// The same, of a test that is told from others by more than its name.
    pub(crate) fn write_as(self, measure: Measure, out: &mut Collector) {
        if self.0 > 0 {
            out.value(measure.lower(), Some(self.0 as f64));
        }
    }
}
