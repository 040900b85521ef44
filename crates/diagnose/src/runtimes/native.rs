//! Programs in machine code without a runtime of their own (C, C++, Rust), and the libraries with which they
//! are linked.

use fathom_model::{ThreadRole, without_type_arguments};

use super::functions::{NAMES, Names, Use};
use super::library::Library;
use super::work::{WORK, Work};
use super::{BASE, Habit, Runtime, Topic};

/// A program in an unknown language.
pub(super) const UNKNOWN: Runtime = Runtime {
    words: |topic| match topic {
        Topic::Memory => Some(LESS_MEMORY),
        Topic::Objects { allocated: true } => Some(FEWER_OBJECTS),
        _ => None,
    },
    ..BASE
};

pub(super) const C: Runtime = Runtime {
    library: Library {
        call: 20.0,
        path: 20.0,
        thread: 6e3,
        ..Library::UNKNOWN
    },
    functions: &[
        (
            Use::Allocator,
            Names {
                whole: &[
                    "malloc",
                    "free",
                    "cfree",
                    "calloc",
                    "realloc",
                    "reallocarray",
                    "memalign",
                    "posix_memalign",
                    "aligned_alloc",
                    "malloc_consolidate",
                    "malloc_usable_size",
                    "malloc_trim",
                    "unlink_chunk",
                    "sysmalloc",
                    "systrim",
                    "_mid_memalign",
                    "arena_get2",
                ],
                beginnings: &[
                    "_int_malloc",
                    "_int_free",
                    "_int_realloc",
                    "_int_memalign",
                    "__libc_malloc",
                    "__libc_free",
                    "__libc_calloc",
                    "__libc_realloc",
                    "tcache_init",
                    "tcache_get",
                    "tcache_put",
                    "operator new",
                    "operator delete",
                    "mi_malloc",
                    "mi_free",
                    "_mi_malloc",
                    "_mi_free",
                    "_mi_page_",
                    "_rjem_",
                ],
                ..NAMES
            },
        ),
        (
            Use::Objects,
            Names {
                parts: &[
                    "::_M_create",
                    "::_M_construct",
                    "::_M_append",
                    "::_M_mutate",
                    "::_M_replace",
                    "::_M_assign",
                    "::_M_realloc_",
                ],
                ..NAMES
            },
        ),
        (
            Use::Clock,
            Names {
                beginnings: &[
                    "clock_gettime",
                    "__clock_gettime",
                    "gettimeofday",
                    "__gettimeofday",
                ],
                ..NAMES
            },
        ),
        (
            Use::Mutex,
            Names {
                parts: &["pthread_mutex_", "___pthread_mutex_"],
                ..NAMES
            },
        ),
        (
            Use::Contended,
            Names {
                parts: &["__lll_lock_wa", "lll_mutex_lock_"],
                ..NAMES
            },
        ),
        (
            Use::PutIntoCallers,
            Names {
                beginnings: &["__gnu_cxx::__normal_iterator", "bool __gnu_cxx::operator"],
                parts: &[" std::move<", " std::forward<"],
                ..NAMES
            },
        ),
        (
            Use::PutIntoCallers,
            Names {
                parts: &["::operator[]", "::_M_begin", "::_M_get_Tp_allocator"],
                within: "std::vector",
                ..NAMES
            },
        ),
        (
            Use::Start,
            Names {
                whole: &[
                    "_start",
                    "__libc_start_main",
                    "__libc_start_main_impl",
                    "__libc_start_call_main",
                    "_dl_start_user",
                    "_dl_start",
                    "start_thread",
                    "clone",
                    "clone3",
                    "__clone",
                    "__clone3",
                    "__GI___clone",
                    "__clone_internal",
                    "__thread_start",
                    "__fork",
                ],
                ..NAMES
            },
        ),
    ],
    work: &[
        Work {
            role: ThreadRole::Idle,
            changed_by: &["OMP_NUM_THREADS", "OMP_WAIT_POLICY"],
            // Libraries linked into the program.
            functions: Names {
                beginnings: &[
                    "gomp_barrier_wait",
                    "gomp_team_barrier_wait",
                    "__kmp_wait",
                    "__kmp_hyper_barrier",
                ],
                ..NAMES
            },
            own_code_of: OPENMP,
            waits_of: OPENMP,
            size: Some("OMP_NUM_THREADS"),
            advice: Some(
                "Give the threads of OpenMP equal pieces (`schedule(dynamic)`), fewer and larger parallel regions, \
                 and no more threads than CPUs (`OMP_NUM_THREADS`); with `OMP_WAIT_POLICY=passive`, idle threads \
                 sleep.",
            ),
            ..WORK
        },
        Work {
            role: ThreadRole::Idle,
            changed_by: &["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"],
            innermost: Names {
                whole: &["blas_thread_server", "exec_blas_async_wait"],
                ..NAMES
            },
            waits_of: &["openblas"],
            size: Some("OPENBLAS_NUM_THREADS"),
            advice: Some(
                "Let OpenBLAS use no more threads than there are CPUs (`OPENBLAS_NUM_THREADS`), or one where the \
                 matrices are small or the program has threads of its own.",
            ),
            ..WORK
        },
    ],
    sources: &["/usr/lib/", "/usr/include/", "/usr/src/"],
    owns: |name| {
        name.starts_with("operator new")
            || name.starts_with("operator delete")
            || name.contains("::") && is_of_language(name)
    },
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "`setvbuf(stdout, NULL, _IOFBF, 1 << 16);` before the first output; remove `_IONBF` and bare \
                 `write`, in C++ `endl`, `flush` and `unitbuf`."
            }
            Topic::Output { lines: true, .. } => {
                "`setvbuf(stdout, NULL, _IOFBF, 1 << 16);`, without `fflush` for each line; in C++ write '\\n' instead of `endl`."
            }
            Topic::Input { .. } => {
                "Read blocks of 64 KiB, or use `getchar`/`fgets` without `setvbuf(_IONBF)`; in C++ call `ios::sync_with_stdio(false)`."
            }
            Topic::Stream => {
                "Read blocks of 64 KiB and take the bytes from there, or put a `FILE` around it (`fdopen`) and use `getc`/`fgets`."
            }
            Topic::File {
                writes: false,
                reopened: false,
            } => "Use `fread` on a `FILE`, or read blocks of 64 KiB.",
            Topic::File {
                writes: true,
                reopened: false,
            } => {
                "Use `fwrite` on a `FILE` without `fflush` and `setvbuf`, or write blocks of 64 KiB."
            }
            Topic::Processes { copies: false } => {
                "Call the library function instead of `system`/`popen`."
            }
            Topic::Objects { allocated: true } => FEWER_OBJECTS,
            Topic::Memory => LESS_MEMORY,
            _ => return None,
        })
    },
    ..BASE
};

