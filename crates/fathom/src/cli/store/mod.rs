//! `fathom store`: what is kept, its names, its size, and moving it.

mod arguments;

use std::path::Path;

pub(super) use arguments::Arguments;
use arguments::Verb;
use fathom_conduct::{ConductError, stores};
use fathom_model::quantity::counted;
use fathom_report as report;
use fathom_store::{Head, Prune, date};

use crate::cli::failure::Failure;
use crate::cli::{screen, write};

/// Records that a list shows.
const LISTED: usize = 20;

/// Does it and says what was done. Returns the exit code.
///
/// # Errors
/// When the store can't be used, or lacks what was asked for.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let asked = arguments.store.as_deref();
    let open = || stores::open(asked, &here).map_err(ConductError::from);
    let said = match &arguments.verb {
        Verb::Info { json } => return info(&mut open()?, json.as_deref()),
        Verb::Tag {
            record,
            label,
            remove,
        } => {
            let changed = stores::tag(&mut open()?, &here, record, label, *remove);
            let changed = counted_records(changed.map_err(ConductError::from)?);
            let what = if *remove {
                "no longer called"
            } else {
                "now called"
            };
            format!("{changed} {what} {}", report::escape(label))
        }
        Verb::Rename { old, new } => {
            let renamed = open()?.rename(old, new).map_err(ConductError::from)?;
            format!(
                "{} of {} now belong to {}; what is measured under the old name joins them",
                counted(renamed as u64, "series", "series"),
                report::escape(old),
                report::escape(new)
            )
        }
        Verb::Prune {
            before,
            keep,
            labelled,
            yes,
        } => {
            let which = Prune {
                before: before.as_deref().map(time_of).transpose()?,
                keep: *keep,
                labelled: *labelled,
            };
            let found = stores::prune(&mut open()?, &which, *yes).map_err(ConductError::from)?;
            pruned(&found, *yes)
        }
        Verb::Bundle { file, records } => {
            let count = stores::bundle(&mut open()?, &here, records, file)?;
            format!(
                "{} in {}; elsewhere: fathom store load FILE",
                counted_records(count),
                report::escape(&file.display().to_string())
            )
        }
        Verb::Load { files } => {
            let (store, loaded) = stores::load(asked, &here, files).map_err(ConductError::from)?;
            for (old, new) in &loaded.not_renamed {
                anstream::eprintln!(
                    "warning: {} is not renamed to {} here: both are benchmarks of one record",
                    report::escape(old),
                    report::escape(new)
                );
            }
            format!(
                "{} new in {}, {} there already",
                counted_records(loaded.new),
                report::escape(&store),
                loaded.known
            )
        }
    };
    write::print(format!("{said}\n").as_bytes())?;
    Ok(0)
}

fn info(store: &mut fathom_store::Store, json: Option<&Path>) -> Result<i32, Failure> {
    let record = stores::info(store).map_err(ConductError::from)?;
    if let Some(path) = json {
        write::export(path, report::store_json(&record))?;
    }
    if !json.is_some_and(write::is_stdout) {
        let text = report::store_terminal(&record, screen::stdout_width());
        write::print(text.as_bytes())?;
    }
    Ok(0)
}

fn time_of(text: &str) -> Result<i64, Failure> {
    stores::before(text, date::now()).ok_or_else(|| {
        Failure::Usage(format!(
            "--before {text:?} is no date and no age; write 2026-11-25, 90d, 12w or 1y"
        ))
    })
}

fn counted_records(count: usize) -> String {
    counted(count as u64, "record", "records")
}

fn pruned(found: &[Head], done: bool) -> String {
    if found.is_empty() {
        return "no record fits; records with a label are kept without --labelled".to_owned();
    }
    let mut text = String::new();
    for head in found.iter().take(LISTED) {
        text.push_str(&format!(
            "{}  {}  {}\n",
            &head.id[..12],
            &date::text(head.time)[..10],
            report::shorten(&report::escape(&head.command), 50)
        ));
    }
    if found.len() > LISTED {
        text.push_str(&format!("and {} more\n", found.len() - LISTED));
    }
    let count = counted_records(found.len());
    text + &match done {
        true => format!("the runs of {count} are gone; their figures stay in the history"),
        false => format!("{count} would lose their runs, not their figures; do it with --yes"),
    }
}
