//! What the kernel and the loader of programs bring, whatever these are written for.

use crate::file_name::file_name;
use fathom_trace::FunctionRow;

/// Whether a file is one of the kernel or a device: nobody wrote what is read of it.
pub(crate) fn is_of_system(name: &str) -> bool {
    is_made_up(name) || name.starts_with("/dev/")
}

/// Whether the kernel makes up a file when it is read.
pub(crate) fn is_made_up(name: &str) -> bool {
    name.starts_with("/proc/") || name.starts_with("/sys/")
}

/// Whether it is a map of functions that a runtime makes while it runs, as it writes it for profilers: who
/// tells a runtime to write it knows that. What only observed runs ask for isn't in a trace
/// ([`fathom_trace::Trace::asked_for`]).
pub(crate) fn is_name_map(name: &str) -> bool {
    let number = name.strip_prefix("/tmp/perf-");
    number.is_some_and(|rest| rest.contains(".map"))
}

/// Where glibc's loader looks up its libraries.
pub(crate) const LIST_OF_LIBRARIES: &str = "/etc/ld.so.cache";

pub(crate) fn is_library_file(name: &str) -> bool {
    name.ends_with(".so") || name.contains(".so.")
}

/// Whether it is code of glibc's loader that finds and binds libraries: variables of threads are
/// looked up by it too, as long as the program runs. (musl's loader is its C library.)
pub(crate) fn is_loader(row: &FunctionRow) -> bool {
    let file = file_name(&row.file);
    let function = row.function.as_deref().unwrap_or_default();
    let of_threads = ["tls", "_dl_runtime", "_dl_fixup"];
    (file.starts_with("ld-linux") || file.starts_with("ld64.so"))
        && !of_threads.iter().any(|part| function.contains(part))
}
