//! Finds the existing processes and threads.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, SystemTime};

use super::access;
use super::sockets::{self, Sockets};
use crate::error::TraceError;
use crate::inherited;
use crate::names::Names;
use crate::sample::parse;

/// A process of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundProcess {
    /// Its process or thread id.
    pub pid: u32,
    /// Its parent; `None` for the process attached to.
    pub parent: Option<u32>,
}

/// A thread that was followed although this was not allowed, or may not have been allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Its process.
    pub pid: u32,
    /// Its process or thread id.
    pub tid: u32,
    /// Whether its process has privileges that the user doesn't have. If false, the process has ended, so
    /// this isn't known.
    pub has_rights: bool,
}

/// The part of the process tree found so far, parents first.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// All followed processes.
    pub processes: Vec<FoundProcess>,
    /// Threads of all followed processes, by process and thread id.
    pub threads: Vec<(u32, u32)>,
    /// Processes that listen for connections.
    pub listening: Vec<u32>,
    known: HashSet<u32>,
    /// Descendants that the user may not trace.
    refused: HashSet<u32>,
    /// Threads that were followed while their process may have had privileges of its own.
    left_out: Vec<LeftOut>,
}

impl Found {
    /// Searches the tree below this process. Returns the threads not found before.
    pub(crate) fn search(&mut self, root: u32) -> Vec<(u32, u32)> {
        if self.processes.is_empty() {
            let (pid, parent) = (root, None);
            self.processes.push(FoundProcess { pid, parent });
        }
        let before = self.threads.len();
        let mut at = 0;
        while let Some(process) = self.processes.get(at).copied() {
            at += 1;
            let mut children = Vec::new();
            for tid in threads_of(process.pid) {
                if self.known.insert(tid) {
                    self.threads.push((process.pid, tid));
                }
                children.extend(children_of(process.pid, tid));
            }
            // Fathom may have been started by the process it observes.
            let is_new = |pid: &u32| {
                *pid != std::process::id()
                    && !self.refused.contains(pid)
                    && self.processes.iter().all(|one| one.pid != *pid)
            };
            let children: Vec<u32> = children.into_iter().filter(is_new).collect();
            let allowed = access::may_trace(&children).unwrap_or_default();
            for (index, pid) in children.into_iter().enumerate() {
                match allowed.get(index) {
                    Some(true) => self.processes.push(FoundProcess {
                        pid,
                        parent: Some(process.pid),
                    }),
                    _ => _ = self.refused.insert(pid),
                }
            }
        }
        self.threads[before..].to_vec()
    }

    /// Repeats the search until it finds nothing new: threads that are not yet followed may create others
    /// during a search. `follow` gets the process id and thread id of each new thread.
    pub(crate) fn search_all(
        &mut self,
        root: u32,
        mut follow: impl FnMut(u32, u32) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        const SEARCHES: u32 = 8;
        for _ in 0..SEARCHES {
            let new = self.search(root);
            if new.is_empty() {
                break;
            }
            for (pid, tid) in new {
                follow(pid, tid)?;
            }
        }
        self.ask_again();
        Ok(())
    }

    /// Checks the permissions again. A process may have executed a program with its own privileges after it
    /// was found and before it was followed. No one saw this, so the process is still followed. If the
    /// process has ended since, this can't be determined.
    fn ask_again(&mut self) {
        let pids: Vec<u32> = self.processes.iter().map(|one| one.pid).collect();
        let allowed = access::may_trace(&pids).unwrap_or_default();
        for (at, pid) in pids.into_iter().enumerate() {
            if allowed.get(at) == Some(&true) {
                continue;
            }
            let has_rights = goes_on(pid);
            let of_it = self.threads.iter().filter(|(of, _)| *of == pid);
            self.left_out.extend(of_it.map(|&(pid, tid)| LeftOut {
                pid,
                tid,
                has_rights,
            }));
            self.threads.retain(|(of, _)| *of != pid);
            // The process attached to remains the root.
            self.processes
                .retain(|one| one.pid != pid || one.parent.is_none());
            self.refused.insert(pid);
        }
    }

