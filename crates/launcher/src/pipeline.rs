//! Runs a pipeline: all stages at once, each with a pipe to the next, as a shell does.
//!
//! Only the kernel's own pipes are between the stages. The launcher waits for all stages at once by their
//! process descriptors, stamps each exit as it comes, and reads the accounts only when all have ended:
//! reading them takes 50 µs, which would delay the stamps of the others.

use crate::child::{child, memory, take_accounts};
use crate::files::{O_CLOEXEC, Placed, open_of};
use crate::shared::{BASE, Control, MOST_STAGES, PIPELINE, Pipeline, Stage, fd, step};
use crate::system::{self, call, call3, number};
use crate::tree::{count_left, kill, sweep};

/// Maximum time that we sleep until a stage is due before we check whether the run must end.
const CHECK_NS: u64 = 20_000_000;
const POLLIN: i16 = 1;
const STACK_BYTES: usize = 16384;

/// Stacks of the children until they execute their programs.
#[repr(align(64))]
struct Stacks(core::cell::UnsafeCell<[[u8; STACK_BYTES]; MOST_STAGES]>);
// SAFETY: we never touch them; each belongs to one child at a time.
unsafe impl Sync for Stacks {}
static STACKS: Stacks = Stacks(core::cell::UnsafeCell::new([[0; STACK_BYTES]; MOST_STAGES]));

#[repr(C)]
#[derive(Clone, Copy)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Pending,
    Running,
    Ended,
    Never,
}

/// Resources held for a stage while the pipeline runs.
#[derive(Clone, Copy)]
struct Held {
    state: State,
    /// Readable once the process has exited.
    pidfd: i32,
    /// Its `/proc/PID/io`, if it had to be opened early.
    early_io: isize,
    /// Our ends of the pipe to the next stage, read and write; -1 once closed.
    pipe: [i32; 2],
}

/// Returns the pipeline in the shared memory.
pub(crate) fn area() -> *mut Pipeline {
    (BASE as usize + PIPELINE) as *mut Pipeline
}

/// Runs the stages and waits for all of them.
pub(crate) fn run(control: &mut Control, pipeline: &mut Pipeline) {
    let count = (pipeline.count as usize).min(MOST_STAGES);
    let stages = &mut pipeline.stages[..count];
    let mut held = [Held {
        state: State::Pending,
        pidfd: -1,
        early_io: -1,
        pipe: [-1; 2],
    }; MOST_STAGES];
    for stage in stages.iter_mut() {
        let answer = &mut stage.answer;
        answer.child = 0;
        answer.failed_step = step::NOT_STARTED;
        answer.error = 0;
        answer.start_ns = 0;
        answer.exec_ns = 0;
        answer.end_ns = 0;
    }
    if make_pipes(stages, &mut held) {
        pipeline.start_ns = system::now();
        supervise(stages, &mut held, pipeline.start_ns, control.early_io != 0);
    }
    for (stage, held) in stages.iter_mut().zip(held) {
        if held.state == State::Ended {
            let early = if control.early_io != 0 {
                Some(held.early_io)
            } else {
                None
            };
            take_accounts(stage.answer.child as isize, early, &mut stage.answer);
        }
        close(held.pidfd);
        close(held.pipe[0]);
        close(held.pipe[1]);
    }
    if killed() {
        sweep();
        pipeline.left_behind = 0;
    } else {
        pipeline.left_behind = count_left();
    }
}

/// Creates the pipes between the stages; returns false, with the failure noted, if one can't be created.
fn make_pipes(stages: &mut [Stage], held: &mut [Held; MOST_STAGES]) -> bool {
    for (stage, held) in stages.iter_mut().zip(held.iter_mut()) {
        if stage.job.output != 0 || stage.job.output_fd != fd::NEIGHBOUR {
            continue;
        }
        // SAFETY: room for two descriptors.
        let made = unsafe { call3(number::PIPE2, held.pipe.as_mut_ptr() as usize, O_CLOEXEC, 0) };
        if made < 0 {
            held.pipe = [-1; 2];
            stage.answer.failed_step = step::PIPE;
            stage.answer.error = -made as i32;
            return false;
        }
    }
    true
}

/// Starts each stage when it is due and stamps each exit, until all have ended.
fn supervise(stages: &mut [Stage], held: &mut [Held; MOST_STAGES], begin: u64, early_io: bool) {
    loop {
        let next = start_due(stages, held, begin, early_io);
        end_all_if_one_failed(stages, held);
        let mut polled = [PollFd {
            fd: -1,
            events: POLLIN,
            revents: 0,
        }; MOST_STAGES];
        let mut running = false;
        for (entry, held) in polled.iter_mut().zip(held.iter()) {
            if held.state == State::Running {
                entry.fd = held.pidfd;
                running = true;
            }
        }
        if !running && next == u64::MAX {
            return;
        }
        wait(&mut polled, next);
        let now = system::now();
        for ((entry, held), stage) in polled.iter().zip(held.iter_mut()).zip(stages.iter_mut()) {
            if entry.fd >= 0 && entry.revents != 0 {
                stage.answer.end_ns = now;
                held.state = State::Ended;
            }
        }
    }
}

