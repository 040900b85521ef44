//! Converts the results of `wait4`.

use crate::result::{Accounts, End};

/// Converts the resource usage returned by a wait.
pub(crate) fn accounts(usage: &libc::rusage) -> Accounts {
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    Accounts {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        peak_memory_bytes: usage.ru_maxrss as u64 * 1024,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

/// Converts a wait status.
pub(crate) fn end(status: i32, cut_short: bool) -> End {
    End {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        cut_short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_signals_are_distinguished() {
        assert_eq!(end(3 << 8, false).code, Some(3));
        let killed = end(libc::SIGKILL, true);
        assert_eq!(
            (killed.code, killed.signal, killed.cut_short),
            (None, Some(9), true)
        );
    }
}
