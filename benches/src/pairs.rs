//! Compares two commands many times with Fathom and with hyperfine, and collects the claims of each tool.

use fathom_model::{Metric, StopReason, Verdict};
use rand::seq::SliceRandom;

use crate::Result;
use crate::sample_tests::{mann_whitney, proportion_interval, welch};
use crate::share::Share;
use crate::subjects::Condition;
use crate::tools::{Tools, median};

/// Number of warm-up rounds of each tool.
const WARMUPS: &str = "3";
/// Number of hyperfine's runs of each command.
const RUNS: &str = "50";
/// Minimum number of repetitions for a useful interval of a rate.
const FEWEST: usize = 4;
/// The p-value below which a careful user would see a difference in hyperfine's samples.
const SIGNIFICANT: f64 = 0.05;

/// The claim about the second command, relative to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The second command takes less time.
    Faster,
    /// The second command takes more time.
    Slower,
    /// The tool claims neither.
    Nothing,
}

/// The claims of one method of judging over all repetitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tally {
    /// The method's name for the table.
    pub method: String,
    /// Whether the method is one of Fathom's.
    pub is_fathom: bool,
    claims: Vec<Claim>,
    ratios: Vec<f64>,
    rounds: Vec<f64>,
    stopped_early: usize,
    undisturbed: usize,
}

impl Tally {
    fn new(method: &str) -> Tally {
        Tally {
            method: method.to_string(),
            is_fathom: method.starts_with("Fathom"),
            claims: Vec::new(),
            ratios: Vec::new(),
            rounds: Vec::new(),
            stopped_early: 0,
            undisturbed: 0,
        }
    }

    fn add(&mut self, claim: Claim, ratio: f64, rounds: usize) {
        self.claims.push(claim);
        self.ratios.push(ratio);
        self.rounds.push(rounds as f64);
    }

    /// Returns the number of comparisons; 0 for a missing tool.
    pub(crate) fn comparisons(&self) -> usize {
        self.claims.len()
    }

    /// Returns how often this claim was made.
    pub(crate) fn count(&self, claim: Claim) -> usize {
        self.claims.iter().filter(|c| **c == claim).count()
    }

    /// Formats a rate such as `3 of 40 (2 to 20 %)`, with its 95 % interval.
    pub(crate) fn rate(&self, count: usize) -> String {
        let (low, high) = proportion_interval(count, self.comparisons());
        format!(
            "{count} of {} ({:.0} to {:.0} %)",
            self.comparisons(),
            low * 100.0,
            high * 100.0
        )
    }

    /// Returns the median of the ratios second / first.
    pub(crate) fn median_ratio(&self) -> f64 {
        median(&self.ratios)
    }

    /// Returns the median of |ratio / truth - 1|.
    pub(crate) fn median_error(&self, truth: f64) -> f64 {
        median(&self.errors(truth))
    }

    /// Returns the largest |ratio / truth - 1|.
    pub(crate) fn worst_error(&self, truth: f64) -> f64 {
        self.errors(truth).into_iter().fold(0.0, f64::max)
    }

    fn errors(&self, truth: f64) -> Vec<f64> {
        self.ratios
            .iter()
            .map(|ratio| (ratio / truth - 1.0).abs())
            .collect()
    }

    /// Returns how Fathom arrived at its claims: rounds, early stops, and the clock.
    pub(crate) fn how(&self) -> String {
        format!(
            "{:.0} rounds (median), {} of {} stopped early, {} judged on undisturbed time",
            median(&self.rounds),
            self.stopped_early,
            self.comparisons(),
            self.undisturbed
        )
    }
}

/// The commands to compare, the tools' options, and the number of repetitions.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    /// The concurrent load.
    pub condition: Condition,
    /// The two commands.
    pub commands: [String; 2],
    /// The name and the options of each way to run Fathom.
    pub fathom: &'a [(&'a str, Vec<String>)],
    /// Maximum number of repetitions.
    pub repetitions: usize,
}

