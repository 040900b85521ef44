//! Restores a function's name as written in its source.

use std::fmt::{self, Write};

/// The maximum number of bytes of a name that are kept.
pub(crate) const LONGEST_NAME: usize = 400;

/// Returns a name as written in the source, without parameters and hashes; longer names are cut.
pub(crate) fn demangled(symbol: &str) -> String {
    let mut short = Short(String::new());
    // Writing stops when the name gets too long, which isn't an error.
    let _ = if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        write!(short, "{name:#}")
    } else if let Some(name) = of_cpp(symbol) {
        let options = cpp_demangle::DemangleOptions::new()
            .no_params()
            .no_return_type();
        name.structured_demangle(&mut short, &options)
    } else {
        // Go's assembler adds a suffix for the calling convention.
        short.write_str(symbol.strip_suffix(".abi0").unwrap_or(symbol))
    };
    short.0
}

/// Returns a function's name without the suffixes that compilers add for a copy or a part of it:
/// `parse.part.0.cold` becomes `parse`.
pub(crate) fn without_copy(symbol: &str) -> &str {
    const KINDS: [&str; 5] = ["part", "constprop", "isra", "lto_priv", "llvm"];
    let numbered = |name: &str| {
        let (name, number) = name.rsplit_once('.')?;
        let (_, kind) = name.rsplit_once('.')?;
        let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        (is_number && KINDS.contains(&kind)).then(|| name.len() - kind.len() - 1)
    };
    let mut name = symbol;
    while let Some(shorter) = numbered(name)
        .map(|length| &name[..length])
        .or_else(|| name.strip_suffix(".cold"))
        .filter(|shorter| !shorter.is_empty())
    {
        name = shorter;
    }
    name
}

/// Parses a mangled C++ name; plain names may look like its abbreviations of types.
fn of_cpp(symbol: &str) -> Option<cpp_demangle::Symbol<&str>> {
    let mangled = symbol.starts_with("_Z");
    mangled.then(|| cpp_demangle::Symbol::new(symbol).ok())?
}

/// A text with a maximum length; writing beyond it fails.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = LONGEST_NAME - self.0.len().min(LONGEST_NAME);
        self.0.push_str(&text[..text.floor_char_boundary(left)]);
        match text.len() > left {
            true => Err(fmt::Error),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_their_authors() {
        let rust = "_ZN4core3fmt5Write9write_str17h0123456789abcdefE";
        assert_eq!(demangled(rust), "core::fmt::Write::write_str");
        assert_eq!(demangled("_ZN3foo3barEi"), "foo::bar");
        assert_eq!(demangled("w"), "w", "no abbreviation of a type");
        assert_eq!(demangled("_Z?"), "_Z?");
        assert_eq!(demangled(&"é".repeat(1000)).len(), LONGEST_NAME);
    }

    #[test]
    fn copies_and_parts_have_the_name_of_the_whole() {
        for (symbol, name) in [
            ("parse", "parse"),
            ("parse.cold", "parse"),
            ("parse.part.0.cold", "parse"),
            ("parse.constprop.1.isra.0", "parse"),
            ("_ZN3foo3barEi.llvm.123", "_ZN3foo3barEi"),
            ("parse.0", "parse.0"),
            ("parse.part.x", "parse.part.x"),
            (".cold", ".cold"),
            ("", ""),
        ] {
            assert_eq!(without_copy(symbol), name);
        }
    }
}
