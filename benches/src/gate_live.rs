//! Measures the gate in real use: `fathom gate` measures two revisions of a repository live.
//!
//! The scenarios that `gates` replays from recorded runs are run for real here, a few times: with builds,
//! worktrees, processes, and concurrent load.

use std::fmt::Write;

use fathom_model::{GateRecord, GateVerdict};

use crate::Result;
use crate::gate_project::{Project, text};
use crate::options::Options;
use crate::subjects::{Condition, iterations_for, iterations_longer_by};
use crate::table::Table;
use crate::tools::{Tools, median};

/// Number of suites with identical code, and number of suites in which one benchmark does more work.
const SUITES: usize = 5;
/// Time limit of a gate.
const TIME: &str = "30s";
const QUICK_TIME: &str = "5s";
/// Slowdown of the slower benchmark, as a fraction.
const EFFECT: f64 = 0.05;
/// Durations of the programs with adjustable work, ms. Each program is the slower one in one suite.
const WORK_MS: [u32; SUITES] = [2, 5, 10, 20, 50];
/// Programs available everywhere that take about 3 to 20 ms each.
const OTHERS: [(&str, &str); 3] = [
    ("gzip", "gzip -c -6 text"),
    ("md5sum", "md5sum text text text text"),
    ("sort", "sort --parallel=1 text"),
];
const LINES: usize = 9_000;

/// Runs the suites, on a quiet machine and with all CPUs busy.
///
/// # Errors
/// If the repository can't be created, or a gate ends without a record.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let suites = options.scaled(SUITES);
    let time = if options.quick { QUICK_TIME } else { TIME };
    let project = project(tools)?;
    let mut table = Table::new(
        &format!(
            "Gates, live: {suites} suites of {} benchmarks a row, at most {time} each",
            WORK_MS.len() + OTHERS.len()
        ),
        &[
            "condition",
            "in one benchmark",
            "fails",
            "finds it",
            "fails another",
            "cannot tell",
            "exit 4",
            "undecided a suite",
            "median s",
        ],
    );
    for condition in [Condition::Quiet, Condition::Busy] {
        let (mut same, mut slower) = (Counts::default(), Counts::default());
        let mut loads = condition.start(tools)?;
        for (suite, ms) in WORK_MS.into_iter().take(suites).enumerate() {
            eprintln!("  {}, suite {} of {suites}", condition.name(), suite + 1);
            same.add(&project.gate(&["--head", "same", "--time", time])?, None);
            loads.check()?;
            let name = work(ms);
            slower.add(
                &project.gate(&["--head", &name, "--time", time])?,
                Some(&name),
            );
            loads.check()?;
        }
        table.row(same.row(condition, "0 %"));
        table.row(slower.row(condition, &format!("{:+.0} %", 100.0 * EFFECT)));
    }
    table.note("'fails' and 'cannot tell' are verdicts of the suite. Seconds are those of measuring, without builds and without what is observed of what is worse.");
    table.note(format!(
        "Benchmarks: {} ms of multiply-adds, each of them the slower one once, and {}.",
        WORK_MS.map(|ms| ms.to_string()).join(", "),
        OTHERS.map(|(name, _)| name).join(", ")
    ));
    Ok(vec![table])
}

/// Returns the name of a benchmark, which is also the name of the branch where it is slower.
fn work(ms: u32) -> String {
    format!("work_{ms}")
}

/// The results of the suites in one row of the table.
#[derive(Default)]
struct Counts {
    suites: usize,
    fails: usize,
    finds: usize,
    fails_another: usize,
    cannot_tell: usize,
    machine: usize,
    undecided: usize,
    seconds: Vec<f64>,
}

impl Counts {
    fn add(&mut self, record: &GateRecord, slower: Option<&str>) {
        self.suites += 1;
        self.seconds.push(record.seconds);
        if record.null_arm.failed {
            self.machine += 1;
            return;
        }
        let of = |verdict| {
            let rows = record.benchmarks.iter();
            rows.filter(move |row| row.verdict == verdict)
                .map(|row| row.name.as_str())
        };
        let worse = || of(GateVerdict::Worse);
        self.fails += usize::from(record.verdict == GateVerdict::Worse);
        self.finds += usize::from(worse().any(|name| Some(name) == slower));
        self.fails_another += usize::from(worse().any(|name| Some(name) != slower));
        self.cannot_tell += usize::from(record.verdict == GateVerdict::CannotTell);
        self.undecided += of(GateVerdict::CannotTell).count();
    }

