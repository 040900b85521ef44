//! Determines which tiers this user may use on this machine.
//!
//! Each tier is tried on a child that never runs a program, rather than inferred from versions or settings.

use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use crate::command::{TraceCommand, TraceOptions};
use crate::error::TraceError;
use crate::kernel::session::Session;
use crate::perf::Recorder;
use crate::ptrace;
use crate::result::Tier;
use crate::spawn::{self, Held};

/// Whether a tier works here and, if not, the reason and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Availability {
    /// The tier.
    pub tier: Tier,
    /// Whether a command can currently be traced this way.
    pub available: bool,
    /// The error number of the attempt, if the system refused it.
    pub errno: Option<i32>,
    /// One sentence with the reason if unavailable; empty if available.
    pub why_not: String,
    /// The remedy; empty if available, or if nothing helps.
    pub remedy: String,
}

/// Tries every tier, best first. Takes about 30 ms, mostly for the in-kernel tier; the caller may cache the
/// result as long as the privileges and the kernel stay the same.
pub fn detect() -> Vec<Availability> {
    if let Err(error) = fs::metadata("/proc/self") {
        // Every tier finds the processes of the command there.
        return [Tier::Kernel, Tier::Perf, Tier::Sample, Tier::Ptrace]
            .map(|tier| Availability {
                tier,
                available: false,
                errno: error.raw_os_error(),
                why_not: "/proc is not mounted".to_owned(),
                remedy: "mount -t proc proc /proc".to_owned(),
            })
            .to_vec();
    }
    vec![
        verdict(Tier::Kernel, try_kernel(), kernel_remedy),
        verdict(Tier::Perf, try_perf(), perf_remedy),
        verdict(Tier::Sample, try_sample(), child_remedy),
        verdict(Tier::Ptrace, ptrace::attempt(), child_remedy),
    ]
}

fn verdict(
    tier: Tier,
    attempt: Result<(), TraceError>,
    remedy: fn(&TraceError) -> &'static str,
) -> Availability {
    match attempt {
        Ok(()) => Availability {
            tier,
            available: true,
            errno: None,
            why_not: String::new(),
            remedy: String::new(),
        },
        Err(error) => Availability {
            tier,
            available: false,
            errno: errno(&error),
            remedy: remedy(&error).to_owned(),
            why_not: match error {
                TraceError::NotAllowed(why) => why.to_owned(),
                other => other.to_string(),
            },
        },
    }
}

fn errno(error: &TraceError) -> Option<i32> {
    match error {
        TraceError::NotAllowed(_) => Some(libc::EPERM),
        TraceError::System { error, .. } | TraceError::NotStarted { error, .. } => {
            error.raw_os_error()
        }
        _ => None,
    }
}

fn kernel_remedy(error: &TraceError) -> &'static str {
    match error {
        TraceError::NotAllowed(_) => {
            "run as root, or once: sudo setcap cap_bpf,cap_perfmon+ep <this program>; in a container, add the \
             capabilities BPF and PERFMON and allow bpf(2) in its seccomp profile"
        }
        TraceError::Kernel(_) | TraceError::Btf(_) => {
            "use a Linux kernel 5.18 or later, built with CONFIG_DEBUG_INFO_BTF"
        }
        _ => "",
    }
}

fn perf_remedy(error: &TraceError) -> &'static str {
    match error {
        TraceError::NotAllowed(_) => {
            "sudo sysctl kernel.perf_event_paranoid=2; in a container, allow perf_event_open(2) in its seccomp \
             profile"
        }
        _ => child_remedy(error),
    }
}

fn child_remedy(_: &TraceError) -> &'static str {
    "mount /proc, set kernel.yama.ptrace_scope to 0 or 1, and allow ptrace in the container's \
     seccomp profile"
}

fn try_kernel() -> Result<(), TraceError> {
    let small = TraceOptions {
        most_threads: 16,
        most_rows: 16,
        ring_bytes: 64 << 10,
        fault_times: false,
        ..TraceOptions::default()
    };
    Session::arm(&small).map(drop)
}

fn try_perf() -> Result<(), TraceError> {
    let child = examined()?;
    Recorder::attach(&[child.pid], &TraceOptions::default()).map(drop)
}

fn try_sample() -> Result<(), TraceError> {
    examined().map(drop)
}

/// Returns a held child whose files in `/proc` can be read.
fn examined() -> Result<Held, TraceError> {
    let mut child = spawn::hold(&TraceCommand::nothing(), None)?;
    child.wait_ready()?;
    let read = |name: &str| fs::read(format!("/proc/{}/task/{0}/{name}", child.pid));
    let both = read("syscall").and_then(|_| read("stat"));
    let what = "reading from /proc what a child is doing";
    let text = both.map_err(|error| TraceError::System { what, error })?;
    match text.is_empty() {
        true => Err(TraceError::System {
            what,
            error: io::ErrorKind::UnexpectedEof.into(),
        }),
        false => Ok(child),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_why() {
        for tier in detect() {
            assert_eq!(tier.available, tier.why_not.is_empty(), "{tier:?}");
        }
    }

    #[test]
    fn a_refused_kernel_tier_says_how_to_be_allowed() {
        let refused = Err(TraceError::NotAllowed("bpf(2) refuses"));
        let reported = verdict(Tier::Kernel, refused, kernel_remedy);
        assert_eq!(
            (reported.available, reported.errno),
            (false, Some(libc::EPERM))
        );
        assert!(reported.remedy.contains("setcap cap_bpf,cap_perfmon+ep"));
    }
}
