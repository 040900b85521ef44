//! Sets up this program for the kernel tier on this machine.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_trace::Tier;
use fathom_trace::detect::Availability;

use crate::{ConductError, tiers};

/// The capabilities that the kernel tier needs, in the syntax of `setcap`.
pub const CAPABILITIES: &str = "cap_bpf,cap_perfmon+ep";
/// The numbers of the capabilities.
const BPF: u32 = 39;
const PERFMON: u32 = 38;

/// The state of the setup.
#[derive(Debug)]
pub struct Standing {
    /// The file of this program.
    pub program: PathBuf,
    /// Whether the kernel tier works, and if not, why.
    pub kernel: Availability,
    /// Whether the file has the capabilities.
    pub is_set_up: bool,
    /// Reasons why file capabilities have no effect, one sentence each.
    pub hindrances: Vec<String>,
}

/// Tests the kernel tier and inspects this program's file.
///
/// # Errors
/// If the path of this program's file is unknown.
pub fn standing() -> Result<Standing, ConductError> {
    let program = std::env::current_exe().map_err(|error| {
        ConductError::Failed(format!("can't find this program's own executable: {error}"))
    })?;
    let all = tiers::detect();
    let kernel = all.into_iter().find(|one| one.tier == Tier::Kernel);
    let kernel = kernel.ok_or_else(|| ConductError::Failed("no kernel tier".to_owned()))?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut hindrances = of_process(&status);
    if is_nosuid(&program) {
        hindrances.push(format!(
            "{} is on a file system that is mounted nosuid, where capabilities of files have no effect",
            program.display()
        ));
    }
    Ok(Standing {
        is_set_up: is_set_up(&program),
        program,
        kernel,
        hindrances,
    })
}

/// Returns the reasons why a process with this `/proc/PID/status` can't gain file capabilities.
fn of_process(status: &str) -> Vec<String> {
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim())
    };
    let mut found = Vec::new();
    if value("NoNewPrivs:") == Some("1") {
        found.push(
            "this session runs with NO_NEW_PRIVS: programs get no capabilities from their files"
                .to_owned(),
        );
    }
    let bounds = value("CapBnd:").and_then(|bits| u64::from_str_radix(bits, 16).ok());
    let lacks = |bit: u32| bounds.is_some_and(|bounds| bounds & (1 << bit) == 0);
    if lacks(BPF) || lacks(PERFMON) {
        found.push(
            "this session can't get CAP_BPF and CAP_PERFMON; if it runs in a container, add the capabilities BPF \
             and PERFMON to it"
                .to_owned(),
        );
    }
    found
}

/// Reports whether the file grants both capabilities to everyone who runs it.
fn is_set_up(program: &Path) -> bool {
    let Ok(path) = CString::new(program.as_os_str().as_bytes()) else {
        return false;
    };
    let mut value = [0_u8; 64];
    // SAFETY: the path and the name are NUL-terminated, and the kernel writes at most the given length.
    let length = unsafe {
        libc::getxattr(
            path.as_ptr(),
            c"security.capability".as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    usize::try_from(length).is_ok_and(|length| gives_both(&value[..length]))
}

/// Parses `struct vfs_cap_data`: a word with the version and the effective bit, then two pairs of permitted
/// and inheritable bits, the lower ones first.
fn gives_both(value: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes = value.get(4 * at..4 * at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let has = |bits: u32, bit: u32| bits & (1 << (bit - 32)) != 0;
    match (word(0), word(3)) {
        (Some(magic), Some(permitted)) => {
            magic & 1 == 1 && has(permitted, BPF) && has(permitted, PERFMON)
        }
        _ => false,
    }
}

fn is_nosuid(program: &Path) -> bool {
    let Ok(path) = CString::new(program.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path is NUL-terminated, and the kernel fills a structure that outlives the call.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut about) == 0 && about.f_flag & libc::ST_NOSUID != 0
    }
}

/// Returns the command that sets up the file, or that undoes the setup. It uses `sudo` unless this process is
/// root.
pub fn command(program: &Path, undo: bool) -> Vec<String> {
    // SAFETY: the call only returns a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    let sudo = (!is_root).then(|| "sudo".to_owned());
    let what = if undo { "-r" } else { CAPABILITIES };
    let setcap = ["setcap", what].map(str::to_owned);
    let path = program.to_string_lossy().into_owned();
    sudo.into_iter().chain(setcap).chain([path]).collect()
}

/// Runs the command on this terminal, where it may ask for a password.
///
/// # Errors
/// If it can't be run or fails.
pub fn run(words: &[String]) -> Result<(), ConductError> {
    let failed = |why: String| ConductError::Failed(format!("{}: {why}", words.join(" ")));
    let (program, arguments) = words.split_first().expect("a program");
    let done = Command::new(program).args(arguments).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(failed(format!(
            "{program} is not installed; Debian has setcap in libcap2-bin, Fedora in libcap"
        ))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Reports whether a new process of this program can use the kernel tier; to be called after the file was
/// changed.
///
/// # Errors
/// If it can't be run.
pub fn works_now(program: &Path) -> Result<bool, ConductError> {
    let output = Command::new(program).args(["why", "--tiers"]).output();
    let output = output.map_err(|error| {
        ConductError::Failed(format!("{} can't be run: {error}", program.display()))
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let name = Tier::Kernel.name();
    let of_kernel = text.lines().find_map(|line| line.strip_prefix(name));
    Ok(of_kernel.is_some_and(|rest| rest.trim_start().starts_with("yes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that `setcap cap_bpf,cap_perfmon+ep` writes, as shown by `getfattr -e hex`.
    const BOTH: [u8; 20] = [
        1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn a_file_gives_both_capabilities_or_is_not_set_up() {
        assert!(gives_both(&BOTH));
        let with = |at: usize, byte: u8| {
            let mut value = BOTH;
            value[at] = byte;
            value
        };
        assert!(!gives_both(&with(0, 0)), "not effective");
        assert!(!gives_both(&with(12, 0x40)), "perfmon alone");
        assert!(!gives_both(&with(12, 0x80)), "bpf alone");
        assert!(!gives_both(&BOTH[..12]) && !gives_both(&[]));
    }

    #[test]
    fn what_takes_the_effect_away_is_named() {
        let status = |privileges: &str, bounds: &str| {
            format!("Name:\tx\nNoNewPrivs:\t{privileges}\nCapBnd:\t{bounds}\n")
        };
        assert!(of_process(&status("0", "000001ffffffffff")).is_empty());
        assert!(of_process("").is_empty());
        let found = of_process(&status("1", "00000000a80425fb"));
        assert!(
            found[0].contains("NO_NEW_PRIVS") && found[1].contains("BPF and PERFMON"),
            "{found:?}"
        );
    }
}
