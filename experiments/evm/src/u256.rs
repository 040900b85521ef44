//! 256-bit words with the arithmetic of the Ethereum Virtual Machine (Yellow Paper, appendix H.2).
//!
//! All results are modulo 2^256. Division and remainder by zero give zero. "Signed" means two's
//! complement.

use crate::division;
use std::cmp::Ordering;

/// A word: four limbs of 64 bits, the least significant first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct U256(pub [u64; 4]);

const SIGN_BIT: u64 = 1 << 63;

impl U256 {
    /// 0.
    pub const ZERO: Self = Self([0; 4]);
    /// 1.
    pub const ONE: Self = Self([1, 0, 0, 0]);
    /// 2^256 - 1, which is -1 when read as signed.
    pub const MAX: Self = Self([u64::MAX; 4]);

    /// The word of 32 bytes, the most significant first.
    pub fn from_be_bytes(bytes: [u8; 32]) -> Self {
        let mut limbs = [0; 4];
        for (limb, chunk) in limbs.iter_mut().rev().zip(bytes.chunks_exact(8)) {
            *limb = u64::from_be_bytes(chunk.try_into().expect("chunks of eight"));
        }
        Self(limbs)
    }

    /// A word from at most 32 bytes, the most significant first, with zeros before them.
    pub fn from_be_slice(bytes: &[u8]) -> Self {
        let mut padded = [0; 32];
        padded[32 - bytes.len()..].copy_from_slice(bytes);
        Self::from_be_bytes(padded)
    }

    /// 32 bytes, the most significant first.
    pub fn to_be_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(self.0.iter().rev()) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    /// The value, if it fits 64 bits.
    #[inline]
    pub fn to_u64(self) -> Option<u64> {
        (self.0[1] | self.0[2] | self.0[3] == 0).then_some(self.0[0])
    }

