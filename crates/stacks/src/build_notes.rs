//! Determines whether a compiler optimized the code of a unit, from the compiler's own notes.

use gimli::{AttributeValue, Reader, UnitRef, constants as dw};

/// The maximum number of entries of a unit that are inspected: the first functions suffice to decide.
const MOST_ENTRIES: usize = 20_000;

/// Returns whether the unit was compiled without optimization. Returns false if the notes don't say, since a
/// missing report is better than a false one.
pub(crate) fn is_unoptimised<R: Reader>(unit: UnitRef<'_, R>) -> bool {
    let producer = producer(&unit).unwrap_or_default();
    match of_producer(&producer) {
        Some(unoptimised) => unoptimised,
        None => keeps_all_in_memory(&unit).unwrap_or(false),
    }
}

/// Returns the compiler and, for some compilers, the options.
fn producer<R: Reader>(unit: &UnitRef<'_, R>) -> Option<String> {
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    let text = unit
        .attr_string(root.attr_value(dw::DW_AT_producer)?)
        .ok()?;
    Some(text.to_string_lossy().ok()?.into_owned())
}

/// Decides by the compiler's notes, which in GNU compilers include all options that matter; `None` if they
/// don't suffice.
fn of_producer(producer: &str) -> Option<bool> {
    if producer.starts_with("GNU AS") {
        return Some(false);
    }
    let level = |word: &str| word.strip_prefix("-O").map(str::to_owned);
    let level = producer.split_whitespace().rev().find_map(level);
    match level {
        Some(level) => Some(level == "0"),
        // GNU notes without any options come from an older compiler, or from one with an option that omits
        // them.
        None if producer.starts_with("GNU ") => Some(producer.contains(" -")),
        None => None,
    }
}

/// Detects LLVM's code without optimization: every variable is in memory while its function runs, and only
/// mandatory inlining happens. `None` if no variables are recorded.
fn keeps_all_in_memory<R: Reader>(unit: &UnitRef<'_, R>) -> Option<bool> {
    let mut entries = unit.entries();
    let mut any = false;
    for _ in 0..MOST_ENTRIES {
        let Some(entry) = entries.next_dfs().ok()? else {
            break;
        };
        let of_function = match entry.tag() {
            dw::DW_TAG_inlined_subroutine | dw::DW_TAG_call_site => return Some(false),
            dw::DW_TAG_formal_parameter | dw::DW_TAG_variable => true,
            _ => false,
        };
        match entry.attr_value(dw::DW_AT_location).filter(|_| of_function) {
            Some(AttributeValue::Exprloc(expression)) => {
                let mut operations = expression.operations(unit.encoding());
                let first = operations.next().ok().flatten();
                any |= matches!(
                    first,
                    Some(
                        gimli::Operation::FrameOffset { .. }
                            | gimli::Operation::RegisterOffset { .. }
                    )
                );
                // The variable is in a register from the function's start to its end.
                if matches!(first, Some(gimli::Operation::Register { .. })) {
                    return Some(false);
                }
            }
            // The variable is in different locations at different instructions.
            Some(_) => return Some(false),
            None => {}
        }
    }
    any.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_note_how_they_were_called() {
        let gnu = "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g";
        assert_eq!(of_producer(gnu), Some(true));
        assert_eq!(of_producer(&format!("{gnu} -O2")), Some(false));
        assert_eq!(of_producer(&format!("{gnu} -O2 -O0")), Some(true));
        assert_eq!(of_producer(&format!("{gnu} -Og")), Some(false));
        assert_eq!(of_producer("GNU C 4.4.7"), Some(false));
        assert_eq!(of_producer("GNU AS 2.40"), Some(false));
        assert_eq!(of_producer("clang version 14.0.6"), None);
        assert_eq!(of_producer("clang LLVM (rustc version 1.95.0)"), None);
    }
}
