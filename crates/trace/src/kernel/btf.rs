//! Offsets of struct members and numbers of types in this kernel.
//!
//! Reads only what the programs need of the kernel's own type information (`/sys/kernel/btf/vmlinux`, BTF):
//! the offsets and type numbers with which they are assembled. Format: the kernel's
//! `Documentation/bpf/btf.rst`.

use std::ops::Range;

/// Why type information could not be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BtfError {
    /// The data is not BTF, is truncated, or has another byte order.
    #[error("the kernel's type information is malformed at byte {0}")]
    Malformed(usize),
    /// A type that the programs need does not exist in this kernel.
    #[error("this kernel has no type `{0}`")]
    NoType(String),
    /// A struct member that the programs need does not exist in this kernel.
    #[error("this kernel's `{0}` has no member `{1}`")]
    NoMember(String, String),
}

/// The kinds of type that can be looked up, as numbered by the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Struct = 4,
    Union = 5,
    Typedef = 8,
    FunctionProto = 13,
}

/// The location of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Bits from the start of the outermost struct.
    pub bit_offset: u32,
    /// Width in bits for a bit-field, else 0.
    pub bits: u32,
}

impl Member {
    /// Returns the offset in bytes from the start of the struct, rounded down for a bit-field.
    pub(crate) fn byte_offset(self) -> i16 {
        // Members that the programs read are within the first 32 KiB; the caller checked that.
        (self.bit_offset / 8) as i16
    }
}

#[derive(Clone, Copy, Debug)]
struct Type {
    at: u32,
}

/// A kernel's type information, indexed by type number.
#[derive(Debug)]
pub(crate) struct Btf<'a> {
    data: &'a [u8],
    strings: Range<usize>,
    types: Vec<Type>,
}

const HEADER: usize = 24;
const MAGIC: u16 = 0xeb9f;
/// Maximum number of unnamed structs to search for a member; a `task_struct` has about twenty. Without a
/// limit, a struct that contains itself would never end.
const MOST_NESTED: u32 = 256;

impl<'a> Btf<'a> {
    /// Indexes the types, which takes about 1 ms for 3 MB.
    ///
    /// # Errors
    /// [`BtfError::Malformed`] with the offending offset.
    pub(crate) fn parse(data: &'a [u8]) -> Result<Self, BtfError> {
        let word = |at: usize| read_u32(data, at);
        let magic = data.get(0..2).ok_or(BtfError::Malformed(0))?;
        if u16::from_ne_bytes([magic[0], magic[1]]) != MAGIC {
            return Err(BtfError::Malformed(0));
        }
        let header = word(4)? as usize;
        if header < HEADER {
            return Err(BtfError::Malformed(4));
        }
        let section = |off: usize, len: usize| -> Result<Range<usize>, BtfError> {
            let start = header.checked_add(word(off)? as usize);
            let start = start.ok_or(BtfError::Malformed(off))?;
            let end = start.checked_add(word(len)? as usize);
            let end = end.filter(|end| *end <= data.len());
            Ok(start..end.ok_or(BtfError::Malformed(len))?)
        };
        let (types, strings) = (section(8, 12)?, section(16, 20)?);
        let mut index = vec![Type { at: u32::MAX }];
        let mut at = types.start;
        while at < types.end {
            index.push(Type { at: at as u32 });
            let info = word(at + 4)?;
            at += 12 + trailing_bytes(info).ok_or(BtfError::Malformed(at + 4))?;
        }
        Ok(Self {
            data,
            strings,
            types: index,
        })
    }

    /// Returns the number of the named type of this kind.
    ///
    /// # Errors
    /// [`BtfError::NoType`].
    pub(crate) fn find(&self, kind: Kind, name: &str) -> Result<u32, BtfError> {
        (1..self.types.len() as u32)
            .find(|id| self.kind(*id) == Some(kind as u8) && self.name_is(*id, name))
            .ok_or_else(|| BtfError::NoType(name.to_owned()))
    }

    /// Returns the location of `member` in the struct with number `id`; members of unnamed structs and unions
    /// in it are also found.
    ///
    /// # Errors
    /// [`BtfError::NoMember`]; also for a member beyond the reach of a load instruction.
    pub(crate) fn member(&self, id: u32, member: &str) -> Result<Member, BtfError> {
        self.member_from(id, member, 0, &mut { MOST_NESTED })
            .filter(|m| i16::try_from(m.bit_offset / 8).is_ok())
            .ok_or_else(|| {
                let owner = self.name(id).unwrap_or_default();
                BtfError::NoMember(owner.to_owned(), member.to_owned())
            })
    }

