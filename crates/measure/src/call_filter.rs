//! Filters system calls. A filter can make the kernel answer a call immediately, without doing anything
//! (`SECCOMP_RET_ERRNO` with 0), delay it, or notify Fathom of it.
//!
//! Answering and delaying need no supervisor, and no filter needs privileges. A filter applies to static
//! programs and to every process that the command creates. The command with which it is compared gets a
//! filter with the same instructions that allows the calls, so both pay for a filter.

use fathom_launcher::shared::fd;

use crate::seccomp::{
    ALLOW, ARCHITECTURE, ARCHITECTURE_AT, Instruction, NUMBER_AT, argument_at, divide, equals,
    give_back, keep, load, skip, take,
};

/// A call that the filter can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The number of the call.
    number: libc::c_long,
    /// If set, the call is answered only if this argument is 0.
    unless: Option<u32>,
}

impl Answered {
    const fn always(number: libc::c_long) -> Answered {
        Answered {
            number,
            unless: None,
        }
    }

    const fn without(number: libc::c_long, argument: u32) -> Answered {
        Answered {
            number,
            unless: Some(argument),
        }
    }

    /// Pauses: `nanosleep`, and calls that wait for descriptors but get none.
    #[cfg(target_arch = "x86_64")]
    pub const PAUSES: &[Answered] = &[
        Answered::always(libc::SYS_nanosleep),
        Answered::always(libc::SYS_clock_nanosleep),
        Answered::without(libc::SYS_select, 0),
        Answered::without(libc::SYS_pselect6, 0),
        Answered::without(libc::SYS_poll, 1),
        Answered::without(libc::SYS_ppoll, 1),
    ];

    /// Pauses: `nanosleep`, and calls that wait for descriptors but get none.
    #[cfg(not(target_arch = "x86_64"))]
    pub const PAUSES: &[Answered] = &[
        Answered::always(libc::SYS_nanosleep),
        Answered::always(libc::SYS_clock_nanosleep),
        Answered::without(libc::SYS_pselect6, 0),
        Answered::without(libc::SYS_ppoll, 1),
    ];

    /// Bindings of threads to CPUs.
    pub const BINDINGS: &[Answered] = &[Answered::always(libc::SYS_sched_setaffinity)];

    /// Waits until data is on the disk.
    pub const SYNCS: &[Answered] = &[
        Answered::always(libc::SYS_fsync),
        Answered::always(libc::SYS_fdatasync),
        Answered::always(libc::SYS_sync_file_range),
        Answered::always(libc::SYS_msync),
        Answered::always(libc::SYS_syncfs),
        Answered::always(libc::SYS_sync),
    ];
}

/// A system call filter for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFilter {
    instructions: Vec<u8>,
    /// How many times the filter is installed. The kernel executes all copies for each call.
    times: u32,
    /// Whether the kernel notifies Fathom of the filtered calls.
    asks: bool,
}

/// A call of which only a part is delayed: that which doesn't wait for another thread or process, because the
/// wait would absorb the delay.
struct Part {
    number: libc::c_long,
    /// The argument that tells, and the bits of it that count.
    argument: u32,
    bits: u32,
    /// The values with which a call is delayed; if `others`, those with which it isn't.
    values: &'static [u32],
    others: bool,
}

/// `futex` wakes others with the operations 1, 5 and 10. `flock` and `fcntl` give a lock back, or take it. A wait
/// for events is a pause if it has a time limit.
const PARTS: &[Part] = &[
    Part {
        number: libc::SYS_futex,
        argument: 1,
        bits: 0x7f,
        values: &[1, 5, 10],
        others: false,
    },
    Part {
        number: libc::SYS_flock,
        argument: 1,
        bits: 0xf,
        values: &[libc::LOCK_UN as u32],
        others: false,
    },
    Part {
        number: libc::SYS_fcntl,
        argument: 1,
        bits: u32::MAX,
        values: &[
            libc::F_SETLK as u32,
            libc::F_SETLKW as u32,
            libc::F_OFD_SETLK as u32,
            libc::F_OFD_SETLKW as u32,
        ],
        others: false,
    },
    #[cfg(target_arch = "x86_64")]
    Part {
        number: libc::SYS_epoll_wait,
        ..LIMITED
    },
    LIMITED,
];

