//! Unwinds a stack from a thread's registers and a copy of the top of its stack.

use std::collections::HashMap;
use std::rc::Rc;

use gimli::UnwindContext;

use crate::cfi::{Rule, Stop, Tables};
use crate::image::{Bytes, Image};
use crate::registers::{Registers, dwarf};
use crate::{Files, Reach};

/// The maximum number of frames that are followed: a copy of 64 KiB contains fewer.
const MOST_FRAMES: usize = 4_096;

/// The maximum number of rules that are kept: programs stop at a few thousand places.
const MOST_RULES: usize = 1 << 16;

/// The maximum number of files whose tables are kept open.
const MOST_FILES: usize = 1_024;

/// An executable part of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first address.
    pub from: u64,
    /// Its size in bytes.
    pub length: u64,
    /// The file offset of its first address.
    pub offset: u64,
    /// Number of the file in [`Files`].
    pub file: u32,
}

impl Mapping {
    /// Returns whether the mapping contains an address.
    pub fn holds(&self, address: u64) -> bool {
        address
            .checked_sub(self.from)
            .is_some_and(|at| at < self.length)
    }
}

/// An address in a form that is the same in all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Number of the file in [`Files`].
    pub file: u32,
    /// Whether the address is a return address: the call is before it.
    pub returns: bool,
    /// The file offset; the address if the mapping isn't a file.
    pub offset: u64,
}

impl Place {
    /// Returns the place of an address in a process; later mappings take precedence over earlier ones.
    pub fn of(files: &Files, space: &[Mapping], address: u64, returns: bool) -> Self {
        // The instruction after a call of a function that doesn't return may belong to another mapping.
        let inside = address.saturating_sub(returns.into());
        let mapping = space.iter().rev().find(|it| it.holds(inside));
        Self {
            file: mapping.map_or(crate::NOWHERE, |it| it.file),
            returns,
            offset: match mapping {
                Some(it) if files.is_examined(it.file) => {
                    address.wrapping_sub(it.from).wrapping_add(it.offset)
                }
                _ => address,
            },
        }
    }

    /// Returns the offset of a byte of the instruction being executed.
    pub fn inside(&self) -> u64 {
        self.offset.saturating_sub(self.returns.into())
    }
}

/// Follows the frame pointers, starting with the one in the registers, as far as the stack was copied.
fn frames(registers: &Registers, stack: &Stack<'_>) -> impl Iterator<Item = u64> {
    std::iter::successors(registers.frame(), |frame| stack.word(*frame))
}

/// A thread's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The current place of the thread and its callers, innermost first.
    pub places: Vec<Place>,
    /// The frame pointers at these places, as far as they were unwound.
    pub frames: Vec<Option<u64>>,
    /// How far outwards the stack is known.
    pub reach: Reach,
    /// The frame pointer of the outermost known function, if it has one.
    frame: Option<u64>,
}

/// Unwinds stacks, and keeps the tables of the files that it has seen.
#[derive(Default)]
pub struct Unwinder {
    tables: HashMap<u32, Option<Rc<Tables<Bytes>>>>,
    rules: HashMap<(u32, u64), Option<Rc<Rule>>>,
    context: UnwindContext<usize>,
}

impl std::fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinder")
            .field("files", &self.tables.len())
            .field("rules", &self.rules.len())
            .finish()
    }
}

/// The registers of a frame's caller, and whether it made a call; or why nothing more is known.
type Step = Result<(Registers, bool), Reach>;

