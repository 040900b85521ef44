//! What a mechanism claims: a finding, and the pieces of the account that would disappear with its cause.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};

use fathom_model::{
    CodePlace, Confidence, Evidence, Finding, FindingId, Place, TimeCategory,
    without_type_arguments,
};
use fathom_trace::{Cause, OffCpuRow, SyscallRow};

use crate::analysis::Analysis;
use crate::numbers::{Number, time};
use crate::thresholds as t;

/// The time spent waiting for a CPU after a wait is mentioned if it is at least this fraction of the wait.
const DELAYS_WORTH_A_WORD: f64 = 0.05;

/// A row of the trace, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    Call(usize),
    Wait(usize),
}

/// A piece of the account.
#[derive(Debug, Clone)]
pub(crate) enum Atoms {
    /// Calls or waits, with the claimed part of each, 0 to 1.
    Rows { rows: Vec<Row>, part: f64 },
    /// Time of this category, from any row.
    Of(TimeCategory),
}

/// A piece of the account, and the time that would be saved from it.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub of: Atoms,
    pub ns: f64,
}

impl Piece {
    /// Returns the indexes of the rows of its calls.
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

    /// Selects this much time of a category.
    pub(crate) fn of(spent: TimeCategory, ns: f64) -> Self {
        let of = Atoms::Of(spent);
        Self { of, ns }
    }

    /// Selects this much time of these rows.
    pub(crate) fn of_rows(rows: impl Iterator<Item = Row>, ns: f64) -> Self {
        let (rows, part) = (rows.collect(), 1.0);
        let of = Atoms::Rows { rows, part };
        Self { of, ns }
    }

    /// Selects the cost of the matching calls.
    pub(crate) fn of_calls(analysis: &Analysis<'_>, fits: impl Fn(&SyscallRow) -> bool) -> Self {
        let rows = analysis.trace.syscalls.iter().enumerate();
        let rows = rows.filter(|(_, row)| fits(row));
        let ns = rows.clone().map(|(_, row)| analysis.cost_ns(row)).sum();
        Self::of_rows(rows.map(|(at, _)| Row::Call(at)), ns)
    }

    /// Selects the waits for a CPU that follow the matching waits: they have the same cause.
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
        let ns: f64 = delays
            .clone()
            .map(|(at, _)| analysis.wait_of_row(at).1)
            .sum();
        Self::of_rows(delays.map(|(at, _)| Row::Wait(at)), ns)
    }

    /// Selects this part of the matching waits, by their categories.
    pub(crate) fn of_waits(
        analysis: &Analysis<'_>,
        ns: f64,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        let rows = analysis.trace.off_cpu.iter().enumerate();
        let rows = rows.filter(|(at, row)| fits(row, analysis.wait_of_row(*at).0));
        Self::of_rows(rows.map(|(at, _)| Row::Wait(at)), ns)
    }
}

/// A claim: a finding, before it is known how much of its time is not held by other findings.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub finding: Finding,
    /// The known locations of its time. If they don't cover the saving, the rest is taken from the categories
    /// declared for the finding.
    pub pieces: Vec<Piece>,
    /// The time, in ns, that decides whether the finding is reported: all of its time, or the measured part.
    pub weight_ns: f64,
    /// The reporting threshold, if a variant requires more than the finding declares.
    pub least: Option<Least>,
    /// The part of the saving that wasn't observed to belong to the cause, in ns. Possibly none of it is
    /// saved.
    pub guessed_ns: f64,
    /// The part of the claim that is a model of an untraced run.
    modelled: Option<&'static str>,
}

