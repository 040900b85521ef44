//! Runs real processes as the scheduler requests them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_launcher::account;

use super::{NOTHING, ProcessExecutor, RunStamps};
use crate::launcher::{Answer, Ended, Order, SLOTS, Terms, fd, now_ns, step};
use crate::startup::watch::Watched;
use crate::{Attempt, Executor, MeasureError, RunReport};

/// How long the CPUs rest before the first run. For some 30 ms, the scheduler remembers which of them had
/// work. It places a short program that starts in that time on a different CPU than later ones, and there the
/// program takes 10 to 20 % longer.
const REST: Duration = Duration::from_millis(50);

impl Executor for ProcessExecutor {
    fn set_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.benchmarks[benchmark]
            .hooks
            .setup
            .as_ref()
            .map_or(Ok(()), |hook| hook.run(None))
    }

    fn settle(&mut self) {
        std::thread::sleep(REST);
    }

    fn run(&mut self, upcoming: &[Attempt]) -> Result<RunReport, MeasureError> {
        let benchmark = upcoming[0].benchmark;
        let iteration = Some(upcoming[0].iteration());
        if self.finished.is_empty() {
            if let Some(hook) = &self.benchmarks[benchmark].hooks.prepare {
                hook.run(iteration)?;
            }
            self.make(upcoming)?;
        }
        let Some(finished) = self.finished.pop_front() else {
            return Err(MeasureError::Launcher {
                what: "gave no answer",
                error: io::ErrorKind::UnexpectedEof.into(),
            });
        };
        debug_assert_eq!(
            finished.attempt, upcoming[0],
            "runs must be requested in order"
        );
        let words = || self.benchmarks[benchmark].words();
        if let Some(error) = finished.ended.stopped(words) {
            return Err(error);
        }
        if finished.ended != Ended::Interrupted {
            self.check_start(&finished.answer, &self.benchmarks[benchmark])?;
        }
        let report = self.report(finished);
        if let Some(hook) = &self.benchmarks[benchmark].hooks.conclude {
            hook.run(iteration)?;
        }
        Ok(report)
    }

    fn is_ahead(&self) -> bool {
        !self.finished.is_empty()
    }

    fn floor(&mut self, runs: u32) -> Result<Vec<u64>, MeasureError> {
        let program = PathBuf::from(format!("/proc/self/fd/{}", fd::FLOOR));
        let order = Order {
            benchmark: usize::MAX,
            program: &program,
            arguments: &self.floor_arguments,
            environment: &NOTHING,
            own_environment: &NOTHING,
            directory: Path::new("/"),
            input: None,
            output: None,
            output_fd: fd::NULL,
            error_fd: fd::NULL,
            cpu_mask: &self.cpu_mask,
            filter: None,
            mounts: &[],
            groups: &[],
            record_head: "",
            ends_round: true,
        };
        let orders = vec![order; (runs as usize).min(SLOTS)];
        let terms = Terms {
            timeout: None,
            budget: Duration::MAX,
            longest: Duration::MAX,
            left_before: self.left_behind,
            began_ns: self.began_ns,
            follows_a_stop: false,
        };
        let answers =
            self.launcher
                .run(&orders, terms)
                .map_err(|error| MeasureError::Launcher {
                    what: "ended unasked",
                    error,
                })?;
        let worked = |(answer, ended): &(Answer, Ended)| {
            *ended == Ended::ByItself && answer.failed_step == step::NONE && answer.status == 0
        };
        if let Some((answer, _)) = answers.last() {
            self.last_stamps = RunStamps::of(answer, Watched::default());
        }
        Ok(answers
            .iter()
            .take_while(|answer| worked(answer))
            .map(|(answer, _)| {
                let metrics = account::metrics(answer);
                metrics.undisturbed_ns.unwrap_or(metrics.wall_ns)
            })
            .collect())
    }

    fn clean_up(&mut self, benchmark: usize) -> Result<(), MeasureError> {
        self.benchmarks[benchmark]
            .hooks
            .cleanup
            .as_ref()
            .map_or(Ok(()), |hook| hook.run(None))
    }

    fn sweep(&mut self) {
        // If the launcher is gone, so are the processes it watched.
        let _ = self.launcher.sweep();
        self.left_behind = 0;
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos(now_ns().saturating_sub(self.began_ns))
    }

    fn interrupted(&self) -> bool {
        crate::interrupt::stopped()
    }
}
