//! Explains why a program could not be started.

use std::io::{self, Read};
use std::path::Path;

use crate::launcher::{Answer, step};
use crate::{CommandLine, MeasureError};

/// The program that failed to start, for the error message.
pub(crate) struct Wanted<'a> {
    pub command: &'a CommandLine,
    pub directory: &'a Path,
    pub input: Option<&'a Path>,
    pub output: Option<&'a Path>,
    pub pin: &'a [usize],
    /// The size of arguments and environment in bytes.
    pub bytes: usize,
}

/// The message for a FIFO whose other end stays closed.
const NO_WRITER: &str = "it is a FIFO, and no process opened it for writing within --timeout";
const NO_READER: &str = "it is a FIFO, and no process opened it for reading within --timeout";

/// Turns a failure to start into an error that names the obstacle.
pub(crate) fn check_start(answer: &Answer, wanted: &Wanted) -> Result<(), MeasureError> {
    let error = match (answer.failed_step, answer.error) {
        (step::INPUT, libc::EINTR) => io::Error::other(NO_WRITER),
        (step::OUTPUT, libc::EINTR) => io::Error::other(NO_READER),
        (_, error) => io::Error::from_raw_os_error(error),
    };
    let name = || wanted.command.arguments[0].to_string_lossy().into_owned();
    let path = |path: Option<&Path>| path.unwrap_or(Path::new("")).to_path_buf();
    Err(match answer.failed_step {
        step::NONE => return Ok(()),
        step::INPUT => MeasureError::Input {
            path: path(wanted.input),
            error,
        },
        step::OUTPUT => MeasureError::Output {
            path: path(wanted.output),
            error,
        },
        step::DIRECTORY => MeasureError::Directory {
            path: wanted.directory.to_path_buf(),
            error,
        },
        step::PIN => MeasureError::Pin {
            cpus: wanted.pin.to_vec(),
            error: with_those_there(error),
        },
        step::FILTER => MeasureError::Spawn {
            name: name(),
            error: io::Error::new(
                error.kind(),
                format!("a system call filter was rejected: {error}"),
            ),
        },
        step::MOUNT => MeasureError::Spawn {
            name: name(),
            error: io::Error::new(
                error.kind(),
                format!("its own mounts were rejected: {error}"),
            ),
        },
        step::GROUP => MeasureError::Spawn {
            name: name(),
            error: io::Error::new(
                error.kind(),
                format!("it could not be moved to its control group: {error}"),
            ),
        },
        step::EXEC if error.kind() == io::ErrorKind::NotFound => MeasureError::NotExecutable {
            path: wanted.command.program.clone(),
            reason: what_is_missing(&wanted.command.program),
        },
        step::EXEC if error.raw_os_error() == Some(libc::E2BIG) => MeasureError::TooLong {
            name: name(),
            bytes: wanted.bytes,
        },
        step::EXEC if error.raw_os_error() == Some(libc::ENOEXEC) => MeasureError::NotExecutable {
            path: wanted.command.program.clone(),
            reason:
                "it is neither a program for this machine's processor nor a script with a `#!` line"
                    .into(),
        },
        step::EXEC => MeasureError::NotExecutable {
            path: wanted.command.program.clone(),
            reason: error.to_string(),
        },
        _ => MeasureError::Spawn {
            name: name(),
            error,
        },
    })
}

/// Describes what is missing for a program; for a readable script, names its interpreter.
fn what_is_missing(program: &Path) -> String {
    let mut start = Vec::new();
    let file = std::fs::File::open(program);
    let read = file.and_then(|file| file.take(LONGEST_FIRST_LINE).read_to_end(&mut start));
    let line = start.split(|byte| *byte == b'\n').next();
    let interpreter = line.and_then(|line| line.strip_prefix(b"#!"));
    match interpreter.map(|words| String::from_utf8_lossy(words.trim_ascii()).into_owned()) {
        Some(words) if read.is_ok() => {
            let interpreter = words.split_ascii_whitespace().next().unwrap_or_default();
            format!("the interpreter in its first line, '{interpreter}', does not exist")
        }
        _ if read.is_ok() => "its dynamic loader does not exist".to_owned(),
        _ => "the program or its interpreter does not exist".to_owned(),
    }
}

/// The number of bytes of a script's first line that the kernel reads.
const LONGEST_FIRST_LINE: u64 = 256;

/// Names the existing CPUs in an error that would only say that the requested ones aren't available.
fn with_those_there(error: io::Error) -> io::Error {
    match std::fs::read_to_string("/sys/devices/system/cpu/online") {
        Ok(online) if error.kind() == io::ErrorKind::InvalidInput => {
            io::Error::new(error.kind(), format!("there are {}", online.trim()))
        }
        _ => error,
    }
}
