//! Files and descriptors: the standard descriptors of a child, and the contents of `/proc`.

use crate::shared::{Job, Text, fd, step};
use crate::system::{call, call3, number};

const O_WRONLY: usize = 1;
const O_CREAT: usize = 0o100;
const O_TRUNC: usize = 0o1000;
pub(crate) const O_CLOEXEC: usize = 0o2000000;
pub(crate) const AT_FDCWD: usize = -100isize as usize;

/// Opens a file; `path` is the address of a string that ends with zero.
pub(crate) fn open(directory: usize, path: usize, flags: usize) -> isize {
    // SAFETY: `path` is a string that ends with zero.
    unsafe {
        call(
            number::OPENAT,
            [directory, path, flags | O_CLOEXEC, 0o666, 0, 0],
        )
    }
}

/// The files to which our own standard descriptors currently refer. A descriptor isn't replaced if the next
/// job needs the same file.
pub(crate) struct Placed {
    input_fd: i32,
    output_fd: i32,
    error_fd: i32,
}

impl Placed {
    pub(crate) const NOTHING: Placed = Placed {
        input_fd: -1,
        output_fd: -1,
        error_fd: -1,
    };

    /// Sets up the child's standard descriptors and directory in this process before the clock starts: the
    /// child inherits them and has nothing left to do. `input_fd` and `output_fd` are used if the job doesn't
    /// name a file.
    pub(crate) fn place(
        &mut self,
        job: &Job,
        input_fd: i32,
        output_fd: i32,
    ) -> Result<(), (u32, isize)> {
        if job.input != 0 {
            self.input_fd = -1;
            let opened = open(AT_FDCWD, job.input as usize, 0);
            move_to(opened, 0).map_err(|error| (step::INPUT, error))?;
        } else if input_fd < 0 || self.input_fd != input_fd {
            copy_to(input_fd, 0).map_err(|error| (step::INPUT, error))?;
            self.input_fd = input_fd;
        }
        if job.output != 0 {
            self.output_fd = -1;
            let opened = open(AT_FDCWD, job.output as usize, O_WRONLY | O_CREAT | O_TRUNC);
            move_to(opened, 1).map_err(|error| (step::OUTPUT, error))?;
        } else if output_fd < 0 || self.output_fd != output_fd {
            copy_to(output_fd, 1).map_err(|error| (step::OUTPUT, error))?;
            self.output_fd = output_fd;
        }
        if self.error_fd != job.error_fd {
            copy_to(job.error_fd, 2).map_err(|error| (step::OUTPUT, error))?;
            self.error_fd = job.error_fd;
        }
        if job.directory != 0 {
            // SAFETY: a string that ends with zero.
            let changed = unsafe { call3(number::CHDIR, job.directory as usize, 0, 0) };
            if changed < 0 {
                return Err((step::DIRECTORY, changed));
            }
        }
        Ok(())
    }

    /// Closes the files of the finished job, so that its output is closed before anything else reads it.
    pub(crate) fn after(&mut self, job: &Job) {
        if job.input != 0 && copy_to(fd::NULL, 0).is_ok() {
            self.input_fd = fd::NULL;
        }
        if job.output != 0 && copy_to(fd::NULL, 1).is_ok() {
            self.output_fd = fd::NULL;
        }
    }

    /// Closes everything, so that a pipe or file isn't held open between hand-overs.
    pub(crate) fn let_go(&mut self) {
        for place in 0..3 {
            // The null descriptor is open; if it isn't, the next job reports that.
            let _ = copy_to(fd::NULL, place);
        }
        *self = Placed::NOTHING;
    }
}

/// Copies an open descriptor to a standard one, which the launcher itself never uses.
fn copy_to(descriptor: i32, place: usize) -> Result<(), isize> {
    // SAFETY: takes numbers.
    match unsafe { call3(number::DUP3, descriptor as usize, place, 0) } {
        error if error < 0 => Err(error),
        _ => Ok(()),
    }
}

/// Copies the descriptor, and closes the original; passes on the error of opening it.
fn move_to(opened: isize, place: usize) -> Result<(), isize> {
    if opened < 0 {
        return Err(opened);
    }
    let copied = copy_to(opened as i32, place);
    // SAFETY: an open descriptor.
    unsafe { call3(number::CLOSE, opened as usize, 0, 0) };
    copied
}

/// Opens `/proc/PID/NAME`; `name` begins with a slash and ends with a zero.
pub(crate) fn open_of(pid: isize, name: &[u8]) -> isize {
    let mut path = [0u8; 40];
    let mut digits = [0u8; 20];
    let mut length = 0;
    let mut rest = pid as u64;
    while rest > 0 {
        digits[length] = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
    }
    let mut at = 0;
    while at < length {
        path[at] = digits[length - 1 - at];
        at += 1;
    }
    for byte in name {
        path[at] = *byte;
        at += 1;
    }
    open(fd::PROC as usize, path.as_ptr() as usize, 0)
}

pub(crate) fn read_text<const N: usize>(from: isize, into: &mut Text<N>) {
    if from < 0 {
        into.length = from as i64;
        return;
    }
    // SAFETY: reads at most the size of the buffer.
    into.length = unsafe {
        call(
            number::PREAD64,
            [
                from as usize,
                into.bytes.as_mut_ptr() as usize,
                into.bytes.len(),
                0,
                0,
                0,
            ],
        )
    } as i64;
}

pub(crate) fn read_and_close<const N: usize>(from: isize, into: &mut Text<N>) {
    read_text(from, into);
    if from >= 0 {
        // SAFETY: an open descriptor.
        unsafe { call3(number::CLOSE, from as usize, 0, 0) };
    }
}
