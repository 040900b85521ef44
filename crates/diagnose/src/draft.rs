//! A finding while it is put together.

use fathom_model::{Confidence, Evidence, Finding, Place};

use crate::thresholds as t;
use crate::view::View;

/// A finding without its numbers.
pub(crate) struct Draft {
    finding: Finding,
    /// Its times are a model of an untraced run.
    modelled: bool,
    /// Numbers of calls are a guess.
    guessed: bool,
}

impl Draft {
    /// `win_ns`: time of an untraced run that goes to this cause and could be won.
    pub(crate) fn new(id: &str, view: &View<'_>, win_ns: f64, statement: String) -> Self {
        let finding = Finding {
            id: id.to_owned(),
            statement,
            evidence: Vec::new(),
            share: view.of_wall(win_ns),
            could_win_ns: win_ns.clamp(0.0, view.timed_ns) as u64,
            could_win_cpu_ns: 0,
            could_win_latency_ns: 0,
            advice: String::new(),
            confidence: Confidence::Certain,
            limit: None,
            place: Place::default(),
        };
        Self {
            finding,
            modelled: view.is_modelled(),
            guessed: view.guesses_calls(),
        }
    }

    /// Its time is that of waits that tracing doesn't make longer.
    pub(crate) fn seen(mut self) -> Self {
        self.modelled = false;
        self
    }

    /// What it takes is CPU time, of whose end only so much wall time would be won.
    pub(crate) fn of_cpu_time(mut self, wall_ns: f64) -> Self {
        self.finding.could_win_cpu_ns = self.finding.could_win_ns;
        self.finding.could_win_ns = (wall_ns.max(0.0) as u64).min(self.finding.could_win_ns);
        self
    }

    /// What it takes is time by which pieces of the work are late, of whose end the whole would win only so
    /// much wall time.
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
    pub(crate) fn finish(mut self) -> Finding {
        if self.modelled {
            let statement = self.finding.statement.trim_end_matches('.');
            let what = match self.guessed {
                true => "number and times modelled",
                false => "modelled",
            };
            self.finding.statement = format!("{statement} ({what} for an untraced run).");
        }
        self.finding
    }
}

/// Whether so much time is worth telling.
pub(crate) fn matters(view: &View<'_>, ns: f64) -> bool {
    ns >= t::LEAST_WIN_NS && view.share(ns) >= t::LEAST_SHARE
}

/// Whether so much waiting is.
pub(crate) fn wait_matters(view: &View<'_>, ns: f64) -> bool {
    ns >= t::LEAST_WIN_NS
        && view.share(ns) >= t::LEAST_WAIT_SHARE
        && view.of_wall(ns) >= t::LEAST_WAIT_OF_WALL
}

/// A time in words, three digits.
pub(crate) fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 1e9 => (ns / 1e9, "s"),
        ns if ns >= 1e6 => (ns / 1e6, "ms"),
        ns if ns >= 1e3 => (ns / 1e3, "µs"),
        _ => (ns, "ns"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// A number of bytes in words, in the units of the tables.
pub(crate) fn bytes(number: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (number.max(1.0).log2() / 10.0).floor() as usize;
    let power = power.min(units.len() - 1);
    let digits = usize::from(power > 0);
    format!(
        "{:.digits$} {}",
        number / 1024f64.powi(power as i32),
        units[power]
    )
}

/// A count with its thousands apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The share of the untraced runs' wall time in per cent.
pub(crate) fn percent(view: &View<'_>, ns: f64) -> String {
    let share = 100.0 * view.of_wall(ns);
    // On a busy machine small parts of the wall time can be told too.
    let digits = usize::from(share < 9.95);
    format!("{share:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(time(1_234_567.0), "1.23 ms");
        assert_eq!(time(830.0), "830 ns");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(999), "999");
    }
}
