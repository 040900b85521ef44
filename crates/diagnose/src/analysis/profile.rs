//! Attributes own code on the critical path to functions.

use fathom_model::{CodePlace, TimeCategory};
use fathom_trace::{Activity, FunctionRow, StackRow};

use super::Analysis;
use crate::grouping::most;
use crate::runtimes::{Use, is_start};
use crate::thread_times::ThreadTimes;
use crate::thresholds as t;

impl Analysis<'_> {
    /// Returns how much of the own code on the critical path was in matching functions, scaled to an untraced
    /// run; 0 if there are no samples, or too few.
    pub(crate) fn in_functions(&self, fits: impl Fn(&FunctionRow) -> bool) -> f64 {
        let Some(profile) = &self.trace.profile else {
            return 0.0;
        };
        let (mut all, mut fitting, mut of_fitting) = (0.0, 0.0, 0);
        for row in &profile.functions {
            let samples = row.samples as f64 * self.weight(row.tid);
            all += samples;
            if fits(row) {
                fitting += samples;
                of_fitting += row.samples;
            }
        }
        match of_fitting >= t::LEAST_SAMPLES_OF_NAMED && all > 0.0 {
            true => self.spent_ns(TimeCategory::UserCode) * fitting / all,
            false => 0.0,
        }
    }

    /// Returns, for each frame of the trace's stacks, whether its function has this purpose.
    pub(crate) fn frames_for(&self, purpose: Use) -> Vec<bool> {
        let frames = self.trace.stacks.iter().flat_map(|it| &it.tree.frames);
        frames.map(|frame| purpose.is_of_frame(frame)).collect()
    }

    /// Returns the place of a frame of the trace's stacks.
    pub(crate) fn place_of_frame(&self, number: u32) -> Option<CodePlace> {
        let frames = &self.trace.stacks.as_ref()?.tree.frames;
        let frame = frames.get(number as usize)?;
        Some(CodePlace {
            function: frame.function.clone(),
            source_file: frame.source_file.clone(),
            line: frame.line.filter(|line| *line > 0),
            source_text: None,
            binary: (!frame.binary.is_empty()).then(|| frame.binary.clone()),
            offset: frame.offset,
            after: frame.after.clone(),
            symbols_in: None,
        })
    }

    /// Returns the place in the program's own code that is nearest to a row of the trace's stacks.
    pub(crate) fn own_place(&self, row: usize) -> Option<CodePlace> {
        self.place_of_frame(self.routes().own_caller(row)?)
    }

    /// Returns how long samples found a thread in its own code in the traced run; `None` without samples.
    pub(crate) fn in_own_code_ns(&self, tid: u32) -> Option<f64> {
        let profile = self.trace.profile.as_ref()?;
        let own = profile.functions.iter().filter(|row| row.tid == tid);
        let samples: u64 = own.map(|row| row.samples).sum();
        Some((samples * profile.period_ns) as f64)
    }

    /// Returns how long a thread was, in the traced run, in code that is only reached while another thread
    /// holds a lock; 0 if there are no samples, or too few.
    pub(crate) fn spun_ns(&self, times: &ThreadTimes) -> f64 {
        let Some(profile) = &self.trace.profile else {
            return 0.0;
        };
        let own = profile.functions.iter().filter(|row| row.tid == times.tid);
        let (all, spun) = own.fold((0, 0), |(all, spun), row| {
            let spins = Use::Contended.is_of(row);
            (
                all + row.samples,
                spun + if spins { row.samples } else { 0 },
            )
        });
        match all >= t::LEAST_SAMPLES {
            true => times.sums.get(TimeCategory::UserCode) * spun as f64 / all as f64,
            false => 0.0,
        }
    }

    /// Returns the program's own function in which samples found a thread most often, or which called the
    /// library function in which they found it; `None` if its name isn't known.
    pub(crate) fn main_own_function(&self, tid: u32) -> Option<&str> {
        let Some(stacks) = &self.trace.stacks else {
            let rows = self.trace.profile.iter().flat_map(|it| &it.functions);
            let own = rows.filter(|row| row.tid == tid);
            let name = own.max_by_key(|row| row.samples)?.function.as_deref()?;
            return (!is_start(name)).then_some(name);
        };
        let of_thread = self.own_frames(|row| row.tid == tid);
        // One function has several frames, one for each of its lines.
        let name = |frame| stacks.tree.frames.get(frame as usize)?.function.as_deref();
        most(of_thread.map(|(frame, samples)| (frame.and_then(name), samples)))?
    }

    /// Returns the line of the program's own code in, or below, which samples found a process most often.
    pub(crate) fn main_own_place(&self, pid: u32) -> Option<CodePlace> {
        let of_process = self.own_frames(|row| row.pid == pid);
        let known = of_process.filter_map(|(frame, samples)| Some((frame?, samples)));
        self.place_of_frame(most(known)?)
    }

    /// Returns the frame of the program's own code that is nearest to each sample of own code, with the number of
    /// such samples.
    fn own_frames(
        &self,
        of: impl Fn(&StackRow) -> bool,
    ) -> impl Iterator<Item = (Option<u32>, u64)> {
        let rows = self.trace.stacks.iter().flat_map(|it| &it.rows).enumerate();
        let own = rows.filter(move |(_, row)| of(row) && row.activity == Activity::OwnCode);
        own.map(|(at, row)| (self.routes().own_caller(at), row.samples))
    }

    /// Returns the matching function with the most samples, over all threads.
    pub(crate) fn main_function(
        &self,
        fits: impl Fn(&FunctionRow) -> bool,
    ) -> Option<&FunctionRow> {
        let rows = &self.trace.profile.as_ref()?.functions;
        rows.iter().find(|row| fits(row))
    }
}
