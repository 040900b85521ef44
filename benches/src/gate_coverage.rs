//! Measures whether the intervals printed by `fathom gate` have their nominal coverage. The suites consist of
//! unchanged code, and each is checked out and built again: the interval of each benchmark should contain 0 %
//! in 95 of 100 cases.

use fathom_model::{GateRecord, GateVerdict};

use crate::Result;
use crate::gate_project::{Project, text};
use crate::options::Options;
use crate::table::Table;
use crate::tools::{Tools, median};

/// Number of suites. Every other suite judges the working tree, the rest judge a branch.
const SUITES: usize = 60;
const TIME: &str = "30s";
/// Programs available everywhere. Each side has its own copy of the suite's files, but the programs are
/// shared.
const PROGRAMS: [(&str, &str); 5] = [
    ("gzip", "gzip -c -1 text"),
    ("sort", "sort --parallel=1 text"),
    ("grep", "grep -c 1f1 log"),
    ("wc", "wc -l log"),
    ("md5sum", "{work}/md5sum log"),
];
const LINES: usize = 30_000;
const LOG_LINES: usize = 500_000;

/// Runs the suites.
///
/// # Errors
/// If the repository can't be created, or a gate ends without a record.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Table> {
    let suites = options.scaled(SUITES);
    let project = Project::new(tools, "gate-coverage")?;
    project.write("text", &text(LINES))?;
    project.write("log", &text(LOG_LINES))?;
    project.write("fathom.toml", &suite())?;
    project.begin()?;
    project.same()?;
    let mut counts: Vec<(&str, Counts)> =
        PROGRAMS.map(|(name, _)| (name, Counts::default())).to_vec();
    let mut seconds = Vec::new();
    let mut untrusted = 0;
    for number in 0..suites {
        project.forget_builds()?;
        let head: &[&str] = match number % 2 {
            0 => &["--time", TIME],
            _ => &["--time", TIME, "--head", "same"],
        };
        let record = project.gate(head)?;
        seconds.push(record.seconds);
        untrusted += usize::from(record.null_arm.failed);
        for (name, counts) in &mut counts {
            counts.add(&record, name);
        }
        let outside: Vec<String> = counts
            .iter()
            .map(|(name, counts)| format!("{name} {}", counts.outside()))
            .collect();
        eprintln!(
            "  {} of {suites}, 0 % left out: {}",
            number + 1,
            outside.join(", ")
        );
    }
    let mut table = Table::new(
        &format!("Intervals of gates of unchanged code: {suites} suites, at most {TIME} each"),
        &[
            "benchmark",
            "intervals",
            "hold 0 %",
            "share",
            "median width",
            "largest ratio",
            "worse",
            "cannot tell",
        ],
    );
    let mut all = Counts::default();
    for (name, counts) in &counts {
        table.row(counts.row(name));
        all.extend(counts);
    }
    table.row(all.row("all"));
    table.note(format!(
        "Measuring took {:.0} s in the median; {untrusted} suites ended with exit code 4. Each suite is checked out \
         and built anew; one side is the working tree in every other suite.",
        median(&seconds)
    ));
    Ok(table)
}

/// The results of a benchmark.
#[derive(Debug, Clone, Default)]
struct Counts {
    /// The lower end, the upper end and the middle of each interval.
    intervals: Vec<[f64; 3]>,
    worse: usize,
    cannot_tell: usize,
}

impl Counts {
    fn add(&mut self, record: &GateRecord, name: &str) {
        for row in record.benchmarks.iter().filter(|row| row.name == name) {
            let ratio = row.ratio.map(|ratio| [ratio.low, ratio.value, ratio.high]);
            self.intervals.extend(ratio);
            self.worse += usize::from(row.verdict == GateVerdict::Worse);
            self.cannot_tell += usize::from(row.verdict == GateVerdict::CannotTell);
        }
    }

    fn extend(&mut self, other: &Counts) {
        self.intervals.extend(&other.intervals);
        self.worse += other.worse;
        self.cannot_tell += other.cannot_tell;
    }

    fn outside(&self) -> usize {
        let leaves_out = |[low, _, high]: &&[f64; 3]| *low > 1.0 || *high < 1.0;
        self.intervals.iter().filter(leaves_out).count()
    }

    fn row(&self, name: &str) -> Vec<String> {
        let all = self.intervals.len();
        let holds = all - self.outside();
        let widths = self.intervals.iter().map(|[low, _, high]| high / low - 1.0);
        let away = self
            .intervals
            .iter()
            .map(|[_, value, _]| (value - 1.0).abs());
        vec![
            name.to_owned(),
            all.to_string(),
            holds.to_string(),
            format!("{:.1} %", 100.0 * holds as f64 / all.max(1) as f64),
            format!("{:.2} %", 100.0 * median(&widths.collect::<Vec<_>>())),
            format!("{:.2} %", 100.0 * away.fold(0.0, f64::max)),
            self.worse.to_string(),
            self.cannot_tell.to_string(),
        ]
    }
}

/// Returns the project's `fathom.toml`. One program is built by copying one of the machine's programs, so
/// that each side has its own.
fn suite() -> String {
    let mut text = "schema_version = 1\ntitle = \"unchanged\"\n\n[builds.md5sum]\n\
                    command = \"cp /usr/bin/md5sum {work}/md5sum\"\n"
        .to_owned();
    for (name, command) in PROGRAMS {
        let needs = match command.contains("{work}") {
            true => "needs = [\"md5sum\"]\n",
            false => "",
        };
        text += &format!("\n[subjects.{name}]\ncommand = \"{command}\"\n{needs}");
    }
    text + "\n[[measure]]\nid = \"time\"\nhow = \"bench\"\n\
            \n[[claims]]\nid = \"quick\"\ntext = \"Sorting takes less than a minute\"\nlayer = \"size\"\n\
            holds = \"wall.sort < 60s\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_leaves_out_one_is_counted() {
        let counts = Counts {
            intervals: vec![[0.99, 1.0, 1.01], [1.01, 1.02, 1.03], [0.97, 0.98, 0.99]],
            ..Counts::default()
        };
        assert_eq!(counts.outside(), 2);
        assert_eq!(counts.row("sort")[1..4], ["3", "1", "33.3 %"]);
    }
}
