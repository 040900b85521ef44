//! Jobs that have ended: what they printed is shown, their records are written and saved, once.

use fathom_conduct::{ConductError, fleet, stores};
use fathom_fleet::{Attempt, Group, Progress, RECORD};
use fathom_report::escape;

use crate::cli::failure::{Failure, UNTRUSTED};
use crate::cli::out::{say, say_lines};
use crate::cli::saving::shown;
use crate::cli::{gate, gate_of, write};

/// Exit code of what the user ended.
const INTERRUPTED: i32 = 130;

/// A job for people.
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

/// Shows, writes and saves what all jobs of a group have; yields the gravest exit code. A job that failed
/// keeps no other from being saved.
///
/// # Errors
/// What can't be written or saved: the group then stays as it is, and can be collected again.
pub(super) fn all(group: &Group, progress: &[Progress]) -> Result<i32, Failure> {
    // A gate that was spread is judged when all of it is there.
    let is_spread = group.asked.jobs.iter().all(|job| job.part.is_some());
    let suite = gate_of(&group.asked.arguments).filter(|_| is_spread);
    let several = progress.len() > 1 && suite.is_none();
    let (mut gravest, mut records, mut ended) = (0, Vec::new(), Vec::new());
    for (job, progress) in progress.iter().enumerate() {
        let title = escape(&title(group, job));
        let code = match progress {
            Progress::Ended(attempt) => {
                if several {
                    write::print(&format!("{title}, node {}\n", escape(&attempt.run.node)))?;
                }
                let record = one(group, attempt, suite.is_none())?;
                say!(
                    "{title} was measured on {}, attempt {}",
                    escape(&attempt.run.node),
                    attempt.run.attempts
                );
                let is_judged = suite.is_some() && record.is_some();
                records.push(record);
                match is_judged {
                    true => 0,
                    false => attempt.exit,
                }
            }
            Progress::GivenUp(why) => {
                say!("error: {title}: {}", escape(why));
                records.push(None);
                UNTRUSTED
            }
            _ => {
                ended.push(title);
                records.push(None);
                INTERRUPTED
            }
        };
        gravest = gravest.max(code);
    }
    match &ended[..] {
        [] => {}
        [title] => say!("{title} was ended"),
        [title, more @ ..] => say!("{title} and {} more were ended", more.len()),
    }
    if let Some(arguments) = &suite {
        records = judged(group, arguments, records, &mut gravest)?;
    }
    let records: Vec<String> = records.into_iter().flatten().collect();
    if let Some(json) = &group.asked.json
        && !records.is_empty()
    {
        write::export(json, joined(records))?;
    }
    group.collected().map_err(ConductError::from)?;
    Ok(gravest)
}

/// One record for each kind of machine in place of those of its benchmarks, shown.
fn judged(
    group: &Group,
    arguments: &gate::Arguments,
    records: Vec<Option<String>>,
    gravest: &mut i32,
) -> Result<Vec<Option<String>>, Failure> {
    let prints = !group.asked.json.as_deref().is_some_and(write::is_stdout);
    let mut records = records.into_iter();
    let kinds = group
        .asked
        .jobs
        .chunk_by(|one, other| one.constraint == other.constraint);
    let several = kinds.clone().count() > 1;
    let mut all = Vec::new();
    for kind in kinds {
        let parts = records.by_ref().take(kind.len()).flatten();
        let parts = parts.map(|text| serde_json::from_str(&text));
        let parts = parts.collect::<Result<Vec<_>, _>>();
        let parts = parts.map_err(|error| Failure::Failed(error.to_string()))?;
        let Some(record) = fathom_conduct::gate::joined(parts) else {
            continue;
        };
        if let Some(constraint) = kind[0].constraint.as_deref().filter(|_| several && prints) {
            write::print(&format!("{}\n", escape(constraint)))?;
        }
        *gravest = (*gravest).max(gate::collected(arguments, &record, prints)?);
        all.push(Some(fathom_report::json(&record)));
    }
    Ok(all)
}

/// One record as it is; of several a list.
fn joined(mut records: Vec<String>) -> String {
    match records.len() {
        1 => records.remove(0) + "\n",
        _ => format!("[\n{}\n]\n", records.join(",\n")),
    }
}

/// Saves what an attempt has; yields its record, if there is one.
fn one(group: &Group, attempt: &Attempt, prints: bool) -> Result<Option<String>, Failure> {
    let text = |name: &str| std::fs::read_to_string(attempt.folder.join(name)).unwrap_or_default();
    let said = text("stderr");
    if !said.is_empty() {
        say_lines(&said);
    }
    let asked = &group.asked;
    if prints && !asked.json.as_deref().is_some_and(write::is_stdout) {
        write::print(&text("stdout"))?;
    }
    // Absent where the verb failed before it had one.
    let record = Some(text(RECORD).trim_end().to_owned()).filter(|text| !text.is_empty());
    if !asked.saves {
        return Ok(record);
    }
    let location = stores::place(asked.store.as_deref(), &asked.folder)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut waits = false;
    let saved = fleet::save(attempt, &location, |why| {
        if !std::mem::replace(&mut waits, true) {
            say!(
                "the store doesn't answer and is asked again: {}",
                escape(why)
            );
        }
    });
    let saved = saved.inspect_err(|_| {
        say!("the job's folder keeps its record: fathom jobs collects it");
    })?;
    if let Some(saved) = saved.filter(|saved| saved.new > 0) {
        let count = fathom_model::quantity::counted(saved.new as u64, "record", "records");
        say!("{count} saved in {}", escape(&shown(&location)));
    }
    Ok(record)
}
