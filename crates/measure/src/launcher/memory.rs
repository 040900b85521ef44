//! The memory shared with the launcher, and its information about the current run.

use std::io;
use std::os::fd::RawFd;
use std::ptr::NonNull;

use super::SLOTS;
use fathom_launcher::shared::{PIPELINE, Pipeline, SIZE, Shared};

/// A pointer to the mapping in Fathom. All copies must be gone before [`Memory::unmap`].
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
    /// The mapping must no longer be in use.
    pub(super) unsafe fn unmap(self) {
        // SAFETY: mapped in `map`; the caller guarantees the rest.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SIZE) };
    }

    pub(super) fn as_ptr(self) -> *mut Shared {
        self.0.as_ptr()
    }

    /// Returns the pipeline, which is placed after the jobs.
    pub(super) fn area(self) -> *mut Pipeline {
        // SAFETY: the offset is within the mapping.
        unsafe { self.0.as_ptr().cast::<u8>().add(PIPELINE).cast() }
    }

    /// Returns the current job and the time at which its run began, or 0 if it hasn't begun.
    pub(super) fn current(self) -> (usize, u64) {
        // SAFETY: aligned words in shared memory that the launcher writes concurrently, hence volatile.
        unsafe {
            let shared = self.as_ptr();
            let current = (&raw const (*shared).control.answers).read_volatile() as usize;
            let current = current.min(SLOTS - 1);
            let started = (&raw const (*shared).answers[current].start_ns).read_volatile();
            (current, started)
        }
    }

    /// Returns the processes that a job runs: its own, and the stages of a pipeline.
    pub(super) fn processes(self, job: usize) -> impl Iterator<Item = i32> {
        // SAFETY: an aligned word in shared memory that the launcher writes concurrently, hence volatile.
        let child = unsafe {
            let shared = self.as_ptr();
            (&raw const (*shared).answers[job].child).read_volatile()
        };
        let all = std::iter::once(child).chain(self.stages());
        all.filter(|child| *child > 0)
    }

    /// Returns the processes of the running pipeline's stages; 0 for a stage that wasn't started.
    fn stages(self) -> impl Iterator<Item = i32> {
        let area = self.area();
        // SAFETY: aligned words in shared memory, within the array.
        let count = unsafe { (*area).count } as usize;
        (0..count).map(move |index| {
            // SAFETY: as above.
            unsafe { (&raw const (*area).stages[index].answer.child).read_volatile() }
        })
    }

    /// Ends the run of this job, and prevents another one from starting.
    pub(super) fn kill_tree(self, job: usize) {
        // SAFETY: an aligned word in shared memory, which the launcher reads in the same way.
        unsafe {
            let shared = self.as_ptr();
            (&raw mut (*shared).control.kill_tree).write_volatile(job as u32 + 1);
        }
        for child in self.processes(job) {
            // SAFETY: takes only numbers. A child is reaped right before the launcher goes on, and a stage
            // only after all have ended, so the pids still belong to them.
            unsafe {
                libc::kill(-child, libc::SIGKILL);
                libc::kill(child, libc::SIGKILL);
            }
        }
    }
}
