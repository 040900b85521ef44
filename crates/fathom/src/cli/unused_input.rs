//! Warns about standard input that the command doesn't receive.
//!
//! A run never waits for the producer of its input, and input that can be read only once is enough for only
//! one run. Input therefore comes from a file. Piped input isn't consumed, and Fathom warns about it.

use crate::cli::out::say;
use std::sync::atomic::{AtomicU8, Ordering};

/// No command lacks input.
const NOT_NEEDED: u8 = 0;
/// A command lacks input.
const UNFED: u8 = 1;
/// The warning was printed.
const WARNED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_NEEDED);

/// Notes that a command runs without input although that wasn't requested.
pub(super) fn command_without_input() {
    let _ = STATE.compare_exchange(NOT_NEEDED, UNFED, Ordering::Relaxed, Ordering::Relaxed);
    check();
}

/// Warns once if a command lacks input and something was piped in. At the start the writer may not have
/// written anything yet, so this is checked again at the end.
pub(super) fn check() {
    if STATE.load(Ordering::Relaxed) == UNFED && has_something(libc::STDIN_FILENO) {
        STATE.store(WARNED, Ordering::Relaxed);
        say!(
            "warning: standard input is not used; to use it, save it to a file and give --input FILE"
        );
    }
}

/// Returns whether the descriptor has unread input: data waiting in a pipe or socket, or a file that hasn't
/// been read from yet. (If a shell loops over the lines of a file, the file has been read from.)
fn has_something(descriptor: libc::c_int) -> bool {
    // SAFETY: the structure is plain numbers; the call fills it or fails.
    let about = unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &raw mut about) == 0).then_some(about)
    };
    match about.map(|about| (about.st_mode & libc::S_IFMT, about.st_size)) {
        Some((libc::S_IFIFO | libc::S_IFSOCK, _)) => {
            let mut waiting: libc::c_int = 0;
            // SAFETY: the call writes a number to a live value, or fails; it reads nothing.
            let known = unsafe { libc::ioctl(descriptor, libc::FIONREAD, &raw mut waiting) } == 0;
            known && waiting > 0
        }
        Some((libc::S_IFREG, size)) => {
            // SAFETY: queries the position without moving it.
            let position = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
            size > 0 && position == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_pipe_has_something_once_it_was_written_to_and_keeps_it() {
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        assert!(!has_something(reader.as_raw_fd()));
        writer.write_all(b"abc").unwrap();
        assert!(has_something(reader.as_raw_fd()));
        drop(writer);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, "abc");
        assert!(!has_something(reader.as_raw_fd()));
    }

    #[test]
    fn a_file_has_something_until_it_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        assert!(!has_something(file.as_raw_fd()));
        file.write_all(b"a\nb\n").unwrap();
        assert!(!has_something(file.as_raw_fd()));
        file.seek(SeekFrom::Start(0)).unwrap();
        assert!(has_something(file.as_raw_fd()));
    }

    #[test]
    fn no_input_has_nothing() {
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(!has_something(null.as_raw_fd()));
        assert!(!has_something(-1));
    }
}
