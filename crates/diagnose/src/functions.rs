//! What is a function for?
//!
//! By the names that runtimes and C libraries give to theirs, as they are in symbol tables.

use fathom_trace::FunctionRow;

/// What takes memory for objects and gives it back: C's allocator, C++'s operators, Rust's glue and
/// the allocators that are put in their place.
pub(crate) fn is_allocator(row: &FunctionRow) -> bool {
    const WHOLE: [&str; 17] = [
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
    ];
    const BEGINNINGS: [&str; 23] = [
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
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
        "__rdl_",
        "mi_malloc",
        "mi_free",
        "_mi_malloc",
        "_mi_free",
        "_mi_page_",
        "_rjem_",
    ];
    own_name(row).is_some_and(|name| {
        WHOLE.contains(&name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    })
}

/// What makes an object of what it is given, mostly with memory of its own: strings and arrays of
/// C++ and Rust.
pub(crate) fn makes_objects(row: &FunctionRow) -> bool {
    const PARTS: [&str; 6] = [
        "::_M_create",
        "::_M_mutate",
        "::_M_replace",
        "::_M_assign",
        "::_M_realloc_",
        "alloc::raw_vec::",
    ];
    own_name(row).is_some_and(|name| {
        let clones = name.contains("alloc::") && name.contains(" as core::clone::Clone>");
        clones || PARTS.iter().any(|part| name.contains(part))
    })
}

/// What a runtime does to hand out memory and to find what is not used any more (Go, JavaScript on
/// Node).
pub(crate) fn is_collector(row: &FunctionRow) -> bool {
    const GO: [&str; 22] = [
        "runtime.mallocgc",
        "internal/runtime/gc",
        "gcWriteBarrier",
        "runtime.newobject",
        "runtime.gc",
        "runtime.scan",
        "runtime.greyobject",
        "runtime.markroot",
        "runtime.sweep",
        "runtime.bgsweep",
        "runtime.findObject",
        "runtime.heapBits",
        "runtime.heapSetType",
        "runtime.typePointers",
        "runtime.(*mspan)",
        "runtime.(*mcache)",
        "runtime.(*mcentral)",
        "runtime.(*mheap)",
        "runtime.(*gcWork)",
        "runtime.(*sweepLocked)",
        "runtime.nextFreeFast",
        "runtime.wbBuf",
    ];
    const V8: [&str; 6] = [
        "Scaveng",
        "MarkCompact",
        "Marking",
        "Sweeper",
        "Evacuat",
        "v8::internal::Heap::",
    ];
    own_name(row).is_some_and(|name| {
        let v8 = name.contains("v8::internal::") && V8.iter().any(|part| name.contains(part));
        v8 || GO.iter().any(|begin| name.starts_with(begin))
    })
}

/// What gives the time without a call: the kernel's page for that, and what programs call to get
/// there.
pub(crate) fn is_clock(row: &FunctionRow) -> bool {
    const ASKERS: [&str; 10] = [
        "clock_gettime",
        "__clock_gettime",
        "gettimeofday",
        "__gettimeofday",
        "runtime.nanotime",
        "runtime.walltime",
        "_PyTime_",
        "time_perf_counter",
        "time_monotonic",
        "time_time",
    ];
    // It serves some other calls too, newer kernels random bytes.
    const OTHERS: [&str; 4] = ["random", "cpu", "syscall", "sigreturn"];
    let name = own_name(row).unwrap_or_default();
    match row.file == "[vdso]" {
        true => !OTHERS.iter().any(|other| name.contains(other)),
        false => ASKERS.iter().any(|asker| name.starts_with(asker)),
    }
}

/// What takes a lock and lets go of it, whether another has it or not.
pub(crate) fn is_mutex(row: &FunctionRow) -> bool {
    const PARTS: [&str; 4] = [
        "pthread_mutex_",
        "___pthread_mutex_",
        "mutex::Mutex",
        "RawMutex",
    ];
    // Not of a function that is made for such a type.
    let bare = |name: &str| {
        let name = name.trim_start_matches('<');
        name.split('<').next().unwrap_or_default().to_owned()
    };
    let is = |name: &str| PARTS.iter().any(|part| bare(name).contains(part));
    is_contended(row) || own_name(row).is_some_and(is)
}

/// What only a lock leads to that another has.
pub(crate) fn is_contended(row: &FunctionRow) -> bool {
    const PARTS: [&str; 8] = [
        "__lll_lock_wa",
        "lll_mutex_lock_",
        "lock_contended",
        "::lock_slow",
        // Java's monitors: they spin, and look whether the one who has it runs.
        "ObjectMonitor::TrySpin",
        "SpinPause",
        "SafeFetch32_impl",
        "SafeFetchN_impl",
    ];
    own_name(row).is_some_and(|name| PARTS.iter().any(|part| name.contains(part)))
}

/// What a channel is asked by without waiting for it, by `select` with a `default` in Go and by
/// `try_recv` in Rust: who waits for one sleeps.
pub(crate) fn asks_channel(row: &FunctionRow) -> bool {
    const ASKS: [&str; 4] = [
        "runtime.selectnbrecv",
        "runtime.selectnbsend",
        "runtime.empty",
        "runtime.full",
    ];
    let asks = |name: &str| ASKS.contains(&name) || name.ends_with("::try_recv");
    own_name(row).is_some_and(asks)
}

/// What it calls for that, as who waits for a channel does.
pub(crate) fn is_of_channels(row: &FunctionRow) -> bool {
    let is = |name| name == "runtime.chanrecv" || name == "runtime.chansend";
    own_name(row).is_some_and(is)
}

/// The name without what a compiler adds to its parts.
fn own_name(row: &FunctionRow) -> Option<&str> {
    // What is made at run time has the names that programs give to their own.
    let name = row.function.as_deref();
    let name = name.filter(|_| !row.is_made_at_run_time())?;
    let end = [".constprop.", ".part.", ".isra.", ".cold", "@"]
        .iter()
        .filter_map(|mark| name.find(mark))
        .min();
    Some(&name[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, function: &str) -> FunctionRow {
        FunctionRow {
            file: file.to_owned(),
            function: (!function.is_empty()).then(|| function.to_owned()),
            ..FunctionRow::default()
        }
    }

    #[test]
    fn allocators_are_known_by_their_parts() {
        for name in [
            "malloc",
            "cfree@GLIBC_2.2.5",
            "unlink_chunk.constprop.0",
            "_int_free",
            "operator new",
            "__rdl_dealloc",
        ] {
            assert!(is_allocator(&row("/lib/libc.so.6", name)), "{name}");
        }
        for name in [
            "free_list",
            "mi_rkey",
            "tcache_upload",
            "PyObject_Malloc",
            "",
        ] {
            assert!(!is_allocator(&row("/bin/a", name)), "{name}");
        }
    }

    #[test]
    fn strings_and_arrays_are_objects() {
        for name in [
            "std::__cxx11::basic_string<char>::_M_create",
            "<alloc::string::String as core::clone::Clone>::clone",
            "alloc::raw_vec::RawVecInner<A>::finish_grow",
        ] {
            assert!(makes_objects(&row("/bin/a", name)), "{name}");
        }
        assert!(!makes_objects(&row(
            "/bin/a",
            "<mine::Thing as core::clone::Clone>::clone"
        )));
    }

    #[test]
    fn a_function_for_a_guard_is_no_lock() {
        assert!(is_mutex(&row("/bin/a", "std::sync::mutex::Mutex<T>::lock")));
        assert!(is_mutex(&row("/lib/libc.so.6", "pthread_mutex_unlock")));
        assert!(!is_mutex(&row(
            "/bin/a",
            "work::<std::sync::mutex::MutexGuard<u8>>"
        )));
    }

    #[test]
    fn collectors_are_those_of_runtimes() {
        assert!(is_collector(&row("/bin/a", "runtime.gcDrain")));
        assert!(is_collector(&row("/bin/a", "runtime.mallocgcSmallNoscan")));
        assert!(is_collector(&row(
            "/bin/node",
            "v8::internal::Scavenger::Process"
        )));
        assert!(!is_collector(&row("/bin/a", "main.scan")));
        assert!(!is_collector(&row("/bin/node", "v8::internal::JsonParser")));
    }

    #[test]
    fn channels_are_asked_in_go_and_in_rust() {
        for name in [
            "runtime.selectnbrecv",
            "std::sync::mpmc::list::Channel<T>::try_recv",
            "crossbeam_channel::channel::Receiver<T>::try_recv",
        ] {
            assert!(asks_channel(&row("/bin/a", name)), "{name}");
        }
        assert!(!asks_channel(&row(
            "/bin/a",
            "std::sync::mpsc::Receiver<T>::recv"
        )));
    }

    #[test]
    fn the_page_of_the_kernel_shows_the_time() {
        assert!(is_clock(&row("[vdso]", "")));
        assert!(is_clock(&row("[vdso]", "__vdso_clock_gettime")));
        assert!(!is_clock(&row("[vdso]", "__vdso_getrandom")));
        assert!(is_clock(&row(
            "/lib/libc.so.6",
            "clock_gettime@@GLIBC_2.17"
        )));
        assert!(!is_clock(&row("/lib/libc.so.6", "clock_nanosleep")));
    }
}
