//! Which functions belong to a runtime's library, in a binary that also contains the program.

use fathom_model::without_type_arguments;
use serde::Deserialize;

use super::begins;

/// How to recognise the functions of a runtime's library by their names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Owns {
    beginnings: Vec<String>,
    /// First path components of the packages of a language whose functions are called `a/b.(*T).f`.
    packages: Vec<String>,
    /// Crates of the Rust distribution, and namespaces of the C++ standard library.
    namespaces: Vec<String>,
}

impl Owns {
    pub(super) fn has(&self, name: &str) -> bool {
        let in_package = || {
            let package = package(name).filter(|_| !name.contains("::"));
            let first = package.and_then(|package| package.split('/').next());
            first.is_some_and(|first| self.packages.iter().any(|it| it == first))
        };
        let in_namespace = || name.contains("::") && self.is_of_language(name);
        begins(name, &self.beginnings)
            || !self.packages.is_empty() && in_package()
            || !self.namespaces.is_empty() && in_namespace()
    }

    /// Returns whether a function belongs to the language. In `<T as Trait>::f`, both the type and the trait
    /// must be the language's; if only one of them is, the program implements something.
    fn is_of_language(&self, name: &str) -> bool {
        if let Some(inner) = name.strip_prefix('<')
            && let Some((of, with)) = inner.split_once(" as ")
        {
            return self.is_path(of) && self.is_path(with);
        }
        // The name of a C++ template function includes its return type.
        let bare = without_type_arguments(name);
        let bare = bare.split('(').next().unwrap_or(&bare);
        self.is_path(bare.trim().rsplit(' ').next().unwrap_or(bare))
    }

    /// Returns whether a path begins with a namespace of the language, or has none, such as `[T]` and `str`.
    fn is_path(&self, path: &str) -> bool {
        let path = path.trim_start_matches(['<', '&', '*', '[', '(', ' ']);
        let path = ["mut ", "const ", "dyn ", "impl "]
            .iter()
            .fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
        let first = path.split_once("::").map(|(first, _)| first);
        first.is_none_or(|first| self.namespaces.iter().any(|it| it == first))
    }
}

/// For `github.com/a/b.(*T).f`, returns the text before the first period of the last path component.
fn package(name: &str) -> Option<&str> {
    let last = name.rfind('/').map_or(0, |at| at + 1);
    let point = name[last..].find('.')?;
    Some(&name[..last + point])
}