pub(super) const RUST: Runtime = Runtime {
    habits: &[Habit::CollectsLines],
    library: Library {
        call: 60.0,
        path: 60.0,
        thread: 8e3,
        ..Library::UNKNOWN
    },
    functions: &[
        (
            Use::Allocator,
            Names {
                beginnings: &["__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rdl_"],
                ..NAMES
            },
        ),
        (
            Use::Objects,
            Names {
                parts: &["alloc::raw_vec::"],
                ..NAMES
            },
        ),
        (
            Use::Objects,
            Names {
                parts: &[" as core::clone::Clone>"],
                within: "alloc::",
                ..NAMES
            },
        ),
        (
            Use::Mutex,
            Names {
                parts: &["mutex::Mutex", "RawMutex"],
                ..NAMES
            },
        ),
        (
            Use::Contended,
            Names {
                parts: &["lock_contended", "::lock_slow"],
                ..NAMES
            },
        ),
        (
            Use::AsksChannel,
            Names {
                ends: &["::try_recv"],
                ..NAMES
            },
        ),
        (
            Use::PutIntoCallers,
            Names {
                // Traits that only types of the language implement.
                parts: &[
                    " as core::iter::range::",
                    " as core::slice::index::SliceIndex<",
                ],
                beginnings: &[
                    "<alloc::vec::Vec<T,A> as core::ops::",
                    "core::cmp::Ord::",
                    "core::cmp::impls::",
                    "core::core_arch::",
                    "core::intrinsics::",
                    "core::iter::range::",
                    "core::ops::arith::",
                    "core::ptr::const_ptr::",
                    "core::ptr::mut_ptr::",
                    "core::ptr::non_null::",
                    "core::ub_checks::",
                ],
                // Only present with debug assertions.
                ends: &["::precondition_check"],
                ..NAMES
            },
        ),
        (
            Use::PutIntoCallers,
            Names {
                whole: &["core::iter::adapters::chain::and_then_or_clear"],
                ends: &["::or_else", "::is_some", "::is_none", "::as_mut", "::take"],
                within: "core::option::Option<",
                ..NAMES
            },
        ),
        // Closures of the library itself.
        (
            Use::PutIntoCallers,
            Names {
                ends: &["::{{closure}}"],
                within: "core::iter::adapters::",
                ..NAMES
            },
        ),
        (
            Use::PutIntoCallers,
            Names {
                ends: &["::{{closure}}"],
                within: " as core::iter::traits::accum::",
                ..NAMES
            },
        ),
        (
            Use::Start,
            Names {
                parts: &["__rust_begin_short_backtrace"],
                ..NAMES
            },
        ),
    ],
    work: &[
        Work {
            role: ThreadRole::Pool,
            changed_by: &["TOKIO_WORKER_THREADS"],
            size: Some("TOKIO_WORKER_THREADS"),
            threads: &["tokio-runtime-w", "tokio-rt-worker"],
            functions: Names {
                parts: &[
                    "tokio::runtime::scheduler::multi_thread::worker::run",
                    "tokio::runtime::blocking::pool::Inner::run",
                ],
                ..NAMES
            },
            ..WORK
        },
        Work {
            role: ThreadRole::Pool,
            changed_by: &["RAYON_NUM_THREADS"],
            size: Some("RAYON_NUM_THREADS"),
            functions: Names {
                parts: &["rayon_core::registry::ThreadBuilder::run"],
                ..NAMES
            },
            ..WORK
        },
    ],
    sources: &[
        "/rustc/",
        "/library/std/src/",
        "/library/core/src/",
        "/library/alloc/src/",
        "/.cargo/registry/",
        "/.cargo/git/",
    ],
    owns: |name| {
        ["__rust_", "__rdl_", "__rg_"]
            .iter()
            .any(|begin| name.starts_with(begin))
    },
    words: |topic| {
        Some(match topic {
            Topic::Output { lines: false, .. } => {
                "`let mut out = std::io::BufWriter::new(std::io::stdout().lock());`: write into it, and flush it at the end."
            }
            Topic::Output { lines: true, .. } => {
                "`let mut out = std::io::BufWriter::new(std::io::stdout().lock());` and `writeln!(out, ...)`: `println!` writes each line by itself."
            }
            Topic::Input { .. } => {
                "`let mut input = std::io::stdin().lock();`, or a `BufReader`, instead of the bare file."
            }
            Topic::Stream => "Read through a `BufReader` around the descriptor.",
            Topic::File {
                writes: false,
                reopened: false,
            } => "`let mut file = std::io::BufReader::new(file);`",
            Topic::File {
                writes: true,
                reopened: false,
            } => "`let mut file = std::io::BufWriter::new(file);`, and flush it at the end.",
            Topic::Threads => {
                "Keep a few threads and send them the work through a channel, or use `rayon`."
            }
            Topic::Channel => {
                "Wait for the channel: `recv` sleeps until a message arrives, `recv_timeout` until then or for the \
                 given time."
            }
            Topic::Objects { .. } => {
                "Create fewer objects: keep a `String` or `Vec` and `clear` it in the loop, borrow (`&str`, slices, \
                 `Cow`) instead of cloning, use `with_capacity`; another global allocator (mimalloc, jemalloc) \
                 makes each one cheaper."
            }
            Topic::Memory => LESS_MEMORY,
            _ => return None,
        })
    },
    ..BASE
};

