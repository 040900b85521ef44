//! What do the descriptors that the command starts with lead to?

use std::fs;
use std::os::unix::fs::FileTypeExt;

use crate::names::Names;

/// Names the descriptors of a held child that its `execve` will keep; standard output otherwise, if it
/// is to have a name of its own.
pub(crate) fn name_descriptors(names: &mut Names, pid: u32, stdout: Option<&str>) {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return;
    };
    for entry in entries.flatten() {
        let Some(fd) = entry.file_name().to_str().and_then(|t| t.parse().ok()) else {
            continue;
        };
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}"));
        if closes_on_exec(&info.unwrap_or_default()) {
            continue;
        }
        if let Ok(target) = fs::read_link(entry.path()) {
            let mut name = match stdout.filter(|_| fd == 1) {
                Some(own) => own.to_owned(),
                None => kind(&target.to_string_lossy()),
            };
            if fs::metadata(entry.path()).is_ok_and(|file| file.file_type().is_fifo())
                && name != "pipe"
            {
                name = format!("named pipe {name}");
            }
            names.opened(pid, fd, &name, false, false, 0);
        }
    }
}

/// What a link of `/proc/PID/fd` says, in words: `pipe:[123]` is a pipe.
pub(crate) fn kind(target: &str) -> String {
    match target.split_once(":[") {
        Some((kind @ ("pipe" | "socket"), _)) => kind.to_owned(),
        _ => match target.strip_prefix("anon_inode:") {
            Some(kind) => kind.trim_matches(['[', ']']).to_owned(),
            None => target.to_owned(),
        },
    }
}

fn closes_on_exec(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|l| l.strip_prefix("flags:"));
    let flags = flags.and_then(|f| i32::from_str_radix(f.trim(), 8).ok());
    flags.is_some_and(|f| f & libc::O_CLOEXEC != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_proc_are_put_in_words() {
        assert_eq!(kind("pipe:[4711]"), "pipe");
        assert_eq!(kind("anon_inode:[eventpoll]"), "eventpoll");
        assert_eq!(kind("/tmp/a:[b"), "/tmp/a:[b");
    }

    #[test]
    fn the_flag_is_read_from_the_octal_number() {
        assert!(closes_on_exec("pos:\t0\nflags:\t02000001\n"));
        assert!(!closes_on_exec("pos:\t0\nflags:\t0100000\n"));
    }
}
