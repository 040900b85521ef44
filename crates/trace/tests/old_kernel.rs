//! Kernels that lack a call, and containers that refuse it.

mod common;

use common::{available, quiet};
use fathom_trace::{Tier, Trace, TraceError, TraceOptions, trace};

/// Makes a call fail with `ENOSYS` for this thread and what it starts.
fn without(call: libc::c_long) {
    let step = |code, jump_if_not, k| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: jump_if_not,
        k,
    };
    let mut steps = [
        // The number of the call is the first field.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call as u32),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the kernel copies the live program.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(
            libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program),
            0
        );
    }
}

/// Traces `true` in a thread that lacks a call, and checks that no child is left.
fn traced_without(call: libc::c_long) -> Result<Trace, TraceError> {
    let traced = move || {
        without(call);
        let result = trace(&quiet(&["true"]), Tier::Ptrace, &TraceOptions::default());
        let flags = libc::WNOHANG | libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: a null pointer stands for no status.
        let child = unsafe { libc::waitpid(-1, std::ptr::null_mut(), flags) };
        assert_eq!(child, -1, "a child of this thread is left");
        result
    };
    std::thread::spawn(traced).join().expect("no panic")
}

#[test]
fn without_close_range_a_command_is_traced_to_its_end() {
    if available(Tier::Ptrace) {
        traced_without(libc::SYS_close_range).expect("traced");
    }
}

#[test]
fn without_pidfd_open_a_command_is_refused_and_ended() {
    if available(Tier::Ptrace) {
        let error = traced_without(libc::SYS_pidfd_open).expect_err("there is no descriptor");
        assert!(error.to_string().contains("os error 38"), "{error}");
    }
}
