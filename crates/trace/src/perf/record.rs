//! Decodes perf records.
//!
//! Layout: `enum perf_event_type` of `include/uapi/linux/perf_event.h`. Each record ends with its process,
//! thread and time; in samples, these follow the address.

use fathom_stacks::Registers;

use crate::python::PythonStack;

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const SWITCH: u32 = 14;

const EXEC: u16 = 1 << 13;
const DATA: u16 = 1 << 13;
const SWITCH_OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

/// Size of the type, the flags and the length.
const HEADER: usize = 8;
/// Size of the process, the thread and the time.
const TRAILER: usize = 16;

/// An event and its time, in ns of the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub at: u64,
    pub what: What,
}

/// The event of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A thread was created; the first thread of a process has the process's id.
    Begun { pid: u32, tid: u32, parent: u32 },
    /// A thread ended.
    Ended { pid: u32, tid: u32 },
    /// A thread got this name, either by `execve` or by setting it itself.
    Named {
        pid: u32,
        tid: u32,
        name: String,
        exec: bool,
    },
    /// A process mapped this file with the right to execute it.
    Mapped {
        pid: u32,
        path: String,
        /// Start address of the mapping; the next field is its length in bytes.
        from: u64,
        length: u64,
        /// Offset in the file.
        offset: u64,
        /// Inode of the file; 0 if it isn't a file.
        inode: u64,
    },
    /// A process mapped this without the right to execute it.
    MappedData {
        pid: u32,
        /// The file's path, or the kernel's name for something that isn't a file.
        path: String,
        from: u64,
        length: u64,
        is_writable: bool,
    },
    /// Records of mappings found their buffer full; no other records were lost.
    LostData,
    /// A thread was at this address of its own code when the timer expired. Contains a copy of its stack if
    /// requested.
    Sampled {
        pid: u32,
        tid: u32,
        address: u64,
        stack: Option<Box<StackCopy>>,
    },
    /// A thread is on a CPU.
    In { tid: u32 },
    /// A thread is off the CPU; `able` means that it could run, but the scheduler preempted it.
    Out { tid: u32, able: bool },
    /// Number of records for which the buffer had no space.
    Lost(u64),
}

/// A thread's registers and the content of its stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StackCopy {
    pub registers: Registers,
    /// The bytes from the stack pointer on.
    pub bytes: Box<[u8]>,
    /// Return addresses found by frame pointers, innermost first; present even if no stack was copied.
    pub callers: Box<[u64]>,
    /// The Python frames.
    pub python: PythonStack,
}

/// Parses a record; returns `None` for kinds that were not requested and for truncated records.
pub(crate) fn parse(bytes: &[u8]) -> Option<Record> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let kind = u32_at(header, 0)?;
    let flags = u16::from_ne_bytes(header[4..6].try_into().ok()?);
    if kind == SAMPLE {
        return sample(rest);
    }
    let (body, trailer) = rest.split_at_checked(rest.len().checked_sub(TRAILER)?)?;
    let tid = u32_at(trailer, 4)?;
    let at = u64_at(trailer, 8)?;
    let what = match kind {
        SWITCH if flags & SWITCH_OUT == 0 => What::In { tid },
        SWITCH => What::Out {
            tid,
            able: flags & PREEMPTED != 0,
        },
        FORK => What::Begun {
            pid: u32_at(body, 0)?,
            parent: u32_at(body, 4)?,
            tid: u32_at(body, 8)?,
        },
        EXIT => What::Ended {
            pid: u32_at(body, 0)?,
            tid: u32_at(body, 8)?,
        },
        COMM => What::Named {
            pid: u32_at(body, 0)?,
            tid: u32_at(body, 4)?,
            name: text(body.get(8..)?),
            exec: flags & EXEC != 0,
        },
        MMAP2 if flags & DATA != 0 => What::MappedData {
            pid: u32_at(body, 0)?,
            path: text(body.get(64..)?),
            from: u64_at(body, 8)?,
            length: u64_at(body, 16)?,
            is_writable: u32_at(body, 56)? & libc::PROT_WRITE as u32 != 0,
        },
        MMAP2 => What::Mapped {
            pid: u32_at(body, 0)?,
            path: text(body.get(64..)?),
            from: u64_at(body, 8)?,
            length: u64_at(body, 16)?,
            offset: u64_at(body, 24)?,
            inode: u64_at(body, 40)?,
        },
        LOST => What::Lost(u64_at(body, 8)?),
        _ => return None,
    };
    Some(Record { at, what })
}

