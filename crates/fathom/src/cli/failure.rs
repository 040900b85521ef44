//! Error messages and exit codes.

use std::path::{Path, PathBuf};

use crate::cli::out::say;
use anstyle::{AnsiColor, Style};
use fathom_conduct::ConductError;
use fathom_conduct::worktrees::WorktreesError;
use fathom_measure::MeasureError;
use fathom_model::TimedRuns;
use fathom_report::escape;
use fathom_trace::TraceError;

/// The exit code for invalid arguments.
pub(super) const USAGE: i32 = 2;
/// Exit code if the command under test failed.
pub(super) const COMMAND_FAILED: i32 = 3;
/// Exit code if the measurement can't be made or trusted.
pub(super) const UNTRUSTED: i32 = 4;

/// An error that ends the program without a result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The arguments are invalid or contradict each other. The message says what to type.
    #[error("{0}")]
    Usage(String),
    /// Measuring failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// Observing failed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The result could not be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// The command to measure failed before it could be measured.
    #[error("{0}")]
    Failed(String),
    /// The user interrupted the command; the message says what remains.
    #[error("{0}")]
    Interrupted(String),
    /// A requested file can't be written.
    #[error("can't write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
}

impl From<ConductError> for Failure {
    fn from(error: ConductError) -> Failure {
        match error {
            ConductError::Measure(error) => Failure::Measure(error),
            ConductError::Trace(error) => Failure::Trace(error),
            ConductError::Store(error) => Failure::Usage(error.to_string()),
            ConductError::Refused(text) => Failure::Usage(text),
            ConductError::Failed(text) => Failure::Failed(text),
            ConductError::Untrusted(text) => Failure::Untrusted(text),
            ConductError::NothingTimed => Failure::Interrupted(NOTHING_TIMED.to_string()),
            ConductError::NothingObserved(timed) => Failure::Interrupted(nothing_observed(&timed)),
        }
    }
}

/// The message for an interrupt before the first time was measured.
const NOTHING_TIMED: &str = "interrupted before the first timed run had ended. To explain a command that doesn't end by itself, such as a \
     server, set a time limit: fathom why --timeout 10s -- COMMAND";

/// Describes what remains of an interrupted session.
fn nothing_observed(timed: &TimedRuns) -> String {
    format!(
        "interrupted before the command was observed, so there is nothing to explain. Before that: {}",
        fathom_conduct::why::timed_in_words(timed)
    )
}

impl From<WorktreesError> for Failure {
    fn from(error: WorktreesError) -> Failure {
        ConductError::from(error).into()
    }
}

impl From<fathom_store::Error> for Failure {
    fn from(error: fathom_store::Error) -> Failure {
        ConductError::from(error).into()
    }
}

/// Creates a usage error; the text says what to type instead.
pub(super) fn usage<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(text.into()))
}

impl Failure {
    /// Returns the code for [`std::process::exit`].
    pub(super) fn exit_code(&self) -> i32 {
        match self {
            Failure::Usage(_) | Failure::Write { .. } => USAGE,
            Failure::Trace(TraceError::NotFound(_) | TraceError::ZeroByte(_)) => USAGE,
            Failure::Trace(TraceError::Attach(refused)) if refused.is_no_such() => USAGE,
            Failure::Trace(_) | Failure::Untrusted(_) => UNTRUSTED,
            Failure::Failed(_) => COMMAND_FAILED,
            Failure::Interrupted(_) => 130,
            Failure::Measure(error) => match error {
                MeasureError::NoSuchProgram { .. }
                | MeasureError::NotExecutable { .. }
                | MeasureError::Input { .. }
                | MeasureError::Output { .. }
                | MeasureError::Directory { .. }
                | MeasureError::Pin { .. }
                | MeasureError::TooLong { .. }
                | MeasureError::Journal { .. } => USAGE,
                MeasureError::RunFailed { .. }
                | MeasureError::NoGoodRound { .. }
                | MeasureError::StageFailed { .. }
                | MeasureError::ServerFailed { .. }
                | MeasureError::PipelineTimedOut { .. }
                | MeasureError::StoppedByTerminal { .. }
                | MeasureError::StoppedParent { .. }
                | MeasureError::KilledParent { .. }
                | MeasureError::WrongOutput { .. }
                | MeasureError::HookFailed { .. } => COMMAND_FAILED,
                MeasureError::Interrupted => 130,
                _ => UNTRUSTED,
            },
        }
    }

