//! Reads the bytecode, in three ways that differ only in the number of calls.

use crate::buffer::{Buffer, Full};
use std::io::{self, BufRead, BufReader, Read};

/// How standard input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One read call for each byte, like a loop over an unbuffered reader.
    Byte,
    /// Through a buffer of 4,096 bytes on the heap, byte by byte.
    Buffered,
    /// 4,096 bytes with each call, directly to their destination.
    Block,
}

/// The bytes that a buffered reader reads with each call.
const BLOCK: usize = 4096;

/// Appends all of `input` to `code`.
///
/// # Errors
/// Errors of the read calls; `OutOfMemory` if `code` has a fixed size that is exceeded.
pub fn read_code(reading: Reading, input: impl Read, code: &mut impl Buffer<u8>) -> io::Result<()> {
    match reading {
        Reading::Byte => read_bytes(input, code),
        Reading::Buffered => read_bytes_buffered(BufReader::with_capacity(BLOCK, input), code),
        Reading::Block => read_blocks(input, code),
    }
}

fn read_bytes(mut input: impl Read, code: &mut impl Buffer<u8>) -> io::Result<()> {
    let mut byte = [0];
    while input.read(&mut byte)? == 1 {
        code.push(byte[0]).map_err(too_long)?;
    }
    Ok(())
}

fn read_bytes_buffered(input: impl BufRead, code: &mut impl Buffer<u8>) -> io::Result<()> {
    for byte in input.bytes() {
        code.push(byte?).map_err(too_long)?;
    }
    Ok(())
}

fn read_blocks(mut input: impl Read, code: &mut impl Buffer<u8>) -> io::Result<()> {
    let mut block = [0; BLOCK];
    loop {
        let count = input.read(&mut block)?;
        if count == 0 {
            return Ok(());
        }
        let start = code.items().len();
        code.grow(start + count).map_err(too_long)?;
        code.items_mut()[start..].copy_from_slice(&block[..count]);
    }
}

fn too_long(_: Full) -> io::Error {
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        "the program is longer than the fixed array for it",
    )
}
