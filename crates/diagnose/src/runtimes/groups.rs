//! Groups library functions that serve the same purpose, so that their time counts together.
//!
//! Many small pieces of one kind have a common cause, such as `malloc`, `realloc` and `free` below a loop
//! that creates objects, or the functions through which an exception passes.

use crate::file_name::file_name;
use fathom_stacks::Frame;

use super::functions::{NAMES, Names, Use, is_for, without_suffix};

/// Library functions that serve the same purpose.
struct Group {
    name: &'static str,
    /// Uses under which the functions are already classified.
    uses: &'static [Use],
    functions: Names,
    /// Parts of the paths of their sources, for languages in which functions have everyday names.
    sources: &'static [&'static str],
}

const GROUP: Group = Group {
    name: "",
    uses: &[],
    functions: NAMES,
    sources: &[],
};

const EXCEPTIONS: &str = "exceptions";
/// The group of functions that take or release locks.
pub(crate) const LOCKING: &str = "locking";

/// The groups. More specific ones come first, because handling an exception also compares and copies.
const GROUPS: [Group; 9] = [
    Group {
        name: EXCEPTIONS,
        functions: Names {
            beginnings: &[
                "_Unwind_",
                "__cxa_throw",
                "__cxa_rethrow",
                "__cxa_begin_catch",
                "__cxa_end_catch",
                "__cxa_allocate_exception",
                "__cxa_free_exception",
                "__cxa_init_primary_exception",
                "__gxx_personality",
                "_dl_find_object",
                "std::__throw_",
                "std::panicking::",
                "runtime.gopanic",
                "java.lang.Throwable.",
                "java_lang_Throwable::",
                "JVM_FillInStackTrace",
                "BacktraceBuilder::",
                "OptoRuntime::handle_exception",
                "OptoRuntime::rethrow",
                "InterpreterRuntime::exception_handler",
                "SharedRuntime::raw_exception_handler",
                "SharedRuntime::compute_compiled_exc_handler",
                "Exceptions::",
                "v8::internal::Isolate::Throw",
                "v8::internal::Isolate::CaptureSimpleStackTrace",
            ],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: "regular expressions",
        functions: Names {
            beginnings: &[
                "regcomp",
                "regexec",
                "re_compile",
                "re_search",
                "pcre_",
                "pcre2_",
                "onig_",
                "re2::",
                "regexp.",
                "regexp/syntax.",
                "regex::",
                "regex_automata::",
                "regex_syntax::",
                "java.util.regex.",
                "sre_",
                "_sre_",
                "Builtins_RegExp",
                "Perl_re_",
                "Perl_pregcomp",
                "Perl_pregexec",
                "Perl_regexec",
                "Perl_pp_match",
                "Perl_pp_subst",
                "Perl_pp_regcomp",
                "S_reg",
            ],
            parts: &[
                "std::basic_regex",
                "std::__cxx11::basic_regex",
                "std::__detail::_Executor",
                "std::__detail::_Compiler",
                "std::__detail::__regex",
                "boost::re_detail",
                "v8::internal::RegExp",
                "v8::internal::Irregexp",
            ],
            ..NAMES
        },
        sources: &["/re/__init__.py", "/re/_compiler.py", "/re/_parser.py"],
        ..GROUP
    },
    Group {
        name: "formatting",
        functions: Names {
            whole: &["printf", "fprintf", "sprintf", "snprintf", "asprintf"],
            beginnings: &[
                "vfprintf",
                "__vfprintf",
                "vsnprintf",
                "__vsnprintf",
                "vsprintf",
                "__snprintf",
                "__sprintf",
                "__fprintf",
                "__printf",
                "core::fmt::",
                "alloc::fmt::",
                "fmt.",
                "strconv.Append",
                "strconv.Format",
                "java.util.Formatter",
                "java.lang.String.format",
                "java.text.",
            ],
            parts: &["std::num_put", "std::basic_ostream", "std::ostream::_M_"],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: "hash tables",
        functions: Names {
            beginnings: &[
                "runtime.mapaccess",
                "runtime.mapassign",
                "runtime.mapdelete",
                "runtime.mapiter",
                "internal/runtime/maps.",
                "hashbrown::",
                "std::collections::hash::",
                "core::hash::",
                "std::_Hash_bytes",
                "java.util.HashMap",
            ],
            parts: &["std::_Hashtable<", "std::__detail::_Map_base"],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: "channels",
        uses: &[Use::AsksChannel, Use::Channel],
        functions: Names {
            beginnings: &[
                "std::sync::mpmc::",
                "std::sync::mpsc::",
                "crossbeam_channel::",
                "runtime.chan",
                "runtime.selectgo",
            ],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: LOCKING,
        uses: &[Use::Mutex, Use::Contended],
        functions: Names {
            beginnings: &[
                "pthread_rwlock_",
                "pthread_spin_",
                "pthread_cond_",
                "__pthread_rwlock_",
                "sync.(*Mutex).",
                "sync.(*RWMutex).",
                "internal/sync.(*Mutex).",
            ],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: "allocation",
        uses: &[Use::Allocator, Use::Objects, Use::Collector],
        functions: Names {
            beginnings: &["runtime.makeslice", "runtime.growslice", "runtime.makemap"],
            ..NAMES
        },
        ..GROUP
    },
    Group {
        name: "copying",
        functions: Names {
            beginnings: &[
                "memcpy",
                "memmove",
                "memset",
                "mempcpy",
                "__memcpy",
                "__memmove",
                "__memset",
                "__mempcpy",
                "strcpy",
                "strncpy",
                "stpcpy",
                "strcat",
                "strncat",
                "__strcpy",
                "__strncpy",
                "__stpcpy",
                "__strcat",
                "runtime.memmove",
                "runtime.memclr",
                "runtime.concatstring",
                "runtime.slicebytetostring",
                "runtime.stringtoslicebyte",
                "java.util.Arrays.copyOf",
                "java.lang.System.arraycopy",
            ],
            parts: &["_disjoint_arraycopy", "_conjoint_arraycopy"],
            ..NAMES
        },
        sources: &["/copy.py"],
        ..GROUP
    },
    Group {
        name: "searching and comparing text",
        functions: Names {
            beginnings: &[
                "strlen",
                "__strlen",
                "strcmp",
                "__strcmp",
                "strncmp",
                "__strncmp",
                "strcasecmp",
                "__strcasecmp",
                "strcoll",
                "__strcoll",
                "strchr",
                "__strchr",
                "strrchr",
                "strstr",
                "__strstr",
                "strspn",
                "strcspn",
                "memchr",
                "__memchr",
                "memcmp",
                "__memcmp",
                "runtime.memequal",
                "runtime.cmpstring",
                "internal/bytealg.",
            ],
            ..NAMES
        },
        ..GROUP
    },
];

/// Returns whether a function only does work that an exception needs.
pub(crate) fn is_of_exceptions(frame: &Frame) -> bool {
    let name = frame.function.as_deref().map(without_suffix);
    let exceptions = GROUPS.iter().find(|group| group.name == EXCEPTIONS);
    name.is_some_and(|name| exceptions.is_some_and(|group| group.functions.have(name)))
}

/// Returns the group of a library function; `None` if it belongs to none.
pub(crate) fn group_of(frame: &Frame) -> Option<&'static str> {
    let name = without_suffix(frame.function.as_deref()?);
    let source = frame.source_file.as_deref().unwrap_or_default();
    let has = |group: &&Group| {
        group.functions.have(name)
            || group.uses.iter().any(|of| is_for(*of, name))
            || group.sources.iter().any(|part| source.ends_with(part))
    };
    GROUPS.iter().find(has).map(|group| group.name)
}

/// Returns the library to which a function belongs. This is its file or, in a binary that contains several
/// libraries, the first part of its name.
pub(crate) fn library_of(frame: &Frame) -> &str {
    let file = file_name(&frame.binary);
    let name = frame.function.as_deref().unwrap_or_default();
    let bare = name.trim_start_matches(['<', '&', '*', '(']);
    let end = bare.find("::").or_else(|| bare.find('.'));
    match end.filter(|_| !file.contains(".so")) {
        Some(end) => &bare[..end],
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(function: &str, source: &str) -> Option<&'static str> {
        group_of(&Frame {
            function: Some(function.to_owned()),
            source_file: (!source.is_empty()).then(|| source.to_owned()),
            ..Frame::default()
        })
    }

    #[test]
    fn functions_of_one_purpose_are_a_group_in_any_language() {
        for (name, functions) in [
            (
                EXCEPTIONS,
                ["_Unwind_Find_FDE", "java_lang_Throwable::create"],
            ),
            (
                "regular expressions",
                ["regexp.MustCompile", "Perl_pp_match"],
            ),
            ("formatting", ["__vfprintf_internal", "fmt.Sprintf"]),
            ("allocation", ["_int_free", "runtime.mallocgc"]),
            ("copying", ["__memmove_evex_unaligned_erms", "memset@plt"]),
            (
                "hash tables",
                ["runtime.mapaccess1_faststr", "std::_Hash_bytes"],
            ),
        ] {
            for function in functions {
                assert_eq!(group(function, ""), Some(name), "{function}");
            }
        }
        assert_eq!(
            group("compile", "/usr/lib/python3.11/re/__init__.py"),
            Some("regular expressions")
        );
        for other in ["compile", "main", "deflate", "memory_of", "fmtp"] {
            assert_eq!(group(other, ""), None, "{other}");
        }
    }
}
