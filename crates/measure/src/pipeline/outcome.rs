//! How the stages ended.

use fathom_model::{Exit, PipeRound, StageRun};

/// The status a shell returns for a command that SIGPIPE ended.
const SHELL_SIGPIPE: i32 = 128 + libc::SIGPIPE;

/// Reports whether SIGPIPE ended stage `index`, or the stage is a shell that reports this about its command:
/// it wrote after its reader had closed the pipe. This is how a pipeline ends early, and it is not a failure.
pub fn is_sigpipe(stages: &[StageRun], index: usize) -> bool {
    let has_reader = index + 1 < stages.len();
    has_reader
        && matches!(
            stages[index].exit,
            Exit::Signal(libc::SIGPIPE) | Exit::Code(SHELL_SIGPIPE)
        )
}

/// Returns the first stage that failed, if any.
pub fn failing(round: &PipeRound) -> Option<usize> {
    (0..round.stages.len()).find(|&index| failed(&round.stages, index))
}

/// Reports whether stage `index` failed; being ended by SIGPIPE is not a failure, see [`is_sigpipe`].
pub fn failed(stages: &[StageRun], index: usize) -> bool {
    !stages[index].exit.is_success() && !is_sigpipe(stages, index)
}

/// Reports whether the stage that reads this one's output ended before this one did.
pub(super) fn reader_was_gone(stages: &[StageRun], index: usize) -> bool {
    stages
        .get(index + 1)
        .is_some_and(|reader| reader.end_ns <= stages[index].end_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(exits: &[Exit]) -> PipeRound {
        let stages = exits
            .iter()
            .zip(1..)
            .map(|(exit, end)| StageRun::unobserved(0, end, *exit));
        PipeRound {
            wall_ns: 9,
            stages: stages.collect(),
            left_behind: 0,
        }
    }

    #[test]
    fn sigpipe_is_no_failure_of_a_stage_that_has_a_reader() {
        let ok = Exit::Code(0);
        assert_eq!(failing(&round(&[Exit::Signal(libc::SIGPIPE), ok])), None);
        assert_eq!(failing(&round(&[Exit::Code(141), ok])), None);
        assert_eq!(failing(&round(&[ok, Exit::Signal(libc::SIGPIPE)])), Some(1));
        assert_eq!(failing(&round(&[Exit::Code(1), ok])), Some(0));
        assert_eq!(failing(&round(&[Exit::Signal(9), ok])), Some(0));
    }
}
