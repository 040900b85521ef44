//! Checks whether the verdicts of `fathom why --prove` and `fathom bench --try` are true.
//!
//! Measures the slopes of threads and calls whose share of the critical path is known by construction, and an
//! intervention that does nothing. Also measures causes planted on the critical path and off it, and the
//! programs of the corpus, whose repaired twins show the cost of each cause.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use fathom_model::{BenchRecord, Explanation, ProofVerdict, Verdict};

use crate::Result;
use crate::compile::compile;
use crate::find::in_path;
use crate::options::Options;
use crate::table::{Table, result};
use crate::tools::Tools;

/// The number of iterations per millisecond, before it is measured.
const ROUNDS: u64 = 1_000_000;
/// Largest accepted distance of a slope from the truth.
const NEAR: f64 = 0.1;

/// A program (the phases of `paths`), the name of the delayed part, and its true share of the critical path.
struct Toy {
    name: &'static str,
    phases: &'static [&'static str],
    delayed: &'static str,
    truth: f64,
}

const TOYS: [Toy; 9] = [
    Toy {
        name: "two threads: the longer one",
        phases: &["s120+s60"],
        delayed: "thread:0",
        truth: 1.0,
    },
    Toy {
        name: "two threads: the shorter one",
        phases: &["s120+s60"],
        delayed: "thread:1",
        truth: 0.0,
    },
    Toy {
        name: "two threads, equally long",
        phases: &["s100+s100"],
        delayed: "thread:1",
        truth: 0.0,
    },
    Toy {
        name: "two phases: longer in the first",
        phases: &["s100+s20", "s50+s130"],
        delayed: "thread:0",
        truth: 100.0 / 150.0,
    },
    Toy {
        name: "two phases: longer in the second",
        phases: &["s100+s20", "s50+s130"],
        delayed: "thread:1",
        truth: 130.0 / 150.0,
    },
    Toy {
        name: "writes of two threads, 3 of 4 in the longer one",
        phases: &["c3000+c1000"],
        delayed: "writes",
        truth: 0.75,
    },
    Toy {
        name: "writes beside a longer sleep",
        phases: &["z30+c2000"],
        delayed: "writes",
        truth: 0.0,
    },
    Toy {
        name: "sleeps of three threads, 20 of 35 in the longest",
        phases: &["z20+z10+z5"],
        delayed: "sleeps",
        truth: 20.0 / 35.0,
    },
    Toy {
        name: "writes of three threads in turn",
        phases: &["c1500+-+-", "-+c1500+-", "-+-+c1500"],
        delayed: "writes",
        truth: 1.0,
    },
];

/// The number of comparisons of a command with itself, and the maximum number that may report a difference.
const COMPARISONS: usize = 40;
const MOST_CLAIMS: usize = 1;
const ALIKE: [&[&str]; 4] = [&["s20"], &["z4"], &["s20+s10"], &["w20000"]];

/// The planted causes: a name, the work that has the cause, and the findings about it.
const CAUSES: [(&str, &str, &[&str]); 5] = [
    (
        "unbuffered writes",
        "w60000",
        &["unbuffered-output", "small-file-io", "kernel-bound"],
    ),
    (
        "unbuffered reads",
        "r150000",
        &["unbuffered-input", "small-file-io", "kernel-bound"],
    ),
    ("fsync", "f200", &["sync-writes", "waiting-for-disk"]),
    (
        "missing files",
        "m100000",
        &["missing-file-lookups", "kernel-bound"],
    ),
    ("pauses", "z12", &["sleeping"]),
];
/// Longer work of another thread, which puts a cause off the critical path: computation, pauses or reads, a
/// child, and a combination of two.
const LONGER: [&str; 4] = ["s250", "z60", "x300", "s120,x150"];
/// The same for causes that are pauses. Other pauses are excluded, because they would be a true cause
/// themselves.
const LONGER_THAN_PAUSES: [&str; 4] = ["s250", "r2000000", "x300", "s120,x150"];
/// With a cause beside the critical path, a program takes at most this much of its time without.
const MOST_COST: f64 = 1.1;
/// The minimum share of the causes off the path that must be refuted or must not be reported.
const ASKED_BESIDE: f64 = 0.95;

/// Measures everything.
///
/// # Errors
/// If a program can't be built, or `fathom` fails.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir_in(tools.scratch_folder()).map_err(|e| e.to_string())?;
    let program = compile("subjects/paths.c", &["-pthread"], tools.scratch_folder())?;
    let mut paths = Paths {
        fathom: &tools.fathom,
        rounds: ROUNDS,
        goes_first: output(Command::new("chrt").args(["-r", "2", "true"])).is_ok(),
        program,
        folder: folder.path(),
        quick: options.quick,
    };
    paths.rounds = (ROUNDS as f64 * 0.1 / paths.takes(&["s100"])?) as u64;
    let mut tables = vec![slopes(&paths)?, alike(&paths)?, planted(&paths)?];
    tables.extend(corpus(tools, options)?);
    Ok(tables)
}

