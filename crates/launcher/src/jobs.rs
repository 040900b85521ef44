//! Makes runs in sequence.

use crate::child::{child, last_cpu, take_accounts, wait_for_exit};
use crate::death;
use crate::files::{Placed, open_of, read_text};
use crate::record::Record;
use crate::shared::{Answer, Control, Job, SLOTS, Shared, fd, step};
use crate::system;
use crate::tree::{count_left, sweep};

/// Stack of the child until it executes its program.
#[repr(align(64))]
struct Stack(core::cell::UnsafeCell<[u8; 16384]>);
// SAFETY: we never touch it; one child at a time does.
unsafe impl Sync for Stack {}
static STACK: Stack = Stack(core::cell::UnsafeCell::new([0; 16384]));

/// Makes the jobs in sequence without notifying Fathom in between: waking it would let CPUs go idle and
/// caches cool down, and slow down the next run.
pub(crate) fn run_all(shared: &mut Shared) {
    let control = &mut shared.control;
    let began = system::now();
    let mut record = Record::open();
    let mut placed = Placed::NOTHING;
    let mut at = 0;
    while at < (control.jobs as usize).min(SLOTS) {
        let job = &shared.jobs[at];
        let answer = &mut shared.answers[at];
        run(at, job, control, answer, &mut placed);
        at += 1;
        let killed = kill_wanted(control);
        if job.record_head != 0 && answer.failed_step == step::NONE && killed != at as u32 {
            record.add(job, answer, control);
        }
        death::recorded();
        // SAFETY: an aligned word in the shared memory, which Fathom reads concurrently.
        unsafe { core::ptr::write_volatile(&raw mut control.answers, at as u32) };
        let ended_well = answer.failed_step == step::NONE && answer.status == 0;
        let used = answer.end_ns.saturating_sub(began);
        // A round is only split if necessary: the pause in between affects the speed of the next run.
        let time_is_up =
            used >= control.longest_ns || (used >= control.budget_ns && job.ends_round != 0);
        if killed != 0 || !ended_well || answer.left_behind != control.left_before || time_is_up {
            break;
        }
    }
    record.close();
    placed.let_go();
}

/// Returns the number of the job that Fathom wants to end, 0 if none.
fn kill_wanted(control: &Control) -> u32 {
    // SAFETY: Fathom may set this at any time, so the read is volatile.
    unsafe { core::ptr::read_volatile(&raw const control.kill_tree) }
}

fn run(at: usize, job: &Job, control: &mut Control, answer: &mut Answer, placed: &mut Placed) {
    answer.child = 0;
    answer.failed_step = step::NONE;
    answer.error = 0;
    answer.status = 0;
    answer.left_behind = 0;
    answer.exec_ns = 0;
    answer.before_exec.length = 0;
    if let Err((failed, error)) = placed.place(job, fd::NULL, job.output_fd) {
        answer.failed_step = failed;
        answer.error = -error as i32;
        return;
    }
    // SAFETY: the child runs `child` on a separate stack and ends in execve or exit.
    let pid = unsafe {
        let top = STACK.0.get() as usize + 16384;
        let start = system::now();
        core::ptr::write_volatile(&raw mut answer.start_ns, start);
        system::spawn(top, child, at, &mut answer.child)
    };
    if pid < 0 {
        answer.failed_step = step::CLONE;
        answer.error = -pid as i32;
        return;
    }
    let early = if control.early_io != 0 {
        open_of(pid, b"/io\0")
    } else {
        -1
    };
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_before);
    wait_for_exit(pid);
    death::recording();
    answer.end_ns = system::now();
    read_text(fd::OWN_SCHEDSTAT as isize, &mut answer.own_after);

    answer.cpu = if control.wants_cpu != 0 {
        last_cpu(pid)
    } else {
        -1
    };
    take_accounts(
        pid,
        if control.early_io != 0 {
            Some(early)
        } else {
            None
        },
        answer,
    );
    placed.after(job);
    if kill_wanted(control) == at as u32 + 1 {
        control.immortal = sweep();
    } else {
        answer.left_behind = count_left();
    }
}
