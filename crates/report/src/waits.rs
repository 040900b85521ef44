//! How busy the machine was with other work, in the same words for every verb.

use fathom_model::CpuWaits;

use crate::quantity::{counted, format_count, format_share};

/// Returns the label for runs that waited for a CPU.
pub(crate) fn label(waits: &CpuWaits) -> &'static str {
    match waits.busy() {
        true => "busy machine",
        false => "disturbed",
    }
}

/// Returns `38 of 40 runs waited more than 1 % of their time for a CPU`; `who` names the threads, with a
/// space after it.
pub(crate) fn sentence(waits: &CpuWaits, who: &str) -> String {
    format!(
        "{} of {} waited {who}more than {} of their time for a CPU",
        format_count(waits.waited as f64),
        counted(waits.runs, "run", "runs"),
        format_share(CpuWaits::FROM)
    )
}

/// Returns a line for a report of wall times; `None` if no run waited.
pub(crate) fn line(waits: Option<&CpuWaits>) -> Option<String> {
    let waits = waits.filter(|waits| waits.disturbed())?;
    Some(format!(
        "{}: {}, for {} of the total time; wall times include these waits",
        label(waits),
        sentence(waits, ""),
        format_share(waits.share())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(waited: u64, waited_ns: u64) -> CpuWaits {
        CpuWaits {
            runs: 60,
            waited,
            wall_ns: 1_000_000_000,
            waited_ns,
        }
    }

    #[test]
    fn a_quiet_machine_is_not_spoken_of() {
        assert_eq!(line(None), None);
        assert_eq!(line(Some(&waits(1, 9_000_000))), None);
    }

    #[test]
    fn a_busy_machine_is_said_with_how_much() {
        assert_eq!(
            line(Some(&waits(58, 340_000_000)))
                .unwrap()
                .replace(crate::text::JOIN, " "),
            "busy machine: 58 of 60 runs waited more than 1 % of their time for a CPU, for 34 % of the total time; wall times include these waits"
        );
        assert!(
            line(Some(&waits(2, 20_000_000)))
                .unwrap()
                .starts_with("disturbed: 2 of 60")
        );
    }
}