/// The program with known critical paths.
struct Paths<'a> {
    fathom: &'a Path,
    program: PathBuf,
    folder: &'a Path,
    /// The number of iterations that take a millisecond.
    rounds: u64,
    /// Whether real-time priority may be used.
    goes_first: bool,
    quick: bool,
}

impl Paths<'_> {
    /// Returns the words before a command. If real-time priorities are allowed, other programs don't take the
    /// CPUs away, and the program doesn't take them from Fathom.
    fn before(&self, priority: &'static str) -> Vec<&'static OsStr> {
        match self.goes_first {
            true => ["chrt", "-r", priority].map(OsStr::new).to_vec(),
            false => Vec::new(),
        }
    }

    /// Returns the seconds that these phases take with the priority of the measurements: the fastest of seven
    /// runs.
    fn takes(&self, phases: &[&str]) -> Result<f64> {
        let rounds = self.rounds.to_string();
        let mut line: Vec<&OsStr> = self.before("1");
        line.push(self.program.as_os_str());
        let mut fastest = f64::INFINITY;
        for _ in 0..7 {
            let mut command = Command::new(line[0]);
            command.args(&line[1..]).arg(self.folder).arg(&rounds);
            let began = Instant::now();
            output(command.args(phases))?;
            fastest = fastest.min(began.elapsed().as_secs_f64());
        }
        Ok(fastest)
    }

    /// Runs `fathom` on these phases, and returns its JSON.
    fn ask(&self, words: &[&str], phases: &[&str]) -> Result<Vec<u8>> {
        let rounds = self.rounds.to_string();
        let mut line: Vec<&OsStr> = self.before("2");
        line.push(self.fathom.as_os_str());
        line.extend(words.iter().map(OsStr::new));
        line.extend(["--json", "-", "--"].map(OsStr::new));
        line.extend(self.before("1"));
        let mut command = Command::new(line[0]);
        command
            .args(&line[1..])
            .arg(&self.program)
            .arg(self.folder)
            .arg(&rounds)
            .args(phases);
        output(&mut command)
    }

    fn bench(&self, words: &[&str], phases: &[&str]) -> Result<BenchRecord> {
        let said = self.ask(&[&["bench"], words].concat(), phases)?;
        serde_json::from_slice(&said).map_err(|e| e.to_string())
    }

    fn why(&self, words: &[&str], phases: &[&str]) -> Result<Explanation> {
        let said = self.ask(&[&["why"], words].concat(), phases)?;
        serde_json::from_slice(&said).map_err(|e| e.to_string())
    }
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        )),
    }
}

fn slopes(paths: &Paths<'_>) -> Result<Table> {
    let mut table = Table::new(
        "Prove: how much of a delay comes out, by construction and by fathom bench --try",
        &["program", "delayed", "truth", "slope", "interval", "result"],
    );
    let time = if paths.quick { "5s" } else { "10s" };
    let mut near = 0;
    for toy in &TOYS {
        let delayed = format!("slope:{}", toy.delayed);
        let record = paths.bench(&["--try", &delayed, "--time", time], toy.phases)?;
        let slope = record.outcome.and_then(|outcome| outcome.slope);
        let slope = slope.ok_or_else(|| format!("{}: there is no slope", toy.name))?;
        let reached = (slope.value - toy.truth).abs() <= NEAR;
        near += usize::from(reached);
        table.row([
            toy.name.to_string(),
            toy.delayed.to_string(),
            format!("{:.2}", toy.truth),
            format!("{:.2}", slope.value),
            format!("{:.2} to {:.2}", slope.low, slope.high),
            result(reached),
        ]);
    }
    table.note(format!(
        "Asked: within {NEAR} of the truth; reached by {near} of {}.",
        TOYS.len()
    ));
    Ok(table)
}

fn alike(paths: &Paths<'_>) -> Result<Table> {
    let mut table = Table::new(
        "Prove: claims of fathom bench --try nothing",
        &[
            "comparisons",
            "called faster",
            "called slower",
            "asked",
            "result",
        ],
    );
    let comparisons = if paths.quick { 8 } else { COMPARISONS };
    let (mut faster, mut slower) = (0, 0);
    for at in 0..comparisons {
        let record = paths.bench(
            &["--try", "nothing", "--time", "4s"],
            ALIKE[at % ALIKE.len()],
        )?;
        for comparison in record
            .outcome
            .iter()
            .flat_map(|outcome| &outcome.comparisons)
        {
            faster += usize::from(comparison.verdict == Verdict::Faster);
            slower += usize::from(comparison.verdict == Verdict::Slower);
        }
    }
    table.row([
        comparisons.to_string(),
        faster.to_string(),
        slower.to_string(),
        format!("at most {MOST_CLAIMS} of {COMPARISONS}"),
        result(faster + slower <= MOST_CLAIMS),
    ]);
    Ok(table)
}

/// The verdict on a planted cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    Proved,
    Refuted,
    Else,
}

