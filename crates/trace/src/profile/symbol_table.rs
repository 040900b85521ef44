//! Which function is at an address, by the symbols of its file?

use std::fs::File;

use object::read::{ReadCache, SymbolIndex};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolKind};

use super::demangle::demangled;

/// Names of one function that are compared.
const MOST_NAMES: usize = 32;

/// How far before `malloc` the C library's own functions of its allocator begin at most, bytes.
const ALLOCATOR_BYTES: u64 = 0x6000;

/// A file of code.
pub(super) type Parsed<'d> = object::File<'d, &'d ReadCache<&'d File>>;

/// A function as its file's table has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Symbol {
    from: u64,
    /// Bytes; 0 where nobody knows them.
    length: u64,
    index: SymbolIndex,
}

/// The functions of a file by their beginning. Names are read when they are asked for: there may be
/// a million.
pub(super) struct Table<'d, 'f> {
    names: ElfSymbols<'d, 'f>,
    symbols: Vec<Symbol>,
    /// Whether it is a C library of which only what others may link to is there.
    stripped_libc: bool,
}

type ElfSymbols<'d, 'f> = object::SymbolTable<'d, 'f, &'d ReadCache<&'d File>>;

impl<'d, 'f> Table<'d, 'f> {
    /// With those that nobody else may link to; `None` if they were taken out of the file.
    pub(super) fn whole(file: &'f Parsed<'d>) -> Option<Self> {
        Self::of(file, file.symbol_table()?, false)
    }

    /// Those that others may link to.
    pub(super) fn exported(file: &'f Parsed<'d>, is_libc: bool) -> Option<Self> {
        Self::of(file, file.dynamic_symbol_table()?, is_libc)
    }

    fn of(file: &'f Parsed<'d>, names: ElfSymbols<'d, 'f>, stripped_libc: bool) -> Option<Self> {
        // What was written in assembly has no length: it ends with its section, `_init` before the
        // stubs of libraries.
        let up_to_its_end = |symbol: &object::Symbol<'d, 'f, _>| {
            let section = file.section_by_index(symbol.section_index()?).ok()?;
            let end = section.address().checked_add(section.size())?;
            end.checked_sub(symbol.address())
        };
        let length = |symbol: &object::Symbol<'d, 'f, _>| match symbol.size() {
            0 => up_to_its_end(symbol).unwrap_or(0),
            length => length,
        };
        let functions = names
            .symbols()
            .filter(|it| it.kind() == SymbolKind::Text && it.is_definition());
        let mut symbols: Vec<Symbol> = functions
            .map(|symbol| Symbol {
                from: symbol.address(),
                length: length(&symbol),
                index: symbol.index(),
            })
            .collect();
        symbols.sort_unstable_by_key(|symbol| symbol.from);
        (!symbols.is_empty()).then_some(Self {
            names,
            symbols,
            stripped_libc,
        })
    }

    /// The function at this address.
    pub(super) fn function_at(&self, address: u64) -> Option<String> {
        let behind = self.symbols.partition_point(|one| one.from <= address);
        let from = behind.checked_sub(1).map(|last| self.symbols[last].from);
        // Others may begin there too: of several names the plainest, `free`, not `__libc_free` or
        // `cfree`.
        let same = self.symbols[..behind].iter().rev();
        let same = same
            .take_while(|one| Some(one.from) == from)
            .take(MOST_NAMES);
        let next = self.symbols.get(behind).map(|next| next.from);
        let names = same
            .filter(|one| match one.length {
                0 => next.is_some(),
                length => address - one.from < length,
            })
            .filter_map(|one| self.name(one));
        let plainness = |name: &String| (name.starts_with('_'), name.len());
        match names.min_by_key(plainness) {
            Some(name) => Some(demangled(&name)),
            None => self.of_allocator(address, behind).then(|| "malloc".into()),
        }
    }

    /// Its name without the version to which programs are linked.
    fn name(&self, symbol: &Symbol) -> Option<String> {
        let symbol = self.names.symbol_by_index(symbol.index).ok()?;
        let name = symbol.name().ok()?;
        Some(name.split('@').next().unwrap_or(name).to_owned())
    }

    /// Whether a place without a symbol is one of the functions behind `malloc`: a stripped glibc
    /// has them between what it exports right before and `malloc` itself.
    fn of_allocator(&self, address: u64, behind: usize) -> bool {
        let near = self.symbols[behind..]
            .iter()
            .take_while(|one| one.from - address <= ALLOCATOR_BYTES);
        // An old hook that programs may call is among them.
        let mut names = near
            .filter_map(|one| self.name(one))
            .filter(|name| !name.contains("morecore"));
        self.stripped_libc && names.next().is_some_and(|name| is_malloc(&name))
    }
}

fn is_malloc(name: &str) -> bool {
    matches!(name, "malloc" | "__libc_malloc")
}
