//! Memory that grows on the heap, or is in an array of fixed size.

use crate::u256::U256;

/// The error that a buffer of fixed size is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A sequence of items that grows at its end.
pub trait Buffer<T: Copy + Default>: Default {
    /// The items.
    fn items(&self) -> &[T];
    /// The items.
    fn items_mut(&mut self) -> &mut [T];
    /// Adds default items up to `length`. Never shrinks.
    ///
    /// # Errors
    /// [`Full`]
    fn grow(&mut self, length: usize) -> Result<(), Full>;
    /// Adds an item.
    ///
    /// # Errors
    /// [`Full`]
    fn push(&mut self, item: T) -> Result<(), Full>;
}

impl<T: Copy + Default> Buffer<T> for Vec<T> {
    #[inline]
    fn items(&self) -> &[T] {
        self
    }

    #[inline]
    fn items_mut(&mut self) -> &mut [T] {
        self
    }

    fn grow(&mut self, length: usize) -> Result<(), Full> {
        if length > self.len() {
            self.resize(length, T::default());
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, item: T) -> Result<(), Full> {
        Vec::push(self, item);
        Ok(())
    }
}

/// At most `N` items, stored in the buffer itself.
pub struct Fixed<T, const N: usize> {
    items: [T; N],
    length: usize,
}

impl<T: Copy + Default, const N: usize> Default for Fixed<T, N> {
    #[inline]
    fn default() -> Self {
        Self {
            items: [T::default(); N],
            length: 0,
        }
    }
}

impl<T: Copy + Default, const N: usize> Buffer<T> for Fixed<T, N> {
    #[inline]
    fn items(&self) -> &[T] {
        &self.items[..self.length]
    }

    #[inline]
    fn items_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.length]
    }

    fn grow(&mut self, length: usize) -> Result<(), Full> {
        if length > N {
            return Err(Full);
        }
        if length > self.length {
            self.items[self.length..length].fill(T::default());
            self.length = length;
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, item: T) -> Result<(), Full> {
        *self.items.get_mut(self.length).ok_or(Full)? = item;
        self.length += 1;
        Ok(())
    }
}

/// The storage of everything that a run needs.
pub trait Storage {
    /// The bytecode.
    type Code: Buffer<u8>;
    /// One bit for each byte of the code: whether a jump may go there.
    type Bits: Buffer<u64>;
    /// The stack.
    type Stack: Buffer<U256>;
    /// The memory.
    type Memory: Buffer<u8>;
}

/// Everything grows on the heap.
pub struct OnHeap;

impl Storage for OnHeap {
    type Code = Vec<u8>;
    type Bits = Vec<u64>;
    type Stack = Vec<U256>;
    type Memory = Vec<u8>;
}

/// Allocates nothing: code up to 4 KiB, memory up to 4 KiB, the whole stack.
pub struct NoHeap;

/// The maximum bytes of code in [`NoHeap`]. The array is cleared for each run: at 48 KiB, Ethereum's
/// maximum, that alone took longer than running the 3,007 bytes of the published program.
pub const FIXED_CODE: usize = 4096;
/// The bytes of memory in [`NoHeap`].
pub const FIXED_MEMORY: usize = 4096;

impl Storage for NoHeap {
    type Code = Fixed<u8, FIXED_CODE>;
    type Bits = Fixed<u64, { FIXED_CODE / 64 }>;
    type Stack = Fixed<U256, { crate::machine::STACK_LIMIT }>;
    type Memory = Fixed<u8, FIXED_MEMORY>;
}
