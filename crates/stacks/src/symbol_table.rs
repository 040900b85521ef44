//! Finds the functions at addresses in a symbol table.

use object::read::SymbolIndex;
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolKind};

use crate::demangle::{demangled, without_copy};

/// The maximum number of names of one function that are compared.
const MOST_NAMES: usize = 32;

/// The maximum distance in bytes from the beginning of the C library's own allocator functions to `malloc`.
const ALLOCATOR_BYTES: u64 = 0x6000;

/// The result for an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The function that contains the address.
    pub function: Option<String>,
    /// If no function contains the address, the function that begins before it.
    pub after: Option<String>,
}

/// The symbols nearest before an address, all of which begin at the same place.
#[derive(Clone, Debug, Default)]
struct Nearest {
    from: u64,
    /// The symbols with their sizes in bytes; 0 if unknown.
    symbols: Vec<(SymbolIndex, u64)>,
}

/// The maximum number of functions that a C library exports: glibc has three thousand.
const MOST_EXPORTED: usize = 1 << 16;

/// A symbol table with up to a million entries, few of which are needed.
type Symbols<'d, 'f> = object::SymbolTable<'d, 'f>;

/// Looks up each of the sorted addresses in a file's table. `None` if the table has no functions.
pub(crate) fn look_up<'d, 'f>(
    file: &'f object::File<'d>,
    table: &Symbols<'d, 'f>,
    addresses: &[u64],
) -> Option<Vec<Found>> {
    // Functions written in assembly have no size. They extend to the end of their section, like `_init`
    // before the library stubs.
    let up_to_its_end = |symbol: &object::Symbol<'d, 'f>| {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let end = section.address().checked_add(section.size())?;
        end.checked_sub(symbol.address())
    };
    let mut nearest = vec![Nearest::default(); addresses.len()];
    let mut last = None;
    for symbol in functions(table) {
        let from = symbol.address();
        last = last.max(Some(from));
        let Some(slot) = nearest.get_mut(addresses.partition_point(|one| *one < from)) else {
            continue;
        };
        if slot.symbols.is_empty() || slot.from < from {
            *slot = Nearest {
                from,
                symbols: Vec::new(),
            };
        }
        if slot.from == from && slot.symbols.len() < MOST_NAMES {
            let length = match symbol.size() {
                0 => up_to_its_end(&symbol).unwrap_or(0),
                length => length,
            };
            slot.symbols.push((symbol.index(), length));
        }
    }
    let last = last?;
    // A period in a Go name doesn't start a compiler's suffix.
    let plain = match file.section_by_name(".gopclntab") {
        Some(_) => |name| name,
        None => without_copy,
    };
    let readable = |name: &'d str| demangled(plain(name));
    let mut before = Nearest::default();
    let found = addresses.iter().zip(nearest).map(|(address, nearest)| {
        if !nearest.symbols.is_empty() {
            before = nearest;
        }
        before.at(table, *address, last, readable)
    });
    Some(found.collect())
}

impl Nearest {
    fn at<'d>(
        &self,
        table: &Symbols<'d, '_>,
        address: u64,
        last: u64,
        readable: impl Fn(&'d str) -> String,
    ) -> Found {
        // Several symbols may begin there. Use the plainest name: `free`, rather than `__libc_free` or
        // `cfree`.
        let plainest = |holds: &dyn Fn(u64) -> bool| {
            let symbols = self.symbols.iter().filter(|(_, length)| holds(*length));
            let names = symbols.filter_map(|(index, _)| name(&table.symbol_by_index(*index).ok()?));
            names.min_by_key(|name| (name.starts_with('_'), name.len()))
        };
        let holds = |length| match length {
            0 => address < last,
            length => address - self.from < length,
        };
        match plainest(&holds) {
            Some(name) => Found {
                function: Some(readable(name)),
                after: None,
            },
            None => Found {
                function: None,
                after: plainest(&|_| true).map(readable),
            },
        }
    }
}

fn functions<'d, 'f>(table: &Symbols<'d, 'f>) -> impl Iterator<Item = object::Symbol<'d, 'f>> {
    let symbols = table.symbols();
    symbols.filter(|it| it.kind() == SymbolKind::Text && it.is_definition())
}

/// Returns a symbol's name without the version that programs are linked to.
fn name<'d>(symbol: &object::Symbol<'d, '_>) -> Option<&'d str> {
    let name = symbol.name().ok()?;
    Some(name.split('@').next().unwrap_or(name))
}

/// Gives the name `malloc` to code without a symbol before `malloc`: a stripped glibc has its allocator
/// functions between the preceding exported function and `malloc` itself.
pub(crate) fn name_allocator(table: &Symbols<'_, '_>, addresses: &[u64], found: &mut [Found]) {
    // Skip an old hook that programs may call, since it is among the allocator functions.
    let named = |symbol: &object::Symbol<'_, '_>| {
        name(symbol).is_some_and(|name| !name.contains("morecore"))
    };
    let mut exported: Vec<_> = functions(table).filter(named).take(MOST_EXPORTED).collect();
    exported.sort_by_key(ObjectSymbol::address);
    let unnamed = addresses.iter().zip(found);
    for (address, found) in unnamed.filter(|(_, found)| found.function.is_none()) {
        let behind = exported.partition_point(|one| one.address() <= *address);
        let next = exported.get(behind);
        if next.is_some_and(|next| {
            next.address() - address <= ALLOCATOR_BYTES
                && matches!(name(next), Some("malloc" | "__libc_malloc"))
        }) {
            *found = Found {
                function: Some("malloc".to_owned()),
                after: None,
            };
        }
    }
}
