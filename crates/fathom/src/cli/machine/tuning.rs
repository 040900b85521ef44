//! `--fix` and `--restore`: change settings of the system, and restore them.

use std::path::Path;

use fathom_machine::tune::{self, Setting, TuneError};

use crate::cli::failure::{Failure, usage};
use crate::cli::write;

/// The file that stores the previous settings until they are restored. It survives a crash and a restart, and
/// only root can write to it.
const STATE: &str = "/var/lib/fathom/settings-before-fix.json";

/// Shows the changes, then makes them.
///
/// # Errors
/// If this process isn't root, if an earlier `--fix` was not restored yet, or if a setting can't be changed.
pub(super) fn fix() -> Result<i32, Failure> {
    let planned = tune::plan(Path::new("/"));
    if planned.is_empty() {
        let earlier = match Path::new(STATE).exists() {
            true => "; an earlier --fix changed some of them, and --restore puts them back",
            false => "",
        };
        let text = format!(
            "nothing to change: all settings that this system offers are as they should be{earlier}\n"
        );
        write::print(&text)?;
        return Ok(0);
    }
    write::print(&listing("to be changed:", &planned, false))?;
    needs_root("--fix")?;
    let state = Path::new(STATE);
    if let Some(folder) = state.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Failure::Write {
            path: folder.to_path_buf(),
            error,
        })?;
    }
    let done = tune::fix(Path::new("/"), state).map_err(refused)?;
    let text = format!(
        "{} changed; 'fathom machine --restore' puts them back\n",
        settings(done.len())
    );
    write::print(&text)?;
    Ok(0)
}

/// Restores all settings and shows them.
///
/// # Errors
/// If this process isn't root, if it is unknown whether there is anything to restore, or if a setting can't
/// be changed. The other settings are restored anyway.
pub(super) fn restore() -> Result<i32, Failure> {
    let is_there = Path::new(STATE).try_exists();
    let is_there = is_there.map_err(|error| {
        Failure::Usage(format!(
            "can't check whether there is something to restore: {STATE}: {error}; run this as root"
        ))
    })?;
    if !is_there {
        let text = format!(
            "nothing to restore: {STATE}, where --fix keeps the previous settings, does not exist; either nothing \
             was changed, or everything has been restored\n"
        );
        write::print(&text)?;
        return Ok(0);
    }
    needs_root("--restore")?;
    let done = tune::restore(Path::new("/"), Path::new(STATE)).map_err(refused)?;
    write::print(&listing("put back:", &done, true))?;
    Ok(0)
}

fn refused(error: TuneError) -> Failure {
    match error {
        TuneError::NotRestored(_) => Failure::Usage(
            "an earlier --fix is still in effect: run 'fathom machine --restore' first".into(),
        ),
        other => Failure::Untrusted(other.to_string()),
    }
}

fn needs_root(option: &str) -> Result<(), Failure> {
    // SAFETY: geteuid has no preconditions and can't fail.
    if unsafe { libc::geteuid() } == 0 {
        return Ok(());
    }
    usage(format!(
        "{option} changes system settings: run it as root, for example with sudo"
    ))
}

fn settings(count: usize) -> String {
    format!("{count} setting{}", if count == 1 { "" } else { "s" })
}

/// Formats one line for each setting and its change.
fn listing(title: &str, settings: &[Setting], back: bool) -> String {
    let mut text = format!("{title}\n");
    for setting in settings {
        let (from, to) = match back {
            false => (&setting.before, &setting.after),
            true => (&setting.after, &setting.before),
        };
        let path = fathom_report::escape(&format!("/{}", setting.path.display()));
        let (from, to) = (fathom_report::escape(from), fathom_report::escape(to));
        text.push_str(&format!("  {path}: {from} -> {to}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_in_the_direction_in_which_it_goes() {
        let setting = Setting {
            path: "sys/x".into(),
            before: "powersave".into(),
            after: "performance".into(),
        };
        let there = listing("to be changed:", std::slice::from_ref(&setting), false);
        assert_eq!(
            there,
            "to be changed:\n  /sys/x: powersave -> performance\n"
        );
        let back = listing("put back:", &[setting], true);
        assert_eq!(back, "put back:\n  /sys/x: performance -> powersave\n");
    }

    #[test]
    fn an_earlier_fix_must_be_put_back_first() {
        let failure = refused(TuneError::NotRestored("/x".into()));
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.to_string().contains("--restore"));
    }
}
