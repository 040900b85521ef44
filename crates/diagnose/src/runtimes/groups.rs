//! Groups library functions that serve the same purpose, so that their time counts together.
//!
//! Many small pieces of one kind have a common cause, such as `malloc`, `realloc` and `free` below a loop
//! that creates objects, or the functions through which an exception passes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fathom_stacks::Frame;
use serde::Deserialize;

use super::functions::{Names, Use, is_for, without_suffix};
use super::read;
use crate::file_name::file_name;

/// Library functions that serve the same purpose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    /// Uses under which the functions are already classified.
    #[serde(default)]
    uses: Vec<Use>,
    #[serde(default)]
    functions: Names,
    /// Parts of the paths of their sources, for languages in which functions have everyday names.
    #[serde(default)]
    sources: Vec<String>,
    avoidable: Option<Avoidable>,
}

/// Why much of a kind of work can be avoided.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Avoidable {
    /// The share of the wall time that well-made programs don't reach.
    pub share: f64,
    /// What the functions do, as the subject of a statement.
    pub work: String,
    pub advice: String,
    /// Whether it only counts where the program's own code calls it, not where other library functions do.
    #[serde(default)]
    pub direct: bool,
    /// Whether many threads do it beside each other, so that its time on the critical path isn't all of it.
    #[serde(default)]
    pub on_all_threads: bool,
    /// Functions that only do this work for their caller. Work that is `direct` also counts below them.
    #[serde(default)]
    through: Names,
    /// The functions that undo what the others do. If there are any, the work only counts below a function that
    /// does both, and in a program that reads and writes less than this work converts.
    back: Option<Names>,
}

impl Avoidable {
    /// Returns whether only work counts that is also undone.
    pub(crate) fn goes_back(&self) -> bool {
        self.back.is_some()
    }

    /// Returns whether a function undoes what others of its group do.
    pub(crate) fn undoes(&self, frame: &Frame) -> bool {
        let name = frame.function.as_deref().unwrap_or_default();
        self.back.as_ref().is_some_and(|back| back.have(name))
    }
}

/// Returns whether a function only does avoidable work for its caller.
pub(crate) fn is_through(frame: &Frame) -> bool {
    let name = frame.function.as_deref().map(without_suffix);
    let mut all = GROUPS.iter().filter_map(|group| group.avoidable.as_ref());
    name.is_some_and(|name| all.any(|it| it.through.have(name)))
}

const EXCEPTIONS: &str = "exceptions";
/// The group of conversions that a sort repeats for each comparison.
pub(crate) const COMPARING: &str = "comparing";
/// The groups that also convert something.
const CONVERTING: [&str; 3] = ["regular expressions", "formatting", "converting objects"];
/// The group of functions that walk through a list until they meet what they search for.
pub(crate) const SEARCHING: &str = "searching lists";
/// The group of functions that search in texts and compare them.
pub(crate) const TEXT: &str = "searching and comparing text";
/// The group of functions that take or release locks.
pub(crate) const LOCKING: &str = "locking";

static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut file: BTreeMap<String, Vec<Group>> = read(include_str!("groups.toml"));
    file.remove("group").unwrap_or_default()
});

/// Returns whether a function only does work that an exception needs.
pub(crate) fn is_of_exceptions(frame: &Frame) -> bool {
    let name = frame.function.as_deref().map(without_suffix);
    let exceptions = GROUPS.iter().find(|group| group.name == EXCEPTIONS);
    name.is_some_and(|name| exceptions.is_some_and(|group| group.functions.have(name)))
}

/// Returns whether a library function, of this group, makes a value from another one, such as a date from text.
pub(crate) fn converts(frame: &Frame, group: Option<&str>) -> bool {
    group.is_some_and(|it| CONVERTING.contains(&it)) || Use::Converts.is_of_frame(frame)
}

/// Returns the group of a library function; `None` if it belongs to none.
pub(crate) fn group_of(frame: &Frame) -> Option<&'static str> {
    let name = without_suffix(frame.function.as_deref()?);
    let source = frame.source_file.as_deref().unwrap_or_default();
    let has = |group: &&Group| {
        group.functions.have_in(name, source)
            || group.uses.iter().any(|of| is_for(*of, name))
            || group
                .sources
                .iter()
                .any(|part| source.ends_with(part.as_str()))
    };
    GROUPS.iter().find(has).map(|group| group.name.as_str())
}

/// Returns why the work of a group can be avoided; `None` if well-made programs do as much of it.
pub(crate) fn avoidable(group: &str) -> Option<&'static Avoidable> {
    let group = GROUPS.iter().find(|it| it.name == group)?;
    group.avoidable.as_ref()
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
            (LOCKING, ["pthread_mutex_lock", "lock_contended"]),
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
        for other in [
            "compile",
            "main",
            "deflate",
            "memory_of",
            "fmtp",
            "java.text.SimpleDateFormat.toPattern",
        ] {
            assert_eq!(group(other, ""), None, "{other}");
        }
    }
}
