//! What did the author of a function call it?

use std::fmt::{self, Write};

/// Bytes of a name that are kept.
pub(crate) const LONGEST_NAME: usize = 400;

/// A name as its author wrote it, without parameters and hashes; at most so long.
pub(crate) fn demangled(symbol: &str) -> String {
    let mut short = Short(String::new());
    // What is too long stops being written, which is no fault.
    let _ = if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        write!(short, "{name:#}")
    } else if let Some(name) = of_cpp(symbol) {
        let options = cpp_demangle::DemangleOptions::new()
            .no_params()
            .no_return_type();
        name.structured_demangle(&mut short, &options)
    } else {
        // Go's assembler marks how a function takes its arguments.
        short.write_str(symbol.strip_suffix(".abi0").unwrap_or(symbol))
    };
    short.0
}

/// A function's name without what compilers append to that of a copy or a part that they made of it:
/// `parse.part.0.cold` is `parse`.
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

/// A mangled name of C++; plain ones may look like its abbreviations of types.
fn of_cpp(symbol: &str) -> Option<cpp_demangle::Symbol<&str>> {
    let mangled = symbol.starts_with("_Z");
    mangled.then(|| cpp_demangle::Symbol::new(symbol).ok())?
}

/// Text up to a length; then writing fails.
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
