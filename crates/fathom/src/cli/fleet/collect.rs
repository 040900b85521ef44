//! Handles finished jobs: prints their output, writes their records, and saves these, each only once.

use std::path::PathBuf;

use fathom_conduct::{ConductError, fleet, stores};
use fathom_fleet::{Attempt, Group, Part, Progress, RECORD};
use fathom_model::LeftOut;
use fathom_report::escape;

use crate::cli::failure::{Failure, UNTRUSTED};
use crate::cli::out::{say, say_lines};
use crate::cli::saving::shown;
use crate::cli::{gate, gate_of, write};

/// Exit code after an interrupt by the user.
const INTERRUPTED: i32 = 130;

/// Returns the title of a job for display.
pub(super) fn title(group: &Group, job: usize) -> String {
    let part = &group.asked.jobs[job];
    let mut title = group.asked.engine.name.clone();
    let words = [
        group.id(job),
        part.part.as_deref(),
        part.constraint.as_deref(),
    ];
    for word in words.into_iter().flatten() {
        title.push(' ');
        title += word;
    }
    title
}

/// Writes and saves the results of all jobs of a group, and shows them if `prints` is set. Returns the most
/// severe exit code. A failed job doesn't prevent the others from being saved.
///
/// # Errors
/// If something can't be written or saved. The group then stays as it is, and can be collected again.
pub(super) fn all(group: &Group, progress: &[Progress], prints: bool) -> Result<i32, Failure> {
    let json = group.asked.json.as_deref();
    let json = json.filter(|path| prints || !write::is_stdout(path));
    let prints = prints && !json.is_some_and(write::is_stdout);
    // A gate that is spread over several jobs is evaluated once all of them have finished.
    let is_spread = group.asked.jobs.iter().all(|job| job.part.is_some());
    let mut suite = gate_of(&group.asked.arguments).filter(|_| is_spread);
    let several = progress.len() > 1 && suite.is_none() && prints;
    let (mut gravest, mut records, mut ended) = (0, Vec::new(), Vec::new());
    for (job, progress) in progress.iter().enumerate() {
        let title = escape(&title(group, job));
        let code = match progress {
            Progress::Ended(attempt) => {
                if several {
                    write::print(&format!("{title}, node {}\n", escape(&attempt.run.node)))?;
                }
                let record = one(group, attempt, prints && suite.is_none())?;
                copy_files(group, job, attempt)?;
                say!(
                    "{title} was measured on {}, attempt {}",
                    escape(&attempt.run.node),
                    attempt.run.attempts
                );
                let is_judged = suite.is_some() && record.is_some();
                records.push(record.ok_or("it failed"));
                match is_judged {
                    true => 0,
                    false => attempt.exit,
                }
            }
            Progress::GivenUp(why) => {
                say!("error: {title}: {}", escape(why));
                records.push(Err("its job was abandoned"));
                UNTRUSTED
            }
            _ => {
                ended.push(title);
                records.push(Err("its job was cancelled"));
                INTERRUPTED
            }
        };
        gravest = gravest.max(code);
    }
    match &ended[..] {
        [] => {}
        [title] => say!("{title} was ended"),
        [title, more @ ..] => say!("{title} and {} more were cancelled", more.len()),
    }
    let records = match &mut suite {
        Some(arguments) => judged(group, arguments, records, prints, &mut gravest)?,
        None => records.into_iter().flatten().collect(),
    };
    if let Some(json) = json
        && !records.is_empty()
    {
        write::export(json, joined(records))?;
    }
    group.collected().map_err(ConductError::from)?;
    Ok(gravest)
}

