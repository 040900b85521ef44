//! Bytecode: its bytes, its push data, and where jumps may go.

use crate::buffer::{Buffer, Full};
use crate::opcode::{JUMPDEST, data_length};
use crate::u256::U256;

/// Returns the word that the PUSH at `pc` puts on the stack. Bytes beyond the end of the code are zeros.
#[inline]
pub fn pushed_word(code: &[u8], pc: usize) -> U256 {
    let length = data_length(code[pc]);
    match code.get(pc + 1..pc + 1 + length) {
        Some(&[byte]) => U256::from(u64::from(byte)),
        Some(data) => U256::from_be_slice(data),
        None => cut_short(&code[pc + 1..], length),
    }
}

#[cold]
fn cut_short(data: &[u8], length: usize) -> U256 {
    let mut padded = [0; 32];
    padded[..data.len()].copy_from_slice(data);
    U256::from_be_slice(&padded[..length])
}

/// One bit for each byte of the code: whether it is a JUMPDEST, and not data of a PUSH. Computed at
/// the first jump, so programs without jumps pay nothing.
#[derive(Default)]
pub struct Destinations<B> {
    bits: Option<B>,
}

impl<B: Buffer<u64>> Destinations<B> {
    /// Returns the place in the code, if a jump to `target` may go there.
    ///
    /// # Errors
    /// [`Full`] if there is no room for the bits.
    #[inline]
    pub fn find(&mut self, code: &[u8], target: U256) -> Result<Option<usize>, Full> {
        let bits = match &mut self.bits {
            Some(bits) => bits,
            empty => empty.insert(mark(code)?),
        };
        let Some(pc) = target.to_u64().filter(|&pc| pc < code.len() as u64) else {
            return Ok(None);
        };
        let marked = bits.items()[pc as usize / 64] >> (pc % 64) & 1 == 1;
        Ok(marked.then_some(pc as usize))
    }
}

fn mark<B: Buffer<u64>>(code: &[u8]) -> Result<B, Full> {
    let mut bits = B::default();
    bits.grow(code.len().div_ceil(64))?;
    let mut pc = 0;
    while let Some(&opcode) = code.get(pc) {
        if opcode == JUMPDEST {
            bits.items_mut()[pc / 64] |= 1 << (pc % 64);
        }
        pc += 1 + data_length(opcode);
    }
    Ok(bits)
}