const LIMITED: Part = Part {
    number: libc::SYS_epoll_pwait,
    argument: 3,
    bits: u32::MAX,
    values: &[0, u32::MAX],
    others: true,
};

impl Part {
    /// Returns instructions that allow the rest of the calls. Before and after them, the number of the call is
    /// loaded.
    fn check(&self) -> Vec<Instruction> {
        let mut check = vec![load(argument_at(self.argument)), keep(self.bits)];
        let left = (1..=self.values.len() as u8).rev();
        check.extend(
            self.values
                .iter()
                .zip(left)
                .map(|(value, over)| equals(*value, over, 0)),
        );
        check.extend(self.others.then(|| skip(1)));
        check.extend([give_back(ALLOW), load(NUMBER_AT)]);
        check.insert(0, equals(self.number as u32, 0, check.len() as u8));
        check
    }
}

/// A delay made by a filter's own instructions. A step is a division that depends on the one before; it takes
/// 3.3 ns on an AMD EPYC, regardless of other load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The number of divisions per call, in each of the filters.
    pub made: u32,
    /// The number of divisions in the program, of which `made` are executed. Filters of the same size take
    /// equally long to install.
    pub room: u32,
    /// The number of filters.
    pub filters: u32,
}

impl Steps {
    /// The maximum number of divisions in a filter, which may have at most 4,096 instructions.
    pub const MOST: u32 = 4_000;
    /// The maximum number of filters. All filters of a process together may have at most 32,768 instructions.
    pub const MOST_FILTERS: u32 = 7;
}

impl CallFilter {
    /// Returns a filter that answers these calls.
    pub fn answering(calls: &[Answered]) -> CallFilter {
        CallFilter::with(calls, libc::SECCOMP_RET_ERRNO)
    }

    /// Returns a filter with the same instructions that allows all calls.
    pub fn letting_through(calls: &[Answered]) -> CallFilter {
        CallFilter::with(calls, ALLOW)
    }

    fn with(calls: &[Answered], answer: u32) -> CallFilter {
        // The jump can skip at most 255 instructions; each call takes at most five.
        debug_assert!(calls.len() <= 50);
        let mut program: Vec<Instruction> = Vec::new();
        for call in calls {
            let number = call.number as u32;
            match call.unless {
                None => program.extend([equals(number, 0, 1), give_back(answer)]),
                Some(argument) => program.extend([
                    equals(number, 0, 4),
                    load(argument_at(argument)),
                    equals(0, 0, 1),
                    give_back(answer),
                    give_back(ALLOW),
                ]),
            }
        }
        // Programs that use the 32-bit entry have different call numbers.
        let beyond = program.len() as u8 + 1;
        let mut whole = vec![
            load(ARCHITECTURE_AT),
            equals(ARCHITECTURE, 0, beyond),
            load(NUMBER_AT),
        ];
        whole.append(&mut program);
        whole.push(give_back(ALLOW));
        CallFilter::of(&whole)
    }

    fn of(program: &[Instruction]) -> CallFilter {
        CallFilter {
            instructions: program.iter().flat_map(bytes_of).collect(),
            times: 1,
            asks: false,
        }
    }

    /// Returns a program that executes `then` for calls with these numbers, at most
    /// [`CallFilter::MOST_CALLS`], and allows all other calls. See [`Part`] for calls that it also allows.
    fn before(numbers: &[u32], then: &[Instruction]) -> Vec<Instruction> {
        debug_assert!(numbers.len() <= Self::MOST_CALLS);
        let mut whole = vec![
            load(ARCHITECTURE_AT),
            equals(ARCHITECTURE, 1, 0),
            give_back(ALLOW),
            load(NUMBER_AT),
        ];
        // The instruction after the last comparison allows the call.
        let jumps = (1..=numbers.len() as u8).rev();
        whole.extend(
            numbers
                .iter()
                .zip(jumps)
                .map(|(number, over)| equals(*number, over, 0)),
        );
        whole.push(give_back(ALLOW));
        for part in PARTS
            .iter()
            .filter(|part| numbers.contains(&(part.number as u32)))
        {
            whole.extend(part.check());
        }
        whole.extend(then);
        whole
    }

    /// The maximum number of different calls that a filter compares with.
    pub const MOST_CALLS: usize = 64;

