//! `fathom import`: reads results of other tools.

mod arguments;

pub(super) use arguments::Arguments;
use fathom_conduct::ImportPlan;
use fathom_conduct::import::Imports;
use fathom_conduct::keep::{KeepPlan, Keeper, Save};
use fathom_report as report;

use crate::cli::failure::{Failure, USAGE, usage};
use crate::cli::out::say;
use crate::cli::{saving, screen, write};

/// Reads and prints. Returns the exit code.
///
/// # Errors
/// A file that can't be read or written.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    check(arguments)?;
    let plan = ImportPlan {
        sources: arguments.sources.clone(),
        format: arguments.format.clone(),
        keep_going: arguments.keep_going,
    };
    let keeper = keeper(arguments)?;
    let imports = fathom_conduct::import(&plan, &mut std::io::stdin().lock())?;
    if let Some(keeper) = &keeper {
        save(keeper, &imports)?;
    }
    show(arguments, &imports)?;
    for refused in &imports.refused {
        let text = format!("{}: {}", refused.file, refused.why);
        say!("not imported: {}", report::escape(&text));
    }
    Ok(match imports.refused.is_empty() {
        true => 0,
        false => USAGE,
    })
}

fn check(arguments: &Arguments) -> Result<(), Failure> {
    let inputs = arguments
        .sources
        .iter()
        .filter(|source| write::is_stdout(source));
    if inputs.count() > 1 {
        return usage("standard input can be read only once: give '-' once");
    }
    if let Some(name) = &arguments.format
        && !fathom_exchange::names().contains(&name.as_str())
    {
        let names = fathom_exchange::names().join(", ");
        return usage(format!("unknown format {name:?}; the formats are {names}"));
    }
    write::check(&[&arguments.json])
}

/// Returns the keeper that saves the records; `None` unless saving is requested.
fn keeper(arguments: &Arguments) -> Result<Option<Keeper>, Failure> {
    let plan = KeepPlan {
        save: match is_saved(arguments) {
            true => Save::Always,
            false => Save::Never,
        },
        store: arguments.store.clone(),
        labels: arguments.label.clone(),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let keeper = plan.keeper(&here);
    keeper.map_err(|error| Failure::Usage(error.to_string()))
}

fn is_saved(arguments: &Arguments) -> bool {
    arguments.save || arguments.store.is_some() || !arguments.label.is_empty()
}

/// Saves all records or none; the files remain available for another attempt.
fn save(keeper: &Keeper, imports: &Imports) -> Result<(), Failure> {
    let saved = keeper.keep_all(&imports.records);
    let ids = saved.map_err(|error| Failure::Usage(format!("not saved: {error}")))?;
    let own = imports
        .records
        .iter()
        .filter(|record| record.revision.is_some());
    if own.count() < ids.len() {
        for note in keeper.notes() {
            say!("note: {}", report::escape(note));
        }
    }
    let store = report::escape(&saving::shown(keeper.location()));
    match ids.as_slice() {
        [id] => say!("saved as {} in {store}", &id[..12]),
        several => say!("{} records saved in {store}", several.len()),
    }
    Ok(())
}

fn show(arguments: &Arguments, imports: &Imports) -> Result<(), Failure> {
    let options = report::ImportOptions {
        screen: screen::of_stdout(arguments.verbose),
        saved: is_saved(arguments),
        of_no_format: imports.of_no_format,
    };
    write::results(
        || report::import_terminal(&imports.records, &options),
        &[(arguments.json.as_deref(), &|| {
            report::json(&imports.records)
        })],
    )
}
