//! The options that the caller chose.

use std::path::PathBuf;
use std::time::Duration;

/// A figure, and its duration on two cores of 3 GHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Its name in arguments.
    pub name: &'static str,
    /// Its share of the total time, in seconds.
    pub share: u32,
    /// Duration with all of its rounds, in seconds.
    pub whole: u32,
}

const fn figure(name: &'static str, share: u32, whole: u32) -> Figure {
    Figure { name, share, whole }
}

/// The figures, in the order in which they are measured. The shares add up to [`MINUTES`] minus 20 s for
/// builds. A figure whose share equals its whole duration has no rounds that could be skipped.
pub(crate) const FIGURES: [Figure; 21] = [
    figure("floor", 30, 45),
    figure("own-cost", 30, 45),
    figure("growth", 90, 240),
    figure("memory", 8, 8),
    figure("large", 12, 12),
    figure("account", 120, 120),
    figure("differences", 180, 180),
    figure("tracing", 150, 900),
    figure("startup", 70, 130),
    figure("pipe", 40, 80),
    figure("serve", 240, 240),
    figure("ppbert", 15, 15),
    figure("power", 80, 100),
    figure("aa", 140, 350),
    figure("machine", 65, 240),
    figure("machine-stability", 50, 100),
    figure("store", 120, 120),
    figure("changes", 30, 30),
    figure("gates", 300, 300),
    figure("import", 30, 30),
    figure("report", 30, 30),
];

/// Figures that are only measured if they are named, because they take as long as many others together.
pub(crate) const BY_NAME: [Figure; 8] = [
    figure("gate-live", 780, 780),
    figure("gate-coverage", 1200, 1200),
    figure("aa-stored", 900, 900),
    figure("stacks", 420, 420),
    figure("python", 900, 900),
    figure("names", 300, 300),
    figure("why-repeats", 1600, 1600),
    figure("prove", 1020, 1020),
];

/// Time limit of all figures together, in minutes.
const MINUTES: u32 = 31;

/// The help text.
pub(crate) const USAGE: &str = "\
Measures what Fathom must reach, beside hyperfine 2 and a bare C loop.

Usage: cargo run --release -p fathom-benches -- [OPTIONS] [FIGURE...]

Figures (default: all): floor own-cost growth memory large account differences tracing startup
pipe serve ppbert power aa machine machine-stability store changes gates import report
Only by name: gate-live gate-coverage aa-stored stacks python names why-repeats prove

Options:
  --minutes N             at most this long (default 31), parted among the figures: fewer figures get more
                          rounds, up to what each takes at the most
  --repetitions N         most comparisons of each kind for aa (default 40)
  --power-repetitions N   most comparisons of each kind for power (default 20)
  --early-rounds N        most rounds of the sessions of aa that may stop early (default 85; 50 if busy)
  --blocks N              most blocks of each tool for floor (default 96)
  --gap N                 seconds between two records of a program for aa-stored (default 30)
  --quick                 a tenth of everything: shows that it works, proves nothing
  --markdown FILE         write the tables to a file as well

$RIVALS names a folder with the sources of multichase, tinymembench, STREAM and lmbench, which are
built and put beside `fathom machine`. $POSTGRES names a server for `store`, postgres://USER@HOST/DATABASE. $CORPUS names a folder with
the programs of the corpus for `prove`, which is built where it is missing. $PPBERT_0_8_3 and $PPBERT_0_8_4 name those releases of ppbert.
hyperfine 2 is looked for in $HYPERFINE, in PATH and where cargo installs. This workspace's fathom is built with
--release first, also for --quick; FATHOM=FILE measures that one instead, and nothing is built.";