    /// Returns a filter that delays calls with these numbers by its own instructions.
    pub fn delaying(numbers: &[u32], steps: Steps) -> CallFilter {
        let Steps {
            made,
            room,
            filters,
        } = steps;
        debug_assert!(made <= room && room <= Steps::MOST && filters <= Steps::MOST_FILTERS);
        let mut then = vec![take(u32::MAX), skip(room - made)];
        then.extend((0..room).map(|_| divide(1)));
        then.push(give_back(ALLOW));
        CallFilter {
            times: filters,
            ..CallFilter::of(&CallFilter::before(numbers, &then))
        }
    }

    /// Returns a filter with which the kernel notifies Fathom before each call with one of these numbers,
    /// except for the call that sends the filter's listener to Fathom.
    pub fn asking(numbers: &[u32]) -> CallFilter {
        let ask = give_back(libc::SECCOMP_RET_USER_NOTIF);
        let then = [
            equals(libc::SYS_sendmsg as u32, 0, 3),
            load(argument_at(0)),
            equals(fd::HANDOVER as u32, 0, 1),
            give_back(ALLOW),
            ask,
        ];
        CallFilter {
            asks: true,
            ..CallFilter::of(&CallFilter::before(numbers, &then))
        }
    }

    /// Returns how many times the filter is installed.
    pub(crate) fn times(&self) -> u32 {
        self.times
    }

    /// Whether the kernel notifies Fathom of the filtered calls.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// Returns the instructions in the kernel's format.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.instructions
    }
}