impl Unwinder {
    /// Unwinds the stack of a thread with these registers. `space` contains the executable mappings of its
    /// process. `stack` is a copy of the memory from `stack_address` on, which is the stack pointer or an
    /// address below it.
    pub fn unwind(
        &mut self,
        files: &Files,
        space: &[Mapping],
        registers: &Registers,
        stack_address: u64,
        stack: &[u8],
    ) -> Chain {
        let stack = Stack {
            from: stack_address,
            bytes: stack,
        };
        let mut chain = Chain {
            places: Vec::new(),
            frames: Vec::new(),
            reach: Reach::Broken,
            frame: None,
        };
        let mut registers = registers.clone();
        let mut returns = false;
        while let Some(address) = registers.instruction() {
            if address == 0 && returns {
                chain.reach = Reach::Root;
                break;
            }
            if chain.places.len() == MOST_FRAMES {
                chain.reach = Reach::CutOff;
                break;
            }
            let place = Place::of(files, space, address, returns);
            if returns && place.file == crate::NOWHERE {
                break;
            }
            chain.places.push(place);
            chain.frames.push(registers.frame());
            match self.caller(files, space, &place, &registers, &stack) {
                Ok(caller) => (registers, returns) = caller,
                Err(reach) => {
                    chain.reach = reach;
                    let rule = self.rule(files, &place);
                    let has_frame = rule.is_some_and(|(_, rule)| rule.is_by_frame_pointer());
                    chain.frame = registers.frame().filter(|_| has_frame);
                    break;
                }
            }
        }
        chain
    }

    /// Continues where a copy ended. `callers` are the addresses that the kernel found by frame pointers,
    /// innermost first, including memory that was not copied; they skip functions without frame pointers. If
    /// the chain's last function has a frame pointer, this identifies its caller among `callers`. Otherwise
    /// the common part of both must end where the chain ends. `registers`, `stack_address` and `stack` are
    /// the values with which the chain was unwound.
    pub fn splice(
        &mut self,
        files: &Files,
        space: &[Mapping],
        (registers, stack_address, stack): (&Registers, u64, &[u8]),
        chain: &mut Chain,
        callers: &[u64],
    ) {
        if chain.reach == Reach::Root {
            return;
        }
        let stack = Stack {
            from: stack_address,
            bytes: stack,
        };
        let mut rest = callers
            .iter()
            .enumerate()
            .map(|(at, address)| Place::of(files, space, *address, at > 0))
            .peekable();
        let frames = frames(registers, &stack).take(callers.len());
        match frames.enumerate().find(|(_, it)| Some(*it) == chain.frame) {
            // The first address is the thread's current place.
            Some((at, _)) => _ = rest.nth(at),
            None => {
                let mut is_common = false;
                for place in &chain.places {
                    is_common = rest.next_if_eq(place).is_some();
                }
                if !is_common {
                    return;
                }
            }
        }
        let room = MOST_FRAMES.saturating_sub(chain.places.len());
        let rest: Vec<Place> = rest.take(room).collect();
        let known = rest.iter().take_while(|it| self.follows_call(files, it));
        chain.places.extend(known);
        if let Some(last) = chain.places.last()
            && self.is_outermost(files, last)
        {
            chain.reach = Reach::Root;
        }
    }

    /// Returns whether the function at a place has no caller.
    fn is_outermost(&mut self, files: &Files, place: &Place) -> bool {
        let rule = self.rule(files, place);
        rule.is_some_and(|(_, rule)| rule.is_outermost)
    }

    fn caller(
        &mut self,
        files: &Files,
        space: &[Mapping],
        place: &Place,
        registers: &Registers,
        stack: &Stack<'_>,
    ) -> Step {
        let Some((tables, rule)) = self.rule(files, place) else {
            return self.by_frame_pointer(files, space, place, registers, stack);
        };
        if rule.is_outermost {
            return Err(Reach::Root);
        }
        match tables.caller(&rule, registers, &|address| stack.word(address)) {
            // A signal handler may have its own stack.
            Ok(caller) if rule.is_signal || caller.stack() > registers.stack() => {
                Ok((caller, !rule.is_signal))
            }
            // The innermost function may have its return address in a register, and nothing on the stack:
            // `vfork`, and on some machines all leaf functions.
            Ok(caller) if !place.returns && caller.stack() == registers.stack() => {
                Ok((caller, true))
            }
            Ok(_) | Err(Stop::Unknown) => Err(Reach::Broken),
            Err(Stop::NotCopied) => Err(stack.reach_without(registers)),
        }
    }

