//! Detects runs that ended because the stack was exhausted.

use std::collections::HashMap;

use fathom_stacks::Frame;
use fathom_trace::Activity;

use super::Analysis;
use crate::grouping::totals;

const SIGSEGV: i32 = 11;

/// The number of innermost frames that must belong to one function. Code that walks trees and parsers go some
/// dozen deep, and even a truncated copy of an exhausted stack has more.
const DEEP: usize = 24;
/// The number of innermost frames to inspect.
const INNERMOST: usize = 64;
/// The part of the samples that must have such stacks. It can't be larger because a stack of 8 MiB is
/// exhausted within some milliseconds.
const MOST: f64 = 0.3;

impl Analysis<'_> {
    /// Returns a message if the command ended by SIGSEGV while a function called itself repeatedly.
    pub(crate) fn endless_recursion(&self) -> Option<String> {
        let stacks = self.trace.stacks.as_ref()?;
        if self.trace.end.signal != Some(SIGSEGV) {
            return None;
        }
        let rows = stacks.rows.iter();
        let on_cpu = rows.filter(|row| matches!(row.activity, Activity::OwnCode | Activity::Fault));
        let mut all = 0;
        let mut recursions: HashMap<&str, u64> = HashMap::new();
        for row in on_cpu {
            all += row.samples;
            let frames = row.node.into_iter().flat_map(|node| stacks.tree.path(node));
            if let Some(function) = repeated(frames.take(INNERMOST)) {
                *recursions.entry(function).or_default() += row.samples;
            }
        }
        let (function, samples) = recursions.into_iter().max_by_key(|(_, samples)| *samples)?;
        (samples as f64 >= MOST * all as f64).then(|| {
            format!(
                "The run was ended by signal 11 (SIGSEGV) while `{function}` called itself again and again: most \
                 likely an infinite recursion that exhausted the stack."
            )
        })
    }
}

/// Returns the function to which most of these frames belong, if there are many of them.
fn repeated<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<&'a str> {
    let functions = frames.filter_map(|frame| frame.function.as_deref());
    let times = totals(functions.map(|function| (function, 1)));
    let (function, times) = times.into_iter().max_by_key(|(_, times)| *times)?;
    (times >= DEEP).then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn warned(depth: usize, signal: Option<i32>) -> bool {
        let mut fake = Fake::new(100);
        let frame = |name: &str| Frame {
            binary: "/bin/program".to_owned(),
            function: Some(name.to_owned()),
            ..Frame::default()
        };
        let calls = std::iter::repeat_with(|| frame("visit")).take(depth);
        let frames = std::iter::once(frame("main")).chain(calls);
        fake.stack(Activity::OwnCode, None, frames, 20);
        (fake.trace.end.code, fake.trace.end.signal) = (None, signal);
        let timed = [fake.run()];
        let warnings = crate::diagnose(&fake.observation(&timed)).warnings;
        warnings
            .iter()
            .any(|text| text.contains("`visit` called itself"))
    }

    #[test]
    fn a_stack_that_was_used_up_is_told_from_other_faults() {
        assert!(warned(60, Some(11)));
        assert!(!warned(3, Some(11)));
        assert!(!warned(60, None));
    }
}