/// Encodes a `struct sock_filter`.
fn bytes_of(instruction: &Instruction) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..2].copy_from_slice(&instruction.code.to_ne_bytes());
    bytes[2] = instruction.jt;
    bytes[3] = instruction.jf;
    bytes[4..].copy_from_slice(&instruction.k.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the kernel would do with a call.
    fn answer(
        filter: &CallFilter,
        architecture: u32,
        number: libc::c_long,
        arguments: [u64; 6],
    ) -> u32 {
        walk(filter, architecture, number, arguments).0
    }

    /// Like [`answer`], but also returns the number of divisions executed.
    fn walk(
        filter: &CallFilter,
        architecture: u32,
        number: libc::c_long,
        arguments: [u64; 6],
    ) -> (u32, u32) {
        let mut data = Vec::new();
        data.extend((number as u32).to_ne_bytes());
        data.extend(architecture.to_ne_bytes());
        data.extend(0u64.to_ne_bytes());
        data.extend(arguments.iter().flat_map(|argument| argument.to_ne_bytes()));
        let word = |at: u32| {
            let at = at as usize;
            u32::from_ne_bytes(data[at..at + 4].try_into().unwrap())
        };
        let program: Vec<&[u8]> = filter.bytes().chunks(8).collect();
        let (mut at, mut accumulator, mut divisions) = (0, 0, 0);
        loop {
            let code = u16::from_ne_bytes(program[at][..2].try_into().unwrap());
            let k = u32::from_ne_bytes(program[at][4..].try_into().unwrap());
            match u32::from(code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => accumulator = word(k),
                code if code == libc::BPF_RET | libc::BPF_K => return (k, divisions),
                code if code == libc::BPF_LD | libc::BPF_IMM => accumulator = k,
                code if code == libc::BPF_JMP | libc::BPF_JA => at += k as usize,
                code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => accumulator &= k,
                code if code == libc::BPF_ALU | libc::BPF_DIV | libc::BPF_K => {
                    accumulator /= k;
                    divisions += 1;
                }
                _ if accumulator == k => at += usize::from(program[at][2]),
                _ => at += usize::from(program[at][3]),
            }
            at += 1;
        }
    }

    #[test]
    fn the_calls_are_answered_and_all_others_let_through() {
        let errno = libc::SECCOMP_RET_ERRNO;
        for (calls, other) in [
            (Answered::PAUSES, libc::SYS_fsync),
            (Answered::SYNCS, libc::SYS_nanosleep),
        ] {
            let filter = CallFilter::answering(calls);
            let through = CallFilter::letting_through(calls);
            for call in calls {
                assert_eq!(answer(&filter, ARCHITECTURE, call.number, [0; 6]), errno);
                assert_eq!(answer(&through, ARCHITECTURE, call.number, [0; 6]), ALLOW);
                // With another architecture, the same number is a different call.
                assert_eq!(answer(&filter, 1, call.number, [0; 6]), ALLOW);
            }
            for number in [other, libc::SYS_write, libc::SYS_execve] {
                assert_eq!(answer(&filter, ARCHITECTURE, number, [0; 6]), ALLOW);
            }
            assert_eq!(filter.bytes().len(), through.bytes().len());
        }
    }

    #[test]
    fn a_wait_for_descriptors_is_no_pause() {
        let filter = CallFilter::answering(Answered::PAUSES);
        let of = |number, arguments| answer(&filter, ARCHITECTURE, number, arguments);
        assert_eq!(of(libc::SYS_ppoll, [1, 1, 0, 0, 0, 0]), ALLOW);
        assert_eq!(of(libc::SYS_pselect6, [4, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(
            of(libc::SYS_ppoll, [1, 0, 0, 0, 0, 0]),
            libc::SECCOMP_RET_ERRNO
        );
    }

    #[test]
    fn so_many_steps_come_before_the_calls_that_are_delayed() {
        let numbers = [libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64];
        let steps = |made| Steps {
            made,
            room: 30,
            filters: 2,
        };
        for made in [0, 10, 30] {
            let filter = CallFilter::delaying(&numbers.map(|number| number as u32), steps(made));
            for number in numbers {
                assert_eq!(walk(&filter, ARCHITECTURE, number, [0; 6]), (ALLOW, made));
                assert_eq!(walk(&filter, 1, number, [0; 6]), (ALLOW, 0));
            }
            assert_eq!(
                walk(&filter, ARCHITECTURE, libc::SYS_read, [0; 6]),
                (ALLOW, 0)
            );
            let all = CallFilter::delaying(&[1], steps(30)).bytes().len();
            assert_eq!(filter.bytes().len(), all + 8 * (numbers.len() - 1));
        }
    }

    #[test]
    fn a_call_that_waits_for_another_thread_is_not_delayed() {
        let numbers = [
            libc::SYS_futex,
            libc::SYS_write,
            libc::SYS_flock,
            libc::SYS_epoll_pwait,
        ];
        let steps = Steps {
            made: 3,
            room: 5,
            filters: 1,
        };
        let filter = CallFilter::delaying(&numbers.map(|number| number as u32), steps);
        let delays = |number, arguments| walk(&filter, ARCHITECTURE, number, arguments).1 == 3;
        let of = |number, second| delays(number, [0, second, 0, 0, 0, 0]);
        for (operation, wakes) in [(0, false), (1, true), (9, false), (10, true), (5, true)] {
            assert_eq!(of(libc::SYS_futex, operation), wakes, "{operation}");
            // The same, private to the process and with another clock.
            assert_eq!(of(libc::SYS_futex, operation | 0x180), wakes, "{operation}");
        }
        assert!(of(libc::SYS_write, 0) && !of(libc::SYS_read, 1));
        assert!(of(libc::SYS_flock, libc::LOCK_UN as u64));
        assert!(!of(libc::SYS_flock, libc::LOCK_EX as u64));
        let limit = |limit: i32| {
            let limit = u64::from(limit as u32);
            delays(libc::SYS_epoll_pwait, [0, 0, 0, limit, 0, 0])
        };
        assert!(limit(10) && !limit(0) && !limit(-1));
    }

    #[test]
    fn the_kernel_asks_about_all_but_the_handover() {
        let numbers = [libc::SYS_fsync, libc::SYS_sendmsg].map(|number| number as u32);
        let filter = CallFilter::asking(&numbers);
        let of = |number, first| answer(&filter, ARCHITECTURE, number, [first, 0, 0, 0, 0, 0]);
        let asks = libc::SECCOMP_RET_USER_NOTIF;
        assert_eq!(of(libc::SYS_fsync, fd::HANDOVER as u64), asks);
        assert_eq!(of(libc::SYS_sendmsg, 3), asks);
        assert_eq!(of(libc::SYS_sendmsg, fd::HANDOVER as u64), ALLOW);
        assert_eq!(of(libc::SYS_write, 3), ALLOW);
    }
}
