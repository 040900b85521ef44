//! A finding while it is put together.

use fathom_model::{CodePlace, Confidence, Evidence, Finding, FindingId, Place};

use crate::analysis::Analysis;
use crate::claim::{Claim, Least, Piece};

/// A finding without its numbers.
pub(crate) struct FindingBuilder {
    finding: Finding,
    /// Its times are a model of an untraced run.
    modelled: bool,
    /// Numbers of calls are a guess.
    guessed: bool,
    pieces: Vec<Piece>,
}

impl FindingBuilder {
    /// `saving_ns`: time of an untraced run that goes to this cause and could be saved.
    pub(crate) fn new(
        id: FindingId,
        analysis: &Analysis<'_>,
        saving_ns: f64,
        statement: String,
    ) -> Self {
        let finding = Finding {
            id,
            statement,
            evidence: Vec::new(),
            share: analysis.of_wall(saving_ns),
            could_win_ns: saving_ns.clamp(0.0, analysis.timed_ns) as u64,
            saving: None,
            could_win_cpu_ns: 0,
            could_win_latency_ns: 0,
            advice: String::new(),
            confidence: Confidence::Certain,
            limit: None,
            place: Place::default(),
            object: None,
            code: CodePlace::default(),
            callers: Vec::new(),
            parts: Vec::new(),
        };
        Self {
            finding,
            modelled: analysis.is_modelled(),
            guessed: analysis.estimates_calls(),
            pieces: Vec::new(),
        }
    }

    /// Its time is that of waits that tracing doesn't make longer.
    pub(crate) fn observed(mut self) -> Self {
        self.modelled = false;
        self
    }

    /// What it takes is CPU time, of whose end only so much wall time would be saved.
    pub(crate) fn of_cpu_time(mut self, wall_ns: f64) -> Self {
        self.finding.could_win_cpu_ns = self.finding.could_win_ns;
        self.finding.could_win_ns = (wall_ns.max(0.0) as u64).min(self.finding.could_win_ns);
        self
    }

    /// What it takes is time by which pieces of the work are late, of whose end the whole would
    /// save only so much wall time.
    pub(crate) fn of_latency(mut self, wall_ns: f64) -> Self {
        self.finding.could_win_latency_ns = self.finding.could_win_ns;
        self.finding.could_win_ns = (wall_ns.max(0.0) as u64).min(self.finding.could_win_ns);
        self
    }

    pub(crate) fn evidence(mut self, name: &str, value: f64, unit: &str) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        self.finding.evidence.push(Evidence { name, value, unit });
        self
    }

    /// A number that not every tier knows.
    pub(crate) fn evidence_if(self, name: &str, number: Option<u64>, unit: &str) -> Self {
        match number {
            Some(number) => self.evidence(name, number as f64, unit),
            None => self,
        }
    }

    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.finding.advice = advice.into();
        self
    }

    /// Of what its time is, as far as that is known.
    pub(crate) fn pieces(mut self, pieces: Vec<Piece>) -> Self {
        self.pieces = pieces;
        self
    }

    pub(crate) fn likely(mut self) -> Self {
        self.finding.confidence = Confidence::Likely;
        self
    }

    pub(crate) fn limit(mut self, limit: Option<String>) -> Self {
        self.finding.limit = limit;
        self
    }

    pub(crate) fn place(mut self, place: Place) -> Self {
        self.finding.place = place;
        self
    }

    pub(crate) fn pid(mut self, pid: Option<u32>) -> Self {
        self.finding.place.pid = pid;
        self
    }

    /// The finding. Where its times are a model, its statement says so.
    pub(crate) fn finish(mut self) -> Claim {
        if self.modelled {
            let statement = self.finding.statement.trim_end_matches('.');
            let what = match self.guessed {
                true => "times, and the number to a factor of 2, modelled",
                false => "modelled",
            };
            self.finding.statement = format!("{statement} ({what} for an untraced run).");
        }
        Claim {
            finding: self.finding,
            pieces: self.pieces,
        }
    }
}

/// Whether so much time is worth reporting.
pub(crate) fn is_significant(analysis: &Analysis<'_>, ns: f64) -> bool {
    Least::OF_WORK.is_reached(analysis, ns)
}

/// Whether so much waiting is.
pub(crate) fn is_significant_wait(analysis: &Analysis<'_>, ns: f64) -> bool {
    Least::OF_WAITING.is_reached(analysis, ns)
}

/// The share of the untraced runs' wall time in per cent.
pub(crate) fn percent(analysis: &Analysis<'_>, ns: f64) -> String {
    let share = 100.0 * analysis.of_wall(ns);
    // On a busy machine small parts of the wall time can be reported too.
    let digits = usize::from(share < 9.95);
    format!("{share:.digits$} %")
}
