//! What a mechanism asks for: a finding, and which pieces of the account would go with its cause.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};

use fathom_model::{CodePlace, Confidence, Evidence, Finding, FindingId, Place, TimeCategory};
use fathom_trace::{Cause, OffCpuRow, SyscallRow};

use crate::analysis::Analysis;
use crate::numbers::time;
use crate::thresholds as t;

/// Part of a wait from which on it is said how long a CPU was waited for after it.
const DELAYS_WORTH_A_WORD: f64 = 0.05;

/// A row of the trace, by its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    Call(usize),
    Wait(usize),
}

/// A piece of the account.
#[derive(Debug, Clone)]
pub(crate) enum Atoms {
    /// Calls or waits, with the part of each that is meant, 0 to 1.
    Rows { rows: Vec<Row>, part: f64 },
    /// Any time of this category.
    Of(TimeCategory),
}

/// Time that would go of a piece.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub of: Atoms,
    pub ns: f64,
}

impl Piece {
    /// The rows of calls that it is of.
    pub(crate) fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = match &self.of {
            Atoms::Rows { rows, .. } => rows.as_slice(),
            Atoms::Of(_) => &[],
        };
        rows.iter().filter_map(|row| match row {
            Row::Call(row) => Some(*row),
            Row::Wait(_) => None,
        })
    }

    /// What calls that fit cost.
    pub(crate) fn of_calls(analysis: &Analysis<'_>, fits: impl Fn(&SyscallRow) -> bool) -> Self {
        let rows = analysis.trace.syscalls.iter().enumerate();
        let rows = rows.filter(|(_, row)| fits(row));
        let (rows, costs): (Vec<Row>, Vec<f64>) = rows
            .map(|(at, row)| (Row::Call(at), analysis.cost_ns(row)))
            .unzip();
        Self {
            of: Atoms::Rows { rows, part: 1.0 },
            ns: costs.iter().sum(),
        }
    }

    /// What was waited for a CPU when waits that fit were over: it goes with them.
    pub(crate) fn of_delays_after(
        analysis: &Analysis<'_>,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        let rows = &analysis.trace.off_cpu;
        let of = |row: &OffCpuRow| (row.tid, row.call.clone(), row.fd);
        let waits = rows.iter().enumerate();
        let waits = waits.filter(|(at, row)| fits(row, analysis.wait_of_row(*at).0));
        let waits: HashSet<_> = waits.map(|(_, row)| of(row)).collect();
        let delays = rows.iter().enumerate();
        let delays =
            delays.filter(|(_, row)| row.cause == Cause::Ready && waits.contains(&of(row)));
        let (rows, ns): (Vec<Row>, Vec<f64>) = delays
            .map(|(at, _)| (Row::Wait(at), analysis.wait_of_row(at).1))
            .unzip();
        Self {
            of: Atoms::Rows { rows, part: 1.0 },
            ns: ns.iter().sum(),
        }
    }

    /// So much of the waits that fit, with what each counts as.
    pub(crate) fn of_waits(
        analysis: &Analysis<'_>,
        ns: f64,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        let rows = analysis.trace.off_cpu.iter().enumerate();
        let rows = rows.filter(|(at, row)| fits(row, analysis.wait_of_row(*at).0));
        let rows = rows.map(|(at, _)| Row::Wait(at)).collect();
        let of = Atoms::Rows { rows, part: 1.0 };
        Self { of, ns }
    }
}

/// A finding before it is known how much of what it asks for nobody else holds.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub finding: Finding,
    /// What is known of where its time is. What is missing to its saving is asked of the parts that
    /// are declared for it.
    pub pieces: Vec<Piece>,
    /// What decides whether it is reported, ns: all of it, or the part that was measured.
    pub weight_ns: f64,
    /// From where on it is, where a variant asks for more than is declared of the finding.
    pub least: Option<Least>,
    /// Of its saving: what nobody saw to go with the cause, ns. Perhaps nothing of that is saved.
    pub guessed_ns: f64,
    /// What of it is a model of an untraced run.
    modelled: Option<&'static str>,
}

