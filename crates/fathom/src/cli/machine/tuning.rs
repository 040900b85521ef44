//! `--fix` and `--restore`: settings of the system, and back again.

use std::path::Path;

use fathom_machine::tune::{self, Setting, TuneError};

use crate::cli::failure::{Failure, usage};
use crate::cli::write;

/// Where what was there before is kept until it is put back: a place that survives a crash and a
/// restart, and that only root writes to.
const STATE: &str = "/var/lib/fathom/settings-before-fix.json";

/// Shows what is to be changed, then changes it.
///
/// # Errors
/// Without root, when an earlier `--fix` was not put back yet, and when a setting refuses.
pub(super) fn fix() -> Result<i32, Failure> {
    let planned = tune::plan(Path::new("/"));
    if planned.is_empty() {
        let earlier = match Path::new(STATE).exists() {
            true => "; an earlier --fix changed it, and --restore puts it back",
            false => "",
        };
        let text = format!(
            "nothing to change: what this system offers to set is as it should be{earlier}\n"
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

/// Puts everything back and shows it.
///
/// # Errors
/// Without root, when it is not known whether there is something to put back, and when a setting
/// refuses; the others are put back all the same.
pub(super) fn restore() -> Result<i32, Failure> {
    let is_there = Path::new(STATE).try_exists();
    let is_there = is_there.map_err(|error| {
        Failure::Usage(format!(
            "can't see whether there is something to put back: {STATE}: {error}; run it as root"
        ))
    })?;
    if !is_there {
        let text = format!(
            "nothing to put back: --fix keeps what it changes in {STATE}, which is not there: \
             nothing was changed, or all was put back already\n"
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
            "an earlier --fix was not put back yet: run 'fathom machine --restore' first".into(),
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
        "{option} changes settings of the system: run it as root, such as with sudo"
    ))
}

fn settings(count: usize) -> String {
    format!("{count} setting{}", if count == 1 { "" } else { "s" })
}

/// One line a setting, as it changes.
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