    /// Returns whether the kernel doesn't know a call.
    fn lacks_a_call(&self) -> bool {
        let (Failure::Measure(MeasureError::Launcher { error, .. })
        | Failure::Trace(TraceError::System { error, .. })) = self
        else {
            return false;
        };
        error.raw_os_error() == Some(libc::ENOSYS)
    }

    /// Prints the failure to standard error, and returns the exit code.
    pub(super) fn print(&self) -> i32 {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let mut text = format!("{red}error{red:#}: {}\n", escape_lines(&self.to_string()));
        if let Failure::Measure(error) = self {
            text.push_str(&tail(error));
            if let Some(advice) = advice(error) {
                text.push_str(&format!("{advice}\n"));
            }
        }
        if self.lacks_a_call() {
            text.push_str("Fathom needs Linux 5.3 or later\n");
        }
        // Fathom needs /proc to start, find and account for programs, so this is reported first, whatever
        // failed.
        if !Path::new("/proc/self").exists() {
            text.push_str(
                "/proc is not mounted here, but Fathom needs it to measure: mount -t proc proc /proc\n",
            );
        }
        say!("{text}");
        self.exit_code()
    }
}

fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Returns the end of the command's standard error, marked as its output.
fn tail(error: &MeasureError) -> String {
    let (MeasureError::RunFailed { stderr, .. }
    | MeasureError::StageFailed { stderr, .. }
    | MeasureError::ServerFailed { stderr, .. }
    | MeasureError::HookFailed { stderr, .. }) = error
    else {
        return String::new();
    };
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return match error {
            MeasureError::RunFailed { .. } | MeasureError::StageFailed { .. } => {
                "It wrote nothing to standard error.\n".to_string()
            }
            _ => String::new(),
        };
    }
    let shown = &lines[lines.len().saturating_sub(10)..];
    let heading = if shown.len() < lines.len() {
        "The end of its standard error:"
    } else {
        "Its standard error:"
    };
    let body: String = shown
        .iter()
        .map(|line| format!("  | {}\n", escape(line)))
        .collect();
    format!("{heading}\n{body}")
}

fn advice(error: &MeasureError) -> Option<String> {
    let text = match error {
        MeasureError::RunFailed {
            exit: fathom_model::Exit::TimedOut,
            ..
        } => {
            "The command and all processes that it started were terminated. Give it more time with --timeout, or \
             count such runs with -i."
        }
        // Ignoring all failures would leave no run.
        MeasureError::RunFailed {
            exit: fathom_model::Exit::Code(code),
            always: true,
            ..
        } => {
            return Some(format!(
                "To measure a command that is meant to end like this, give its exit code: -i={code}."
            ));
        }
        MeasureError::RunFailed { .. } => {
            "To measure it anyway and count the failures, use -i, or -i=CODE for one exit code."
        }
        MeasureError::NoGoodRound { .. } => {
            "To measure a command that is meant to end like this, give its exit code: -i=CODE."
        }
        MeasureError::StageFailed { .. } => {
            "To measure the pipeline anyway and count such failures, use -i."
        }
        MeasureError::PipelineTimedOut { .. } => {
            "The command and all processes that it started were terminated. Give it more time with --timeout."
        }
        MeasureError::WrongOutput { .. } => {
            "The time of a failing program is meaningless. Run it once without Fathom to see what it prints."
        }
        _ => return None,
    };
    Some(text.to_owned())
}
