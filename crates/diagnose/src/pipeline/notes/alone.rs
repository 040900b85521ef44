//! Notes on how meaningful a stage's standalone time is, and on how to measure the stage correctly.

use fathom_model::quantity::format_bytes;
use fathom_model::{AloneRuns, InputFrom, PipeNote, PipeRecord, StagedInput};

use super::{like_timed, name, say, time};

/// The factor by which a standalone time must differ from the time in the pipeline. If it differs by more
/// than this factor, and also by more than the minimum duration, it reflects other work or other conditions.
const DIFFERS: f64 = 1.25;
const DIFFERS_SECONDS: f64 = 0.02;
/// The maximum length of a suggested command line; a longer one would not help the user.
const MOST_TYPED: usize = 100;

/// Returns notes for each stage on why it was not run alone, or on how its standalone time differs from that
/// in the pipeline.
pub(super) fn statements(record: &PipeRecord) -> Vec<PipeNote> {
    let mut all = Vec::new();
    for alone in &record.alone {
        all.extend(not_alone(record, alone));
        all.extend(reads_not(record, alone));
        all.extend(differs(record, alone.stage));
    }
    all
}

/// Returns how to measure the stage correctly; `None` if it would do other work when run alone.
pub(super) fn advice(record: &PipeRecord, stage: usize) -> Option<String> {
    let alone = record.alone.iter().find(|alone| alone.stage == stage);
    let skips = alone.is_some_and(|alone| reads_not(record, alone).is_some());
    if skips || Difference::of(record, stage).is_some() {
        return None;
    }
    if stage == 0 {
        return Some("Measure it alone with `fathom bench`.".to_owned());
    }
    let staged = record.staged.iter().find(|input| input.stage == stage);
    Some(match staged {
        Some(StagedInput {
            file: Some(file), ..
        }) => format!("Measure it with `fathom bench --input {file}`."),
        Some(StagedInput { not_kept: None, .. }) => {
            "Measure it with `fathom bench --input FILE`; --keep-staged DIR keeps the FILE."
                .to_owned()
        }
        _ => format!(
            "Save {} and measure the stage with `fathom bench --input FILE`.",
            match typed(record, stage) {
                Some(line) => format!("its input (`{line} > FILE`)"),
                None => format!("the output of {} in a FILE", name(record, stage - 1)),
            }
        ),
    })
}

/// Returns the command line of the stages before this one; `None` if a shell could parse it differently.
fn typed(record: &PipeRecord, stage: usize) -> Option<String> {
    let before = record.stages[..stage].iter();
    let mut commands: Vec<String> = before.map(|stage| stage.command.clone()).collect();
    if let InputFrom::File(path) = &record.conditions.input {
        commands[0].push_str(&format!(" < {path}"));
    }
    let line = commands.join(" | ");
    let plain = |c: char| c.is_alphanumeric() || " -_./=,:+@%'\"|<".contains(c);
    let fits = line.chars().count() <= MOST_TYPED;
    (record.conditions.shell.is_none() && fits && line.chars().all(plain)).then_some(line)
}

fn not_alone(record: &PipeRecord, alone: &AloneRuns) -> Option<PipeNote> {
    let why = alone.not_run.as_ref()?;
    let text = format!(
        "{} was not measured alone: {}.",
        name(record, alone.stage),
        why
    );
    Some(say("not_alone", Some(alone.stage), text))
}

/// Returns a note for a stage that reads a file differently from a pipe.
fn reads_not(record: &PipeRecord, alone: &AloneRuns) -> Option<PipeNote> {
    let staged: &StagedInput = record
        .staged
        .iter()
        .find(|input| input.stage == alone.stage)?;
    let read = alone.read_bytes?;
    // Below this size, the libraries that the stage loads outweigh its input.
    const SMALLEST: u64 = 1 << 20;
    let taken = record
        .observed()
        .and_then(|round| round.stages[alone.stage].bytes_in)
        .unwrap_or(staged.bytes_taken);
    if alone.not_run.is_some() || taken < SMALLEST || read >= taken / 2 {
        return None;
    }
    let text = format!(
        "Alone, {} read {} of its {}: a program can skip parts of a file, map it or ask for its size, but it must \
         read a pipe. Its time alone says little about its work in the pipeline.",
        name(record, alone.stage),
        format_bytes(read as f64),
        format_bytes(taken as f64),
    );
    Some(say("skips_file_input", Some(alone.stage), text))
}