    /// Whether all bits are zero.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.0 == [0; 4]
    }

    /// Whether the value is below zero when read as signed.
    pub fn is_negative(self) -> bool {
        self.0[3] & SIGN_BIT != 0
    }

    /// Returns the number of bits that the value needs: 0 for 0, at most 256.
    pub fn bit_length(self) -> u32 {
        let used = (0..4).rev().find(|&i| self.0[i] != 0);
        used.map_or(0, |i| i as u32 * 64 + 64 - self.0[i].leading_zeros())
    }

    /// ADD
    #[inline]
    pub fn wrapping_add(self, other: Self) -> Self {
        self.carrying_add(other).0
    }

    /// Returns the sum and whether it exceeded 2^256.
    #[inline]
    fn carrying_add(self, other: Self) -> (Self, bool) {
        let (a, b) = (self.0, other.0);
        let (r0, c) = a[0].overflowing_add(b[0]);
        let (r1, c) = add_with_carry(a[1], b[1], c);
        let (r2, c) = add_with_carry(a[2], b[2], c);
        let (r3, c) = add_with_carry(a[3], b[3], c);
        (Self([r0, r1, r2, r3]), c)
    }

    /// SUB
    #[inline]
    pub fn wrapping_sub(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let (r0, c) = a[0].overflowing_sub(b[0]);
        let (r1, c) = subtract_with_borrow(a[1], b[1], c);
        let (r2, c) = subtract_with_borrow(a[2], b[2], c);
        let (r3, _) = subtract_with_borrow(a[3], b[3], c);
        Self([r0, r1, r2, r3])
    }

    /// 0 - self
    pub fn negate(self) -> Self {
        Self::ZERO.wrapping_sub(self)
    }

    /// MUL
    pub fn wrapping_mul(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.to_u64(), other.to_u64()) {
            let product = u128::from(a) * u128::from(b);
            return Self([product as u64, (product >> 64) as u64, 0, 0]);
        }
        let wide = self.widening_mul(other);
        Self([wide[0], wide[1], wide[2], wide[3]])
    }

    /// The whole product, 512 bits.
    fn widening_mul(self, other: Self) -> [u64; 8] {
        let mut product = [0u64; 8];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0u128;
            for (j, &b) in other.0.iter().enumerate() {
                let t = u128::from(a) * u128::from(b) + u128::from(product[i + j]) + carry;
                product[i + j] = t as u64;
                carry = t >> 64;
            }
            product[i + 4] = carry as u64;
        }
        product
    }

    /// The quotient and the remainder; both zero for a divisor of zero.
    fn divide(self, divisor: Self) -> (Self, Self) {
        if divisor.is_zero() {
            return (Self::ZERO, Self::ZERO);
        }
        if let (Some(a), Some(b)) = (self.to_u64(), divisor.to_u64()) {
            return (Self([a / b, 0, 0, 0]), Self([a % b, 0, 0, 0]));
        }
        let mut quotient = self.0;
        let remainder = division::divide_in_place(&mut quotient, &divisor.0);
        (Self(quotient), Self(remainder))
    }

    /// DIV
    pub fn quotient(self, divisor: Self) -> Self {
        self.divide(divisor).0
    }

    /// MOD
    pub fn remainder(self, divisor: Self) -> Self {
        self.divide(divisor).1
    }

    fn magnitude(self) -> Self {
        if self.is_negative() {
            self.negate()
        } else {
            self
        }
    }

    /// SDIV: rounds towards zero. -2^255 / -1 is -2^255.
    pub fn signed_div(self, divisor: Self) -> Self {
        let quotient = self.magnitude().quotient(divisor.magnitude());
        if self.is_negative() == divisor.is_negative() {
            quotient
        } else {
            quotient.negate()
        }
    }

    /// SMOD: the result has the sign of the dividend.
    pub fn signed_rem(self, divisor: Self) -> Self {
        let remainder = self.magnitude().remainder(divisor.magnitude());
        if self.is_negative() {
            remainder.negate()
        } else {
            remainder
        }
    }

    /// ADDMOD: the sum is not cut at 2^256 before the division.
    pub fn add_mod(self, other: Self, modulus: Self) -> Self {
        if modulus.is_zero() {
            return Self::ZERO;
        }
        let (sum, carry) = self.carrying_add(other);
        let [a, b, c, d] = sum.0;
        Self(division::divide_in_place(
            &mut [a, b, c, d, u64::from(carry)],
            &modulus.0,
        ))
    }

    /// MULMOD: the product is not cut at 2^256 before the division.
    pub fn mul_mod(self, other: Self, modulus: Self) -> Self {
        if modulus.is_zero() {
            return Self::ZERO;
        }
        Self(division::divide_in_place(
            &mut self.widening_mul(other),
            &modulus.0,
        ))
    }

    /// EXP, by squaring. 0^0 is 1.
    pub fn pow(self, exponent: Self) -> Self {
        let mut result = Self::ONE;
        for bit in (0..exponent.bit_length()).rev() {
            result = result.wrapping_mul(result);
            if exponent.0[bit as usize / 64] >> (bit % 64) & 1 == 1 {
                result = result.wrapping_mul(self);
            }
        }
        result
    }

    /// SIGNEXTEND: `self` as a signed number of `last_byte + 1` bytes; unchanged from 31 on.
    pub fn sign_extend(self, last_byte: Self) -> Self {
        let Some(last) = last_byte.to_u64().filter(|&n| n < 31) else {
            return self;
        };
        let bits = last as u32 * 8 + 8;
        let above = Self::MAX.shift_left(bits);
        let negative = self.0[(bits as usize - 1) / 64] >> ((bits - 1) % 64) & 1 == 1;
        if negative {
            self.or(above)
        } else {
            self.and(above.complement())
        }
    }

    /// LT and GT
    #[inline]
    pub fn compare(self, other: Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    /// SLT and SGT
    pub fn signed_compare(self, other: Self) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => self.compare(other),
        }
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let (a, b) = (self.0, other.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    /// AND
    pub fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// OR
    pub fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// XOR
    pub fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    /// NOT
    pub fn complement(self) -> Self {
        Self(self.0.map(|limb| !limb))
    }

    /// BYTE: the byte at `index` from the most significant one; 0 from 32 on.
    pub fn byte(self, index: Self) -> Self {
        match index.to_u64() {
            Some(i @ 0..32) => Self::from(u64::from(self.to_be_bytes()[i as usize])),
            _ => Self::ZERO,
        }
    }

    fn shift_left(self, bits: u32) -> Self {
        let (limbs, bits) = ((bits / 64) as usize, bits % 64);
        let limb = |index: Option<usize>| index.map_or(0, |index| self.0[index]);
        Self(std::array::from_fn(|i| {
            let (high, low) = (limb(i.checked_sub(limbs)), limb(i.checked_sub(limbs + 1)));
            if bits == 0 {
                high
            } else {
                high << bits | low >> (64 - bits)
            }
        }))
    }

    fn shift_right(self, bits: u32) -> Self {
        let (limbs, bits) = ((bits / 64) as usize, bits % 64);
        let limb = |index: usize| self.0.get(index).copied().unwrap_or(0);
        Self(std::array::from_fn(|i| {
            let (low, high) = (limb(i + limbs), limb(i + limbs + 1));
            if bits == 0 {
                low
            } else {
                low >> bits | high << (64 - bits)
            }
        }))
    }

    /// The shift's distance, if any bit is left after it.
    fn distance(self) -> Option<u32> {
        self.to_u64()
            .filter(|&bits| bits < 256)
            .map(|bits| bits as u32)
    }

    /// SHL
    pub fn shifted_left(self, bits: Self) -> Self {
        bits.distance()
            .map_or(Self::ZERO, |bits| self.shift_left(bits))
    }

    /// SHR
    pub fn shifted_right(self, bits: Self) -> Self {
        bits.distance()
            .map_or(Self::ZERO, |bits| self.shift_right(bits))
    }

    /// SAR: the sign is kept; -1 or 0 from 256 on.
    pub fn arithmetic_shifted_right(self, bits: Self) -> Self {
        if self.is_negative() {
            self.complement().shifted_right(bits).complement()
        } else {
            self.shifted_right(bits)
        }
    }
}

impl From<u64> for U256 {
    #[inline]
    fn from(value: u64) -> Self {
        Self([value, 0, 0, 0])
    }
}

impl From<bool> for U256 {
    #[inline]
    fn from(value: bool) -> Self {
        Self::from(u64::from(value))
    }
}

#[inline]
fn add_with_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

#[inline]
fn subtract_with_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}
