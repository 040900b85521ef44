//! Finds the caller of the frame at an address of a file.

use std::cell::OnceCell;
use std::ops::Deref;

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindExpression, UnwindOffset, UnwindSection,
};

use crate::bounded::Budget;
use crate::go_table::GoTable;
use crate::image::Image;
use crate::registers::{Registers, dwarf};

type Bytes<'d> = EndianSlice<'d, LittleEndian>;

/// A function's entry in a table.
type Entry<'d> = gimli::FrameDescriptionEntry<Bytes<'d>>;

/// The maximum number of functions of a table without an index: the largest browsers have a million.
const MOST_FUNCTIONS: usize = 2 << 20;

/// The maximum size of a function's entry in bytes; the entry is scanned for each address.
const LONGEST_ENTRY: usize = 1 << 18;

/// The maximum number of steps of an expression: compilers write five.
const MOST_STEPS: u32 = 64;

/// The section that contains a rule.
#[derive(Clone, Copy, Debug)]
enum Source {
    EhFrame,
    DebugFrame,
    GoTable,
}

/// How to derive the caller's registers from the registers of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    source: Source,
    frame_address: CfaRule<usize>,
    registers: Vec<(Register, RegisterRule<usize>)>,
    return_address: Register,
    /// Whether the kernel created the frame for a signal: its caller made no call but was interrupted.
    pub is_signal: bool,
    /// Whether the function has no caller.
    pub is_outermost: bool,
}

impl Rule {
    /// Returns whether the function has a frame pointer at this address, with its return address after it.
    pub(crate) fn is_by_frame_pointer(&self) -> bool {
        let CfaRule::RegisterAndOffset { register, offset } = &self.frame_address else {
            return false;
        };
        usize::from(register.0) == dwarf::FRAME
            && (*offset == 16 || cfg!(not(target_arch = "x86_64")))
    }
}

/// Why a frame can't be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A required word is outside the copy of the stack.
    NotCopied,
    /// A register is unknown, or its rule can't be evaluated.
    Unknown,
}

/// The unwind tables of a file.
pub(crate) struct Tables<B> {
    pub image: Image<B>,
    eh_frame: OnceCell<Vec<(u64, usize)>>,
    debug_frame: OnceCell<Vec<(u64, usize)>>,
    budget: Budget,
}

impl<B: Deref<Target = [u8]>> Tables<B> {
    pub(crate) fn of(image: Image<B>) -> Self {
        Self {
            image,
            eh_frame: OnceCell::new(),
            debug_frame: OnceCell::new(),
            budget: Budget::default(),
        }
    }

    /// Returns the rule at an address, if any table has one.
    pub(crate) fn rule(&self, context: &mut UnwindContext<usize>, address: u64) -> Option<Rule> {
        self.of_eh_frame(context, address)
            .or_else(|| self.of_go_table(address))
            .or_else(|| self.of_debug_frame(context, address))
    }

    fn bases(&self) -> BaseAddresses {
        let address = |section: &Option<crate::image::Section>| {
            section.as_ref().map_or(0, |section| section.address)
        };
        BaseAddresses::default()
            .set_eh_frame_hdr(address(&self.image.eh_frame_header))
            .set_eh_frame(address(&self.image.eh_frame))
            .set_text(address(&self.image.text))
    }

    fn of_eh_frame(&self, context: &mut UnwindContext<usize>, address: u64) -> Option<Rule> {
        let table = self.eh_frame()?;
        let entry = self.in_eh_frame(&table, address)?;
        row(
            &table,
            &self.bases(),
            context,
            &entry,
            address,
            Source::EhFrame,
        )
    }

    fn of_debug_frame(&self, context: &mut UnwindContext<usize>, address: u64) -> Option<Rule> {
        let table = self.debug_frame()?;
        let entry = self.in_debug_frame(&table, address)?;
        row(
            &table,
            &self.bases(),
            context,
            &entry,
            address,
            Source::DebugFrame,
        )
    }

    /// Returns where the function at an address begins.
    pub(crate) fn begin(&self, address: u64) -> Option<u64> {
        let of_eh_frame = self
            .eh_frame()
            .and_then(|it| self.in_eh_frame(&it, address));
        let entry = of_eh_frame.or_else(|| self.in_debug_frame(&self.debug_frame()?, address));
        entry.map(|entry| entry.initial_address())
    }

