//! A note that the machine has changed since its profile was taken.
//!
//! All measurements that are compared are made now, so the result isn't affected, and the note is shown only
//! with --verbose.

use crate::cli::out::say;
use fathom_machine::remembered::Change;

/// Prints one line on standard error, if `verbose` is set.
pub(super) fn note(changes: &[Change], verbose: bool) {
    if verbose {
        say!("note: {}", sentence(changes));
    }
}

/// Formats all changes in one line.
fn sentence(changes: &[Change]) -> String {
    let moved: Vec<String> = changes
        .iter()
        .map(|change| {
            let figure = |value| fathom_report::machine_figure(value, &change.unit);
            let (before, now) = (figure(change.before), figure(change.now));
            format!("{} was {before} and is now {now}", change.title)
        })
        .collect();
    format!(
        "the machine has changed since 'fathom machine' measured it: {}; measure again with 'fathom machine --quick'",
        moved.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(title: &str, before: f64, now: f64) -> Change {
        Change {
            id: title.into(),
            title: title.into(),
            unit: "ns".into(),
            before,
            now,
        }
    }

    #[test]
    fn changes_are_reported_in_one_line_with_both_figures() {
        let changes = [
            change("load, memory", 118.0, 190.0),
            change("system call", 185.0, 411.0),
        ];
        assert_eq!(
            sentence(&changes),
            "the machine has changed since 'fathom machine' measured it: load, memory was 118 ns and is now 190 ns, system call was 185 ns and is now 411 ns; measure again with 'fathom machine --quick'"
        );
    }
}
