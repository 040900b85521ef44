//! Converts the launcher's answer into the measurements of a run.

use fathom_launcher::account::{self, Exited};
use fathom_model::{Exit, IoCounts, Run};

use super::{Finished, ProcessExecutor};
use crate::RunReport;
use crate::launcher::Ended;

impl ProcessExecutor {
    pub(super) fn report(&mut self, finished: Finished) -> RunReport {
        let Finished {
            attempt,
            answer,
            ended,
            captured,
            recorded,
            throttled_ns,
            delayed_ns,
            piped_bytes,
        } = finished;
        let metrics = account::metrics(&answer);
        let usage = metrics.usage;
        let exit = match ended {
            Ended::TimedOut => Exit::TimedOut,
            _ => exit(answer.status),
        };
        let benchmark = &mut self.benchmarks[attempt.benchmark];
        benchmark.complains |= !captured.stderr_tail.is_empty();
        let wrong_output = benchmark.command.expect.as_ref().and_then(|wanted| {
            let got = captured.stdout_sha256?;
            (got != wanted.sha256).then(|| match wanted.length {
                Some(length) if length != captured.stdout_bytes => {
                    format!("{} bytes instead of {length}", captured.stdout_bytes)
                }
                _ => format!("{} bytes with SHA-256 {}", captured.stdout_bytes, hex(&got)),
            })
        });
        let run = Run {
            benchmark: attempt.benchmark,
            round: attempt.round,
            position: attempt.position,
            started_ns: answer.start_ns.saturating_sub(self.began_ns),
            wall_ns: metrics.wall_ns,
            spawn_ns: metrics.spawn_ns,
            cpu_ns: usage.cpu_ns(),
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            run_queue_wait_ns: metrics.run_queue_wait_ns,
            harness_wait_ns: metrics.harness_wait_ns,
            undisturbed_ns: metrics.undisturbed_ns,
            peak_memory_bytes: usage.peak_memory_bytes,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            io: metrics.io.map(io_counts),
            steal_ns: self.steal.since_last(),
            throttled_ns,
            delayed_ns,
            left_behind: answer.left_behind.saturating_sub(self.left_behind),
            exit,
        };
        self.left_behind = match self.finished.is_empty() {
            true => self.immortal.take().unwrap_or(answer.left_behind),
            false => answer.left_behind,
        };
        RunReport {
            run,
            stderr_tail: captured.stderr_tail,
            wrong_output,
            interrupted: ended == Ended::Interrupted,
            recorded,
            piped_bytes,
        }
    }
}

/// Returns how a process ended, from the status that `wait4` gives.
pub(crate) fn exit(status: i32) -> Exit {
    match account::exited(status) {
        Exited::Code(code) => Exit::Code(code),
        Exited::Signal(signal) => Exit::Signal(signal),
    }
}

/// Converts the kernel's counters to the model's.
pub(crate) fn io_counts(io: account::Io) -> IoCounts {
    IoCounts {
        read_bytes: io.rchar,
        written_bytes: io.wchar,
        read_calls: io.syscr,
        write_calls: io.syscw,
        device_read_bytes: io.read_bytes,
        device_written_bytes: io.write_bytes,
    }
}

/// Formats bytes as lowercase hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
