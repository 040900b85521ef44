//! Counts the system calls of running processes.

use std::fs::{File, read_to_string};
use std::io::{self, Read};
use std::path::Path;

use crate::attach::threads_of;

use super::event::{self, Attributes, Watched, flag};

/// Folders in which the kernel shows the id of its event for every call.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const EVENT: &str = "events/raw_syscalls/sys_enter/id";
/// Not bound to a CPU.
const ANY_CPU: i32 = -1;

/// Counts the calls of some processes and their descendants in the kernel. This costs time: a server that
/// makes two calls per request handles 6 % fewer requests.
#[derive(Debug)]
pub struct CallCount(Vec<File>);

impl CallCount {
    /// Starts counting.
    ///
    /// # Errors
    /// Without root or `CAP_PERFMON`, or if the kernel has no such event.
    pub fn begin(processes: &[u32]) -> io::Result<CallCount> {
        CallCount::of_threads(processes.iter().flat_map(|pid| threads_of(*pid)))
    }

    fn of_threads(threads: impl Iterator<Item = u32>) -> io::Result<CallCount> {
        let counted = Attributes::tracepoint(number()?, flag::INHERIT);
        let mut events = Vec::new();
        for thread in threads {
            match event::open(&counted, Watched::Thread(thread), ANY_CPU) {
                Ok(opened) => events.extend(opened.map(File::from)),
                // The thread has ended in the meantime.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(CallCount(events))
    }

    /// Returns the number of calls since counting began, including those of ended threads.
    ///
    /// # Errors
    /// The kernel's.
    pub fn so_far(&self) -> io::Result<u64> {
        let mut sum = 0;
        for mut event in &self.0 {
            let mut count = [0; size_of::<u64>()];
            event.read_exact(&mut count)?;
            sum += u64::from_ne_bytes(count);
        }
        Ok(sum)
    }
}

fn number() -> io::Result<u64> {
    let files = FOLDERS.map(|folder| read_to_string(Path::new(folder).join(EVENT)));
    let mut error = io::ErrorKind::NotFound.into();
    for file in files {
        match file {
            Ok(text) => return text.trim().parse().map_err(io::Error::other),
            Err(other) => error = other,
        }
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_thread_are_counted_one_by_one() {
        let (go, wait) = std::sync::mpsc::channel();
        let (ready, begun) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // SAFETY: the call takes no arguments.
            ready.send(unsafe { libc::gettid() }).unwrap();
            let times: usize = wait.recv().unwrap();
            for _ in 0..times {
                // SAFETY: the call takes no arguments; made this way, it enters the kernel each time.
                unsafe { libc::syscall(libc::SYS_getppid) };
            }
        });
        let thread_id = begun.recv().unwrap() as u32;
        let count = match CallCount::of_threads([thread_id].into_iter()) {
            Ok(count) => count,
            Err(error) => {
                fathom_test_log::skipped(&format!("calls can't be counted here: {error}"));
                go.send(0).unwrap();
                thread.join().unwrap();
                return;
            }
        };
        let before = count.so_far().unwrap();
        go.send(1000).unwrap();
        thread.join().unwrap();
        let calls = count.so_far().unwrap() - before;
        // The 1000 calls, and the few with which the thread waits and ends.
        assert!((1000..1100).contains(&calls), "{calls}");
    }
}
