//! The stacks of threads that were blocked for the whole observation.
//!
//! No event shows where such a thread waits. It runs no code, so its stack stays as it is and can be read from its
//! memory, without stopping the thread.

use std::fs;

use fathom_stacks::Registers;
use fathom_stacks::python::Memory;

use super::readings::{Reading, read_thread};
use crate::calls;
use crate::perf::record::StackCopy;
use crate::python::memory::Of;
use crate::result::Activity;
use crate::sample::parse::{self, Doing};
use crate::stacks::RawStack;

/// Size of the parts in which a stack is read: memory may end after each page.
const PART: u64 = 4096;
/// Maximum size of a copy.
const MOST_BYTES: usize = 64 << 10;

/// Copies the stack of a thread that is in the same call as in the earlier reading and hasn't run since; the copy
/// represents `ns` until `at`. Returns `None` for other threads.
pub(crate) fn stack(
    (pid, tid): (u32, u32),
    before: &Reading,
    ns: u64,
    at: u64,
) -> Option<RawStack> {
    let Some(Doing::Call(number, first)) = before.doing else {
        return None;
    };
    let text = fs::read(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let (pointer, instruction) = parse::pointers(&text)?;
    let bytes = from_memory(pid, pointer);
    // It may have run while it was read.
    let now = read_thread(pid, tid)?;
    let never_ran = (now.turns, now.on_cpu) == (before.turns, before.on_cpu);
    if !never_ran || now.doing != before.doing || bytes.is_empty() {
        return None;
    }
    let copy = StackCopy {
        registers: Registers::of_blocked(instruction, pointer),
        bytes: bytes.into(),
        ..StackCopy::default()
    };
    let has_fd = calls::flags(number) & calls::FD != 0;
    Some(RawStack {
        at,
        activity: Activity::Wait,
        call: Some(number),
        fd: has_fd.then_some(first as i32),
        calls: 1.0,
        ..RawStack::of_own_code((pid, tid), ns, copy)
    })
}

/// Reads a process's memory from this address to the end of what is mapped there.
fn from_memory(pid: u32, from: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = from;
    while bytes.len() < MOST_BYTES {
        let size = PART - at % PART;
        let mut part = vec![0; size as usize];
        if Of(pid).read(at, &mut part).is_none() {
            break;
        }
        bytes.append(&mut part);
        at += size;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_stack_of_who_sleeps_is_read_and_that_of_who_ran_is_not() {
        let mut child = Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("there is a sleep");
        let pid = child.id();
        let sleeps = |reading: &Reading| {
            let call = |number: u32| i64::from(number) == libc::SYS_clock_nanosleep;
            matches!(reading.doing, Some(Doing::Call(number, _)) if call(number))
        };
        let before = loop {
            match read_thread(pid, pid) {
                Some(reading) if sleeps(&reading) => break reading,
                _ => std::thread::yield_now(),
            }
        };
        let stack_since = |reading: &Reading| stack((pid, pid), reading, 7, 9);
        let found = stack_since(&before);
        let ran = Reading {
            turns: before.turns + 1,
            ..before.clone()
        };
        let after = stack_since(&ran);
        child.kill().expect("it is ours");
        child.wait().expect("it was killed");
        let found = found.expect("it sleeps");
        assert_eq!((found.activity, found.ns, found.at), (Activity::Wait, 7, 9));
        assert_eq!(found.fd, None);
        assert!(found.copy.registers.stack().is_some());
        assert!(!found.copy.bytes.is_empty());
        assert_eq!(after, None);
    }
}
