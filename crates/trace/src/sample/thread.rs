//! Samples one thread cheaply, many times.
//!
//! The thread's files are opened once and then read repeatedly with `pread`. A sample takes 5 to 10 us, or 3
//! us while the thread waits, and doesn't stop the thread.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::parse::{self, Doing, Stat};
use crate::result::Cause;

/// Open files of one thread.
#[derive(Debug)]
pub(super) struct SampledThread {
    /// Its process.
    pub pid: u32,
    /// Its thread id.
    pub tid: u32,
    /// Its name when last sampled.
    pub name: String,
    /// When it was first sampled, ns of the monotonic clock; the next field is the last time.
    pub first: u64,
    pub last: u64,
    /// When the thread was first seen to have ended while other threads of its process lived on or before it
    /// was reaped.
    pub over: Option<u64>,
    /// CPU time when last sampled, ns; the next field is the time in the run queue.
    pub on_cpu: Option<u64>,
    pub ready: Option<u64>,
    /// Page faults when last sampled.
    pub faults: Option<(u64, u64)>,
    /// The CPU on which it was running, or ready to run, when last sampled.
    pub runs_on: Option<usize>,
    syscall: File,
    stat: File,
    schedstat: Option<File>,
    children: Option<File>,
    wait: Option<Wait>,
}

/// A wait seen by a sample. It continues as long as the contents of both files are unchanged.
#[derive(Debug)]
struct Wait {
    syscall: Vec<u8>,
    schedstat: Vec<u8>,
    sample: Sample,
}

/// The observation of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Why the thread is not running; the cause may also be that it is running.
    pub cause: Cause,
    /// The number of the call in which the thread is blocked, and the call's first argument.
    pub call: Option<(u32, u64)>,
    /// Whether the thread has a new name: it may have run `execve`.
    pub renamed: bool,
}

/// Returns whether a thread is exiting or gone.
pub(super) fn is_ending(pid: u32, tid: u32) -> bool {
    let stat = File::open(format!("/proc/{pid}/task/{tid}/stat")).and_then(|file| read(&file));
    let stat = stat.ok().and_then(|stat| parse::stat(&stat));
    stat.is_none_or(|stat| stat.is_ending())
}

impl SampledThread {
    /// Opens the files of a thread.
    pub(super) fn open(pid: u32, tid: u32, now: u64) -> io::Result<Self> {
        let file = |name: &str| File::open(format!("/proc/{pid}/task/{tid}/{name}"));
        let mut sampled = Self {
            pid,
            tid,
            name: String::new(),
            first: now,
            last: now,
            over: None,
            on_cpu: None,
            ready: None,
            faults: None,
            runs_on: None,
            syscall: file("syscall")?,
            stat: file("stat")?,
            schedstat: file("schedstat").ok(),
            children: file("children").ok(),
            wait: None,
        };
        // Any user may open these files, but not read them (if the process runs a set-uid program, or belongs
        // to another user).
        read(&sampled.syscall)?;
        if let Some(stat) = sampled.stat()? {
            sampled.name = stat.name;
        }
        Ok(sampled)
    }

    /// Takes one sample.
    ///
    /// # Errors
    /// `ESRCH` once the thread has ended.
    pub(super) fn sample(&mut self) -> io::Result<Option<Sample>> {
        let syscall = read(&self.syscall)?;
        let schedstat = self.schedstat.as_ref().and_then(|file| read(file).ok());
        // If the thread hasn't run since the sample and isn't about to, it still waits for the same thing.
        let waits =
            |wait: &&Wait| wait.syscall == syscall && Some(&wait.schedstat) == schedstat.as_ref();
        self.runs_on = None;
        if let Some(wait) = self.wait.as_ref().filter(waits) {
            return Ok(Some(wait.sample));
        }
        self.wait = None;
        let doing = parse::doing(&syscall);
        let Some(stat) = self.stat()? else {
            return Ok(None);
        };
        self.faults = Some(stat.faults);
        let renamed = stat.name != self.name;
        if renamed {
            self.name = stat.name;
        }
        if let Some(text) = &schedstat {
            (self.on_cpu, self.ready) = parse::schedstat(text).unzip();
        }
        let call = match doing {
            Some(Doing::Call(nr, first)) => Some((nr, first)),
            _ => None,
        };
        let cause = match (stat.state, doing) {
            (b'Z' | b'X', _) => return Ok(None),
            (b'R', _) | (_, Some(Doing::Running) | None) => Cause::Running,
            (b'D', _) => Cause::Uninterruptible,
            (b'T' | b't', _) => Cause::Stopped,
            _ => Cause::Asleep,
        };
        let call = call.filter(|_| cause != Cause::Running);
        self.runs_on = stat.cpu.filter(|_| cause == Cause::Running);
        let sample = Sample {
            cause,
            call,
            renamed,
        };
        let waits = cause != Cause::Running;
        if let Some(schedstat) = schedstat.filter(|text| waits && parse::counts_turns(text)) {
            self.wait = Some(Wait {
                syscall,
                schedstat,
                sample: Sample {
                    renamed: false,
                    ..sample
                },
            });
        }
        Ok(Some(sample))
    }

    /// Returns the processes that this thread created and that are still its children.
    pub(super) fn children(&self) -> Vec<u32> {
        let text = self.children.as_ref().and_then(|f| read(f).ok());
        text.map_or_else(Vec::new, |t| parse::children(&t))
    }

    fn stat(&self) -> io::Result<Option<Stat>> {
        Ok(parse::stat(&read(&self.stat)?))
    }
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 1024];
    let len = file.read_at(&mut text, 0)?;
    text.truncate(len);
    Ok(text)
}
