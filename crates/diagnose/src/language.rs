//! In which words is advice given?

use serde::{Deserialize, Serialize};

/// A programming language, as far as advice differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Language {
    /// C or C++.
    C,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Python.
    Python,
    /// JavaScript on Node.
    Node,
    /// Java or another language of its machine.
    Java,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// A shell.
    Shell,
}

impl Language {
    /// The language of programs that an interpreter of this name runs, such as `python3.11`; a
    /// path is fine. `None` for a program that is no known interpreter.
    pub fn from_program_name(name: &str) -> Option<Self> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        Some(match stem {
            "python" | "pypy" => Self::Python,
            "node" | "nodejs" => Self::Node,
            "java" => Self::Java,
            "ruby" => Self::Ruby,
            "perl" => Self::Perl,
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" => Self::Shell,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_folders_do_not_hide_an_interpreter() {
        let of = Language::from_program_name;
        assert_eq!(of("/usr/bin/python3.11"), Some(Language::Python));
        assert_eq!(of("bash"), Some(Language::Shell));
        assert_eq!(of("perl5.36"), Some(Language::Perl));
        assert_eq!(of("sort"), None);
    }
}
