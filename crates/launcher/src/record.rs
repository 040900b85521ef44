//! Writes finished runs to the JSON record, so that it is complete even if a process is killed.
//!
//! Fathom is notified only after several runs, and runs that it doesn't know about yet must not be lost if it
//! is killed. The launcher outlives a killed Fathom, so a write in progress completes. The text is the same
//! as that of Fathom's own journal, except for the steal time, which is inserted at the end.

use crate::account::{self, Exited};
use crate::shared::{Answer, Control, Job, OPEN_END, fd};
use crate::system::{call, call3, number};

const SEEK_SET: usize = 0;
const SEEK_CUR: usize = 1;

/// Room for the largest text: forty names and numbers of at most 20 digits.
const ROOM: usize = 2048;

/// While this value lives, a write beyond the file size limit fails instead of ending us by SIGXFSZ.
struct Ignored;

impl Ignored {
    fn begin() -> Ignored {
        const SIG_IGN: usize = 1;
        on_limit(SIG_IGN);
        Ignored
    }
}

impl Drop for Ignored {
    fn drop(&mut self) {
        const SIG_DFL: usize = 0;
        on_limit(SIG_DFL);
    }
}

fn on_limit(handler: usize) {
    const SIGXFSZ: usize = 25;
    let action = [handler, 0, 0, 0];
    // SAFETY: an action without a handler, of the size that the call reads.
    unsafe {
        call(
            number::RT_SIGACTION,
            [SIGXFSZ, action.as_ptr() as usize, 0, 8, 0, 0],
        )
    };
}

/// The file, and the text being built.
pub(crate) struct Record {
    /// Position for the next run; negative if there is no file.
    at: isize,
    text: [u8; ROOM],
    length: usize,
}

impl Record {
    /// Opens the record, to continue at the file's current position.
    pub(crate) fn open() -> Record {
        // SAFETY: takes numbers; returns an error if there is no such descriptor.
        let at = unsafe { call3(number::LSEEK, fd::RECORD as usize, 0, SEEK_CUR) };
        Record {
            at,
            text: [0; ROOM],
            length: 0,
        }
    }

    /// Adds a run and the end of the file in one write.
    pub(crate) fn add(&mut self, job: &Job, answer: &Answer, control: &Control) {
        if self.at < 0 {
            return;
        }
        self.length = 0;
        // SAFETY: a string that ends with zero, in the shared memory.
        let head = unsafe { core::ffi::CStr::from_ptr(job.record_head as *const _) };
        self.bytes(head.to_bytes());
        self.run(answer, control);
        let text_length = self.length;
        self.bytes(OPEN_END.as_bytes());
        // Programs started afterwards get the signal's default disposition.
        let _ignored = Ignored::begin();
        // SAFETY: the text's memory and length. If it fails, Fathom's own write will fail too and report it.
        let wrote = unsafe {
            call(
                number::PWRITE64,
                [
                    fd::RECORD as usize,
                    self.text.as_ptr() as usize,
                    self.length,
                    self.at as usize,
                    0,
                    0,
                ],
            )
        };
        if wrote == self.length as isize {
            self.at += text_length as isize;
        }
    }

    /// Moves the file's position to where the next run goes.
    pub(crate) fn close(&self) {
        if self.at >= 0 {
            // SAFETY: takes numbers.
            unsafe {
                call3(
                    number::LSEEK,
                    fd::RECORD as usize,
                    self.at as usize,
                    SEEK_SET,
                )
            };
        }
    }

    /// Writes everything that comes after the head.
    fn run(&mut self, answer: &Answer, control: &Control) {
        let m = account::metrics(answer);
        let u = m.usage;
        let started = answer.start_ns.saturating_sub(control.began_ns);
        self.field("\"started_ns\":", Some(started));
        self.field(",\"wall_ns\":", Some(m.wall_ns));
        self.field(",\"spawn_ns\":", Some(m.spawn_ns));
        self.field(",\"cpu_ns\":", Some(u.cpu_ns()));
        self.field(",\"user_ns\":", Some(u.user_ns));
        self.field(",\"system_ns\":", Some(u.system_ns));
        self.field(",\"run_queue_wait_ns\":", m.run_queue_wait_ns);
        self.field(",\"launcher_wait_ns\":", m.harness_wait_ns);
        self.field(",\"cpu_wait_free_ns\":", m.undisturbed_ns);
        self.field(",\"peak_memory_bytes\":", Some(u.peak_memory_bytes));
        self.field(",\"minor_faults\":", Some(u.minor_faults));
        self.field(",\"major_faults\":", Some(u.major_faults));
        self.field(",\"voluntary_switches\":", Some(u.voluntary_switches));
        self.field(",\"involuntary_switches\":", Some(u.involuntary_switches));
        match m.io {
            None => self.bytes(b",\"io\":null"),
            Some(io) => {
                self.field(",\"io\":{\"read_bytes\":", Some(io.rchar));
                self.field(",\"written_bytes\":", Some(io.wchar));
                self.field(",\"read_calls\":", Some(io.syscr));
                self.field(",\"write_calls\":", Some(io.syscw));
                self.field(",\"device_read_bytes\":", Some(io.read_bytes));
                self.field(",\"device_written_bytes\":", Some(io.write_bytes));
                self.bytes(b"}");
            }
        }
        let left = answer.left_behind.saturating_sub(control.left_before);
        self.field(",\"steal_ns\":null,\"left_behind\":", Some(u64::from(left)));
        let (name, value) = match account::exited(answer.status) {
            Exited::Code(code) => (",\"exit\":{\"code\":", code),
            Exited::Signal(signal) => (",\"exit\":{\"signal\":", signal),
        };
        self.field(name, Some(value as u64));
        self.bytes(b"}}");
    }

    fn field(&mut self, name: &str, value: Option<u64>) {
        self.bytes(name.as_bytes());
        let Some(mut rest) = value else {
            return self.bytes(b"null");
        };
        let mut digits = [0u8; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes(&digits[first..]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.length < ROOM {
                self.text[self.length] = *byte;
                self.length += 1;
            }
        }
    }
}
