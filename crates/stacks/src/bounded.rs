//! Reads debug information such that reading always terminates, even for malicious content.
//!
//! Tables may refer to one another, so a small file can require any amount of work and memory. Each read is
//! deducted from a budget. Once the budget is used up, the file appears to end.

use std::borrow::Cow;
use std::cell::Cell;

use gimli::{EndianSlice, Error, Reader, ReaderOffsetId, Result, RunTimeEndian};

type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// Reads allowed per lookup: five times what the largest units of real programs need. Each read stores only a
/// few bytes, so a lookup takes less than 64 MB.
const LOOKUP: u32 = 5_000_000;

/// Reads allowed per file.
const FILE: u32 = 400_000_000;

/// The maximum size of one part of a line table, in bytes. Each byte can become a row of 24 bytes. The table
/// of SQLite, which is a single source file, has one million.
const LONGEST_PART: usize = 2 << 20;

/// The remaining budget for reads.
#[derive(Debug)]
pub(crate) struct Budget {
    lookup: Cell<u32>,
    file: Cell<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            lookup: Cell::new(LOOKUP),
            file: Cell::new(FILE),
        }
    }
}

impl Budget {
    /// Resets the budget for the next lookup.
    pub(crate) fn renew(&self) {
        self.lookup.set(LOOKUP);
    }

    /// Pays for one read; `None` if the budget is used up.
    pub(crate) fn pay(&self) -> Option<()> {
        self.lookup.set(self.lookup.get().checked_sub(1)?);
        self.file.set(self.file.get().checked_sub(1)?);
        Some(())
    }
}

/// Bytes of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded<'d> {
    slice: Slice<'d>,
    budget: &'d Budget,
    longest: usize,
}

impl<'d> Bounded<'d> {
    pub(crate) fn new(
        section: &'d [u8],
        id: gimli::SectionId,
        endian: RunTimeEndian,
        budget: &'d Budget,
    ) -> Self {
        Self {
            slice: EndianSlice::new(section, endian),
            budget,
            longest: match id {
                gimli::SectionId::DebugLine => LONGEST_PART,
                _ => usize::MAX,
            },
        }
    }

    fn pay(&self) -> Result<()> {
        let ended = || Error::UnexpectedEof(self.slice.offset_id());
        self.budget.pay().ok_or_else(ended)
    }
}

impl Reader for Bounded<'_> {
    type Endian = RunTimeEndian;
    type Offset = usize;

    fn endian(&self) -> RunTimeEndian {
        self.slice.endian()
    }

    fn len(&self) -> usize {
        self.slice.slice().len()
    }

    fn empty(&mut self) {
        Reader::empty(&mut self.slice);
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        Reader::truncate(&mut self.slice, len)
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.slice.offset_from(base.slice)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.slice.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.slice.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> Result<usize> {
        self.pay()?;
        Reader::find(&self.slice, byte)
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        self.pay()?;
        Reader::skip(&mut self.slice, len)
    }

    fn split(&mut self, len: usize) -> Result<Self> {
        self.pay()?;
        if len > self.longest {
            return Err(Error::UnexpectedEof(self.slice.offset_id()));
        }
        let slice = Reader::split(&mut self.slice, len)?;
        Ok(Self { slice, ..*self })
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        Ok(self.slice.slice().into())
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        Reader::to_string(&self.slice)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        Reader::to_string_lossy(&self.slice)
    }

    fn read_slice(&mut self, buf: &mut [u8]) -> Result<()> {
        self.pay()?;
        Reader::read_slice(&mut self.slice, buf)
    }

    fn read_u8(&mut self) -> Result<u8> {
        self.pay()?;
        Reader::read_u8(&mut self.slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_same_again_and_again_ends() {
        let budget = Budget::default();
        let section = |id| Bounded::new(&[1, 2], id, RunTimeEndian::Little, &budget);
        let reader = section(gimli::SectionId::DebugInfo);
        let mut reads = 0u32;
        while { reader }.read_u8().is_ok() {
            reads += 1;
        }
        assert_eq!(reads, LOOKUP);
        budget.renew();
        assert!({ reader }.read_u8().is_ok(), "the next lookup has its own");
    }

    #[test]
    fn a_part_of_a_table_of_lines_is_of_a_bounded_length() {
        let budget = Budget::default();
        let bytes = vec![0; LONGEST_PART + 1];
        for (id, fits) in [
            (gimli::SectionId::DebugLine, false),
            (gimli::SectionId::DebugInfo, true),
        ] {
            let mut reader = Bounded::new(&bytes, id, RunTimeEndian::Little, &budget);
            assert_eq!(reader.split(bytes.len()).is_ok(), fits);
        }
    }
}
