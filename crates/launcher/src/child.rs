//! A process of a run: its steps before it executes its program, and its accounting data after its exit.

use crate::account;
use crate::files::{AT_FDCWD, open, open_of, read_and_close};
use crate::mounts;
use crate::shared::fd::HANDOVER;
use crate::shared::{Answer, BASE, Job, SLOTS, Shared, Stage, Text, step};
use crate::system::{self, call, call3, number};

const WEXITED: usize = 4;
const WNOWAIT: usize = 0x0100_0000;
const EINTR: isize = -4;
const P_PID: usize = 1;
const PR_SET_NO_NEW_PRIVS: usize = 38;
const SECCOMP_SET_MODE_FILTER: usize = 1;
/// Without this flag, older kernels slow down all speculative execution of the program.
const SECCOMP_FILTER_FLAG_SPEC_ALLOW: usize = 4;
const SECCOMP_FILTER_FLAG_NEW_LISTENER: usize = 8;
const MSG_NOSIGNAL: usize = 0x4000;
/// The values of `SOL_SOCKET` and `SCM_RIGHTS`.
const RIGHTS: [i32; 2] = [1, 1];

/// Returns the memory shared with Fathom, once it is mapped.
pub(crate) fn memory() -> *mut Shared {
    BASE as *mut Shared
}

/// The code of the child, which does as little as possible. `what` is the number of a job, or the address of
/// a stage.
pub(crate) extern "C" fn child(what: usize) -> ! {
    // SAFETY: our parent has mapped the memory, and doesn't write to any of these fields until we have
    // exited.
    unsafe {
        let shared = memory();
        let (job, answer) = if what < SLOTS {
            (
                &raw const (*shared).jobs[what],
                &raw mut (*shared).answers[what],
            )
        } else {
            let stage = what as *mut Stage;
            (&raw const (*stage).job, &raw mut (*stage).answer)
        };
        call3(number::SETPGID, 0, 0, 0);
        let (failed_step, error) = match prepare(&*job) {
            Ok(()) => {
                if (*shared).control.wants_cpu != 0 {
                    let path = c"/proc/thread-self/schedstat".as_ptr() as usize;
                    read_and_close(open(AT_FDCWD, path, 0), &mut (*answer).before_exec);
                }
                (*answer).exec_ns = system::now();
                let [path, argv, envp] =
                    [(*job).path, (*job).argv, (*job).envp].map(|at| at as usize);
                (step::EXEC, call3(number::EXECVE, path, argv, envp))
            }
            Err(failed) => failed,
        };
        (*answer).failed_step = failed_step;
        (*answer).error = -error as i32;
    }
    system::exit(127)
}

/// Makes the steps before the program that the job requests. Returns the step that failed, and its error.
fn prepare(job: &Job) -> Result<(), (u32, isize)> {
    let tried = |step, result: isize| match result {
        ..0 => Err((step, result)),
        _ => Ok(()),
    };
    if job.cpu_mask != 0 {
        let (length, mask) = (job.cpu_mask_length as usize, job.cpu_mask as usize);
        // SAFETY: our parent has put the mask there.
        tried(step::PIN, unsafe {
            call3(number::SCHED_SETAFFINITY, 0, length, mask)
        })?;
    }
    if job.groups != 0 {
        tried(step::GROUP, mounts::move_to(job.groups as usize))?;
    }
    if job.mounts != 0 {
        tried(step::MOUNT, mounts::make(job.mounts as usize))?;
    }
    if job.filter != 0 {
        tried(step::FILTER, filter(job))?;
    }
    Ok(())
}

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    length: u16,
    instructions: u64,
}

/// Installs the job's system call filter for this process and its descendants. Returns a negative error
/// number if that isn't allowed. From then on, set-uid programs grant no privileges, which the kernel
/// requires of unprivileged users.
fn filter(job: &Job) -> isize {
    let program = Program {
        length: job.filter_length as u16,
        instructions: job.filter,
    };
    let asks = job.filter_asks != 0;
    let flags = match asks {
        true => SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_NEW_LISTENER,
        false => SECCOMP_FILTER_FLAG_SPEC_ALLOW,
    };
    // SAFETY: the arguments are numbers and a program in the shared memory, which the kernel copies.
    unsafe {
        call(number::PRCTL, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0]);
        let mut done = 0;
        for _ in 0..job.filter_times {
            done = call3(
                number::SECCOMP,
                SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program as usize,
            );
            if done < 0 {
                return done;
            }
        }
        match asks {
            true => hand_over(done),
            false => done,
        }
    }
}

/// `struct iovec`.
#[repr(C)]
struct Part {
    start: usize,
    length: usize,
}

/// `struct cmsghdr` followed by one descriptor.
#[repr(C)]
struct Descriptor {
    length: usize,
    kind: [i32; 2],
    descriptor: i32,
}

/// `struct msghdr`.
#[repr(C)]
struct Message {
    name: usize,
    name_length: u32,
    parts: usize,
    part_count: usize,
    control: usize,
    control_length: usize,
    flags: i32,
}

/// Sends the filter's listener to Fathom. It is closed here when the program is executed.
fn hand_over(listener: isize) -> isize {
    let byte = 0u8;
    let part = Part {
        start: &raw const byte as usize,
        length: 1,
    };
    let descriptor = Descriptor {
        length: core::mem::offset_of!(Descriptor, descriptor) + size_of::<i32>(),
        kind: RIGHTS,
        descriptor: listener as i32,
    };
    let message = Message {
        name: 0,
        name_length: 0,
        parts: &raw const part as usize,
        part_count: 1,
        control: &raw const descriptor as usize,
        control_length: size_of::<Descriptor>(),
        flags: 0,
    };
    // SAFETY: the message is our own, and its parts live until the call returns.
    unsafe {
        call3(
            number::SENDMSG,
            HANDOVER as usize,
            &raw const message as usize,
            MSG_NOSIGNAL,
        )
    }
}

/// Waits until the process has exited, without reaping it.
pub(crate) fn wait_for_exit(pid: isize) {
    let mut info = [0u64; 16];
    // SAFETY: the buffer has room for the 128 bytes of a siginfo.
    while unsafe {
        call(
            number::WAITID,
            [
                P_PID,
                pid as usize,
                info.as_mut_ptr() as usize,
                WEXITED | WNOWAIT,
                0,
                0,
            ],
        )
    } == EINTR
    {}
}

/// Returns the CPU on which a dead process last ran; -1 if the kernel doesn't report it.
pub(crate) fn last_cpu(pid: isize) -> i32 {
    let mut stat = Text::<1024> {
        length: 0,
        bytes: [0; 1024],
    };
    read_and_close(open_of(pid, b"/stat\0"), &mut stat);
    let length = usize::try_from(stat.length).unwrap_or(0);
    account::last_cpu(stat.bytes.get(..length).unwrap_or_default())
}

/// Reads the accounting data of a process that is dead and not yet reaped, and reaps it. `early` is its `io`
/// file, if that can only be opened while the process lives.
pub(crate) fn take_accounts(pid: isize, early: Option<isize>, answer: &mut Answer) {
    read_and_close(open_of(pid, b"/schedstat\0"), &mut answer.schedstat);
    let io = match early {
        Some(io) => io,
        None => open_of(pid, b"/io\0"),
    };
    read_and_close(io, &mut answer.io);
    // SAFETY: status and usage have the sizes that the call writes.
    unsafe {
        call(
            number::WAIT4,
            [
                pid as usize,
                &raw mut answer.status as usize,
                0,
                &raw mut answer.usage as usize,
                0,
                0,
            ],
        )
    };
}
