//! The wording of advice.

use std::borrow::Cow;

use super::Runtime;

/// What a piece of advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Standard output in small pieces, or line by line; `by_variable` if an environment variable requests
    /// it.
    Output { lines: bool, by_variable: bool },
    /// Standard input in small pieces; `file` if it is a file.
    Input { file: bool },
    /// Small reads from a pipe or socket that the program opened or created itself.
    Stream,
    /// Small reads or writes of a file; `reopened` if the file is opened for each of them.
    File { writes: bool, reopened: bool },
    /// A filter that holds back its output until it has much of it.
    Flush,
    /// A program start that loads much code.
    Start,
    /// A program start that compiles sources.
    Sources,
    /// A thread for each piece of work.
    Threads,
    /// Many short processes; `copies` if they don't execute another program.
    Processes { copies: bool },
    /// Many objects; `allocated` if they come from an allocator rather than a garbage collector.
    Objects { allocated: bool },
    /// Memory that is touched for the first time.
    Memory,
    /// Threads that queue for a lock.
    Lock,
    /// Workers, each with a single thread, that queue for a lock; `holder_waits` if the holder is idle
    /// meanwhile.
    Mutex { holder_waits: bool },
    /// Channels that are polled in a loop.
    Channel,
    /// Clocks that are read by system calls.
    ClockCalls,
    /// Clocks that are read without system calls.
    ClockReads,
}

impl Runtime {
    /// Returns what to change, in the terms used by programmers of this runtime.
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

/// The wording for runtimes without their own.
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
        Topic::Flush => "Unless it needs all of its input first, flush after each line.",
        Topic::Start => "Load modules only when they are used; or process many items in one start.",
        Topic::Sources => "Keep the compiled files next to the sources.",
        Topic::Threads => {
            "Keep a few threads, as many as there are CPUs, and give them the work in larger pieces."
        }
        Topic::Processes { copies: true } => {
            "Keep the workers and give them one item after another, or use threads: a fork copies the page tables \
             of all memory of the parent. To run another program, `posix_spawn` or `vfork` copies nothing."
        }
        Topic::Processes { copies: false } => {
            "Call a library instead of a program for each item, or pass many items to one program."
        }
        Topic::Objects { .. } => {
            "Create fewer objects: reuse buffers, and keep many small values in one array."
        }
        Topic::Memory => {
            "Touch less memory: keep data that is used together side by side, reuse buffers, process the data as it \
             arrives."
        }
        Topic::Lock => {
            "Compute outside of the lock and hold it only to store the result; keep a sum per thread, or split the \
             lock. If it is a barrier, give each thread an equal piece."
        }
        Topic::Mutex { holder_waits: true } => {
            "Release the mutex before sleeping or waiting for something: hold it only to read or store shared data."
        }
        Topic::Mutex {
            holder_waits: false,
        } => {
            "Compute outside of the mutex and hold it only to store the result; keep a sum per worker, or split the lock."
        }
        Topic::Channel => {
            "Block on the channel: a blocked receiver sleeps until a message arrives."
        }
        Topic::ClockCalls => {
            "Read the clock less often, and use clocks that the vDSO serves without a call (CLOCK_MONOTONIC, \
             CLOCK_REALTIME; not CPU-time clocks or getrusage), through the C library and not through `syscall`; \
             check that the system's clock source is tsc."
        }
        Topic::ClockReads => {
            "Read the clock less often: once for many pieces of work, every thousandth iteration, or with \
             CLOCK_MONOTONIC_COARSE where milliseconds are enough."
        }
    }
}
