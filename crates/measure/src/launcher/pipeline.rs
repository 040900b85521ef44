//! Passes a pipeline to the launcher, and collects the result of each stage.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Answer, Ended, Launcher, MOST_STAGES, Order, STRINGS, Strings};
use fathom_launcher::shared::command;

/// One stage of a pipeline for the launcher.
#[derive(Debug, Clone)]
pub(crate) struct StageOrder<'a> {
    /// The command to run; `output_fd` may be [`super::fd::NEIGHBOUR`].
    pub order: Order<'a>,
    /// The descriptor for standard input, used if the order names no file; may be `NEIGHBOUR`.
    pub input_fd: i32,
    /// How much later than the others to start this stage.
    pub delay: Duration,
    /// Whether the launcher closes the stage's two descriptors after starting it, because they are for one
    /// run.
    pub close_after: bool,
}

/// The result of a pipeline.
pub(crate) struct PipelineAnswer {
    /// The time before the first stage was created; nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// One answer for each stage.
    pub stages: Vec<Answer>,
    /// The number of processes that still exist.
    pub left_behind: u32,
}

impl Launcher {
    /// Runs all stages at once and waits for them. Fails only if the launcher itself is gone, or if arguments
    /// and environment don't fit.
    pub(crate) fn run_pipeline(
        &mut self,
        stages: &[StageOrder],
        timeout: Option<Duration>,
    ) -> io::Result<(PipelineAnswer, Ended)> {
        assert!(stages.len() <= MOST_STAGES, "the caller limits the stages");
        let mut strings = Strings {
            memory: self.memory,
            at: STRINGS,
            own: None,
        };
        let mut known = Vec::new();
        self.directory = PathBuf::new();
        let area = self.memory.area();
        for (index, stage) in stages.iter().enumerate() {
            // Every stage changes to its own directory, because the previous stage may have had another one.
            let job = strings.job(&stage.order, Path::new(""), &mut known)?;
            // SAFETY: mapped, within the array; the launcher waits for a command and doesn't access it.
            unsafe {
                let slot = &raw mut (*area).stages[index];
                (*slot).job = job;
                (*slot).answer.child = 0;
                (*slot).delay_ns = stage.delay.as_nanos() as u64;
                (*slot).input_fd = stage.input_fd;
                (*slot).close_after = u32::from(stage.close_after);
            }
        }
        // SAFETY: as above.
        unsafe {
            (*area).count = stages.len() as u32;
            let shared = &mut *self.memory.as_ptr();
            shared.control.kill_tree = 0;
            shared.control.answers = 0;
            shared.control.early_io = u32::from(self.early_io);
            // No job is running, and the wait must see that.
            shared.answers[0].child = 0;
            shared.answers[0].start_ns = 0;
        }
        self.send(command::PIPELINE)?;
        let ended = self
            .wait(timeout, false)?
            .map_or(Ended::ByItself, |(_, ended)| ended);
        // SAFETY: the launcher has reported that it is done, and waits for the next command.
        let answer = unsafe {
            PipelineAnswer {
                start_ns: (*area).start_ns,
                stages: (0..stages.len())
                    .map(|index| (&raw const (*area).stages[index].answer).read())
                    .collect(),
                left_behind: (*area).left_behind,
            }
        };
        // SAFETY: as above. From now on, no pid in the array belongs to a process of ours.
        unsafe { (*area).count = 0 };
        Ok((answer, ended))
    }
}
