//! The memory that is shared with the launcher, and what it says of the run that is on.

use std::io;
use std::os::fd::RawFd;
use std::ptr::NonNull;

use super::SLOTS;
use fathom_launcher::shared::{PIPELINE, Pipeline, SIZE, Shared};

/// Its place in Fathom. Whoever holds one is gone before [`Memory::unmap`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory(NonNull<Shared>);

impl Memory {
    /// Maps a file of [`SIZE`] zeros.
    pub(super) fn map(file: RawFd) -> io::Result<Memory> {
        // SAFETY: a new mapping of a file of that size; checked below.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
                0,
            )
        };
        match NonNull::new(memory.cast::<Shared>()) {
            Some(place) if memory != libc::MAP_FAILED => Ok(Memory(place)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// # Safety
    /// Nobody uses it any more.
    pub(super) unsafe fn unmap(self) {
        // SAFETY: mapped in `map`; the caller answers for the rest.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SIZE) };
    }

    pub(super) fn as_ptr(self) -> *mut Shared {
        self.0.as_ptr()
    }

    /// The pipeline, which lies above the jobs.
    pub(super) fn area(self) -> *mut Pipeline {
        // SAFETY: the mapping is larger than that.
        unsafe { self.0.as_ptr().cast::<u8>().add(PIPELINE).cast() }
    }

    /// The job that is on, and when its run began; 0 if it has not.
    pub(super) fn current(self) -> (usize, u64) {
        // SAFETY: aligned words in shared memory that the launcher writes meanwhile, hence
        // volatile.
        unsafe {
            let shared = self.as_ptr();
            let current = (&raw const (*shared).control.answers).read_volatile() as usize;
            let current = current.min(SLOTS - 1);
            let started = (&raw const (*shared).answers[current].start_ns).read_volatile();
            (current, started)
        }
    }

    /// The processes that a job runs: its own, and a pipeline's stages.
    pub(super) fn processes(self, job: usize) -> impl Iterator<Item = i32> {
        // SAFETY: an aligned word in shared memory that the launcher writes meanwhile, hence
        // volatile.
        let child = unsafe {
            let shared = self.as_ptr();
            (&raw const (*shared).answers[job].child).read_volatile()
        };
        let all = std::iter::once(child).chain(self.stages());
        all.filter(|child| *child > 0)
    }

    /// The processes of the stages that run now; 0 for one that wasn't begun.
    fn stages(self) -> impl Iterator<Item = i32> {
        let area = self.area();
        // SAFETY: words in shared memory, aligned, within the array.
        let count = unsafe { (*area).count } as usize;
        (0..count).map(move |index| {
            // SAFETY: as above.
            unsafe { (&raw const (*area).stages[index].answer.child).read_volatile() }
        })
    }

    /// Ends the run of this job and has no other begun.
    pub(super) fn kill_tree(self, job: usize) {
        // SAFETY: a word in shared memory, aligned; the launcher reads it the same way.
        unsafe {
            let shared = self.as_ptr();
            (&raw mut (*shared).control.kill_tree).write_volatile(job as u32 + 1);
        }
        for child in self.processes(job) {
            // SAFETY: plain numbers. A child is reaped right before the launcher goes on, a stage
            // only after all have ended: they are still theirs.
            unsafe {
                libc::kill(-child, libc::SIGKILL);
                libc::kill(child, libc::SIGKILL);
            }
        }
    }
}