    /// Returns threads that must not have been followed; empty on the second call.
    pub(crate) fn take_left_out(&mut self) -> Vec<LeftOut> {
        std::mem::take(&mut self.left_out)
    }

    /// Names the targets of all processes' descriptors, and notes which processes listen.
    pub(crate) fn name_descriptors(&mut self, names: &mut Names, labels: &[(String, String)]) {
        let mut sockets: HashMap<String, Sockets> = HashMap::new();
        for process in &self.processes {
            let space = fs::read_link(format!("/proc/{}/ns/net", process.pid));
            let space = space.map(|link| link.to_string_lossy().into_owned());
            let sockets = sockets
                .entry(space.unwrap_or_default())
                .or_insert_with(|| sockets::of(process.pid));
            let listens = inherited::name_all(names, process.pid, labels, sockets);
            if listens {
                self.listening.push(process.pid);
            }
        }
    }

    /// Returns a sentence, as in [`Trace::not_visible`](crate::Trace::not_visible), about processes that are
    /// not followed.
    pub(super) fn not_followed(&self) -> Option<String> {
        let mut refused: Vec<u32> = self.refused.iter().copied().collect();
        refused.sort_unstable();
        let first = refused.first()?;
        Some(match refused.len() {
            1 => format!("process {first}, a descendant that you may not trace"),
            many => format!("{many} descendants that you may not trace, such as process {first}"),
        })
    }
}

/// Returns when a process began, from the kernel's count of ticks since boot.
pub(super) fn started(pid: u32) -> Option<SystemTime> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let rest = parse::behind_name(&text)?;
    // Field 22 of the line, in units of 100 ticks per second, which `/proc` uses everywhere.
    let ticks: u64 = rest.split(' ').nth(19)?.parse().ok()?;
    let up = fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split(' ').next()?.parse().ok()?;
    let age = Duration::try_from_secs_f64(up - ticks as f64 / 100.0).unwrap_or_default();
    SystemTime::now().checked_sub(age + Duration::from_secs(1))
}

/// Returns whether a process exists and hasn't ended.
fn goes_on(pid: u32) -> bool {
    let text = fs::read(format!("/proc/{pid}/stat")).ok();
    let stat = text.and_then(|text| parse::stat(&text));
    stat.is_some_and(|stat| !matches!(stat.state, b'Z' | b'X'))
}

/// Returns the thread ids of a process.
pub(crate) fn threads_of(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Returns the processes that this thread created and that are still its children.
fn children_of(pid: u32, tid: u32) -> Vec<u32> {
    let text = fs::read(format!("/proc/{pid}/task/{tid}/children"));
    text.map_or_else(|_| Vec::new(), |text| parse::children(&text))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_tree_is_found_once_and_this_process_is_no_part_of_it() {
        use std::io::Read;
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & echo; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        // The process prints a line once it has created its child.
        let mut line = [0];
        let mut out = shell.stdout.take().expect("it was asked for");
        out.read_exact(&mut line).expect("it writes a line");
        let mut found = Found::default();
        let new = found.search(shell.id());
        let again = found.search(shell.id());
        let own = std::process::id();
        let mut all = Found::default();
        all.search(own);
        for process in found.processes.iter().rev() {
            // SAFETY: sends a signal to our child and to its own child, neither of which has been reaped.
            unsafe { libc::kill(process.pid as i32, libc::SIGKILL) };
        }
        shell.wait().expect("it was killed");
        assert_eq!((new.len(), again), (2, Vec::new()));
        assert_eq!(found.processes[0].pid, shell.id());
        assert_eq!(found.processes[1].parent, Some(shell.id()));
        assert!(all.processes.iter().skip(1).all(|one| one.pid != own));
    }
}