    fn row(&self, condition: Condition, effect: &str) -> Vec<String> {
        let count = |count: usize| format!("{count} of {}", self.suites);
        let slower = effect != "0 %";
        let of_slower = |number: usize| match slower {
            true => count(number),
            false => String::new(),
        };
        vec![
            condition.name().to_owned(),
            effect.to_owned(),
            count(self.fails),
            of_slower(self.finds),
            of_slower(self.fails_another),
            count(self.cannot_tell),
            count(self.machine),
            format!("{:.1}", self.undecided as f64 / self.suites.max(1) as f64),
            format!("{:.0}", median(&self.seconds)),
        ]
    }
}

/// Creates a repository with a suite: the branch `main`, a branch `same` with the same code, and for each
/// benchmark a branch in which it is slower.
fn project(tools: &Tools) -> Result<Project<'_>> {
    let project = Project::new(tools, "gate-live")?;
    project.write("work.c", include_str!("../subjects/work.c"))?;
    project.write("text", &text(LINES))?;
    project.write("fathom.toml", &suite())?;
    let mut iterations = Vec::new();
    for ms in WORK_MS {
        let usual = iterations_for(tools, f64::from(ms) / 1e3)?;
        set_work(&project, ms, usual)?;
        iterations.push((ms, iterations_longer_by(tools, EFFECT, usual)?));
    }
    project.begin()?;
    project.same()?;
    for (ms, more) in iterations {
        project.git(&["switch", "-q", "-c", &work(ms), "main"])?;
        set_work(&project, ms, more)?;
        project.commit()?;
    }
    Ok(project)
}

fn set_work(project: &Project<'_>, ms: u32, iterations: u64) -> Result<()> {
    let text = format!("#define ITERATIONS {iterations}\n");
    project.write(&format!("{}.h", work(ms)), &text)
}

/// Returns the project's `fathom.toml`.
fn suite() -> String {
    let mut text = "schema_version = 1\ntitle = \"a suite\"\n".to_owned();
    for name in WORK_MS.map(work) {
        let _ = write!(
            text,
            "\n[builds.{name}]\ncommand = \"cc -O2 -static -include {name}.h -o {{work}}/{name} work.c\"\n\
             \n[subjects.{name}]\ncommand = \"{{work}}/{name}\"\nneeds = [\"{name}\"]\n"
        );
    }
    for (name, command) in OTHERS {
        let _ = write!(text, "\n[subjects.{name}]\ncommand = \"{command}\"\n");
    }
    text + "\n[[measure]]\nid = \"time\"\nhow = \"bench\"\n\
            \n[[claims]]\nid = \"quick\"\ntext = \"Sorting takes less than a second\"\nlayer = \"size\"\n\
            holds = \"wall.sort < 1s\"\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rows: &[(&str, &str)], verdict: &str) -> GateRecord {
        let row = |(name, verdict): &(&str, &str)| {
            serde_json::json!({
                "name": name, "metric": "wall", "ratio": null, "verdict": verdict, "rounds": 10,
                "confirmation_rounds": 0, "margin": 0.03, "floor": 0.01, "base": null, "head": null,
                "budget": null, "waived": null, "why": [],
            })
        };
        let side = serde_json::json!({"name": "main", "revision": null});
        let record = serde_json::json!({
            "schema_version": 1, "kind": "gate", "fathom_version": "0", "started_at": "",
            "environment": fathom_machine::environment(), "base": side, "head": side,
            "rule": {"name": "paired", "margin": 0.03, "undecided_passes": true},
            "verdict": verdict, "benchmarks": rows.iter().map(row).collect::<Vec<_>>(),
            "exact_changes": [], "null_arm": {"failed": false, "benchmarks": []}, "left_out": [],
            "settings_changed": [], "notes": [], "complete": true, "seconds": 1.0,
        });
        serde_json::from_value(record).expect("a record")
    }

    #[test]
    fn what_is_found_and_what_fails_wrongly_are_counted_apart() {
        let mut counts = Counts::default();
        let found = [("work_2", "worse"), ("sort", "not worse")];
        counts.add(&record(&found, "worse"), Some("work_2"));
        let wrong = [("work_2", "cannot tell"), ("sort", "worse")];
        counts.add(&record(&wrong, "worse"), Some("work_2"));
        let row = counts.row(Condition::Quiet, "+5 %");
        assert_eq!(
            row[2..7],
            ["2 of 2", "1 of 2", "1 of 2", "0 of 2", "0 of 2"]
        );
        assert_eq!(row[7], "0.5");
    }
}
