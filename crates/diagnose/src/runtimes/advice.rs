//! In which words is advice given?

use std::borrow::Cow;

use super::Runtime;

/// What is to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Standard output in small pieces, or line by line; `by_variable` where the environment asks
    /// for it.
    Output { lines: bool, by_variable: bool },
    /// Standard input in small pieces; `file` where it is one.
    Input { file: bool },
    /// Small reads of a pipe or socket that the program opened or made itself.
    Stream,
    /// Small reads or writes of a file; `reopened` where it is opened for each.
    File { writes: bool, reopened: bool },
    /// A filter that holds its output until it has much.
    Flush,
    /// A start that loads much code.
    Start,
    /// A start that compiles sources.
    Sources,
    /// A thread for each piece of work.
    Threads,
    /// Many short processes; `copies` where they run no other program.
    Processes { copies: bool },
    /// Many objects; `allocated` where they are taken from an allocator, not a collector.
    Objects { allocated: bool },
    /// Memory that is touched for the first time.
    Memory,
    /// Threads that queue for a lock.
    Lock,
    /// Workers of one thread each that queue for a lock; `holder_waits` where whoever has it does
    /// nothing meanwhile.
    Mutex { holder_waits: bool },
    /// Channels that are asked in a loop.
    Channel,
    /// Clocks that are asked by calls.
    ClockCalls,
    /// Clocks that are read without.
    ClockReads,
}

impl Runtime {
    /// What to change, in the words of those who write for this runtime.
    pub(crate) fn advice(&self, topic: Topic) -> Cow<'static, str> {
        if let Some(words) = (self.words)(topic) {
            return words.into();
        }
        if let Topic::File {
            writes,
            reopened: true,
        } = topic
        {
            let kept_open = self.advice(Topic::File {
                writes,
                reopened: false,
            });
            return format!("Keep the file open. {kept_open}").into();
        }
        general(topic).into()
    }
}

/// Where a runtime has no words of its own.
fn general(topic: Topic) -> &'static str {
    match topic {
        Topic::Output { lines: false, .. } => {
            "Write through a buffer of some 64 KiB and flush it at the end."
        }
        Topic::Output { lines: true, .. } => {
            "Buffer whole blocks where the output is not a terminal."
        }
        Topic::Input { .. } => "Read through a buffer of some 64 KiB.",
        Topic::Stream => "Read blocks of some 64 KiB into a buffer, and take the bytes from there.",
        Topic::File { writes: false, .. } => "Read blocks of some 64 KiB.",
        Topic::File { writes: true, .. } => "Write through a buffer of some 64 KiB.",
        Topic::Flush => "Unless it needs all of its input first, let it flush after each line.",
        Topic::Start => "Load only what is used, when it is used; or do many items in one start.",
        Topic::Sources => "Keep the compiled forms beside the sources.",
        Topic::Threads => {
            "Keep a few threads, as many as there are CPUs, and hand them the work in larger pieces."
        }
        Topic::Processes { copies: true } => {
            "Keep the workers and hand them one item after another, or use threads: a fork copies the page tables of all memory that the parent holds. Where a program is to follow, `posix_spawn` or `vfork` copies nothing."
        }
        Topic::Processes { copies: false } => {
            "Call a library instead of a program for each item, or give one program many items at once."
        }
        Topic::Objects { .. } => {
            "Make fewer objects: reuse buffers, and keep many small values in one array."
        }
        Topic::Memory => {
            "Touch less memory: keep what is used side by side, reuse buffers, work on the data as it comes."
        }
        Topic::Lock => {
            "Compute outside of the lock and hold it only to store the result; keep a sum per thread, or split the lock. If it is a barrier at which they meet, give each an equal piece."
        }
        Topic::Mutex { holder_waits: true } => {
            "Let go of the mutex before sleeping or waiting for something: hold it only to read or store what is shared."
        }
        Topic::Mutex {
            holder_waits: false,
        } => {
            "Compute outside of the mutex and hold it only to store the result; keep a sum per worker, or split the lock."
        }
        Topic::Channel => "Block on the channel: a blocked receiver sleeps until something comes.",
        Topic::ClockCalls => {
            "Ask less often, and use clocks that the vDSO serves without a call (CLOCK_MONOTONIC, CLOCK_REALTIME; not CPU-time clocks or getrusage), through the C library and not by `syscall`; check that the system's clock source is tsc."
        }
        Topic::ClockReads => {
            "Read the clock less often: once for many pieces of work, each thousandth turn, or CLOCK_MONOTONIC_COARSE where milliseconds are enough."
        }
    }
}