impl Claim {
    /// Creates a claim. `saving_ns` is the time of an untraced run that is due to this cause and could be
    /// saved.
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
                    true => {
                        "times modelled, and the number of calls estimated to within a factor of 2,"
                    }
                    false => "modelled",
                }),
        }
    }

    /// Sets the time that decides whether the claim is reported.
    pub(crate) fn weighing(mut self, ns: f64) -> Self {
        self.weight_ns = ns;
        self
    }

    /// Sets the part of the saving that is a guess.
    pub(crate) fn guessing(mut self, ns: f64) -> Self {
        self.guessed_ns = ns;
        self
    }

    /// Sets the reporting threshold.
    pub(crate) fn least(mut self, least: Least) -> Self {
        self.least = Some(least);
        self
    }

    /// Marks the claim's time as waits that aren't lengthened by tracing.
    pub(crate) fn observed(mut self) -> Self {
        self.modelled = None;
        self
    }

    /// Marks the saving as CPU time, whose removal would save at most `wall_ns` of wall time.
    pub(crate) fn of_cpu_time(mut self, wall_ns: f64) -> Self {
        self.finding.could_win_cpu_ns = self.finding.could_win_ns;
        self.finding.could_win_ns = (wall_ns.max(0.0) as u64).min(self.finding.could_win_ns);
        self
    }

    /// Marks the saving as latency of parts of the work, whose removal would save at most `wall_ns` of wall
    /// time in total.
    pub(crate) fn of_latency(mut self, wall_ns: f64) -> Self {
        self.finding.could_win_latency_ns = self.finding.could_win_ns;
        self.finding.could_win_ns = (wall_ns.max(0.0) as u64).min(self.finding.could_win_ns);
        self
    }

    pub(crate) fn evidence(mut self, name: &str, value: impl Number, unit: &str) -> Self {
        let (name, value, unit) = (name.to_owned(), value.number(), unit.to_owned());
        self.finding.evidence.push(Evidence { name, value, unit });
        self
    }

    /// Adds a number to the evidence, if the tier knows it.
    pub(crate) fn evidence_if(self, name: &str, number: Option<u64>, unit: &str) -> Self {
        match number {
            Some(number) => self.evidence(name, number, unit),
            None => self,
        }
    }

    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.finding.advice = advice.into();
        self
    }

    /// Claims the matching waits, and the waits for a CPU that follow them. The latter have the same cause,
    /// but don't decide whether the claim is reported.
    pub(crate) fn of_waits(
        mut self,
        analysis: &Analysis<'_>,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        let waits = Piece::of_waits(analysis, self.weight_ns, &fits);
        let delays = Piece::of_delays_after(analysis, &fits);
        if delays.ns >= DELAYS_WORTH_A_WORD * self.weight_ns && delays.ns > 0.0 {
            let words = format!(
                "After these waits, it waited another {} for a CPU.",
                time(delays.ns)
            );
            self = self.with(&words);
        }
        self.beside(analysis, delays.ns).pieces(vec![waits, delays])
    }

    /// Claims the matching waits without those for a CPU that follow them.
    pub(crate) fn in_waits(
        self,
        analysis: &Analysis<'_>,
        ns: f64,
        fits: impl Fn(&OffCpuRow, TimeCategory) -> bool,
    ) -> Self {
        self.pieces(vec![Piece::of_waits(analysis, ns, fits)])
    }

    /// Adds time that has the same cause, but that isn't part of what the claim is about.
    pub(crate) fn beside(mut self, analysis: &Analysis<'_>, ns: f64) -> Self {
        let all = self.finding.could_win_ns + ns as u64;
        self.finding.could_win_ns = all.min(analysis.timed_ns as u64);
        self
    }

    /// Sets the known locations of the claim's time.
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

    /// Adds the minimum cost of `what` on this machine, if it was measured.
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

    /// Sets the descriptor and its path.
    pub(crate) fn on(
        mut self,
        fd: impl Into<Option<i32>>,
        path: impl Into<Option<String>>,
    ) -> Self {
        let place = &mut self.finding.place;
        (place.fd, place.path) = (fd.into(), path.into());
        self
    }

    /// Appends a sentence.
    pub(crate) fn with(mut self, sentence: &str) -> Self {
        self.finding.statement += " ";
        self.finding.statement += sentence;
        self
    }

    /// Says where the lock that the claim is about is taken, if that is known.
    pub(crate) fn with_lock_of(mut self, place: Option<CodePlace>) -> Self {
        let Some(place) = place else {
            return self;
        };
        let function = place.function.as_deref().map(without_type_arguments);
        self.finding.code = place;
        self.with_if(function.map(|function| format!("The lock is taken in `{function}`.")))
    }

    /// Appends a sentence, if there is one.
    pub(crate) fn with_if(self, sentence: Option<String>) -> Self {
        match sentence {
            Some(sentence) => self.with(&sentence),
            None => self,
        }
    }

    /// Returns the finding. If its times are modelled, the statement says so.
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

/// The threshold from which a finding is worth reporting. A variant of a finding may require more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Least {
    pub ns: f64,
    /// A share of the wall time that remains after excluding the time in which other programs had the CPU.
    pub share: f64,
    /// A share of the whole wall time.
    pub of_wall: f64,
}

impl Least {
    /// No threshold.
    pub(crate) const NONE: Least = Least {
        ns: 0.0,
        share: 0.0,
        of_wall: 0.0,
    };
    /// The threshold for work of the program itself.
    pub(crate) const OF_WORK: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_SHARE,
        of_wall: 0.0,
    };
    /// The threshold for waiting, which is normal in a pipeline.
    pub(crate) const OF_WAITING: Least = Least {
        ns: t::LEAST_SAVING_NS,
        share: t::LEAST_WAIT_SHARE,
        of_wall: t::LEAST_WAIT_OF_WALL,
    };

    /// The same shares, from this time.
    pub(crate) const fn with_ns(self, ns: f64) -> Least {
        Least { ns, ..self }
    }

    /// The threshold for something that well-behaved programs also do for up to this share of their time.
    pub(crate) const fn share(share: f64) -> Least {
        Least {
            share,
            ..Least::OF_WORK
        }
    }

    /// Reports whether the threshold is reached relative to the time that remains after `gone_ns` is known to
    /// disappear. The smallest reportable share of the whole still applies.
    pub(crate) fn is_reached_in_rest(self, analysis: &Analysis<'_>, ns: f64, gone_ns: f64) -> bool {
        let rest = (1.0 - analysis.share(gone_ns)).max(f64::MIN_POSITIVE);
        let least = Self {
            share: (self.share * rest).max(self.share.min(t::LEAST_SHARE)),
            ..self
        };
        least.is_reached(analysis, ns)
    }

    /// Reports whether this much time is worth reporting.
    pub(crate) fn is_reached(self, analysis: &Analysis<'_>, ns: f64) -> bool {
        ns >= self.ns && analysis.share(ns) >= self.share && analysis.of_wall(ns) >= self.of_wall
    }
}
