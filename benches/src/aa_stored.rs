//! Measures how often stored records of the same programs, measured separately, claim a difference.
//!
//! `aa` measures both sides in the same rounds. Here, each record is a separate session, so all changes of
//! the machine from one session to the next are between the sides, as they are between two days of a project.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Result;
use crate::options::Options;
use crate::subjects::Condition;
use crate::table::Table;
use crate::tools::Tools;

/// Number of records of each program in a condition, which give ten pairs of neighbours.
const RECORDS: usize = 11;
/// Number of runs per record.
const RUNS: &str = "15";
/// Programs available everywhere that take about 20 to 80 ms each. `sort` has threads, so its waits for a CPU
/// can't be subtracted.
const PROGRAMS: [(&str, &str); 5] = [
    ("sort -u", "sort -u text"),
    ("gzip", "gzip -c -6 text"),
    ("sha256sum", "sha256sum text text text text text text"),
    ("awk", "awk {s+=$1}END{print(s)} text"),
    ("grep", "grep -c -E [02468]+[13579]7$ text"),
];
const LINES: usize = 150_000;

/// Makes the records, on a quiet machine and with all CPUs busy, and compares neighbours.
///
/// # Errors
/// If a session or a comparison ends without a record.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let records = options.scaled(RECORDS).max(3);
    let gap = if options.quick { 1 } else { options.gap };
    let project = Project::new(tools)?;
    let conditions = [Condition::Quiet, Condition::Busy];
    for condition in conditions {
        let mut loads = condition.start(tools)?;
        for record in 0..records {
            eprintln!("  {}, record {} of {records}", condition.name(), record + 1);
            if record > 0 {
                std::thread::sleep(Duration::from_secs(u64::from(gap)));
            }
            for (name, command) in PROGRAMS {
                project.bench(name, command)?;
            }
            loads.check()?;
        }
    }
    let mut table = Table::new(
        &format!(
            "Stored records of the same program: {} programs, {records} records each of {RUNS} runs, {gap} s apart",
            PROGRAMS.len()
        ),
        &[
            "neighbours",
            "pairs",
            "claims",
            "undecided",
            "same",
            "largest change",
            "median half interval",
        ],
    );
    let all = conditions.len() * records;
    for (place, condition) in conditions.into_iter().enumerate() {
        let first = place * records;
        let pairs = first..first + records - 1;
        table.row(project.judged(condition.name(), pairs, all)?);
    }
    table.row(project.judged(
        "the last quiet one and the first busy one",
        records - 1..records,
        all,
    )?);
    table.note("A claim says that a program is slower or faster than itself: of 100 pairs at most 5 should.");
    table.note(
        "All records of a program are one series, without a revision: from the fifth on its own history says how far \
         they lie apart.",
    );
    Ok(vec![table])
}

/// A folder with a text and a store, removed when this value is dropped.
struct Project<'t> {
    tools: &'t Tools,
    folder: PathBuf,
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl<'t> Project<'t> {
    fn new(tools: &'t Tools) -> Result<Project<'t>> {
        let folder = tools.scratch_folder().join("aa-stored");
        let _ = std::fs::remove_dir_all(&folder);
        let project = Project { tools, folder };
        let text: String = (0..LINES as u64)
            .map(|line| format!("{}\n", line.wrapping_mul(2_654_435_761) % 1_000_003))
            .collect();
        std::fs::create_dir_all(&project.folder)
            .and_then(|()| std::fs::write(project.folder.join("text"), text))
            .map_err(|error| format!("{}: {error}", project.folder.display()))?;
        Ok(project)
    }

    fn fathom(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let fathom: &Path = &self.tools.fathom;
        let done = Command::new(fathom)
            .args(arguments)
            .args(["--store", "store.sqlite"])
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .env("HOME", &self.folder)
            // The revision of the workspace is unrelated to these programs.
            .env("GIT_CEILING_DIRECTORIES", &self.folder)
            .env("GIT_DIR", "none")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("can't start {}: {error}", fathom.display()))?;
        match done.status.success() {
            true => Ok(done.stdout),
            false => Err(format!(
                "fathom {arguments:?}: {}",
                String::from_utf8_lossy(&done.stderr)
            )),
        }
    }

    fn bench(&self, name: &str, command: &str) -> Result<()> {
        self.fathom(&["bench", "-n", name, "-r", RUNS, command])?;
        Ok(())
    }

    /// Compares the record of each program at each of these indices of `all` with the next one.
    fn judged(
        &self,
        what: &str,
        places: std::ops::Range<usize>,
        all: usize,
    ) -> Result<Vec<String>> {
        let (mut claims, mut undecided, mut same) = (Vec::new(), 0, 0);
        let (mut largest, mut halves) = (0.0f64, Vec::new());
        for place in places {
            for (at, (name, _)) in PROGRAMS.iter().enumerate() {
                let back = |place: usize| format!("@-{}", (all - place) * PROGRAMS.len() - at);
                let (base, head) = (back(place), back(place + 1));
                let text = self.fathom(&["compare", &base, &head, "--json", "-"])?;
                let record: Value =
                    serde_json::from_slice(&text).map_err(|error| error.to_string())?;
                let one = &record["comparisons"][0];
                if one["benchmark"] != *name {
                    return Err(format!("{base} and {head} are not of {name}: {record}"));
                }
                let ratio = |key: &str| one["ratio"][key].as_f64().unwrap_or(f64::NAN);
                largest = largest.max((ratio("value") - 1.0).abs());
                halves.push((ratio("high").ln() - ratio("low").ln()) / 2.0);
                match one["verdict"].as_str() {
                    Some("same") => same += 1,
                    Some("undecided") => undecided += 1,
                    _ => claims.push(format!(
                        "{name} {:+.1} % ({:.1} to {:.1}, {})",
                        100.0 * (ratio("value") - 1.0),
                        100.0 * (ratio("low") - 1.0),
                        100.0 * (ratio("high") - 1.0),
                        one["metric"].as_str().unwrap_or_default()
                    )),
                }
            }
        }
        for claim in &claims {
            eprintln!("  claimed, {what}: {claim}");
        }
        Ok(vec![
            what.to_owned(),
            halves.len().to_string(),
            claims.len().to_string(),
            undecided.to_string(),
            same.to_string(),
            format!("{:.1} %", 100.0 * largest),
            format!("{:.1} %", 100.0 * crate::tools::median(&halves)),
        ])
    }
}