/// Parses an address, a process with its thread, and a time. If requested, these are followed by callers,
/// registers and a copy of the stack, each preceded by its size or kind.
fn sample(bytes: &[u8]) -> Option<Record> {
    /// Marks the registers of a 64-bit program.
    const ABI_64: u64 = 2;
    const NO_REGISTERS: u64 = 0;
    const WORD: usize = size_of::<u64>();
    let (front, rest) = bytes.split_at_checked(3 * WORD)?;
    let copy = || {
        let (callers, rest) = callers(rest)?;
        let abi = u64_at(rest, 0)?;
        let count = match abi {
            NO_REGISTERS => 0,
            _ => Registers::PERF_MASK.count_ones() as usize,
        };
        let values = (1..=count).map(|number| u64_at(rest, number * WORD));
        let values = values.collect::<Option<Vec<u64>>>()?;
        let stack = rest.get((1 + count) * WORD..)?;
        let size = usize::try_from(u64_at(stack, 0)?).ok()?;
        // The number of bytes actually copied follows the space for the copy.
        let behind = size.checked_add(WORD)?;
        let copied = u64_at(stack, behind).unwrap_or(0).min(size as u64) as usize;
        let bytes = stack.get(WORD..behind)?.get(..copied)?;
        (abi == ABI_64).then(|| StackCopy {
            registers: Registers::of_perf(Registers::PERF_MASK, values),
            bytes: bytes.into(),
            callers,
            python: PythonStack::Unknown,
        })
    };
    Some(Record {
        at: u64_at(front, 2 * WORD)?,
        what: What::Sampled {
            pid: u32_at(front, WORD)?,
            tid: u32_at(front, WORD + 4)?,
            address: u64_at(front, 0)?,
            stack: copy().map(Box::new),
        },
    })
}

/// Returns the callers at the beginning of these bytes, and the rest.
fn callers(bytes: &[u8]) -> Option<(Box<[u64]>, &[u8])> {
    /// Values above this are markers for the kind of the addresses that follow.
    const MARKS: u64 = -4096i64 as u64;
    let count = usize::try_from(u64_at(bytes, 0)?).ok()?;
    let (addresses, rest) = bytes[size_of::<u64>()..].split_at_checked(count.checked_mul(8)?)?;
    let (addresses, _) = addresses.as_chunks::<8>();
    let addresses = addresses.iter().map(|address| u64::from_ne_bytes(*address));
    Some((addresses.filter(|address| *address < MARKS).collect(), rest))
}

