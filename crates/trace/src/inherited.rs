//! The targets of the descriptors that the command inherits.

use std::fs;

use crate::attach::sockets::Sockets;
use crate::descriptor::{DescriptorKind, SocketEnd, SocketFamily};
use crate::names::Names;
use crate::paths::is_fifo;

/// Names the descriptors of a held child that its `execve` will keep, and its working directory.
///
/// `labels` has pairs of a link target and the name to use for such descriptors.
pub(crate) fn name_descriptors(names: &mut Names, pid: u32, labels: &[(String, String)]) {
    if let Ok(cwd) = fs::read_link(format!("/proc/{pid}/cwd")) {
        names.moved_to(pid, &cwd.to_string_lossy());
    }
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
        if let Some((_, kind)) = behind(pid, fd, labels) {
            names.opened(pid, fd, kind, false, false, 0);
        }
    }
}

/// Names all descriptors of a running process and its working directory. Returns whether one of them is a
/// listening socket.
pub(crate) fn name_all(
    names: &mut Names,
    pid: u32,
    labels: &[(String, String)],
    sockets: &Sockets,
) -> bool {
    if let Ok(cwd) = fs::read_link(format!("/proc/{pid}/cwd")) {
        names.moved_to(pid, &cwd.to_string_lossy());
    }
    let entries = fs::read_dir(format!("/proc/{pid}/fd"));
    let mut listens = false;
    for entry in entries.into_iter().flatten().flatten() {
        let Some(fd) = entry.file_name().to_str().and_then(|t| t.parse().ok()) else {
            continue;
        };
        let Some((target, mut kind)) = behind(pid, fd, labels) else {
            continue;
        };
        let socket = inode(&target).filter(|_| target.starts_with("socket:"));
        if let Some(socket) = socket {
            listens |= sockets.listens(socket);
            kind = sockets.kind(socket).unwrap_or(kind);
        }
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}"));
        let cloexec = closes_on_exec(&info.unwrap_or_default());
        names.opened(pid, fd, kind, cloexec, false, 0);
    }
    listens
}

/// Returns the link target of a descriptor, and what it refers to; `None` if it can't be read.
pub(crate) fn behind(
    pid: u32,
    fd: i32,
    labels: &[(String, String)],
) -> Option<(String, DescriptorKind)> {
    let link = format!("/proc/{pid}/fd/{fd}");
    let target = fs::read_link(&link).ok()?.to_string_lossy().into_owned();
    let mut kind = labelled(&target, labels);
    if !target.starts_with("pipe:") && is_fifo(&link) {
        kind = DescriptorKind::NamedPipe(kind.to_string());
    }
    Some((target, kind))
}

/// Returns the inode of the pipe or socket in a link of `/proc/PID/fd`.
pub(crate) fn inode(target: &str) -> Option<u64> {
    let (_, number) = target.strip_suffix(']')?.split_once(":[")?;
    number.parse().ok()
}

/// Returns the caller's label for a link of `/proc/PID/fd`, or else the link itself.
fn labelled(target: &str, labels: &[(String, String)]) -> DescriptorKind {
    let label = labels.iter().find(|(link, _)| link == target);
    label.map_or_else(|| kind(target), |(_, label)| label.as_str().into())
}

/// Parses a link of `/proc/PID/fd`: `pipe:[123]` is a pipe.
fn kind(target: &str) -> DescriptorKind {
    match target.split_once(":[") {
        Some(("pipe", _)) => DescriptorKind::Pipe(None),
        Some(("socket", _)) => SocketEnd::Loose(SocketFamily::Other).into(),
        _ => match target.strip_prefix("anon_inode:") {
            Some(kind) => kind.trim_matches(['[', ']']).into(),
            None => target.into(),
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
    fn pipes_and_sockets_have_numbers() {
        assert_eq!(inode("pipe:[4711]"), Some(4711));
        assert_eq!(inode("socket:[1]"), Some(1));
        assert_eq!(inode("/tmp/a:[7"), None);
        assert_eq!(inode("anon_inode:[eventfd]"), None);
    }

    #[test]
    fn links_of_proc_are_put_in_words() {
        assert_eq!(kind("pipe:[4711]"), "pipe");
        assert_eq!(kind("anon_inode:[eventpoll]"), "eventpoll");
        assert_eq!(kind("/tmp/a:[b"), "/tmp/a:[b");
    }

    #[test]
    fn a_named_pipe_is_distinguished_from_a_file() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        for (name, mark) in [("pipe", "named pipe "), ("file", "")] {
            let path = folder.path().join(name);
            let text = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
            match name {
                // SAFETY: `text` is a live string that ends with a zero.
                "pipe" => assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0),
                _ => fs::write(&path, "").unwrap(),
            }
            // Opening for both reading and writing doesn't wait for the other side.
            let file = fs::File::options()
                .read(true)
                .write(true)
                .open(&path)
                .unwrap();
            let (target, kind) = behind(std::process::id(), file.as_raw_fd(), &[]).unwrap();
            assert_eq!(kind, *format!("{mark}{target}"));
        }
    }

    #[test]
    fn a_label_goes_before_the_words() {
        let labels = [("pipe:[7]".to_owned(), "from the first".to_owned())];
        assert_eq!(labelled("pipe:[7]", &labels), "from the first");
        assert_eq!(labelled("pipe:[8]", &labels), "pipe");
    }

    #[test]
    fn the_flag_is_read_from_the_octal_number() {
        assert!(closes_on_exec("pos:\t0\nflags:\t02000001\n"));
        assert!(!closes_on_exec("pos:\t0\nflags:\t0100000\n"));
    }

    #[test]
    fn no_link_makes_them_panic() {
        let texts = [
            "pipe:[4711]",
            "anon_inode:[eventfd]",
            "pos:\t0\nflags:\t02000001\n",
        ];
        fathom_test_memory::survives(&texts.map(Into::into), 1 << 10, |text| {
            let text = String::from_utf8_lossy(text);
            _ = inode(&text);
            assert_eq!(DescriptorKind::from(&*kind(&text).text()), kind(&text));
            _ = closes_on_exec(&text);
        });
    }
}