/// Merges the records of a gate's benchmarks into one record for each kind of machine, and shows it if
/// `prints` is set.
fn judged(
    group: &Group,
    arguments: &mut gate::Arguments,
    records: Vec<Result<String, &str>>,
    prints: bool,
    gravest: &mut i32,
) -> Result<Vec<String>, Failure> {
    let mut records = records.into_iter().zip(0..);
    let kinds = group
        .asked
        .jobs
        .chunk_by(|one, other| one.constraint == other.constraint);
    let several = kinds.clone().count() > 1;
    let mut all = Vec::new();
    for kind in kinds {
        let (mut parts, mut lost, mut first) = (Vec::new(), Vec::new(), 0);
        for (part, (record, job)) in kind.iter().zip(records.by_ref()) {
            first = job;
            let name = part.part.clone().unwrap_or_default();
            match record {
                Ok(text) => parts.push(
                    serde_json::from_str(&text)
                        .map_err(|error| Failure::Failed(error.to_string()))?,
                ),
                Err(why) => lost.push(LeftOut {
                    name,
                    reason: why.to_owned(),
                }),
            }
        }
        let Some(record) = fathom_conduct::gate::joined(parts, lost) else {
            continue;
        };
        arguments.place_forms(named(group, first));
        if let Some(constraint) = kind[0].constraint.as_deref().filter(|_| several && prints) {
            write::print(&format!("{}\n", escape(constraint)))?;
        }
        *gravest = (*gravest).max(gate::collected(arguments, &record, prints)?);
        all.push(fathom_report::json(&record).trim_end().to_owned());
    }
    Ok(all)
}

/// Returns the requested files. If several jobs write them, each job's file names contain what distinguishes
/// the job.
fn named(group: &Group, job: usize) -> impl Iterator<Item = Option<PathBuf>> {
    let asked = &group.asked;
    let differs = |of: fn(&Part) -> Option<&str>| {
        let own = of(&asked.jobs[job]);
        own.filter(|_| asked.jobs.iter().any(|other| of(other) != own))
    };
    let constraint = differs(|one| one.constraint.as_deref());
    // The benchmarks of a gate are evaluated together.
    let part = differs(|one| one.part.as_deref()).filter(|_| asked.arguments[0] != "gate");
    let part = part.map(|part| {
        part.trim_end_matches(".toml")
            .trim_end_matches("/experiment")
    });
    let mut apart = String::new();
    for word in [constraint, part].into_iter().flatten() {
        apart.push('-');
        apart.push_str(&word.replace(|one: char| !one.is_alphanumeric(), "-"));
    }
    let of_job = move |path: &PathBuf| {
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(&apart);
        if let Some(end) = path.extension() {
            name.push(".");
            name.push(end);
        }
        path.with_file_name(name)
    };
    asked
        .files
        .iter()
        .map(move |file| file.as_ref().map(&of_job))
}

/// Copies the files that a job wrote to the requested paths.
fn copy_files(group: &Group, job: usize, attempt: &Attempt) -> Result<(), Failure> {
    for (place, path) in named(group, job).enumerate() {
        let made = std::fs::read_to_string(fathom_fleet::file(&attempt.folder, place));
        if let (Some(path), Ok(text)) = (path, made) {
            write::export(&path, text)?;
        }
    }
    Ok(())
}

/// Returns a single record unchanged, and several records as a list.
fn joined(mut records: Vec<String>) -> String {
    match records.len() {
        1 => records.remove(0) + "\n",
        _ => format!("[\n{}\n]\n", records.join(",\n")),
    }
}

/// Saves the result of an attempt; returns its record, if it has one.
fn one(group: &Group, attempt: &Attempt, prints: bool) -> Result<Option<String>, Failure> {
    let text = |name: &str| std::fs::read_to_string(attempt.folder.join(name)).unwrap_or_default();
    let said = text("stderr");
    if !said.is_empty() {
        say_lines(&said);
    }
    let asked = &group.asked;
    if prints {
        write::print(&text("stdout"))?;
    }
    // The record is absent if the verb failed before writing one.
    let record = Some(text(RECORD).trim_end().to_owned()).filter(|text| !text.is_empty());
    if !asked.saves {
        return Ok(record);
    }
    let location = stores::place(asked.store.as_deref(), &asked.folder)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut waits = false;
    let saved = fleet::save(attempt, &location, |why| {
        if !std::mem::replace(&mut waits, true) {
            say!("the store is not responding; trying again: {}", escape(why));
        }
    });
    let saved = saved.inspect_err(|_| {
        say!("the record is still in the job's folder; `fathom jobs` collects it");
    })?;
    if let Some(saved) = saved.filter(|saved| saved.new > 0) {
        let count = fathom_model::quantity::counted(saved.new as u64, "record", "records");
        say!("{count} saved in {}", escape(&shown(&location)));
    }
    Ok(record)
}
