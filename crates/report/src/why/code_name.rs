//! Short names of places in the code. No name is cut in the middle; instead, type arguments and enclosing
//! scopes are omitted.

use fathom_model::{CodePlace, WhereRow, without_type_arguments};

/// Returns a function with its type or module, without enclosing scopes and type arguments:
/// `<alloc::string::String as core::clone::Clone>::clone` becomes `String::clone`.
pub(super) fn shortened(function: &str) -> String {
    if let Some(of_python) = of_python(function) {
        return of_python;
    }
    if let Some(at) = function.find("operator") {
        // An operator's name may contain `<`: only the type before it is shortened.
        let (of, operator) = without_parameters(function).split_at(at);
        let of = without_type_arguments(of);
        let of = of.trim().trim_end_matches("::");
        return match of.rsplit([' ', ':']).next().filter(|of| !of.is_empty()) {
            Some(of) => format!("{of}::{operator}"),
            None => operator.to_owned(),
        };
    }
    let whole = match function.strip_prefix('<').and_then(of_type) {
        Some((of, rest)) => format!("{}{rest}", without_type_arguments(of)),
        None => without_type_arguments(without_parameters(function)),
    };
    if whole.trim().is_empty() {
        return function.to_owned();
    }
    if !whole.contains("::") {
        return of_go(&whole).to_owned();
    }
    // A template's name includes its return type.
    let whole = whole.trim().rsplit(' ').next().unwrap_or(&whole);
    let parts: Vec<&str> = whole.split("::").filter(|part| !part.is_empty()).collect();
    // An unnamed item is identified by the enclosing function.
    let unnamed = parts.iter().rev().take_while(|part| part.starts_with('{'));
    let kept = 2 + unnamed.count();
    match parts.len().saturating_sub(kept) {
        _ if parts.is_empty() => function.to_owned(),
        from => parts[from..].join("::"),
    }
}

/// Shortens the name that Python gives to an unnamed function: `build.<locals>.<listcomp>` becomes
/// `build.<listcomp>`.
fn of_python(function: &str) -> Option<String> {
    let word = |text: &str| {
        let inner = text
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        inner
            .is_some_and(|inner| inner.chars().all(|c| c.is_ascii_lowercase()) && !inner.is_empty())
    };
    let parts: Vec<&str> = function.split('.').collect();
    parts.iter().any(|part| word(part)).then(|| {
        parts
            .into_iter()
            .filter(|part| *part != "<locals>")
            .collect::<Vec<_>>()
            .join(".")
    })
}

/// Returns the part of a Go name after the last folder of its package: `b.(*T).f` for
/// `github.com/a/b.(*T).f`.
fn of_go(function: &str) -> &str {
    let end = function.find(['(', '[']).unwrap_or(function.len());
    function[..end]
        .rfind('/')
        .map_or(function, |at| &function[at + 1..])
}

/// Removes the parameter types at the end of a name: `f(int) const` becomes `f`.
fn without_parameters(function: &str) -> &str {
    let trimmed = function.strip_suffix(" const").unwrap_or(function);
    if !trimmed.ends_with(')') {
        return function;
    }
    let mut depth = 0usize;
    for (at, c) in trimmed.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return match at {
                0 => function,
                at => &trimmed[..at],
            };
        }
    }
    function
}

