//! Decodes a stack record.

use std::sync::Arc;

use fathom_stacks::Registers;

use super::layout::{record, stack};
use crate::perf::record::StackCopy;
use crate::records::{Who, in_call, u32_at, u64_at};
use crate::result::Activity;
use crate::stacks::RawStack;

/// Calls whose waits are always ended by threads, never by interrupts.
const ENDED_BY_THREADS: [i64; 3] = [libc::SYS_futex, libc::SYS_wait4, libc::SYS_waitid];

/// The code position of a thread when a call or a page fault ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackRecord<'a> {
    pub time: u64,
    pub who: Who,
    /// Number and descriptor of the call; `None` for a page fault.
    pub call: Option<(u32, i32)>,
    /// The time on a CPU that this record represents, ns; the next field is the time off it.
    on_cpu: u64,
    off_cpu: u64,
    /// The duration of this call or fault on a CPU, ns; the next field is that off it.
    took_on_cpu: u64,
    took_off_cpu: u64,
    /// For a call: the thread that ended its last sleep.
    woken_by: Option<u32>,
    /// For a page fault: the address that was touched.
    touched: Option<u64>,
    registers: [u64; stack::REGISTERS.len()],
    /// Return addresses found by frame pointers, innermost first.
    callers: Box<[u64]>,
    /// The content of its stack, from the stack pointer on.
    bytes: &'a [u8],
}

impl<'a> StackRecord<'a> {
    /// Decodes a record; `None` if it is of another kind or too short.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        if u32_at(bytes, record::KIND)? as i32 != record::STACK {
            return None;
        }
        let call = in_call(u32_at(bytes, record::NR)?, u32_at(bytes, record::FD)?);
        let last = u64_at(bytes, record::ARG2)?;
        let woken_by = call.and_then(|_| (last as u32 != 0).then_some(last as u32));
        let mut registers = [0; stack::REGISTERS.len()];
        for (place, register) in (0..).zip(&mut registers) {
            *register = u64_at(bytes, record::HEAD as i16 + 8 * place)?;
        }
        let size = u64_at(bytes, stack::CALLERS_SIZE)? as i64;
        let known = usize::try_from(size / 8).unwrap_or(0);
        let callers = (0..known.min(stack::MOST_CALLERS))
            .map(|at| u64_at(bytes, (stack::CALLERS + 8 * at) as i16))
            .collect::<Option<Box<[u64]>>>()?;
        Some(Self {
            time: u64_at(bytes, record::TIME)?,
            who: Who {
                tid: u32_at(bytes, record::TID)?,
                pid: u32_at(bytes, record::TGID)?,
            },
            call,
            on_cpu: u64_at(bytes, record::RESULT)?,
            off_cpu: u64_at(bytes, record::ARG0)?,
            took_on_cpu: u64_at(bytes, record::ARG1)?,
            took_off_cpu: u64_at(bytes, stack::OFF_CPU)?,
            woken_by,
            touched: call.is_none().then_some(last),
            registers,
            callers,
            bytes: bytes.get(stack::BYTES..)?,
        })
    }

    /// Returns the stacks that this record represents: on a CPU, off it, or both. A record that represents no
    /// time, because it was among the first of its call, counts as on a CPU. `path` is the call's object.
    pub(crate) fn seen(&self, path: Option<&Arc<str>>) -> Vec<RawStack> {
        let copy = StackCopy {
            registers: Registers::of_perf(Registers::PERF_MASK, self.registers),
            bytes: self.bytes.into(),
            callers: self.callers.clone(),
            ..StackCopy::default()
        };
        let by_a_thread = self
            .call
            .is_some_and(|(nr, _)| ENDED_BY_THREADS.contains(&i64::from(nr)));
        let on_cpu = RawStack {
            pid: self.who.pid,
            tid: self.who.tid,
            at: self.time,
            activity: match self.call {
                Some(_) => Activity::Call,
                None => Activity::Fault,
            },
            call: self.call.map(|(nr, _)| nr),
            fd: self.call.and_then(|(_, fd)| (fd >= 0).then_some(fd)),
            path: path.cloned(),
            touched: self.touched,
            woken_by: None,
            ns: self.on_cpu,
            samples: 1,
            calls: calls(self.on_cpu, self.took_on_cpu),
            copy,
        };
        let waited = (self.off_cpu > 0).then(|| RawStack {
            activity: Activity::Wait,
            ns: self.off_cpu,
            calls: calls(self.off_cpu, self.took_off_cpu),
            woken_by: self.woken_by.filter(|_| by_a_thread),
            ..on_cpu.clone()
        });
        let worked = (self.on_cpu > 0 || waited.is_none()).then_some(on_cpu);
        worked.into_iter().chain(waited).collect()
    }
}