fn said_of(paths: &Paths<'_>, ids: &[&str], phases: &[&str]) -> Result<Said> {
    let time = if paths.quick { "10s" } else { "20s" };
    let explained = paths.why(&["--prove=all", "--time", time, "--runs", "5"], phases)?;
    let about = |id: &str| ids.contains(&id);
    let findings = explained.findings.iter();
    let mut said = Said::Nothing;
    for finding in findings.filter(|finding| about(finding.id.as_str())) {
        let verdict = finding.proof.as_ref().map(|proof| proof.verdict);
        said = match (verdict, said) {
            (Some(ProofVerdict::Proved), _) | (_, Said::Proved) => Said::Proved,
            (Some(ProofVerdict::Refuted), Said::Nothing | Said::Refuted) => Said::Refuted,
            _ => Said::Else,
        };
    }
    Ok(said)
}

fn planted(paths: &Paths<'_>) -> Result<Table> {
    let mut table = Table::new(
        "Prove: causes planted beside the critical path, and on it",
        &[
            "where",
            "programs",
            "not reported",
            "refuted",
            "proved",
            "else",
            "asked",
            "result",
        ],
    );
    let mut beside = Vec::new();
    let mut on_it = Vec::new();
    let mut left_out = 0;
    for (name, work, ids) in CAUSES {
        let longer = match name {
            "pauses" => LONGER_THAN_PAUSES,
            _ => LONGER,
        };
        let parts = if paths.quick { 1 } else { longer.len() };
        for longer in &longer[..parts] {
            let together = format!("{longer}+{work}");
            if paths.takes(&[&together])? > MOST_COST * paths.takes(&[longer])? {
                eprintln!("{name} beside {longer}: not beside, it takes longer with both");
                left_out += 1;
                continue;
            }
            let said = said_of(paths, ids, &[&together])?;
            eprintln!("{name} beside {longer}: {said:?}");
            beside.push(said);
        }
        for phases in [
            vec![format!("{work}+s20")],
            vec!["s20+-".to_owned(), format!("-+{work}")],
        ] {
            let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
            let said = said_of(paths, ids, &phases)?;
            eprintln!("{name} on the path: {said:?}");
            on_it.push(said);
        }
    }
    let count = |all: &[Said], one| all.iter().filter(|said| **said == one).count();
    let told_right = count(&beside, Said::Nothing) + count(&beside, Said::Refuted);
    let is_right = told_right as f64 >= ASKED_BESIDE * beside.len() as f64;
    for (place, all, asked, reached) in [
        (
            "beside",
            &beside,
            "19 of 20 not reported or refuted",
            is_right && left_out == 0,
        ),
        (
            "on it",
            &on_it,
            "none refuted",
            count(&on_it, Said::Refuted) == 0,
        ),
    ] {
        let of = |one| count(all, one).to_string();
        table.row([
            place.to_string(),
            all.len().to_string(),
            of(Said::Nothing),
            of(Said::Refuted),
            of(Said::Proved),
            of(Said::Else),
            asked.to_string(),
            result(reached),
        ]);
    }
    if left_out > 0 {
        table.note(format!(
            "Left out: {left_out} more programs, in which the cause lies on the critical path on this machine."
        ));
    }
    Ok(table)
}

/// Runs `corpus/why.py` in a folder with the corpus, which the script builds if necessary.
fn corpus(tools: &Tools, options: &Options) -> Result<[Table; 2]> {
    let mut kinds = Table::new(
        "Prove: by finding; medians of what is saved, as parts of the program's time",
        &[
            "finding",
            "programs",
            "proved by an intervention",
            "by a slope",
            "refuted",
            "predicted",
            "proved",
            "the twin saves",
        ],
    );
    let mut table = Table::new(
        "Prove: the programs of the corpus",
        &["question", "programs", "asked", "result"],
    );
    let Some(folder) = std::env::var_os("CORPUS") else {
        table
            .row(["$CORPUS names no folder to build it in", "", "", "not here"].map(str::to_owned));
        return Ok([table, kinds]);
    };
    let python = in_path("python3").ok_or("there is no python3 in PATH")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/why.py");
    let part = if options.quick { "1/24" } else { "1/1" };
    let mut command = Command::new(python);
    command
        .arg(script)
        .arg(folder)
        .arg("--fathom")
        .arg(&tools.fathom)
        .args(["--prove", "20s", "--part", part]);
    // The script also fails if a cause is missed, which isn't checked here.
    let done = command.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&done.stdout);
    for line in said.lines() {
        if let Some(line) = line.strip_prefix("prove: ") {
            table.row(cells::<4>(line));
        } else if let Some(line) = line.strip_prefix("kind: ") {
            kinds.row(cells::<8>(line));
        }
    }
    Ok([table, kinds])
}

fn cells<const COUNT: usize>(line: &str) -> [String; COUNT] {
    let mut cells = line.split("; ");
    [(); COUNT].map(|()| cells.next().unwrap_or_default().to_owned())
}