const FEWER_OBJECTS: &str = "Create fewer objects: one buffer that is reused, an arena that is freed at once, small strings and arrays \
     inside of their owner (in C++ `string_view`, `reserve`, move instead of copy); another allocator (mimalloc, \
     jemalloc by LD_PRELOAD) makes each one cheaper.";

/// Advice for languages in which the page size can be chosen.
const LESS_MEMORY: &str = "Touch less memory: keep data that is used together side by side, reuse buffers, process the data as it \
     arrives; for large tables request huge pages (`madvise(MADV_HUGEPAGE)`).";

/// Crates of the Rust distribution, and namespaces of the C++ standard library.
const LANGUAGE_CRATES: [&str; 11] = [
    "std",
    "core",
    "alloc",
    "hashbrown",
    "compiler_builtins",
    "std_detect",
    "rustc_demangle",
    "__gnu_cxx",
    "__cxxabiv1",
    "__cxx11",
    "boost",
];

/// Returns whether a function belongs to the language. In `<T as Trait>::f`, both the type and the trait must
/// be the language's; if only one of them is, the program implements something.
fn is_of_language(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix('<')
        && let Some((of, with)) = inner.split_once(" as ")
    {
        return is_language_path(of) && is_language_path(with);
    }
    // The name of a C++ template function includes its return type.
    let bare = without_type_arguments(name);
    let bare = bare.split('(').next().unwrap_or(&bare);
    is_language_path(bare.trim().rsplit(' ').next().unwrap_or(bare))
}

/// Returns whether a path begins with a crate of the language, or has no crate, such as `[T]` and `str`.
fn is_language_path(path: &str) -> bool {
    let path = path.trim_start_matches(['<', '&', '*', '[', '(', ' ']);
    let path = ["mut ", "const ", "dyn ", "impl "]
        .iter()
        .fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
    let first = path.split("::").next().unwrap_or(path);
    let has_crate = path.contains("::");
    !has_crate || LANGUAGE_CRATES.contains(&first)
}

const OPENMP: &[&str] = &["libgomp", "libomp.", "libomp-", "libiomp"];