impl Claim {
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
            proof: None,
        };
        Self {
            finding,
            pieces: Vec::new(),
            weight_ns: saving_ns,
            least: None,
            guessed_ns: 0.0,
            modelled: analysis
                .is_modelled()
                .then(|| match analysis.estimates_calls() {
                    true => "times, and the number to a factor of 2, modelled",
                    false => "modelled",
                }),
        }
    }

    /// What of it decides whether it is reported.
    pub(crate) fn weighing(mut self, ns: f64) -> Self {
        self.weight_ns = ns;
        self
    }

    /// What of its saving is a guess.
    pub(crate) fn guessing(mut self, ns: f64) -> Self {
        self.guessed_ns = ns;
        self
    }

    /// From where on it is reported.
    pub(crate) fn least(mut self, least: Least) -> Self {
        self.least = Some(least);
        self
    }

    /// Its time is that of waits that tracing doesn't make longer.
    pub(crate) fn observed(mut self) -> Self {
        self.modelled = None;
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

    /// Waits, and what was waited for a CPU when they were over, which goes with them and doesn't decide whether
    /// they are reported.
    pub(crate) fn of_waits(
        mut self,
        analysis: &Analysis<'_>,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        let waits = Piece::of_waits(analysis, self.weight_ns, &fits);
        let delays = Piece::of_delays_after(analysis, &fits);
        if delays.ns >= DELAYS_WORTH_A_WORD * self.weight_ns && delays.ns > 0.0 {
            let words = format!(
                "When these waits were over, {} more passed until it had a CPU.",
                time(delays.ns)
            );
            self = self.with(&words);
        }
        self.beside(analysis, delays.ns).pieces(vec![waits, delays])
    }

    /// With so much that goes with its cause, and is no part of what it is about.
    pub(crate) fn beside(mut self, analysis: &Analysis<'_>, ns: f64) -> Self {
        let all = self.finding.could_win_ns + ns as u64;
        self.finding.could_win_ns = all.min(analysis.timed_ns as u64);
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

    /// It is held against what this takes at least, where that was measured.
    pub(crate) fn takes_here(self, what: &str, seconds: Option<f64>) -> Self {
        self.limit(seconds.map(|s| format!("{what} takes {} here", time(s * 1e9))))
    }

    pub(crate) fn pid(mut self, pid: impl Into<Option<u32>>) -> Self {
        self.finding.place.pid = pid.into();
        self
    }

    pub(crate) fn tid(mut self, tid: u32) -> Self {
        self.finding.place.tid = Some(tid);
        self
    }

    /// The descriptor, and what it is of.
    pub(crate) fn on(
        mut self,
        fd: impl Into<Option<i32>>,
        path: impl Into<Option<String>>,
    ) -> Self {
        let place = &mut self.finding.place;
        (place.fd, place.path) = (fd.into(), path.into());
        self
    }

    /// With a sentence more.
    pub(crate) fn with(mut self, sentence: &str) -> Self {
        self.finding.statement += " ";
        self.finding.statement += sentence;
        self
    }

    /// With one more, where that is known.
    pub(crate) fn with_if(self, sentence: Option<String>) -> Self {
        match sentence {
            Some(sentence) => self.with(&sentence),
            None => self,
        }
    }

    /// The finding. Where its times are a model, its statement says so.
    pub(crate) fn finish(mut self) -> Finding {
        if let Some(what) = self.modelled {
            let statement = self.finding.statement.trim_end_matches('.');
            self.finding.statement = format!("{statement} ({what} for an untraced run).");
        }
        self.finding
    }
}

impl Deref for Claim {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        &self.finding
    }
}

impl DerefMut for Claim {
    fn deref_mut(&mut self) -> &mut Finding {
        &mut self.finding
    }
}

/// From where on it is worth reporting. A variant of a finding may ask for more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Least {
    pub ns: f64,
    /// Of the wall time without what other programs had the CPU for.
    pub share: f64,
    /// Of all the wall time.
    pub of_wall: f64,
}

impl Least {
    /// However little it is.
    pub(crate) const NONE: Least = Least {
        ns: 0.0,
        share: 0.0,
        of_wall: 0.0,
    };
    /// What the program does itself.
    pub(crate) const OF_WORK: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_SHARE,
        of_wall: 0.0,
    };
    /// Waiting, which is a part of life in a pipeline.
    pub(crate) const OF_WAITING: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_WAIT_SHARE,
        of_wall: t::LEAST_WAIT_OF_WALL,
    };

    /// Of something that sound programs do too, for up to this part of their time.
    pub(crate) const fn share(share: f64) -> Least {
        Least {
            share,
            ..Least::OF_WORK
        }
    }

    /// The same where something else is known to go: of what is left. What little is noticed of the whole
    /// isn't reported then either.
    pub(crate) fn is_reached_in_rest(self, analysis: &Analysis<'_>, ns: f64, gone_ns: f64) -> bool {
        let rest = (1.0 - analysis.share(gone_ns)).max(f64::MIN_POSITIVE);
        let least = Self {
            share: (self.share * rest).max(self.share.min(t::LEAST_SHARE)),
            ..self
        };
        least.is_reached(analysis, ns)
    }

    /// Whether so much time is worth reporting.
    pub(crate) fn is_reached(self, analysis: &Analysis<'_>, ns: f64) -> bool {
        ns >= self.ns && analysis.share(ns) >= self.share && analysis.of_wall(ns) >= self.of_wall
    }
}
