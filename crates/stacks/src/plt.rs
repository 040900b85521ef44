//! Finds the library function to which a stub belongs.

use std::collections::HashMap;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

/// Size of a stub in bytes.
const STUB: u64 = 16;

/// The maximum number of library functions that a program calls: Chromium calls a few thousand.
const MOST_STUBS: usize = 1 << 17;

/// The stubs through which a program calls library functions.
pub(crate) struct Stubs<'d> {
    sections: Vec<(u64, &'d [u8])>,
    /// The names, by the location that stores the function's address.
    slots: HashMap<u64, &'d str>,
    /// The names, in the order of the table for lazy binding.
    bound: Vec<Option<&'d str>>,
}

impl<'d> Stubs<'d> {
    pub(crate) fn of(parsed: &object::File<'d>) -> Option<Self> {
        let names = [".plt", ".plt.sec", ".plt.got"];
        let section = |name: &&str| {
            let section = parsed.section_by_name(name)?;
            Some((section.address(), section.data().ok()?))
        };
        let sections: Vec<_> = names.iter().filter_map(section).collect();
        let mut stubs = Self {
            sections,
            slots: HashMap::new(),
            bound: Vec::new(),
        };
        for (slot, relocation) in parsed.dynamic_relocations()? {
            if stubs.slots.len() == MOST_STUBS {
                break;
            }
            let RelocationTarget::Symbol(index) = relocation.target() else {
                continue;
            };
            let symbol = parsed.dynamic_symbol_table()?;
            let symbol = object::ObjectSymbolTable::symbol_by_index(&symbol, index);
            if let Some(name) = symbol.ok().and_then(|it| it.name().ok()) {
                stubs.slots.insert(slot, name);
            }
        }
        let bound = parsed.section_by_name(".rela.plt");
        let bound = bound
            .and_then(|section| section.data().ok())
            .unwrap_or_default();
        let (entries, _) = bound.as_chunks::<24>();
        stubs.bound = entries
            .iter()
            .map(|entry| stubs.slots.get(&number(&entry[..8])).copied())
            .collect();
        (!stubs.sections.is_empty()).then_some(stubs)
    }

    /// Returns the name of the function whose stub contains this address.
    pub(crate) fn name_at(&self, address: u64) -> Option<&'d str> {
        let holds = |(from, code): &&(u64, &[u8])| {
            address
                .checked_sub(*from)
                .is_some_and(|at| at < code.len() as u64)
        };
        let (from, code) = self.sections.iter().find(holds)?;
        // Stubs of `.plt.got` are half as long; the half with the jump belongs to its function.
        let inside = (address - from) / (STUB / 2) * (STUB / 2);
        let whole = inside / STUB * STUB;
        [inside, whole].into_iter().find_map(|at| {
            let stub = code.get(usize::try_from(at).ok()?..)?;
            let stub = &stub[..stub.len().min(STUB as usize)];
            self.target(stub, from.checked_add(at)?)
        })
    }

    /// Returns the function of a stub. `endbr64` may come first, and `bnd` before the jump.
    fn target(&self, stub: &[u8], at: u64) -> Option<&'d str> {
        let code = stub.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(stub);
        let code = code.strip_prefix(&[0xf2]).unwrap_or(code);
        match code {
            // jmp *distance(%rip)
            [0xff, 0x25, distance @ ..] => {
                let behind = at + (stub.len() - distance.len()) as u64 + 4;
                let distance = i32::from_le_bytes(*distance.first_chunk()?);
                let slot = behind.checked_add_signed(distance.into())?;
                self.slots.get(&slot).copied()
            }
            // push $number
            [0x68, number @ ..] => {
                let number = u32::from_le_bytes(*number.first_chunk()?);
                *self.bound.get(number as usize)?
            }
            _ => None,
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}