    /// Does the same as [`Btf::member`] for a struct at bit offset `base`. `nested` is the number of unnamed
    /// structs that may still be searched.
    fn member_from(&self, id: u32, member: &str, base: u32, nested: &mut u32) -> Option<Member> {
        *nested = nested.checked_sub(1)?;
        let kind = self.kind(id)?;
        if kind != Kind::Struct as u8 && kind != Kind::Union as u8 {
            return None;
        }
        let at = self.types.get(id as usize)?.at as usize;
        let info = read_u32(self.data, at + 4).ok()?;
        let has_bitfields = info >> 31 == 1;
        for i in 0..(info & 0xffff) as usize {
            let entry = at + 12 + 12 * i;
            let name = read_u32(self.data, entry).ok()?;
            let inner = read_u32(self.data, entry + 4).ok()?;
            let packed = read_u32(self.data, entry + 8).ok()?;
            let (offset, bits) = match has_bitfields {
                true => (packed & 0x00ff_ffff, packed >> 24),
                false => (packed, 0),
            };
            let bit_offset = base.checked_add(offset)?;
            if name == 0 {
                if let Some(found) = self.member_from(inner, member, bit_offset, nested) {
                    return Some(found);
                }
            } else if self.string_is(name, member) {
                return Some(Member { bit_offset, bits });
            }
        }
        None
    }

    /// Returns the number of arguments that the tracepoint of a `btf_trace_...` type passes, without the
    /// hidden first one.
    ///
    /// # Errors
    /// [`BtfError::NoType`] if the number is not that of a pointer to a function.
    pub(crate) fn tracepoint_arguments(&self, typedef: u32) -> Result<u32, BtfError> {
        let wrong = || BtfError::NoType(format!("function behind type {typedef}"));
        let pointer = self.target(typedef).ok_or_else(wrong)?;
        let proto = self.target(pointer).ok_or_else(wrong)?;
        if self.kind(proto) != Some(Kind::FunctionProto as u8) {
            return Err(wrong());
        }
        let at = self.types[proto as usize].at as usize;
        let info = read_u32(self.data, at + 4)?;
        (info & 0xffff).checked_sub(1).ok_or_else(wrong)
    }

    fn target(&self, id: u32) -> Option<u32> {
        let at = self.types.get(id as usize)?.at as usize;
        read_u32(self.data, at.checked_add(8)?).ok()
    }

    fn kind(&self, id: u32) -> Option<u8> {
        let at = self.types.get(id as usize)?.at as usize;
        let info = read_u32(self.data, at.checked_add(4)?).ok()?;
        Some((info >> 24) as u8 & 0x1f)
    }

    fn name(&self, id: u32) -> Option<&str> {
        let at = self.types.get(id as usize)?.at as usize;
        let offset = read_u32(self.data, at).ok()? as usize;
        let tail = self.data.get(self.strings.clone())?.get(offset..)?;
        let end = tail.iter().position(|b| *b == 0)?;
        std::str::from_utf8(&tail[..end]).ok()
    }

    fn name_is(&self, id: u32, name: &str) -> bool {
        let at = self.types[id as usize].at as usize;
        read_u32(self.data, at).is_ok_and(|offset| self.string_is(offset, name))
    }

    fn string_is(&self, offset: u32, wanted: &str) -> bool {
        let strings = &self.data[self.strings.clone()];
        let tail = strings.get(offset as usize..).unwrap_or_default();
        tail.starts_with(wanted.as_bytes()) && tail.get(wanted.len()) == Some(&0)
    }
}

fn read_u32(data: &[u8], at: usize) -> Result<u32, BtfError> {
    let bytes = data.get(at..at.wrapping_add(4));
    let bytes = bytes.and_then(|b| b.try_into().ok());
    bytes.map(u32::from_ne_bytes).ok_or(BtfError::Malformed(at))
}

