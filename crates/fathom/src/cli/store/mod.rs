//! `fathom store`: shows the records, their labels and sizes, and moves them.

mod arguments;
mod list;

use std::path::Path;

pub(super) use arguments::Arguments;
use arguments::Verb;
use fathom_conduct::stores;
use fathom_model::quantity::counted;
use fathom_report as report;
use fathom_store::{Head, Loaded, Prune, Selector, Store, date};

use crate::cli::failure::Failure;
use crate::cli::out::say;
use crate::cli::{screen, write};

/// Maximum number of records that a list shows.
const LISTED: usize = 20;

/// Runs the subcommand and reports the result. Returns the exit code.
///
/// # Errors
/// If the store can't be used, or lacks what was requested.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let asked = arguments.store.as_deref();
    let open = || stores::open(asked, &here);
    let said = match &arguments.verb {
        Verb::Info { json } => return info(&mut open()?, json.as_deref()),
        Verb::List { label } => listed(&mut open()?, label.as_deref())?,
        Verb::Tag {
            record,
            label,
            remove,
        } => {
            let (found, changed) = stores::tag(&mut open()?, &here, record, label, *remove)?;
            tagged(&found, changed, label, *remove)
        }
        Verb::Rename { old, new } => {
            let renamed = open()?.rename(old, new)?;
            format!(
                "{} of {} now belong to {}; later measurements under the old name are also added to the new one",
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
            let found = stores::prune(&mut open()?, &which, *yes)?;
            pruned(&found, *yes)
        }
        Verb::Bundle { file, records } => {
            let count = stores::bundle(&mut open()?, &here, records, file)?;
            format!(
                "{} in {}; to load the file elsewhere: fathom store load FILE",
                counted_records(count),
                report::escape(&file.display().to_string())
            )
        }
        Verb::Load { files } => {
            let (store, loaded) = stores::load(asked, &here, files)?;
            self::loaded(&store, &loaded)
        }
    };
    write::print(&format!("{said}\n"))?;
    Ok(0)
}

/// Lists the records, or those with a label.
fn listed(store: &mut Store, label: Option<&str>) -> Result<String, Failure> {
    let which = label.map_or(Selector::All, |label| Selector::Label(label.to_owned()));
    let found = store.records(&which)?;
    Ok(match (found.is_empty(), label) {
        (false, _) => list::lines(&found, screen::stdout_width())
            .trim_end()
            .to_owned(),
        (true, None) => "no record is stored yet".to_owned(),
        (true, Some(label)) => format!("no record is named {}", report::escape(label)),
    })
}

/// Reports which records got or lost a label.
fn tagged(found: &[Head], changed: usize, label: &str, remove: bool) -> String {
    let what = match (remove, changed) {
        (true, 0) => "are not called",
        (false, 0) => "are already called",
        (true, _) => "no longer called",
        (false, _) => "now called",
    };
    let count = counted_records(if changed == 0 { found.len() } else { changed });
    format!(
        "{}{count} {what} {}",
        list::lines(found, screen::stdout_width()),
        report::escape(label)
    )
}

/// Reports what was loaded from bundles.
fn loaded(store: &str, loaded: &Loaded) -> String {
    for (old, new) in &loaded.not_renamed {
        say!(
            "warning: {} was not renamed to {} here: one record contains benchmarks with both names",
            report::escape(old),
            report::escape(new)
        );
    }
    format!(
        "{} new in {}, {} already there",
        counted_records(loaded.new),
        report::escape(store),
        loaded.known
    )
}

fn info(store: &mut Store, json: Option<&Path>) -> Result<i32, Failure> {
    let record = stores::info(store)?;
    write::results(
        || report::store_terminal(&record, &screen::of_stdout(false)),
        &[(json, &|| report::json(&record))],
    )?;
    Ok(0)
}

fn time_of(text: &str) -> Result<i64, Failure> {
    stores::before(text, date::now()).ok_or_else(|| {
        Failure::Usage(format!(
            "--before {text:?} is not a date or an age; write 2026-11-25, 90d, 12w or 1y"
        ))
    })
}

fn counted_records(count: usize) -> String {
    counted(count as u64, "record", "records")
}

fn pruned(found: &[Head], done: bool) -> String {
    if found.is_empty() {
        return "no record matches; labelled records are kept unless --labelled is given"
            .to_owned();
    }
    let listed = &found[..found.len().min(LISTED)];
    let mut text = list::lines(listed, screen::stdout_width());
    if found.len() > LISTED {
        text.push_str(&format!("and {} more\n", found.len() - LISTED));
    }
    let count = counted_records(found.len());
    text + &match done {
        true => format!("the runs of {count} were deleted; their figures stay in the history"),
        false => {
            format!("{count} would lose their runs, but not their figures; confirm with --yes")
        }
    }
}