/// Parsed arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// The selected [`FIGURES`] and [`BY_NAME`].
    pub figures: Vec<Figure>,
    /// Time limit for all of them.
    pub time: Duration,
    /// Maximum number of comparisons of each kind for `aa`.
    pub repetitions: usize,
    /// Maximum number of comparisons of each kind for `power`.
    pub power_repetitions: usize,
    /// Maximum number of rounds of a session that may stop early; `None` for the default.
    pub early_rounds: Option<u32>,
    /// Maximum number of blocks of each tool for `floor`.
    pub blocks: usize,
    /// Seconds between two records of a program for `aa-stored`.
    pub gap: u32,
    /// Whether to do only a tenth of everything.
    pub quick: bool,
    /// A file for the tables, in addition to standard output.
    pub markdown: Option<PathBuf>,
}

impl Options {
    /// Parses the arguments.
    ///
    /// # Errors
    /// A message that says what is wrong; empty if help was requested.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut arguments = arguments.into_iter();
        let mut figures = Vec::new();
        let quick = Options {
            figures: Vec::new(),
            time: minutes(MINUTES),
            repetitions: 4,
            power_repetitions: 3,
            early_rounds: None,
            blocks: 4,
            gap: 30,
            quick: true,
            markdown: None,
        };
        let mut options = Options {
            repetitions: 40,
            power_repetitions: 20,
            blocks: 96,
            quick: false,
            ..quick
        };
        while let Some(word) = arguments.next() {
            let mut number = || {
                let text = arguments.next().unwrap_or_default();
                match text.parse::<u32>() {
                    Ok(number) if number > 0 => Ok(number),
                    _ => Err(format!("{word} needs a number above 0, not {text:?}")),
                }
            };
            match word.as_str() {
                "--minutes" => options.time = minutes(number()?),
                "--repetitions" => options.repetitions = number()? as usize,
                "--power-repetitions" => options.power_repetitions = number()? as usize,
                "--early-rounds" => options.early_rounds = Some(number()?),
                "--gap" => options.gap = number()?,
                "--blocks" => options.blocks = number()? as usize,
                "--quick" => {
                    options.repetitions = 4;
                    options.power_repetitions = 3;
                    options.blocks = 4;
                    options.quick = true;
                }
                "--markdown" => {
                    let path = arguments.next().ok_or("--markdown needs a file")?;
                    options.markdown = Some(PathBuf::from(path));
                }
                "-h" | "--help" => return Err(String::new()),
                name => match FIGURES
                    .iter()
                    .chain(&BY_NAME)
                    .find(|figure| figure.name == name)
                {
                    Some(figure) => figures.push(*figure),
                    None => return Err(format!("there is no figure or option {name:?}")),
                },
            }
        }
        options.figures = if figures.is_empty() {
            FIGURES.to_vec()
        } else {
            figures
        };
        Ok(options)
    }

    /// Returns `count`, or a tenth of it in quick mode.
    pub(crate) fn scaled(&self, count: usize) -> usize {
        if self.quick {
            count.div_ceil(10)
        } else {
            count
        }
    }
}

fn minutes(count: u32) -> Duration {
    Duration::from_secs(60 * u64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_string))
    }

    #[test]
    fn without_names_all_figures_are_measured() {
        assert_eq!(parse("").unwrap().figures, FIGURES);
        assert_eq!(
            parse("aa --repetitions 7").unwrap().figures,
            [figure("aa", 140, 350)]
        );
        assert_eq!(parse("aa --repetitions 7").unwrap().repetitions, 7);
        assert_eq!(parse("gate-live").unwrap().figures, BY_NAME[..1]);
    }

    #[test]
    fn the_shares_leave_time_for_the_builds() {
        let shares: u32 = FIGURES.iter().map(|figure| figure.share).sum();
        let all = 60 * MINUTES;
        assert!((all - 60..=all - 20).contains(&shares), "{shares}");
        assert_eq!(parse("").unwrap().time, minutes(MINUTES));
        assert_eq!(parse("--minutes 3").unwrap().time, minutes(3));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(parse("flor").unwrap_err().contains("flor"));
        assert!(parse("--blocks 0").unwrap_err().contains("--blocks"));
        assert!(parse("--markdown").unwrap_err().contains("--markdown"));
    }
}
