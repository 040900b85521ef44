//! What can go wrong between a command and its measurement.

use std::io;
use std::path::PathBuf;

use fathom_model::Exit;

/// Errors of this room. Each says what happened to what; what to do next is in the message where
/// it follows from the error itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// No such file, or not found in `PATH`.
    #[error("no such program: {name}{}", hint.as_deref().unwrap_or(""))]
    NoSuchProgram {
        /// As the user wrote it.
        name: String,
        /// "; did you mean …?", or what else may help.
        hint: Option<String>,
    },
    /// There, but may not be executed.
    #[error("{} can't be executed: {reason}", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Standard input can't be opened.
    #[error("can't read the input {}: {error}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Standard output can't be opened.
    #[error("can't write the output {}: {error}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The working directory can't be entered.
    #[error("can't enter the directory {}: {error}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The CPUs can't be used.
    #[error("can't pin the command to the CPUs {cpus:?}: {error}")]
    Pin {
        /// The CPUs asked for.
        cpus: Vec<usize>,
        /// Why.
        error: io::Error,
    },
    /// No process could be made.
    #[error("can't start a process for {name}: {error}")]
    Spawn {
        /// The program.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// Arguments and environment are larger than the kernel takes.
    #[error(
        "the arguments and environment of {name} take {bytes} bytes, more than the kernel accepts"
    )]
    TooLong {
        /// The program.
        name: String,
        /// Their size.
        bytes: usize,
    },
    /// A measured run didn't end well.
    #[error("{}", describe_failure(command, *exit, *run))]
    RunFailed {
        /// The benchmark's name.
        command: String,
        /// How it ended.
        exit: Exit,
        /// Number of the run, from 1; `None` for a warm-up.
        run: Option<u32>,
        /// Whether each run of the command so far ended so.
        always: bool,
        /// The end of what it wrote to standard error.
        stderr: Vec<u8>,
    },
    /// A stage of a pipeline didn't end well.
    #[error("{}", describe_stage(*number, stage, *exit, *round, reader_gone.as_deref()))]
    StageFailed {
        /// Its name.
        stage: String,
        /// Its number, from 1.
        number: usize,
        /// How it ended.
        exit: Exit,
        /// Number of the round, from 1; `None` for one that does not count.
        round: Option<u32>,
        /// The stage that it wrote to, if that had ended before: then it may have failed to write.
        reader_gone: Option<String>,
        /// The end of what it wrote to standard error.
        stderr: Vec<u8>,
    },
    /// A server didn't do what a server does.
    #[error("the server '{server}' {what}")]
    ServerFailed {
        /// Its name.
        server: String,
        /// What it did, and what to do.
        what: String,
        /// The end of what it wrote to standard error.
        stderr: Vec<u8>,
    },
    /// It wanted something of the terminal that programs in the background don't get.
    #[error(
        "'{command}' was stopped by the terminal: it reads from it or changes its settings, which only a program \
         in its foreground may; give it what it reads by --input FILE, or a terminal of its own: \
         script -qec 'COMMAND' /dev/null"
    )]
    StoppedByTerminal {
        /// The command's or the pipeline's name.
        command: String,
    },
    /// Failures were let pass, and nothing else came.
    #[error("there is no good round: in each of {rounds} a command failed ({})", failed.join(", "))]
    NoGoodRound {
        /// How many rounds were made.
        rounds: usize,
        /// The commands that never succeeded, or else all that failed, with how often they did.
        failed: Vec<String>,
    },
    /// It stopped its parent, who measures it.
    #[error(
        "'{command}' stopped its parent process, as `kill -STOP $PPID` does: that is the part of Fathom that starts it \
         and takes its time. The run was ended and has no time; what is measured has to leave its parent alone"
    )]
    StoppedParent {
        /// The command's or the pipeline's name.
        command: String,
    },
    /// Its parent, who measures it, was killed while it ran.
    #[error(
        "'{command}' killed its parent process, as `kill -9 $PPID` does, or somebody else did while it ran: that is \
         the part of Fathom that starts it and takes its time. All that it had started was ended; what is measured \
         has to leave its parent alone"
    )]
    KilledParent {
        /// The command's or the pipeline's name.
        command: String,
    },
    /// A pipeline took longer than it may.
    #[error("the pipeline took longer than --timeout allows; still running then: {}", running.join(", "))]
    PipelineTimedOut {
        /// Names of the stages that had not ended.
        running: Vec<String>,
    },
    /// An observed run could not be made.
    #[error(transparent)]
    Trace(#[from] fathom_trace::TraceError),
    /// The output isn't what was expected.
    #[error("the output of {command} is not what --expect-stdout asks for: {detail}")]
    WrongOutput {
        /// The benchmark's name.
        command: String,
        /// Lengths and hashes.
        detail: String,
    },
    /// A `--setup`, `--prepare`, `--conclude` or `--cleanup` command failed.
    #[error("the {role} command failed ({exit}): {command}")]
    HookFailed {
        /// `--prepare` or one of the others.
        role: &'static str,
        /// The command.
        command: String,
        /// How it ended, in words.
        exit: String,
        /// The end of what it wrote to standard error.
        stderr: Vec<u8>,
    },
    /// The user pressed Ctrl-C before anything was measured, or during a hook.
    #[error("interrupted")]
    Interrupted,
    /// The launcher could not be started or ended unasked.
    #[error("Fathom's launcher {what}: {error}")]
    Launcher {
        /// What happened to it.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The record could not be written.
    #[error("can't write {}: {error}", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
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
        None => "a round that does not count".to_string(),
    };
    let how = match exit {
        Exit::Code(code) => format!("failed with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by {}", signal_name(signal)),
        Exit::TimedOut => "took longer than --timeout allows".to_string(),
    };
    let gone = reader_gone.map_or(String::new(), |reader| {
        format!("; {reader}, which it writes to, had ended before, so it may have failed to write")
    });
    format!("stage {number}, {stage}, {how} in {which}{gone}")
}

/// The name of a signal, as `SIGKILL`, or its number.
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