/// Returns the number of bytes after a type's 12-byte head; `None` for an unknown kind.
fn trailing_bytes(info: u32) -> Option<usize> {
    let count = (info & 0xffff) as usize;
    Some(match info >> 24 & 0x1f {
        2 | 7..=12 | 16 | 18 => 0,
        1 | 14 | 17 => 4,
        3 => 12,
        4 | 5 | 15 | 19 => 12 * count,
        6 | 13 => 8 * count,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type: its name, info word, size or type word, and its members as (name, type, offset).
    type Described<'a> = (&'a str, u32, u32, Vec<(&'a str, u32, u32)>);

    fn synthetic(types: &[Described<'_>], args: &[u32]) -> Vec<u8> {
        let mut strings = vec![0u8];
        let mut intern = |s: &str| {
            if s.is_empty() {
                return 0;
            }
            let at = strings.len() as u32;
            strings.extend(s.bytes().chain([0]));
            at
        };
        let mut body: Vec<u32> = Vec::new();
        for (name, info, size, members) in types {
            body.extend([intern(name), *info, *size]);
            for (member, ty, offset) in members {
                body.extend([intern(member), *ty, *offset]);
            }
        }
        body.extend(args);
        let body: Vec<u8> = body.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let mut out = MAGIC.to_ne_bytes().to_vec();
        out.extend([1, 0]);
        let (tl, sl) = (body.len() as u32, strings.len() as u32);
        for w in [HEADER as u32, 0, tl, tl, sl] {
            out.extend(w.to_ne_bytes());
        }
        out.extend(body);
        out.extend(strings);
        out
    }

    fn sample() -> Vec<u8> {
        let info = |kind: u32, count: u32| kind << 24 | count;
        let bitfields = 1 << 31;
        synthetic(
            &[
                // 1: an unnamed union { cs } reached through task_struct
                ("", info(5, 1), 8, vec![("cs", 9, 16)]),
                // 2: a struct with a plain member, a bit-field and the union
                (
                    "task_struct",
                    info(4, 3) | bitfields,
                    64,
                    vec![("pid", 9, 64), ("in_iowait", 9, 1 << 24 | 73), ("", 1, 128)],
                ),
                // 3: typedef -> 4: pointer -> 5: function(void *, bool, task *, task *)
                ("btf_trace_sched_switch", info(8, 0), 4, vec![]),
                ("", info(2, 0), 5, vec![]),
                ("", info(13, 4), 0, vec![]),
            ],
            &[0, 9, 0, 9, 0, 9, 0, 9],
        )
    }

    #[test]
    fn members_are_found_with_bits_and_inside_unnamed_unions() {
        let data = sample();
        let btf = Btf::parse(&data).expect("parses");
        let id = btf.find(Kind::Struct, "task_struct").expect("found");
        assert_eq!(id, 2);
        let plain = btf.member(id, "pid").expect("pid");
        assert_eq!((plain.byte_offset(), plain.bits), (8, 0));
        let bit = btf.member(id, "in_iowait").expect("in_iowait");
        assert_eq!((bit.bit_offset, bit.bits), (73, 1));
        assert_eq!(btf.member(id, "cs").expect("cs").bit_offset, 144);
    }

    #[test]
    fn a_tracepoint_says_how_many_arguments_it_passes() {
        let data = sample();
        let btf = Btf::parse(&data).expect("parses");
        let id = btf.find(Kind::Typedef, "btf_trace_sched_switch");
        assert_eq!(btf.tracepoint_arguments(id.expect("found")), Ok(3));
    }

    #[test]
    fn what_is_missing_is_named() {
        let data = sample();
        let btf = Btf::parse(&data).expect("parses");
        let no_type = btf.find(Kind::Struct, "task").expect_err("no such type");
        assert_eq!(no_type.to_string(), "this kernel has no type `task`");
        let no_member = btf.member(2, "tgid").expect_err("no such member");
        let reported = "this kernel's `task_struct` has no member `tgid`";
        assert_eq!(no_member.to_string(), reported);
    }

    #[test]
    fn cut_or_foreign_data_is_refused_and_never_panics() {
        let data = sample();
        assert_eq!(Btf::parse(b"ELF").err(), Some(BtfError::Malformed(0)));
        for len in 0..data.len() {
            assert!(Btf::parse(&data[..len]).is_err(), "cut at {len}");
        }
    }

    #[test]
    fn no_types_make_it_panic_or_run_for_ever() {
        fathom_test_memory::survives(&[sample()], 1 << 16, |data| {
            let Ok(btf) = Btf::parse(data) else { return };
            for id in 0..6 {
                _ = btf.member(id, "cs");
                _ = btf.tracepoint_arguments(id);
            }
            _ = btf.find(Kind::Typedef, "btf_trace_sched_switch");
        });
    }

    #[test]
    fn a_struct_that_holds_itself_has_no_more_members_for_it() {
        let data = synthetic(
            &[("task", 4 << 24 | 2, 8, vec![("", 1, 0), ("", 1, 0)])],
            &[],
        );
        let btf = Btf::parse(&data).expect("parses");
        assert!(btf.member(1, "pid").is_err());
    }
}