    fn in_eh_frame<'d>(&self, table: &EhFrame<Bytes<'d>>, address: u64) -> Option<Entry<'d>> {
        let at = match self.sorted_by_linker(address) {
            Some(at) => at?,
            None => {
                let index = || index(table, &self.bases());
                nearest(self.eh_frame.get_or_init(index), address)?
            }
        };
        entry(table, &self.bases(), at, address)
    }

    fn in_debug_frame<'d>(&self, table: &DebugFrame<Bytes<'d>>, address: u64) -> Option<Entry<'d>> {
        let index = self.debug_frame.get_or_init(|| index(table, &self.bases()));
        entry(table, &self.bases(), nearest(index, address)?, address)
    }

    fn eh_frame(&self) -> Option<EhFrame<Bytes<'_>>> {
        let section = self.image.eh_frame.as_ref()?;
        let mut table = EhFrame::new(self.image.bytes(section), LittleEndian);
        table.set_address_size(8);
        Some(table)
    }

    fn debug_frame(&self) -> Option<DebugFrame<Bytes<'_>>> {
        let section = self.image.debug_frame.as_ref()?;
        let mut table = DebugFrame::new(self.image.bytes(section), LittleEndian);
        table.set_address_size(8);
        Some(table)
    }

    /// Returns the position of the function's entry according to the linker's index. `Some(None)` if the
    /// index has no entry for the address, `None` if there is no index in the form that linkers write.
    fn sorted_by_linker(&self, address: u64) -> Option<Option<usize>> {
        let section = self.image.eh_frame_header.as_ref()?;
        let [1, 0x1b, 0x03, 0x3b, _, _, _, _, rest @ ..] = self.image.bytes(section) else {
            return None;
        };
        let (count, rows) = rest.split_first_chunk::<4>()?;
        let (rows, _) = rows.as_chunks::<8>();
        let count = u32::from_le_bytes(*count) as usize;
        let rows = &rows[..count.min(rows.len())];
        let word = |bytes: &[u8]| {
            let distance = i32::from_le_bytes(bytes.try_into().unwrap_or_default());
            section.address.wrapping_add_signed(distance.into())
        };
        let behind = rows.partition_point(|row| word(&row[..4]) <= address);
        let place = || {
            let row = rows.get(behind.checked_sub(1)?)?;
            let from = self.image.eh_frame.as_ref()?.address;
            usize::try_from(word(&row[4..]).checked_sub(from)?).ok()
        };
        Some(place())
    }

    /// Uses Go's table, in which frames have a known size at each instruction.
    fn of_go_table(&self, address: u64) -> Option<Rule> {
        let frame = self.go_table()?.frame_at(address)?;
        let mut registers = vec![(
            Register(dwarf::INSTRUCTION as u16),
            RegisterRule::Offset(-8),
        )];
        if frame.bytes > 0 {
            registers.push((Register(dwarf::FRAME as u16), RegisterRule::Offset(-16)));
        }
        Some(Rule {
            source: Source::GoTable,
            frame_address: CfaRule::RegisterAndOffset {
                register: Register(dwarf::STACK as u16),
                offset: i64::from(frame.bytes) + 8,
            },
            registers,
            return_address: Register(dwarf::INSTRUCTION as u16),
            is_signal: false,
            is_outermost: frame.is_outermost,
        })
    }

    fn go_table(&self) -> Option<GoTable<'_>> {
        // Go's frames have this layout only on x86-64.
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let (table, text) = self.image.go_table.as_ref()?;
        GoTable::of(self.image.bytes(table), *text, &self.budget)
    }

    /// Returns the registers of the caller.
    pub(crate) fn caller(
        &self,
        rule: &Rule,
        registers: &Registers,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<Registers, Stop> {
        let get = |register: Register| registers.get(register.0.into()).ok_or(Stop::Unknown);
        let evaluated = |expression: &UnwindExpression<usize>, initial: Option<u64>| {
            let expression = match rule.source {
                Source::EhFrame => self.eh_frame().map(|table| expression.get(&table)),
                Source::DebugFrame => self.debug_frame().map(|table| expression.get(&table)),
                Source::GoTable => None,
            };
            let expression = expression.and_then(Result::ok).ok_or(Stop::Unknown)?;
            evaluate(expression, initial, registers, read)
        };
        let frame_address = match &rule.frame_address {
            CfaRule::RegisterAndOffset { register, offset } => {
                get(*register)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => evaluated(expression, None)?,
        };
        let value = |number: usize, rule: &RegisterRule<usize>| match rule {
            RegisterRule::SameValue => get(Register(number as u16)),
            RegisterRule::Offset(offset) => {
                read(frame_address.wrapping_add_signed(*offset)).ok_or(Stop::NotCopied)
            }
            RegisterRule::ValOffset(offset) => Ok(frame_address.wrapping_add_signed(*offset)),
            RegisterRule::Register(register) => get(*register),
            RegisterRule::Expression(expression) => {
                read(evaluated(expression, Some(frame_address))?).ok_or(Stop::NotCopied)
            }
            RegisterRule::ValExpression(expression) => evaluated(expression, Some(frame_address)),
            RegisterRule::Constant(value) => Ok(*value),
            _ => Err(Stop::Unknown),
        };
        // A register without a rule is either preserved or clobbered by convention. The wrong value of a
        // clobbered register is never used.
        let mut caller = registers.clone();
        caller.set(dwarf::STACK, Some(frame_address));
        for (register, rule) in &rule.registers {
            let number = usize::from(register.0);
            // In an epilogue, registers that were already restored are below the stack pointer.
            let restored = matches!(rule, RegisterRule::Offset(offset)
                if Some(frame_address.wrapping_add_signed(*offset)) < registers.stack());
            match value(number, rule) {
                Err(_) if restored => {}
                value => caller.set(number, value.ok()),
            }
        }
        let by = rule.registers.iter().find(|it| it.0 == rule.return_address);
        let return_address = match by {
            Some((_, rule)) => value(dwarf::INSTRUCTION, rule)?,
            // Without a rule, the return address is in its register, on machines whose calls leave it there.
            None => get(rule.return_address)?,
        };
        caller.set(dwarf::INSTRUCTION, Some(return_address));
        Ok(caller)
    }
}

/// Returns the entries of a table, sorted by the beginnings of their functions.
fn index<'d, S: UnwindSection<Bytes<'d>>>(table: &S, bases: &BaseAddresses) -> Vec<(u64, usize)>
where
    S::Offset: UnwindOffset<usize>,
{
    let mut found = Vec::new();
    let mut entries = table.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if found.len() == MOST_FUNCTIONS {
            break;
        }
        let gimli::CieOrFde::Fde(partial) = entry else {
            continue;
        };
        if let Ok(entry) = partial.parse(S::cie_from_offset) {
            found.push((entry.initial_address(), entry.offset()));
        }
    }
    found.sort_unstable();
    found
}