/// Ends all stages if one can't be run: the others might wait for it forever.
fn end_all_if_one_failed(stages: &[Stage], held: &[Held; MOST_STAGES]) {
    let could_not = |(stage, held): (&Stage, &Held)| {
        matches!(held.state, State::Ended | State::Never)
            && stage.answer.failed_step != step::NONE
            && stage.answer.failed_step != step::NOT_STARTED
    };
    if killed() || !stages.iter().zip(held).any(could_not) {
        return;
    }
    // SAFETY: an aligned word in the shared memory, which Fathom also sets to end a run. Pending stages are
    // then not started.
    unsafe { core::ptr::write_volatile(&raw mut (*memory()).control.kill_tree, 1) };
    for (stage, held) in stages.iter().zip(held) {
        if held.state == State::Running {
            kill(stage.answer.child as isize);
        }
    }
}

/// Starts the stages that are due; returns when the next one is due, `u64::MAX` if none is left.
fn start_due(
    stages: &mut [Stage],
    held: &mut [Held; MOST_STAGES],
    begin: u64,
    early_io: bool,
) -> u64 {
    let mut next = u64::MAX;
    let mut index = 0;
    while index < stages.len() && index < MOST_STAGES {
        if held[index].state == State::Pending {
            let due = begin + stages[index].delay_ns;
            if killed() {
                held[index].state = State::Never;
                let_go(stages, held, index);
            } else if stages[index].delay_ns == 0 || system::now() >= due {
                start(stages, held, index, early_io);
                let_go(stages, held, index);
            } else if due < next {
                next = due;
            }
        }
        index += 1;
    }
    next
}

fn start(stages: &mut [Stage], held: &mut [Held; MOST_STAGES], index: usize, early_io: bool) {
    let before = if index > 0 {
        held[index - 1].pipe[0]
    } else {
        -1
    };
    let after = held[index].pipe[1];
    let stage = &mut stages[index];
    let input = if stage.input_fd == fd::NEIGHBOUR {
        before
    } else {
        stage.input_fd
    };
    let job = &stage.job;
    let output = if job.output_fd == fd::NEIGHBOUR {
        after
    } else {
        job.output_fd
    };
    held[index].state = State::Never;
    let mut placed = Placed::NOTHING;
    if let Err((failed, error)) = placed.place(job, input, output) {
        stage.answer.failed_step = failed;
        stage.answer.error = -error as i32;
        placed.let_go();
        return;
    }
    stage.answer.failed_step = step::NONE;
    // SAFETY: the child runs `child` on a separate stack, with the stage's part of the shared memory, and
    // ends in execve or exit.
    let pid = unsafe {
        let top = STACKS.0.get() as usize + STACK_BYTES * (index + 1);
        stage.answer.start_ns = system::now();
        let at = &raw mut *stage as usize;
        system::spawn_with_descriptor(top, child, at, &mut held[index].pidfd)
    };
    placed.let_go();
    if pid < 0 {
        stage.answer.failed_step = step::CLONE;
        stage.answer.error = -pid as i32;
        return;
    }
    held[index].state = State::Running;
    // SAFETY: an aligned word in the shared memory, which Fathom reads to end the run.
    unsafe { core::ptr::write_volatile(&raw mut stage.answer.child, pid as i32) };
    if early_io {
        held[index].early_io = open_of(pid, b"/io\0");
    }
}

/// Closes our copies of the pipe ends that the stage now has or will never have: its neighbours see the end
/// of input, or a closed reader, only when the stage itself closes its ends.
fn let_go(stages: &[Stage], held: &mut [Held; MOST_STAGES], index: usize) {
    let stage = &stages[index];
    if index > 0 && stage.input_fd == fd::NEIGHBOUR {
        close(held[index - 1].pipe[0]);
        held[index - 1].pipe[0] = -1;
    }
    close(held[index].pipe[1]);
    held[index].pipe[1] = -1;
    if stage.close_after != 0 {
        if stage.input_fd >= fd::EXTRA {
            close(stage.input_fd);
        }
        if stage.job.output_fd >= fd::EXTRA {
            close(stage.job.output_fd);
        }
    }
}

fn wait(polled: &mut [PollFd; MOST_STAGES], next: u64) {
    let now = system::now();
    let left = next.saturating_sub(now).min(CHECK_NS);
    let timeout = [left / 1_000_000_000, left % 1_000_000_000];
    let timeout = if next == u64::MAX {
        0
    } else {
        timeout.as_ptr() as usize
    };
    // SAFETY: the number of entries is correct; the time lives until the call returns.
    unsafe {
        call(
            number::PPOLL,
            [polled.as_mut_ptr() as usize, MOST_STAGES, timeout, 0, 8, 0],
        )
    };
}

/// Returns whether Fathom wants to end the run.
fn killed() -> bool {
    // SAFETY: Fathom may set this at any time, so the read is volatile.
    unsafe { core::ptr::read_volatile(&raw const (*memory()).control.kill_tree) != 0 }
}

fn close(descriptor: i32) {
    if descriptor >= 0 {
        // SAFETY: one of our descriptors.
        unsafe { call3(number::CLOSE, descriptor as usize, 0, 0) };
    }
}
