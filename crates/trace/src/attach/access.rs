//! Checks whether the real user may trace a process.
//!
//! Fathom's own file may have capabilities that allow it to observe every process. The check therefore runs
//! on a thread that has dropped all capabilities that its user doesn't have. The thread reads the memory of
//! the other process, which requires the right to attach to it (`PTRACE_MODE_ATTACH_REALCREDS`). The kernel
//! grants this right only for a dumpable process of the same user, and if its security modules (Yama) agree.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use crate::error::AttachError;
use crate::sample::parse;

/// Checks that the real user may trace the process. Returns a descriptor of the process, and its name.
pub(super) fn check(pid: u32) -> Result<(OwnedFd, String), AttachError> {
    /// The kernel's `PF_KTHREAD`.
    const OF_KERNEL: u64 = 0x0020_0000;
    let stat = |pid: u32| {
        let text = fs::read(format!("/proc/{pid}/stat")).ok();
        text.and_then(|text| parse::stat(&text))
    };
    let Some(own) = stat(pid) else {
        return Err(AttachError::Gone(pid));
    };
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    let status = status.map_err(|_| AttachError::Gone(pid))?;
    match parse::status_number(&status, "Tgid:") {
        Some(process) if process != pid => {
            let name = stat(process).map_or_else(String::new, |stat| stat.name);
            let (tid, pid) = (pid, process);
            return Err(AttachError::Thread { tid, pid, name });
        }
        _ => {}
    }
    let name = own.name;
    if pid == std::process::id() {
        return Err(AttachError::Itself(pid));
    }
    if own.flags & OF_KERNEL != 0 {
        return Err(AttachError::Kernel { pid, name });
    }
    if matches!(own.state, b'Z' | b'X') {
        return Err(AttachError::Ended { pid, name });
    }
    let fd = crate::spawn::pidfd(pid).map_err(|error| match error.raw_os_error() {
        Some(libc::ESRCH) => AttachError::Gone(pid),
        _ => AttachError::System {
            what: "opening a descriptor",
            pid,
            error,
        },
    })?;
    match may_trace(&[pid])?.first() {
        Some(true) => Ok((fd, name)),
        _ => Err(refusal(pid, name, &status)),
    }
}

/// Returns the reason for the refusal, as far as it can be determined.
fn refusal(pid: u32, name: String, status: &str) -> AttachError {
    let owner = parse::status_number(status, "Uid:").unwrap_or(0);
    // SAFETY: getuid only returns this process's user id.
    let own = unsafe { libc::getuid() };
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let why = match scope.trim() {
        _ if owner != own => format!("you are {}; use sudo", user(own)),
        scope @ ("1" | "2" | "3") => format!(
            "kernel.yama.ptrace_scope is {scope}, so only {}; use sudo, or sudo sysctl kernel.yama.ptrace_scope=0",
            match scope {
                "1" => "a parent may trace its children",
                "2" => "root traces others",
                _ => "rebooting the machine makes tracing possible",
            }
        ),
        _ => {
            "it has privileges that you don't have, or forbids tracing (PR_SET_DUMPABLE); use sudo"
                .to_owned()
        }
    };
    AttachError::NotAllowed {
        pid,
        name,
        owner: user(owner),
        why,
    }
}

/// Formats a user, such as `nobody (user 65534)`.
fn user(id: u32) -> String {
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = known.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, own) = (fields.next()?, fields.next()?, fields.next()?);
        (own.parse() == Ok(id)).then_some(name)
    });
    match name {
        Some(name) => format!("{name} (user {id})"),
        None => format!("user {id}"),
    }
}

/// Returns which of these processes the real user may trace, according to the kernel.
pub(super) fn may_trace(pids: &[u32]) -> Result<Vec<bool>, AttachError> {
    // Most processes have no children, and a thread for each check is expensive.
    if pids.is_empty() {
        return Ok(Vec::new());
    }
    // Capabilities belong to a thread: this thread keeps its own.
    let asked = std::thread::scope(|scope| {
        let ask = || {
            give_up_capabilities()?;
            Ok(pids.iter().map(|pid| may_read(*pid)).collect())
        };
        scope.spawn(ask).join()
    });
    let asked: io::Result<Vec<bool>> = match asked {
        Ok(asked) => asked,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    asked.map_err(|error| AttachError::System {
        what: "giving up capabilities before checking access",
        pid: pids.first().copied().unwrap_or(0),
        error,
    })
}

/// Drops all capabilities of this thread except those of its user. Root keeps all; others keep the ambient
/// ones, which are inherited from program to program (and cleared if a file grants its own).
fn give_up_capabilities() -> io::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3`.
    const VERSION: u32 = 0x2008_0522;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Sets {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    // SAFETY: getuid only returns this process's user id.
    if unsafe { libc::getuid() } == 0 {
        return Ok(());
    }
    let kept = (0..64u64).filter(|capability| {
        let is_set = libc::PR_CAP_AMBIENT_IS_SET as libc::c_ulong;
        // SAFETY: queries the ambient capabilities of this thread; an unknown number is refused.
        unsafe { libc::prctl(libc::PR_CAP_AMBIENT, is_set, *capability, 0, 0) == 1 }
    });
    let kept = kept.fold(0u64, |all, capability| all | 1 << capability);
    let half = |bits: u32| Sets {
        effective: bits,
        permitted: bits,
        inheritable: 0,
    };
    let header = Header {
        version: VERSION,
        pid: 0,
    };
    let sets = [half(kept as u32), half((kept >> 32) as u32)];
    // SAFETY: both arguments are live and have the layout of the third version; the call affects only this
    // thread.
    match unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Tries to read the byte at address 0, which no program maps: the kernel checks the permission before it
/// notices this.
fn may_read(pid: u32) -> bool {
    let mut byte = 0u8;
    let here = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let there = libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 1,
    };
    // SAFETY: writes at most one byte, to a live variable; the other address belongs to the other process.
    let read =
        unsafe { libc::process_vm_readv(pid as i32, &raw const here, 1, &raw const there, 1, 0) };
    read != -1 || io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_may_be_traced_and_init_by_root_only() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("there is a sleep");
        let allowed =
            may_trace(&[child.id(), u32::MAX >> 1]).expect("capabilities can be given up");
        child.kill().expect("it is ours");
        child.wait().expect("it was killed");
        assert_eq!(allowed, [true, false], "nobody has the second number");
    }

    #[test]
    fn refusals_name_what_is_there() {
        let text = |pid| check(pid).map(drop).unwrap_err().to_string();
        assert!(text(u32::MAX >> 1).starts_with("there is no process 2147483647"));
        assert!(text(std::process::id()).contains("this Fathom itself"));
    }

    #[test]
    fn a_thread_is_no_process() {
        let (send, receive) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: gettid only returns this thread's id.
            send.send(unsafe { libc::gettid() } as u32)
                .expect("it is awaited");
            _ = ended.recv();
        });
        let tid = receive.recv().expect("it runs");
        let refused = check(tid).map(drop).unwrap_err();
        drop(end);
        thread.join().expect("it ends");
        let own = std::process::id();
        assert!(
            matches!(refused, AttachError::Thread { tid: one, pid, .. } if one == tid && pid == own),
            "{refused}"
        );
    }

    #[test]
    fn a_user_is_known_by_name_and_number() {
        assert_eq!(user(0), "root (user 0)");
        assert_eq!(user(4_000_000_000), "user 4000000000");
    }
}