fn nearest(index: &[(u64, usize)], address: u64) -> Option<usize> {
    let behind = index.partition_point(|(from, _)| *from <= address);
    Some(index.get(behind.checked_sub(1)?)?.1)
}

fn entry<'d, S: UnwindSection<Bytes<'d>>>(
    table: &S,
    bases: &BaseAddresses,
    at: usize,
    address: u64,
) -> Option<Entry<'d>> {
    let entry = table.fde_from_offset(bases, at.into(), S::cie_from_offset);
    let is_short = |entry: &Entry<'d>| {
        entry.entry_len() <= LONGEST_ENTRY && entry.cie().entry_len() <= LONGEST_ENTRY
    };
    entry
        .ok()
        .filter(|entry| entry.contains(address) && is_short(entry))
}

fn row<'d, S: UnwindSection<Bytes<'d>>>(
    table: &S,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize>,
    entry: &Entry<'d>,
    address: u64,
    source: Source,
) -> Option<Rule> {
    let row = entry
        .unwind_info_for_address(table, bases, context, address)
        .ok()?;
    let return_address = entry.cie().return_address_register();
    let known = |(register, _): &&(Register, _)| usize::from(register.0) < dwarf::COUNT;
    let undefined = matches!(row.register(return_address), Some(RegisterRule::Undefined));
    // If calls put the return address on the stack, a rule must say where it is.
    let unsaid = row.register(return_address).is_none() && cfg!(target_arch = "x86_64");
    Some(Rule {
        source,
        frame_address: row.cfa().clone(),
        registers: row.registers().filter(known).cloned().collect(),
        return_address,
        is_signal: entry.is_signal_trampoline(),
        is_outermost: undefined || unsaid,
    })
}

fn evaluate(
    expression: gimli::Expression<Bytes<'_>>,
    initial: Option<u64>,
    registers: &Registers,
    read: &dyn Fn(u64) -> Option<u64>,
) -> Result<u64, Stop> {
    use gimli::{EvaluationResult, Location, Value};
    let encoding = gimli::Encoding {
        address_size: 8,
        format: gimli::Format::Dwarf32,
        version: 4,
    };
    let mut steps = expression.evaluation(encoding);
    steps.set_max_iterations(MOST_STEPS);
    if let Some(initial) = initial {
        steps.set_initial_value(initial);
    }
    let mut result = steps.evaluate();
    loop {
        result = match result.map_err(|_| Stop::Unknown)? {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = registers.get(register.0.into()).ok_or(Stop::Unknown)?;
                steps.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory {
                address, size: 8, ..
            } => {
                let value = read(address).ok_or(Stop::NotCopied)?;
                steps.resume_with_memory(Value::Generic(value))
            }
            _ => return Err(Stop::Unknown),
        };
    }
    match steps.as_result().last().map(|piece| &piece.location) {
        Some(Location::Address { address }) => Ok(*address),
        _ => Err(Stop::Unknown),
    }
}