/// Splits `T as Trait>::function`, after a `<`, into the type and what follows.
fn of_type(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let end = text.char_indices().find(|(at, c)| {
        match c {
            '<' => depth += 1,
            // A `>` doesn't close a bracket if it belongs to an arrow.
            '>' if !text[..*at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (inner, rest) = (&text[..end.0], &text[end.0 + 1..]);
    Some((inner.split(" as ").next().unwrap_or(inner), rest))
}

/// Returns whether a mapping is named after a file. Other names are the kernel's, for memory without a file.
pub(super) fn has_file(name: &str) -> bool {
    name.starts_with('/') && !name.starts_with("//") && !name.starts_with("/memfd:")
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Formats a place in the code: `parse_line (p.c:7)`, or the location of code without a name:
/// `libc.so.6+0x9d3a0, after sscanf (symbols: libc6-dbg)`. `None` if nothing is known.
pub(super) fn place(place: &CodePlace) -> Option<String> {
    let name = bare(place)?;
    Some(match (&place.source_file, place.line) {
        (Some(file), Some(line)) => format!("{name} ({}:{line})", file_name(file)),
        _ => name,
    })
}

/// Returns the source line of the first of these places that has one, with its number: `12: total += price(i);`.
pub(super) fn source_line(at: &CodePlace, callers: &[CodePlace]) -> Option<String> {
    let mut places = std::iter::once(at).chain(callers);
    places.find_map(|place| {
        let file = file_name(place.source_file.as_deref()?);
        Some(format!(
            "{file}:{}: {}",
            place.line?,
            place.source_text.as_deref()?
        ))
    })
}

fn bare(place: &CodePlace) -> Option<String> {
    let file = place.binary.as_deref().unwrap_or_default();
    if let Some(function) = &place.function {
        return Some(match has_file(file) || file.is_empty() {
            true => shortened(function),
            false => function.clone(),
        });
    }
    let from = match file {
        "" => return None,
        "[vdso]" => return Some("clocks (vDSO)".to_owned()),
        file if !has_file(file) => return Some("code generated at run time".to_owned()),
        file => file_name(file),
    };
    let mut text = match place.offset {
        Some(offset) => format!("{from}+{offset:#x}"),
        None => format!("{from} (no symbols)"),
    };
    if let Some(after) = &place.after {
        text.push_str(&format!(" after {}", shortened(after)));
    }
    if let Some(package) = &place.symbols_in {
        text.push_str(&format!(" (symbols: {package})"));
    }
    Some(text)
}

/// Returns the place and the most informative caller as two pieces: `regcomp` and `<- parse_line (p.c:41)`. A
/// function without a name is shown with its nearest named caller.
pub(super) fn pieces(at: &CodePlace, callers: &[CodePlace]) -> Vec<String> {
    with_caller(place(at), callers)
}

/// Like [`pieces`], for a row.
pub(super) fn pieces_of_row(row: &WhereRow) -> Vec<String> {
    with_caller(place_of_row(row), &row.callers)
}

fn with_caller(at: Option<String>, callers: &[CodePlace]) -> Vec<String> {
    let mut pieces: Vec<String> = at.into_iter().collect();
    let named = |caller: &&CodePlace| caller.function.is_some();
    let caller = callers.iter().find(named).or(callers.first());
    pieces.extend(caller.and_then(place).map(|caller| format!("<- {caller}")));
    pieces
}

/// Returns the place of a row: `exceptions (std::stoi)` if it is a group of functions.
pub(super) fn place_of_row(row: &WhereRow) -> Option<String> {
    let place = place(&row.place);
    match (&row.group, place) {
        (Some(group), Some(place)) => Some(format!("{group} ({place})")),
        (Some(group), None) => Some(group.clone()),
        (None, place) => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, source: Option<(&str, u32)>) -> CodePlace {
        CodePlace {
            function: Some(name.to_owned()),
            source_file: source.map(|(file, _)| file.to_owned()),
            line: source.map(|(_, line)| line),
            binary: Some("/bin/a".to_owned()),
            ..CodePlace::default()
        }
    }

    #[test]
    fn what_python_has_no_name_for_keeps_its_own() {
        assert_eq!(shortened("build.<locals>.<listcomp>"), "build.<listcomp>");
        assert_eq!(shortened("Reader.read.<locals>.key"), "Reader.read.key");
        assert_eq!(shortened("<module>"), "<module>");
        assert_eq!(shortened("<lambda>"), "<lambda>");
        assert_eq!(shortened("<Tool>::run"), "Tool::run");
    }

    #[test]
    fn names_lose_what_they_are_nested_in_and_made_for() {
        for (whole, wanted) in [
            ("malloc", "malloc"),
            (
                "some_crate::some_module::deeper::Parser::next_token",
                "Parser::next_token",
            ),
            (
                "<alloc::string::String as core::clone::Clone>::clone",
                "String::clone",
            ),
            (
                "std::__cxx11::basic_string<char, std::allocator<char> >::_M_create",
                "basic_string::_M_create",
            ),
            (
                "void std::sort<It, app::Less>(It, It, app::Less)",
                "std::sort",
            ),
            ("app::Map<int>::find(std::string const&) const", "Map::find"),
            ("tool::parse::line::{{closure}}", "parse::line::{{closure}}"),
            ("operator new(unsigned long)", "operator new"),
            (
                "std::map<std::string, int>::operator[](std::string&&)",
                "map::operator[]",
            ),
            (
                "bool std::operator< <char>(A const&, B const&)",
                "std::operator< <char>",
            ),
            ("main.(*N).c", "main.(*N).c"),
            ("github.com/a/b/parse.(*T).Line", "parse.(*T).Line"),
        ] {
            assert_eq!(shortened(whole), wanted);
        }
        // Malformed names must be handled too.
        for odd in [
            "<",
            "<<",
            "<a",
            "::",
            ">>",
            "<>::",
            ")",
            "(",
            "()",
            "a)",
            "(operator)",
        ] {
            assert!(!shortened(odd).is_empty(), "{odd}");
        }
    }

    #[test]
    fn a_caller_has_the_line_of_its_call() {
        let caller = [function("parse_line", Some(("/src/p.c", 41)))];
        let library = function("regcomp", None);
        assert_eq!(
            pieces(&library, &caller),
            ["regcomp", "<- parse_line (p.c:41)"]
        );
        let own = function("hash", Some(("h.c", 7)));
        assert_eq!(
            pieces(&own, &caller),
            ["hash (h.c:7)", "<- parse_line (p.c:41)"]
        );
        assert!(pieces(&CodePlace::default(), &[]).is_empty());
    }

    #[test]
    fn code_without_a_name_is_a_byte_of_its_file_and_what_leads_there() {
        let place = CodePlace {
            binary: Some("/usr/lib/libc.so.6".to_owned()),
            offset: Some(0x9d3a0),
            after: Some("sscanf".to_owned()),
            symbols_in: Some("libc6-dbg".to_owned()),
            ..CodePlace::default()
        };
        let callers = [
            CodePlace {
                function: None,
                ..place.clone()
            },
            function("parse", Some(("p.c", 7))),
        ];
        let wanted = [
            "libc.so.6+0x9d3a0 after sscanf (symbols: libc6-dbg)",
            "<- parse (p.c:7)",
        ];
        assert_eq!(pieces(&place, &callers), wanted);
    }
}
