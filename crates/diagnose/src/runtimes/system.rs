//! Files and functions of the kernel and the loader, independent of a program's language.

use crate::file_name::file_name;
use fathom_trace::FunctionRow;

/// Returns whether a file belongs to the kernel or a device, so that its content was not written by a
/// program.
pub(crate) fn is_of_system(name: &str) -> bool {
    is_made_up(name) || name.starts_with("/dev/")
}

/// Returns whether the kernel generates a file's content when it is read.
pub(crate) fn is_made_up(name: &str) -> bool {
    name.starts_with("/proc/") || name.starts_with("/sys/")
}

/// Returns whether this is the map of generated functions that a runtime writes for profilers. A user who
/// enables that map knows about it. Maps that only observed runs enable are not in a trace
/// ([`fathom_trace::Trace::asked_for`]).
pub(crate) fn is_name_map(name: &str) -> bool {
    let number = name.strip_prefix("/tmp/perf-");
    number.is_some_and(|rest| rest.contains(".map"))
}

/// The file in which glibc's loader looks up libraries.
pub(crate) const LIST_OF_LIBRARIES: &str = "/etc/ld.so.cache";

pub(crate) fn is_library_file(name: &str) -> bool {
    name.ends_with(".so") || name.contains(".so.")
}

/// Returns whether this is code of glibc's loader that finds and binds libraries. Such code also looks up
/// thread-local variables while the program runs. (musl's loader is part of its C library.)
pub(crate) fn is_loader(row: &FunctionRow) -> bool {
    let file = file_name(&row.file);
    let function = row.function.as_deref().unwrap_or_default();
    let of_threads = ["tls", "_dl_runtime", "_dl_fixup"];
    (file.starts_with("ld-linux") || file.starts_with("ld64.so"))
        && !of_threads.iter().any(|part| function.contains(part))
}
