//! Strings and arrays of them, laid out in the shared memory as the launcher's programs take them.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use super::Order;
use crate::shared::{BASE, Job, SIZE, Shared};

/// Strings, each ending with a zero byte, laid end to end: written to the shared memory in one piece.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub(super) bytes: Vec<u8>,
    pub(super) starts: Vec<usize>,
}

impl Block {
    /// No strings.
    pub const EMPTY: Block = Block {
        bytes: Vec::new(),
        starts: Vec::new(),
    };

    /// # Errors
    /// `InvalidInput` if a string contains a zero byte.
    pub fn new<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> io::Result<Block> {
        let mut block = Block::default();
        for string in strings {
            block.push(&[string])?;
        }
        Ok(block)
    }

    /// Adds one string, made of these parts.
    ///
    /// # Errors
    /// `InvalidInput` if a part contains a zero byte.
    pub fn push(&mut self, parts: &[&[u8]]) -> io::Result<()> {
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

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Size of all strings with their ends.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Addresses of what all runs of a benchmark share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Common {
    path: u64,
    argv: u64,
    /// Of the environment's first string.
    environment: u64,
}

/// Appends to the part of the shared memory that holds strings; yields the launcher's addresses.
pub(super) struct Strings {
    pub(super) memory: NonNull<Shared>,
    pub(super) at: usize,
    /// The variables of the order before, and where they lie: the runs of a round share theirs.
    pub(super) own: Option<(*const Block, u64)>,
}

impl Strings {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let start = self.at.next_multiple_of(8);
        let end = start + bytes.len();
        if end > SIZE {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        // SAFETY: start..end lies within the mapping and above the structures.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.memory.as_ptr().cast::<u8>().add(start),
                bytes.len(),
            );
        }
        self.at = end;
        Ok(BASE + start as u64)
    }

    fn string(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if bytes.contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let address = self.bytes(bytes)?;
        // The memory above may hold an earlier job's strings, so the zero is written too.
        if self.at >= SIZE {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        // SAFETY: within the mapping.
        unsafe { self.memory.as_ptr().cast::<u8>().add(self.at).write(0) };
        self.at += 1;
        Ok(address)
    }

    fn path(&mut self, path: Option<&Path>) -> io::Result<u64> {
        path.map_or(Ok(0), |path| self.string(path.as_os_str().as_bytes()))
    }

    /// Everything of an order. `directory` is where the launcher will be by then.
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
                let arguments = self.bytes(&order.arguments.bytes)?;
                let common = Common {
                    path: self.string(order.program.as_os_str().as_bytes())?,
                    argv: self.array(&[(arguments, order.arguments)])?,
                    environment: self.bytes(&order.environment.bytes)?,
                };
                known.push((order.benchmark, common));
                common
            }
        };
        let own = match self.own {
            Some((block, address)) if std::ptr::eq(block, order.own_environment) => address,
            _ => self.bytes(&order.own_environment.bytes)?,
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
            output_fd: order.output_fd,
            error_fd: order.error_fd,
            ends_round: order.ends_round as u32,
            reserved: 0,
        })
    }

    /// The array that points to the strings of all blocks, which lie at these addresses.
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
