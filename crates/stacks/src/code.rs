//! Reads the instructions of functions given by name.

use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};

use crate::bounded::Budget;
use crate::files;
use crate::go_table::GoTable;
use crate::image::{Bytes, Segments, is_native};

/// The maximum number of bytes of a function that are read.
const LARGEST_FUNCTION: u64 = 64 << 10;

/// A function's code and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Offset in the file.
    pub offset: u64,
    /// Its instructions.
    pub code: Vec<u8>,
}

/// Returns the functions with these names. The program must be for this machine and have symbols.
pub fn functions_named(path: &Path, names: &[&str]) -> Vec<Code> {
    let bytes = files::open(path).and_then(|file| Bytes::of(&file));
    let bytes = bytes.as_deref().unwrap_or_default();
    let Some(parsed) = object::File::parse(bytes).ok().filter(is_native) else {
        return Vec::new();
    };
    let segments = Segments::of(&parsed);
    let code = |(address, length): (u64, u64)| {
        let (offset, _) = segments.offset(address)?;
        let from = usize::try_from(offset).ok()?;
        let to = from.checked_add(length.min(LARGEST_FUNCTION) as usize)?;
        let code = bytes.get(from..to)?.to_vec();
        Some(Code { offset, code })
    };
    let symbols = parsed.symbols().filter(|it| {
        it.kind() == SymbolKind::Text && it.name().is_ok_and(|name| names.contains(&name))
    });
    let places: Vec<(u64, u64)> = symbols.map(|it| (it.address(), it.size())).collect();
    let budget = Budget::default();
    let of_go = || {
        let all = GoTable::of_file(&parsed, &budget)
            .into_iter()
            .flat_map(GoTable::all);
        let wanted = all.filter(|it| names.contains(&it.name));
        wanted.map(|it| (it.address, it.length)).collect()
    };
    let places = match places.is_empty() {
        true => of_go(),
        false => places,
    };
    places.into_iter().filter_map(code).collect()
}