/// Returns a note for a stage whose standalone time differs from its time in the pipeline.
fn differs(record: &PipeRecord, stage: usize) -> Option<PipeNote> {
    let found = Difference::of(record, stage)?;
    let mut text = format!(
        "Not counting waits for its neighbours, {} took {} in the pipeline, and alone {}{}: {}.",
        name(record, stage),
        time(found.here),
        if stage > 0 { "on the same input " } else { "" },
        time(found.alone),
        found.reason(stage),
    );
    if stage > 0 && found.cause == Cause::Work {
        text.push_str(" `fathom bench --input FILE` would measure it reading a file.");
    }
    Some(say("differs_alone", Some(stage), text))
}

/// What makes up the larger of the two times.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cause {
    /// It was ready to run but without a CPU, for this many seconds.
    NoCpu(f64),
    /// It was in waits that are neither for a neighbour nor for a CPU.
    Waits,
    /// It was running.
    Work,
}

/// A stage's time in the pipeline without waiting for its neighbours, and its time alone, in seconds.
struct Difference {
    here: f64,
    alone: f64,
    cause: Cause,
}

impl Difference {
    /// Returns `None` if the two times are similar, or if one of them is unknown.
    fn of(record: &PipeRecord, stage: usize) -> Option<Difference> {
        let summary = &record.summary.stages[stage];
        let run = &record.observed()?.stages[stage];
        let wall = summary.wall.value;
        // A stage that is ended by SIGPIPE does all of its work only when run alone.
        if summary.sigpipes > 0 || !like_timed(record, run, wall) {
            return None;
        }
        let part = |ns: Option<u64>| ns.unwrap_or(0) as f64 / run.wall_ns().max(1) as f64 * wall;
        // The cause of its waits may be unknown.
        let neighbours = part(Some(run.wait_input_ns?)) + part(Some(run.wait_output_ns?));
        let here = (wall - neighbours).max(0.0);
        let alone = summary.alone?.value;
        let (less, more) = (here.min(alone), here.max(alone));
        if more - less <= DIFFERS_SECONDS || more <= less * DIFFERS {
            return None;
        }
        let no_cpu = part(run.no_cpu_ns);
        let waits = part(run.other_wait_ns) - no_cpu;
        let runs = record.alone.iter().find(|alone| alone.stage == stage);
        let cpu = runs.map_or(0.0, |runs| middle(&runs.cpu_ns));
        let waits_alone = (alone - cpu).max(0.0);
        let sign = if here > alone { 1.0 } else { -1.0 };
        let half = (more - less) / 2.0;
        let cause = if sign * no_cpu >= half {
            Cause::NoCpu(no_cpu)
        } else if sign * (waits - waits_alone) >= half {
            Cause::Waits
        } else {
            Cause::Work
        };
        Some(Difference { here, alone, cause })
    }

    /// Returns the likely reason for the difference.
    fn reason(&self, stage: usize) -> String {
        let slower_here = self.here > self.alone;
        match self.cause {
            Cause::NoCpu(seconds) => format!(
                "in the pipeline it waited {} for a CPU; the machine has too few CPUs for the stages and the other \
                 programs",
                time(seconds)
            ),
            Cause::Waits if slower_here => {
                "in the pipeline it has waits that it does not have alone, such as in poll, select or epoll for a \
                 neighbour"
                    .to_owned()
            }
            Cause::Waits => "alone it has waits that it does not have in the pipeline".to_owned(),
            Cause::Work if stage == 0 && slower_here => {
                "probably because it shares CPUs and caches with the other stages".to_owned()
            }
            Cause::Work if stage == 0 => "the reason is unknown".to_owned(),
            Cause::Work if slower_here => {
                "it probably works differently on a file than on a pipe, or the stages that share its CPUs and \
                 caches slow it down"
                    .to_owned()
            }
            Cause::Work => "it probably works differently on a file than on a pipe".to_owned(),
        }
    }
}

/// Returns the median in seconds, the lower one for an even number of values.
fn middle(ns: &[u64]) -> f64 {
    let mut ns = ns.to_vec();
    ns.sort_unstable();
    let middle = ns.get(ns.len().saturating_sub(1) / 2);
    middle.map_or(0.0, |ns| *ns as f64 / 1e9)
}
