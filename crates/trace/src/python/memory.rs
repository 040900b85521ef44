//! Another process's memory.

use fathom_stacks::python::Memory;

/// The memory of a process that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of(pub u32);

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
        // SAFETY: writes at most as many bytes to the buffer as it has; the other address is the
        // other process's.
        let read = unsafe {
            libc::process_vm_readv(self.0 as i32, &raw const here, 1, &raw const there, 1, 0)
        };
        (read == to.len() as isize).then_some(())
    }
}
