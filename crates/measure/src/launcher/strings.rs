//! Strings and arrays of strings, laid out in the shared memory in the format that a program gets at its
//! start.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Order;
use super::memory::Memory;
use crate::call_filter::CallFilter;
use fathom_launcher::shared::{BASE, Job, SIZE};

/// NUL-terminated strings, stored consecutively so that they are written to the shared memory in one piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(super) bytes: Vec<u8>,
    pub(super) starts: Vec<usize>,
    /// The number of bytes of [`FILLER`] appended to the last string.
    filled: usize,
}

/// The bytes used to lengthen strings.
static FILLER: [u8; 4096] = [b'X'; 4096];

impl Block {
    /// A block without strings.
    pub(crate) const EMPTY: Block = Block {
        bytes: Vec::new(),
        starts: Vec::new(),
        filled: 0,
    };

    /// Creates a block of these strings.
    ///
    /// # Errors
    /// `InvalidInput` if a string contains a zero byte.
    pub(crate) fn new<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> io::Result<Block> {
        let mut block = Block::default();
        for string in strings {
            block.push(&[string])?;
        }
        Ok(block)
    }

    /// Adds one string, concatenated from these parts.
    ///
    /// # Errors
    /// `InvalidInput` if a part contains a zero byte.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.starts.push(self.bytes.len());
        for part in parts {
            if part.contains(&0) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            self.bytes.extend_from_slice(part);
        }
        self.bytes.push(0);
        Ok(())
    }

    /// Appends fewer than [`Block::MOST_FILLED`] meaningless bytes to the last string. No string may be added
    /// afterwards.
    pub(crate) fn fill(&mut self, bytes: usize) {
        self.filled = bytes.min(FILLER.len() - 1);
    }

    /// A string is lengthened by fewer bytes than this.
    pub(crate) const MOST_FILLED: usize = FILLER.len();

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
        self.filled = 0;
    }

    /// Returns the size of all strings, including the added bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() + self.filled
    }
}

/// Addresses of data that all runs of a benchmark share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Common {
    path: u64,
    argv: u64,
    /// The address of the environment's first string.
    environment: u64,
    filter: u64,
    mounts: u64,
    groups: u64,
}

/// Appends data to the string area of the shared memory, and returns its addresses in the launcher.
pub(super) struct Strings {
    pub(super) memory: Memory,
    pub(super) at: usize,
    /// The variables of the previous order, and their address: the runs of a round share them.
    pub(super) own: Option<(*const Block, u64)>,
}

impl Strings {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.at = self.at.next_multiple_of(8);
        let start = self.at;
        self.append(bytes)?;
        Ok(BASE + start as u64)
    }

    /// Appends all strings of a block.
    fn block(&mut self, block: &Block) -> io::Result<u64> {
        let Some((end, all)) = block.bytes.split_last().filter(|_| block.filled > 0) else {
            return self.bytes(&block.bytes);
        };
        let address = self.bytes(all)?;
        self.append(&FILLER[..block.filled])?;
        self.append(&[*end])?;
        Ok(address)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let start = self.at;
        let end = start + bytes.len();
        if end > SIZE {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        // SAFETY: start..end is within the mapping and after the structures.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.memory.as_ptr().cast::<u8>().add(start),
                bytes.len(),
            );
        }
        self.at = end;
        Ok(())
    }

    fn string(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if bytes.contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let address = self.bytes(bytes)?;
        // The memory after the string may hold an earlier job's strings, so the zero is written too.
        if self.at >= SIZE {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        // SAFETY: within the mapping.
        unsafe { self.memory.as_ptr().cast::<u8>().add(self.at).write(0) };
        self.at += 1;
        Ok(address)
    }

    /// Appends consecutive strings; returns 0 if there are none.
    fn strings(&mut self, strings: &[u8]) -> io::Result<u64> {
        match strings {
            [] => Ok(0),
            strings => self.bytes(strings),
        }
    }

    fn path(&mut self, path: Option<&Path>) -> io::Result<u64> {
        path.map_or(Ok(0), |path| self.string(path.as_os_str().as_bytes()))
    }

    /// Appends all strings of an order. `directory` is the launcher's directory when it starts the job.
    pub(super) fn job(
        &mut self,
        order: &Order,
        directory: &Path,
        known: &mut Vec<(usize, Common)>,
    ) -> io::Result<Job> {
        let found = known.iter().find(|(key, _)| *key == order.benchmark);
        let common = match found {
            Some((_, common)) => *common,
            None => {
                let arguments = self.block(order.arguments)?;
                let common = Common {
                    path: self.string(order.program.as_os_str().as_bytes())?,
                    argv: self.array(&[(arguments, order.arguments)])?,
                    environment: self.block(order.environment)?,
                    filter: match order.filter {
                        None => 0,
                        Some(filter) => self.bytes(filter.bytes())?,
                    },
                    mounts: self.strings(order.mounts)?,
                    groups: self.strings(order.groups)?,
                };
                known.push((order.benchmark, common));
                common
            }
        };
        let own = match self.own {
            Some((block, address)) if std::ptr::eq(block, order.own_environment) => address,
            _ => self.block(order.own_environment)?,
        };
        self.own = Some((order.own_environment, own));
        Ok(Job {
            path: common.path,
            argv: common.argv,
            envp: self.array(&[
                (common.environment, order.environment),
                (own, order.own_environment),
            ])?,
            directory: match directory != order.directory {
                true => self.string(order.directory.as_os_str().as_bytes())?,
                false => 0,
            },
            record_head: match order.record_head {
                "" => 0,
                head => self.string(head.as_bytes())?,
            },
            input: self.path(order.input)?,
            output: self.path(order.output)?,
            cpu_mask: match order.cpu_mask {
                [] => 0,
                mask => self.bytes(mask)?,
            },
            cpu_mask_length: order.cpu_mask.len() as u64,
            filter: common.filter,
            mounts: common.mounts,
            groups: common.groups,
            output_fd: order.output_fd,
            error_fd: order.error_fd,
            ends_round: u32::from(order.ends_round),
            filter_length: order
                .filter
                .map_or(0, |filter| filter.bytes().len() as u32 / 8),
            filter_times: order.filter.map_or(0, CallFilter::times),
            filter_asks: u32::from(order.filter.is_some_and(CallFilter::asks)),
        })
    }

    /// Appends an array of pointers to all strings of these blocks, each given with its address.
    fn array(&mut self, blocks: &[(u64, &Block)]) -> io::Result<u64> {
        let mut pointers =
            Vec::with_capacity(8 * (blocks.iter().map(|(_, b)| b.starts.len()).sum::<usize>() + 1));
        for (address, block) in blocks {
            for start in &block.starts {
                pointers.extend_from_slice(&(address + *start as u64).to_ne_bytes());
            }
        }
        pointers.extend_from_slice(&0u64.to_ne_bytes());
        self.bytes(&pointers)
    }
}
