//! The functions in which the program's own code runs.

use std::collections::BTreeMap;

use fathom_model::{FunctionShare, OwnCode};
use fathom_trace::Profile;

/// The maximum number of functions to show; the others have only a few samples each.
const MOST_FUNCTIONS: usize = 60;

/// Returns the functions of all threads, those with the most samples first, or `None` if no sample was in own
/// code.
pub(crate) fn of(profile: &Profile) -> Option<OwnCode> {
    let all: u64 = profile.functions.iter().map(|row| row.samples).sum();
    let mut sums: BTreeMap<(&str, Option<&str>), u64> = BTreeMap::new();
    for row in &profile.functions {
        *sums
            .entry((&row.file, row.function.as_deref()))
            .or_default() += row.samples;
    }
    let mut functions: Vec<FunctionShare> = sums
        .into_iter()
        .map(|((file, function), samples)| FunctionShare {
            function: function.map(str::to_owned),
            file: file.to_owned(),
            samples,
            share: samples as f64 / all as f64,
        })
        .collect();
    functions.sort_by_key(|row| std::cmp::Reverse(row.samples));
    functions.truncate(MOST_FUNCTIONS);
    (all > 0).then_some(OwnCode {
        period_ns: profile.period_ns,
        samples: all,
        functions,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_trace::FunctionRow;

    #[test]
    fn threads_are_summed_and_the_most_comes_first() {
        let row = |tid, function: Option<&str>, samples| FunctionRow {
            pid: 10,
            tid,
            file: "/bin/a".to_owned(),
            function: function.map(str::to_owned),
            samples,
            spins: 0,
        };
        let profile = Profile {
            period_ns: 1_000_000,
            lost: 0,
            functions: vec![
                row(10, Some("parse"), 30),
                row(10, None, 40),
                row(11, Some("parse"), 30),
            ],
        };
        let reported = of(&profile).expect("samples");
        assert_eq!(reported.samples, 100);
        let shares: Vec<_> = reported
            .functions
            .iter()
            .map(|row| (row.function.as_deref(), row.share))
            .collect();
        assert_eq!(shares, [(Some("parse"), 0.6), (None, 0.4)]);
        assert_eq!(of(&Profile::default()), None);
    }
}