/// Returns the number of calls with this duration that a record represents; at least 1, even if it represents
/// no time.
fn calls(stands_for: u64, took: u64) -> f64 {
    match stands_for {
        0 => 1.0,
        ns => ns as f64 / took.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: u64 = libc::SYS_read as u64;
    const FUTEX: u64 = libc::SYS_futex as u64;

    /// Returns a record of a call with its descriptor and these times on a CPU and off it.
    fn bytes(call: u64, fd: i32, on_cpu: u64, off_cpu: u64) -> Vec<u8> {
        let mut bytes = vec![0; stack::BYTES];
        let mut put = |at: i16, value: u64| {
            bytes[at as usize..][..8].copy_from_slice(&value.to_ne_bytes());
        };
        put(record::KIND, record::STACK as u64);
        put(record::TIME, 900);
        put(record::TID, 7 | 5 << 32);
        put(record::NR, call | u64::from(fd as u32) << 32);
        put(record::RESULT, on_cpu);
        put(record::ARG0, off_cpu);
        put(record::ARG1, 5);
        put(stack::OFF_CPU, 1_000);
        put(record::ARG2, 8);
        for place in 0..stack::REGISTERS.len() {
            put((record::HEAD + 8 * place) as i16, 100 + place as u64);
        }
        put(stack::CALLERS_SIZE, 16);
        put(stack::CALLERS as i16, 0x4000);
        put((stack::CALLERS + 8) as i16, 0x5000);
        bytes.extend([1, 2, 3]);
        bytes
    }

    fn seen(bytes: &[u8]) -> Vec<RawStack> {
        let decoded = StackRecord::decode(bytes).expect("decodes");
        decoded.seen(Some(&"pipe".into()))
    }

    #[test]
    fn a_call_that_worked_and_waited_is_both() {
        let both = seen(&bytes(READ, 3, 10, 2_000));
        let told: Vec<_> = both
            .iter()
            .map(|one| (one.activity, one.ns, one.calls))
            .collect();
        let expected = [(Activity::Call, 10, 2.0), (Activity::Wait, 2_000, 2.0)];
        assert_eq!(told, expected);
        for one in both {
            assert_eq!((one.pid, one.tid, one.at), (5, 7, 900));
            assert_eq!((one.call, one.fd), (Some(READ as u32), Some(3)));
            assert_eq!((one.path.as_deref(), one.woken_by), (Some("pipe"), None));
            let pointer = 100 + stack::POINTER as u64;
            assert_eq!(one.copy.registers.stack(), Some(pointer));
            assert_eq!(*one.copy.bytes, [1, 2, 3]);
            assert_eq!(*one.copy.callers, [0x4000, 0x5000]);
        }
    }

    #[test]
    fn who_ended_a_wait_is_said_of_locks_and_children() {
        let waited = seen(&bytes(FUTEX, -1, 0, 2_000));
        let told: Vec<_> = waited
            .iter()
            .map(|one| (one.activity, one.woken_by))
            .collect();
        assert_eq!(told, [(Activity::Wait, Some(8))]);
    }

    #[test]
    fn faults_and_first_calls_are_seen_too() {
        let fault = seen(&bytes(u32::MAX.into(), -1, 10, 0));
        assert_eq!((fault[0].activity, fault[0].call), (Activity::Fault, None));
        assert_eq!((fault[0].touched, fault[0].woken_by), (Some(8), None));
        let first = seen(&bytes(READ, 3, 0, 0));
        assert_eq!(
            (first.len(), first[0].activity, first[0].ns),
            (1, Activity::Call, 0)
        );
        assert_eq!(first[0].touched, None);
    }

    #[test]
    fn callers_that_could_not_be_had_are_none() {
        let mut without = bytes(READ, 3, 10, 0);
        for size in [-14i64, i64::MIN, 0, 7] {
            without[stack::CALLERS_SIZE as usize..][..8].copy_from_slice(&size.to_ne_bytes());
            assert!(seen(&without)[0].copy.callers.is_empty());
        }
        without[stack::CALLERS_SIZE as usize..][..8].copy_from_slice(&i64::MAX.to_ne_bytes());
        let callers = seen(&without)[0].copy.callers.len();
        assert_eq!(callers, stack::MOST_CALLERS);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic() {
        let inputs = [bytes(READ, 3, 10, 20), bytes(u32::MAX.into(), -1, 0, 0)];
        fathom_test_memory::survives(&inputs, 1 << 12, |bytes| {
            if let Some(decoded) = StackRecord::decode(bytes) {
                _ = decoded.seen(None);
            }
        });
    }
}
