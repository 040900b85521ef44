//! The wording of advice.

use serde::Deserialize;

use super::{GENERAL, NATIVE, Runtime};

/// What a piece of advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Topic {
    /// Standard output in small pieces.
    Output,
    /// Standard output line by line.
    Lines,
    /// Standard output without a buffer, because an environment variable requests it.
    Unbuffered,
    /// Standard input in small pieces.
    Input,
    /// The same if standard input is a file.
    InputFile,
    /// Small reads from a pipe or socket that the program opened or created itself.
    Stream,
    /// Small reads of a file.
    FileReads,
    /// Small writes to a file.
    FileWrites,
    /// A file that is opened for each small read or write.
    Reopened,
    /// A filter that holds back its output until it has much of it.
    Flush,
    /// A program start that loads much code.
    Start,
    /// A program start that compiles sources.
    Sources,
    /// A thread for each piece of work.
    Threads,
    /// Many short processes.
    Processes,
    /// Many short processes that don't execute another program.
    Copies,
    /// Many objects.
    Objects,
    /// Many objects that come from an allocator rather than a garbage collector.
    Allocated,
    /// Code that was compiled without optimisation.
    Unoptimised,
    /// Memory that is touched for the first time.
    Memory,
    /// Threads that queue for a lock.
    Lock,
    /// Threads that queue for the lock under which an interpreter runs all code.
    GlobalLock,
    /// Workers, each with a single thread, that queue for a lock.
    Mutex,
    /// The same if the holder is idle meanwhile.
    SleepersMutex,
    /// Channels that are polled in a loop.
    Channel,
    /// Tasks that yield in a loop.
    Yield,
    /// Handlers that block an event loop.
    BlockedLoop,
    /// Clients that one thread serves one after another.
    ServedInTurn,
    /// Connections that are made anew for each request.
    Connections,
    /// Clocks that are read by system calls.
    ClockCalls,
    /// Clocks that are read without system calls.
    ClockReads,
}

impl Runtime {
    /// Returns what to change, in the terms used by programmers of this runtime. It is about the first of the
    /// topics on which the runtime has words, or else the first on which there are general words.
    pub(crate) fn advice(&'static self, topics: &[Topic]) -> &'static str {
        let native = self.is_native.then_some(&*NATIVE);
        let runtimes = [Some(self), native, Some(&*GENERAL)];
        let words = |runtime: &'static Self| topics.iter().find_map(|it| runtime.words.get(it));
        let mut all = runtimes.into_iter().flatten();
        all.find_map(words).map_or("", String::as_str)
    }

    /// Returns advice about small reads or writes of a file that may be opened for each of them.
    pub(crate) fn advice_on_file(&'static self, writes: bool, is_reopened: bool) -> String {
        let topic = match writes {
            true => Topic::FileWrites,
            false => Topic::FileReads,
        };
        match self.words.get(&Topic::Reopened).filter(|_| is_reopened) {
            Some(words) => words.clone(),
            None if is_reopened => format!("Keep the file open. {}", self.advice(&[topic])),
            None => self.advice(&[topic]).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtimes::Language;

    #[test]
    fn a_runtime_without_words_of_its_own_has_the_general_ones() {
        let of = |language, topics: &[Topic]| Runtime::of(language).advice(topics);
        let general = of(Some(Language::Ruby), &[Topic::Memory]);
        assert!(general.starts_with("Touch less memory"), "{general}");
        for language in [None, Some(Language::C), Some(Language::Rust)] {
            assert!(of(language, &[Topic::Memory]).contains("MADV_HUGEPAGE"));
        }
        let objects = [Topic::Allocated, Topic::Objects];
        assert!(of(Some(Language::C), &objects).contains("an arena"));
        assert!(of(Some(Language::Go), &objects).contains("sync.Pool"));
        let topics = [Topic::Unbuffered, Topic::Lines];
        assert!(of(Some(Language::Perl), &topics).contains("autoflush"));
        let shell = Runtime::of(Some(Language::Shell));
        assert!(shell.advice_on_file(true, true).contains("done >> file"));
        let python = Runtime::of(Some(Language::Python));
        let kept_open = "Keep the file open. Read larger blocks";
        assert!(python.advice_on_file(false, true).starts_with(kept_open));
    }
}
