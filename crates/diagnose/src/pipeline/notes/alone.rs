//! What a stage's time alone is worth, and how the stage is measured rightly.

use fathom_model::quantity::format_bytes;
use fathom_model::{AloneRuns, InputFrom, PipeNote, PipeRecord, StagedInput};

use super::{like_timed, name, say, time};

/// A time alone that differs from that in the pipeline by more than this factor, and by more than
/// this time, is that of other work or of other conditions.
const DIFFERS: f64 = 1.25;
const DIFFERS_SECONDS: f64 = 0.02;
/// A longer line to type is no help.
const MOST_TYPED: usize = 100;

/// Of each stage: why it was not run alone, and where its time alone is another than in the
/// pipeline.
pub(super) fn statements(record: &PipeRecord) -> Vec<PipeNote> {
    let mut all = Vec::new();
    for alone in &record.alone {
        all.extend(not_alone(record, alone));
        all.extend(reads_not(record, alone));
        all.extend(differs(record, alone.stage));
    }
    all
}

/// How the stage is measured rightly; `None` where alone it would do other work.
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
            "Save {} and measure it with `fathom bench --input FILE`.",
            match typed(record, stage) {
                Some(line) => format!("its input (`{line} > FILE`)"),
                None => format!("what {} writes in a FILE", name(record, stage - 1)),
            }
        ),
    })
}

/// What to type for the stages before this one; `None` where a shell could read it in another way.
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

/// A stage that does not read a file as it reads a pipe.
fn reads_not(record: &PipeRecord, alone: &AloneRuns) -> Option<PipeNote> {
    let staged: &StagedInput = record
        .staged
        .iter()
        .find(|input| input.stage == alone.stage)?;
    let read = alone.read_bytes?;
    // Below that the libraries that it loads are more than its input.
    const SMALLEST: u64 = 1 << 20;
    let taken = record
        .observed()
        .and_then(|round| round.stages[alone.stage].bytes_in)
        .unwrap_or(staged.bytes_taken);
    if alone.not_run.is_some() || taken < SMALLEST || read >= taken / 2 {
        return None;
    }
    let text = format!(
        "Alone, {} read {} of its {}: from a file it can skip, map or ask for the size what it must read \
         from a pipe. Its time alone says little about its work in the pipeline.",
        name(record, alone.stage),
        format_bytes(read as f64),
        format_bytes(taken as f64),
    );
    Some(say("skips_file_input", Some(alone.stage), text))
}

/// A stage that takes another time alone than in the pipeline.
fn differs(record: &PipeRecord, stage: usize) -> Option<PipeNote> {
    let found = Difference::of(record, stage)?;
    let mut text = format!(
        "Without waiting for its neighbours, {} took {} in the pipeline, alone {}{}: {}.",
        name(record, stage),
        time(found.here),
        if stage > 0 { "on the same input " } else { "" },
        time(found.alone),
        found.reason(stage),
    );
    if stage > 0 && found.cause == Cause::Work {
        text.push_str(" `fathom bench --input FILE` would measure what it does with a file.");
    }
    Some(say("differs_alone", Some(stage), text))
}

/// What the larger of the two times is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cause {
    /// Ready to run, without a CPU; so long.
    NoCpu(f64),
    /// Waits that are neither for a neighbour nor for a CPU.
    Waits,
    /// Running.
    Work,
}

/// A stage in the pipeline, without waiting for its neighbours, and alone; seconds.
struct Difference {
    here: f64,
    alone: f64,
    cause: Cause,
}

impl Difference {
    /// `None` where the two are alike, or one is not known.
    fn of(record: &PipeRecord, stage: usize) -> Option<Difference> {
        let summary = &record.summary.stages[stage];
        let run = &record.observed()?.stages[stage];
        let wall = summary.wall.value;
        // One that SIGPIPE ends does all its work only alone.
        if summary.sigpipes > 0 || !like_timed(record, run, wall) {
            return None;
        }
        let part = |ns: Option<u64>| ns.unwrap_or(0) as f64 / run.wall_ns().max(1) as f64 * wall;
        // What it waited for may not be known.
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

    /// The likely one.
    fn reason(&self, stage: usize) -> String {
        let slower_here = self.here > self.alone;
        match self.cause {
            Cause::NoCpu(seconds) => format!(
                "in the pipeline it was waiting for a CPU for {}; the CPUs did not suffice for the stages and for \
                 what else runs here",
                time(seconds)
            ),
            Cause::Waits if slower_here => {
                "in the pipeline it has other waits that it does not have alone, such as those in poll, select \
                 or epoll for a neighbour"
                    .to_owned()
            }
            Cause::Waits => "alone it has other waits that it does not have in the pipeline".to_owned(),
            Cause::Work if stage == 0 && slower_here => {
                "likely because it shares CPUs and caches with the other stages".to_owned()
            }
            Cause::Work if stage == 0 => "why is not known".to_owned(),
            Cause::Work if slower_here => {
                "likely it works differently on a file than on a pipe, or is slower beside stages that share \
                 its CPUs and caches"
                    .to_owned()
            }
            Cause::Work => "likely it works differently on a file than on a pipe".to_owned(),
        }
    }
}

/// The median in seconds, of an even number the lower one.
fn middle(ns: &[u64]) -> f64 {
    let mut ns = ns.to_vec();
    ns.sort_unstable();
    let middle = ns.get(ns.len().saturating_sub(1) / 2);
    middle.map_or(0.0, |ns| *ns as f64 / 1e9)
}