impl Series<'_> {
    /// Compares the commands with every tool once per repetition, in random order. Returns one tally for each
    /// method of judging: Fathom's, then Welch and Mann-Whitney on hyperfine's samples.
    ///
    /// # Errors
    /// If a tool or a load fails.
    pub(crate) fn measure(&self, tools: &Tools, share: Share) -> Result<Vec<Tally>> {
        let mut tallies: Vec<Tally> = self
            .fathom
            .iter()
            .map(|(name, _)| Tally::new(name))
            .collect();
        tallies.push(Tally::new("hyperfine 2 and Welch's t"));
        tallies.push(Tally::new("hyperfine 2 and Mann-Whitney"));
        let mut loads = self.condition.start(tools)?;
        let mut order: Vec<usize> = (0..=self.fathom.len()).collect();
        for _ in share.rounds(self.repetitions, FEWEST) {
            order.shuffle(&mut rand::rng());
            for &tool in &order {
                match self.fathom.get(tool) {
                    Some((_, options)) => self.fathom_once(tools, options, &mut tallies[tool])?,
                    None => self.hyperfine_once(tools, &mut tallies[tool..])?,
                }
                loads.check()?;
            }
        }
        Ok(tallies)
    }

    fn fathom_once(&self, tools: &Tools, options: &[String], tally: &mut Tally) -> Result<()> {
        let mut flags = vec!["-w", WARMUPS, "-n", "first", "-n", "second"];
        flags.extend(options.iter().map(String::as_str));
        let (record, _) = tools.fathom_record(&flags, &self.commands)?;
        let outcome = record
            .outcome
            .ok_or("fathom wrote a record without an outcome")?;
        let comparison = outcome
            .comparisons
            .first()
            .ok_or("fathom compared nothing")?;
        let claim = match comparison.verdict {
            Verdict::Faster => Claim::Faster,
            Verdict::Slower => Claim::Slower,
            Verdict::Same | Verdict::Undecided => Claim::Nothing,
        };
        tally.add(claim, comparison.ratio.value, record.runs.len() / 2);
        tally.stopped_early += usize::from(outcome.stop == StopReason::Decided);
        tally.undisturbed += usize::from(comparison.metric == Metric::Undisturbed);
        Ok(())
    }

    fn hyperfine_once(&self, tools: &Tools, tallies: &mut [Tally]) -> Result<()> {
        let flags = ["-w", WARMUPS, "-r", RUNS];
        let Some(measured) = tools.hyperfine(&flags, &self.commands)? else {
            return Ok(());
        };
        let [first, second] = &measured.commands[..] else {
            return Err("hyperfine did not report two commands".into());
        };
        let (first, second) = (&first.wall_s, &second.wall_s);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let claim = |p: f64, difference: f64| match p < SIGNIFICANT {
            true if difference < 0.0 => Claim::Faster,
            true => Claim::Slower,
            false => Claim::Nothing,
        };
        let by_mean = claim(welch(first, second), mean(second) - mean(first));
        let by_median = claim(mann_whitney(first, second), median(second) - median(first));
        tallies[0].add(by_mean, mean(second) / mean(first), first.len());
        tallies[1].add(by_median, median(second) / median(first), first.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_claims_and_measures_errors_against_the_truth() {
        let mut tally = Tally::new("Fathom");
        tally.add(Claim::Slower, 1.02, 50);
        tally.add(Claim::Nothing, 1.01, 50);
        tally.add(Claim::Nothing, 0.96, 50);
        assert_eq!(tally.count(Claim::Slower), 1);
        assert_eq!(tally.count(Claim::Faster), 0);
        assert!((tally.median_error(1.0) - 0.02).abs() < 1e-9);
        assert!((tally.worst_error(1.0) - 0.04).abs() < 1e-9);
        assert!(tally.rate(1).starts_with("1 of 3 ("));
    }
}