    /// Handles code without tables: code generated at run time, and a little assembly.
    fn by_frame_pointer(
        &mut self,
        files: &Files,
        space: &[Mapping],
        place: &Place,
        registers: &Registers,
        stack: &Stack<'_>,
    ) -> Step {
        let (Some(pointer), Some(frame)) = (registers.stack(), registers.get(dwarf::FRAME)) else {
            return Err(Reach::Broken);
        };
        let mut code_at = |address: u64| {
            let to = stack.word(address)?;
            let place = Place::of(files, space, to, true);
            self.follows_call(files, &place).then_some(to)
        };
        let to = |frame: Option<u64>, pointer: u64, address: u64| {
            let mut caller = Registers::default();
            caller.set(dwarf::FRAME, frame);
            caller.set(dwarf::STACK, Some(pointer));
            caller.set(dwarf::INSTRUCTION, Some(address));
            (caller, true)
        };
        // A leaf function needs no frame: most assembly code in files has none.
        let leaf = match place.returns {
            true => None,
            false => {
                code_at(pointer).map(|address| to(Some(frame), pointer.wrapping_add(8), address))
            }
        };
        if files.is_examined(place.file)
            && let Some(leaf) = leaf
        {
            return Ok(leaf);
        }
        if frame == 0 && place.returns {
            return Err(Reach::Root);
        }
        if frame >= pointer
            && let Some(behind) = frame.checked_add(16)
        {
            match stack.word(behind - 8) {
                Some(0) => return Err(Reach::Root),
                None if stack.ends_before(behind) => return Err(Reach::CutOff),
                _ => {}
            }
            if let Some(address) = code_at(behind - 8) {
                return Ok(to(stack.word(frame), behind, address));
            }
        }
        leaf.ok_or(Reach::Broken)
    }

    /// Returns whether an address can be a return address. Either it directly follows a call, as far as that
    /// can be read, or it belongs to a function without a caller, to which Go returns.
    fn follows_call(&mut self, files: &Files, place: &Place) -> bool {
        if !files.is_examined(place.file) {
            return place.file != crate::NOWHERE;
        }
        let tables = self.tables(files, place.file);
        tables.is_none_or(|tables| tables.image.is_after_call(place.offset))
            || self.is_outermost(files, place)
    }

    fn rule(&mut self, files: &Files, place: &Place) -> Option<(Rc<Tables<Bytes>>, Rc<Rule>)> {
        let tables = self.tables(files, place.file)?;
        let inside = place.inside();
        if let Some(known) = self.rules.get(&(place.file, inside)) {
            return known.clone().map(|rule| (tables, rule));
        }
        let address = tables.image.segments.address(inside);
        let rule = address.and_then(|address| tables.rule(&mut self.context, address));
        let rule = rule.map(Rc::new);
        if self.rules.len() == MOST_RULES {
            self.rules.clear();
        }
        self.rules.insert((place.file, inside), rule.clone());
        rule.map(|rule| (tables, rule))
    }

    fn tables(&mut self, files: &Files, file: u32) -> Option<Rc<Tables<Bytes>>> {
        if let Some(known) = self.tables.get(&file) {
            return known.clone();
        }
        let tables = files
            .bytes(file)
            .and_then(Image::of)
            .map(Tables::of)
            .map(Rc::new);
        if self.tables.len() == MOST_FILES {
            self.tables.clear();
        }
        self.tables.insert(file, tables.clone());
        tables
    }
}

/// A copy of memory.
struct Stack<'s> {
    from: u64,
    bytes: &'s [u8],
}

/// The maximum distance above a copy at which an address may belong to the same stack, in bytes. Threads have
/// 8 MiB, some have more.
const LARGEST_STACK: u64 = 1 << 30;

impl Stack<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.from)?).ok()?;
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// Returns whether the copy ends before this address, which may be in the same stack.
    fn ends_before(&self, address: u64) -> bool {
        let end = self.from.saturating_add(self.bytes.len() as u64);
        address > end && address - end < LARGEST_STACK
    }

    /// Returns how far a stack is known if the memory needed next was not copied.
    fn reach_without(&self, registers: &Registers) -> Reach {
        match registers.stack() {
            Some(pointer) if pointer >= self.from && !self.bytes.is_empty() => Reach::CutOff,
            _ => Reach::Broken,
        }
    }
}