/// Takes the records before this time, sorted by time: each CPU writes only its own in order.
pub(crate) fn take_until(records: &mut Vec<Record>, at: u64) -> Vec<Record> {
    records.sort_by_key(|record| record.at);
    let ripe = records.partition_point(|record| record.at < at);
    records.drain(..ripe).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// Returns the text up to its first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, flags: u16, body: &[u8]) -> Vec<u8> {
        let length = (HEADER + body.len() + TRAILER) as u16;
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(length.to_ne_bytes());
        bytes.extend(body);
        bytes.extend(70u32.to_ne_bytes());
        bytes.extend(71u32.to_ne_bytes());
        bytes.extend(5000u64.to_ne_bytes());
        bytes
    }

    fn numbers(numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()
    }

    fn what(kind: u32, flags: u16, body: &[u8]) -> What {
        let record = parse(&record(kind, flags, body)).expect("parses");
        assert_eq!(record.at, 5000);
        record.what
    }

    #[test]
    fn switches_say_who_and_whether_able() {
        assert_eq!(what(SWITCH, 0, &[]), What::In { tid: 71 });
        let out = |able| What::Out { tid: 71, able };
        assert_eq!(what(SWITCH, SWITCH_OUT, &[]), out(false));
        assert_eq!(what(SWITCH, SWITCH_OUT | PREEMPTED, &[]), out(true));
    }

    #[test]
    fn threads_begin_and_end() {
        let body = numbers(&[80, 70, 81, 71, 0, 0]);
        let begun = What::Begun {
            pid: 80,
            tid: 81,
            parent: 70,
        };
        assert_eq!(what(FORK, 0, &body), begun);
        assert_eq!(what(EXIT, 0, &body), What::Ended { pid: 80, tid: 81 });
    }

    #[test]
    fn names_and_paths_end_at_their_zero() {
        let body = [numbers(&[80, 81]), b"py (x)\0\0".to_vec()].concat();
        let What::Named { name, exec, .. } = what(COMM, EXEC, &body) else {
            panic!("a name");
        };
        assert_eq!((name.as_str(), exec), ("py (x)", true));
        let mapped = [
            numbers(&[80, 81, 4096, 1, 8192, 0, 512, 0]),
            // Device, inode with generation, protection and flags.
            numbers(&[8, 1, 77, 0, 5, 0, 5, 2]),
            b"/bin/\xff\0\0".to_vec(),
        ];
        let path = "/bin/\u{fffd}".to_owned();
        let reported = What::Mapped {
            pid: 80,
            path,
            from: (1 << 32) + 4096,
            length: 8192,
            offset: 512,
            inode: 77,
        };
        assert_eq!(what(MMAP2, 0, &mapped.concat()), reported);
        let data = What::MappedData {
            pid: 80,
            path: "/bin/\u{fffd}".to_owned(),
            from: (1 << 32) + 4096,
            length: 8192,
            is_writable: false,
        };
        assert_eq!(what(MMAP2, DATA, &mapped.concat()), data);
    }

    #[test]
    fn samples_say_who_was_where() {
        let reported = |stack| What::Sampled {
            pid: 70,
            tid: 71,
            address: 5,
            stack,
        };
        let who = record(SAMPLE, 0, &numbers(&[5, 0]));
        let of = |bytes: &[u8]| parse(bytes).map(|record| record.what);
        assert_eq!(of(&who), Some(reported(None)));
        let values: Vec<u64> = (100..100 + u64::from(Registers::PERF_MASK.count_ones())).collect();
        let with = |abi: u64, copied: u64| {
            let callers = [3, -512i64 as u64, 5, 6];
            let words = [&callers[..], &[abi], &values, &[16, 1, 2, copied]].concat();
            let words = words.iter().flat_map(|word| word.to_ne_bytes());
            who.iter().copied().chain(words).collect::<Vec<u8>>()
        };
        let copy = |bytes: &[u64]| {
            let bytes = bytes.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let registers = Registers::of_perf(Registers::PERF_MASK, values.iter().copied());
            let callers = [5, 6].into();
            Some(Box::new(StackCopy {
                registers,
                bytes,
                callers,
                python: PythonStack::Unknown,
            }))
        };
        assert_eq!(of(&with(2, 16)), Some(reported(copy(&[1, 2]))));
        assert_eq!(of(&with(2, 8)), Some(reported(copy(&[1]))));
        // One record is from a 32-bit program, and one is shorter than its length field.
        assert_eq!(of(&with(1, 16)), Some(reported(None)));
        let mut cut = with(2, 16);
        cut.truncate(cut.len() - 16);
        assert_eq!(of(&cut), Some(reported(None)));
    }

    #[test]
    fn what_is_cut_or_unknown_is_no_record() {
        assert_eq!(parse(&record(99, 0, &[])), None);
        assert_eq!(parse(&record(FORK, 0, &[0; 4])), None);
        assert_eq!(parse(&[0; 12]), None);
        assert_eq!(parse(&[]), None);
        assert_eq!(what(LOST, 0, &numbers(&[1, 0, 9, 0])), What::Lost(9));
    }

    #[test]
    fn no_bytes_make_the_parser_panic() {
        let mapped = [vec![7; 64], b"/bin/true\0".to_vec()].concat();
        let records = [
            record(SWITCH, SWITCH_OUT, &[]),
            record(FORK, 0, &[1; 24]),
            record(EXIT, 0, &[1; 24]),
            record(COMM, EXEC, b"12345678name\0\0\0\0"),
            record(MMAP2, 0, &mapped),
            record(MMAP2, DATA, &mapped),
            record(SAMPLE, 0, &[9; 8]),
            [record(SAMPLE, 0, &[9; 8]), vec![2; 1 << 9]].concat(),
            record(LOST, 0, &[9; 16]),
        ];
        fathom_test_memory::survives(&records, 1 << 10, |bytes| _ = parse(bytes));
    }
}
