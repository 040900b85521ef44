//! The environment that commands get: Fathom's own, including what the loader removed from it.
//!
//! If Fathom's file has capabilities, the C library's loader removes variables with which a user could
//! control it (`LD_LIBRARY_PATH`, `TMPDIR`, `MALLOC_...`, `GLIBC_TUNABLES`, and more). The command has no
//! such privileges and must run as it would without Fathom. The loader only removes the pointers: the text
//! that the kernel put on the stack is still there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::sync::OnceLock;

use crate::CommandLine;

type Variable = (OsString, OsString);

static TAKEN: OnceLock<Vec<Variable>> = OnceLock::new();

/// Finds what the loader removed; called once, before anything else changes the environment.
pub fn remember_what_the_loader_took() {
    // SAFETY: only reads a number about this process.
    let is_secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    let taken = match is_secure {
        true => missing(&first_environment(), |name| {
            std::env::var_os(name).is_some()
        }),
        false => Vec::new(),
    };
    let _ = TAKEN.set(taken);
}

impl CommandLine {
    /// Returns all variables that the command gets.
    pub fn environment(&self) -> Vec<Variable> {
        let mut all = with(&self.variables);
        all.retain(|(name, _)| !self.without.variables.contains(name));
        all
    }
}

/// Returns the environment with these variables added.
pub(crate) fn with(variables: &[Variable]) -> Vec<Variable> {
    let taken = TAKEN.get().into_iter().flatten().cloned();
    std::env::vars_os()
        .chain(taken)
        .filter(|(name, _)| variables.iter().all(|(added, _)| added != name))
        .chain(variables.iter().cloned())
        .collect()
}

/// Returns the environment as the kernel wrote it, with NUL-terminated strings; empty if it isn't found.
fn first_environment() -> Vec<u8> {
    let stat = std::fs::read("/proc/self/stat").unwrap_or_default();
    let Some((from, to)) = bounds(&stat) else {
        return Vec::new();
    };
    // SAFETY: the kernel's bounds of this process's own environment, on the stack of its first thread, which
    // lives as long as the process; nothing writes there.
    unsafe { std::slice::from_raw_parts(from as *const u8, to - from) }.to_vec()
}

/// Parses fields 50 and 51 of a process's `stat`: the beginning and end of its environment.
fn bounds(stat: &[u8]) -> Option<(usize, usize)> {
    // The name may contain any characters.
    let behind_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(behind_name + 2..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace().skip(47);
    let from: usize = fields.next()?.parse().ok()?;
    let to: usize = fields.next()?.parse().ok()?;
    (from != 0 && from < to).then_some((from, to))
}

/// Splits an environment in the kernel's format into variables: NUL-terminated strings `NAME=VALUE`. Strings
/// without a name are skipped.
pub fn variables(block: &[u8]) -> impl Iterator<Item = Variable> {
    block.split(|byte| *byte == 0).filter_map(|string| {
        let at = string.iter().position(|byte| *byte == b'=')?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        (at > 0).then(|| (text(&string[..at]), text(&string[at + 1..])))
    })
}

/// Returns the variables of the block that are no longer in the environment.
fn missing(block: &[u8], is_there: impl Fn(&OsStr) -> bool) -> Vec<Variable> {
    variables(block)
        .filter(|(name, _)| !is_there(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_environment_is_found_on_the_stack() {
        let block = first_environment();
        let all = missing(&block, |_| false);
        let path = std::env::var_os("PATH").expect("the tests have one");
        assert!(all.contains(&("PATH".into(), path)), "{all:?}");
        assert!(missing(&block, |_| true).is_empty());
    }

    #[test]
    fn what_is_missing_is_what_was_taken() {
        let block = b"A=1\0TMPDIR=/t=x\0=odd\0none\0B=\0";
        let taken = missing(block, |name| name == "A" || name == "B");
        assert_eq!(taken, [("TMPDIR".into(), "/t=x".into())]);
    }

    #[test]
    fn bounds_are_fields_of_any_name() {
        let zeros = "0 ".repeat(46);
        let stat = format!("7 (a) b) S {zeros}4096 8192 0\n");
        assert_eq!(bounds(stat.as_bytes()), Some((4096, 8192)));
        assert_eq!(bounds(b"7 (a) S 0"), None);
        assert_eq!(bounds(b""), None);
        assert_eq!(bounds(format!("7 (a) S {zeros}0 0 0").as_bytes()), None);
    }
}
