//! Errors between a command and its measurement.

use std::io;
use std::path::PathBuf;

use fathom_model::Exit;

/// The errors of this crate. Each message says what happened to what, and what to do next if that follows
/// from the error itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// There is no such file, or it wasn't found in `PATH`.
    #[error("no such program: {name}{}", hint.as_deref().unwrap_or(""))]
    NoSuchProgram {
        /// The name as the user wrote it.
        name: String,
        /// "; did you mean …?", or another hint.
        hint: Option<String>,
    },
    /// The program exists but may not be executed.
    #[error("{} can't be executed: {reason}", path.display())]
    NotExecutable {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// Standard input can't be opened.
    #[error("can't read the input {}: {error}", path.display())]
    Input {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// Standard output can't be opened.
    #[error("can't write the output {}: {error}", path.display())]
    Output {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The working directory can't be entered.
    #[error("can't enter the directory {}: {error}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The CPUs can't be used.
    #[error("can't pin the command to the CPUs {cpus:?}: {error}")]
    Pin {
        /// The requested CPUs.
        cpus: Vec<usize>,
        /// The cause.
        error: io::Error,
    },
    /// The process could not be created.
    #[error("can't start a process for {name}: {error}")]
    Spawn {
        /// The name of the program.
        name: String,
        /// The cause.
        error: io::Error,
    },
    /// Arguments and environment exceed the kernel's limit.
    #[error(
        "the arguments and environment of {name} take {bytes} bytes, more than the kernel accepts"
    )]
    TooLong {
        /// The name of the program.
        name: String,
        /// Their total size in bytes.
        bytes: usize,
    },
    /// A measured run failed.
    #[error("{}", describe_failure(command, *exit, *run))]
    RunFailed {
        /// The benchmark's name.
        command: String,
        /// How it ended.
        exit: Exit,
        /// The number of the run, from 1; `None` for a warm-up run.
        run: Option<u32>,
        /// Whether each run of the command so far ended this way.
        always: bool,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
    /// A stage of a pipeline failed.
    #[error("{}", describe_stage(*number, stage, *exit, *round, reader_gone.as_deref()))]
    StageFailed {
        /// The name.
        stage: String,
        /// The number of the stage, from 1.
        number: usize,
        /// How it ended.
        exit: Exit,
        /// The number of the round, from 1; `None` for one that doesn't count.
        round: Option<u32>,
        /// The stage that it wrote to, if that stage had already ended: then the write may have failed.
        reader_gone: Option<String>,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
    /// A server misbehaved.
    #[error("the server '{server}' {what}")]
    ServerFailed {
        /// The name.
        server: String,
        /// What it did, and what to do about it.
        what: String,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
    /// The command needed terminal access that background programs don't get.
    #[error(
        "'{command}' was stopped by the terminal: it reads from the terminal or changes its settings, which only a \
         foreground program may do; give it its input with --input FILE, or a terminal of its own: script -qec \
         'COMMAND' /dev/null"
    )]
    StoppedByTerminal {
        /// The name of the command or pipeline.
        command: String,
    },
    /// Failures were ignored, and no run succeeded.
    #[error("there is no good round: in each of {rounds} a command failed ({})", failed.join(", "))]
    NoGoodRound {
        /// The number of rounds.
        rounds: usize,
        /// The commands that never succeeded or, if there are none, all that failed, each with its number of
        /// failures.
        failed: Vec<String>,
    },
    /// The command stopped its parent, which measures it.
    #[error(
        "'{command}' stopped its parent process, as `kill -STOP $PPID` does. That parent is the part of Fathom that \
         starts and times the command, so the run was ended and has no time; a measured command must leave its \
         parent alone"
    )]
    StoppedParent {
        /// The name of the command or pipeline.
        command: String,
    },
    /// The command's parent, which measures it, was killed while the command ran.
    #[error(
        "'{command}' killed its parent process (as `kill -9 $PPID` does), or another process did so while it ran. \
         That parent is the part of Fathom that starts and times the command, so all processes that it had started \
         were ended; a measured command must leave its parent alone"
    )]
    KilledParent {
        /// The name of the command or pipeline.
        command: String,
    },
    /// A pipeline exceeded its time limit.
    #[error("the pipeline took longer than --timeout allows; still running then: {}", running.join(", "))]
    PipelineTimedOut {
        /// The names of the stages that were still running.
        running: Vec<String>,
    },
    /// An observed run failed.
    #[error(transparent)]
    Trace(#[from] fathom_trace::TraceError),
    /// The output differs from what was expected.
    #[error("the output of {command} is not what --expect-stdout asks for: {detail}")]
    WrongOutput {
        /// The benchmark's name.
        command: String,
        /// The lengths and hashes.
        detail: String,
    },
    /// A `--setup`, `--prepare`, `--conclude` or `--cleanup` command failed.
    #[error("the {role} command failed ({exit}): {command}")]
    HookFailed {
        /// The hook's option: `--prepare` or one of the others.
        role: &'static str,
        /// The command.
        command: String,
        /// A description of how it ended.
        exit: String,
        /// The end of its standard error.
        stderr: Vec<u8>,
    },
    /// The user pressed Ctrl-C before anything was measured, or during a hook.
    #[error("interrupted")]
    Interrupted,
    /// The launcher could not be started, or ended unexpectedly.
    #[error("Fathom's launcher {what}: {error}")]
    Launcher {
        /// What happened to the launcher.
        what: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// The record could not be written.
    #[error("can't write {}: {error}", path.display())]
    Journal {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
}

fn describe_failure(command: &str, exit: Exit, run: Option<u32>) -> String {
    let which = match run {
        Some(number) => format!("run {number}"),
        None => "a warm-up run".to_string(),
    };
    match exit {
        Exit::Code(code) => format!("{command} failed with exit code {code} in {which}"),
        Exit::Signal(signal) => {
            format!("{command} was ended by {} in {which}", signal_name(signal))
        }
        Exit::TimedOut => format!("{command} took longer than --timeout allows in {which}"),
    }
}

fn describe_stage(
    number: usize,
    stage: &str,
    exit: Exit,
    round: Option<u32>,
    reader_gone: Option<&str>,
) -> String {
    let which = match round {
        Some(round) => format!("round {round}"),
        None => "a round that is not counted".to_string(),
    };
    let how = match exit {
        Exit::Code(code) => format!("failed with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by {}", signal_name(signal)),
        Exit::TimedOut => "took longer than --timeout allows".to_string(),
    };
    let gone = reader_gone.map_or(String::new(), |reader| {
        format!(
            "; {reader}, which reads this stage's output, had already exited, so the stage's writes may have failed"
        )
    });
    format!("stage {number} ({stage}) {how} in {which}{gone}")
}

/// Returns the name of a signal, such as `SIGKILL`, or its number.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    name.to_string()
}
