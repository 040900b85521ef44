//! The kernel's own files.

/// Whether a file is one of the kernel or a device: nobody wrote what is read of it.
pub(crate) fn is_of_system(name: &str) -> bool {
    is_made_up(name) || name.starts_with("/dev/")
}

/// Whether the kernel makes up a file when it is read.
pub(crate) fn is_made_up(name: &str) -> bool {
    name.starts_with("/proc/") || name.starts_with("/sys/")
}
