//! Another process's memory.

use fathom_stacks::python::Memory;

/// The memory of a running process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of(pub u32);

impl Memory for Of {
    fn read(&self, address: u64, to: &mut [u8]) -> Option<()> {
        let here = libc::iovec {
            iov_base: to.as_mut_ptr().cast(),
            iov_len: to.len(),
        };
        let there = libc::iovec {
            iov_base: address as *mut libc::c_void,
            iov_len: to.len(),
        };
        // SAFETY: at most the size of the buffer is written to it; the other address belongs to the other
        // process.
        let read = unsafe {
            libc::process_vm_readv(self.0 as i32, &raw const here, 1, &raw const there, 1, 0)
        };
        (read == to.len() as isize).then_some(())
    }
}

impl Of {
    /// Returns whether this user may not read the process's memory at all.
    pub(super) fn is_refused(self) -> bool {
        let mut byte = [0u8];
        // Nothing is mapped there, but only a user with read permission gets this error.
        let read = self.read(1, &mut byte);
        read.is_none() && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_own_memory_is_not_refused() {
        assert!(!Of(std::process::id()).is_refused());
        // A process that doesn't exist isn't reported as refused either.
        assert!(!Of(i32::MAX as u32).is_refused());
    }
}
