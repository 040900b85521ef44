//! Long division of numbers of several 64-bit limbs (Knuth, The Art of Computer Programming,
//! volume 2, 4.3.1, algorithm D).

/// Divides `number` (up to eight limbs, the least significant first) by `divisor`, which must not be
/// zero. `number` becomes the quotient; the remainder is returned.
pub fn divide_in_place(number: &mut [u64], divisor: &[u64; 4]) -> [u64; 4] {
    let divisor = &divisor[..significant(divisor)];
    let length = significant(number);
    match divisor {
        [] => panic!("division by zero is the caller's case"),
        [single] => divide_by_limb(number, *single),
        _ if length < divisor.len() => take_as_remainder(number),
        _ => divide_by_limbs(number, length, divisor),
    }
}

/// Returns the number of limbs without leading zeros.
fn significant(limbs: &[u64]) -> usize {
    limbs
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |last| last + 1)
}

fn take_as_remainder(number: &mut [u64]) -> [u64; 4] {
    let mut remainder = [0; 4];
    let kept = number.len().min(4);
    remainder[..kept].copy_from_slice(&number[..kept]);
    number.fill(0);
    remainder
}

fn divide_by_limb(number: &mut [u64], divisor: u64) -> [u64; 4] {
    let mut remainder = 0u64;
    for limb in number.iter_mut().rev() {
        let part = u128::from(remainder) << 64 | u128::from(*limb);
        *limb = (part / u128::from(divisor)) as u64;
        remainder = (part % u128::from(divisor)) as u64;
    }
    [remainder, 0, 0, 0]
}

/// The general case: two limbs or more in `divisor`, at least as many in `number[..length]`.
fn divide_by_limbs(number: &mut [u64], length: usize, divisor: &[u64]) -> [u64; 4] {
    let n = divisor.len();
    // Shift both until the divisor's top bit is set: an estimate of a quotient limb from the two top
    // limbs is then at most 2 too large.
    let shift = divisor[n - 1].leading_zeros();
    let mut v = [0u64; 4];
    shift_left_into(&mut v[..n], divisor, shift);
    let mut u = [0u64; 9];
    shift_left_into(&mut u[..=length], &number[..length], shift);

    number.fill(0);
    for j in (0..=length - n).rev() {
        let part = &mut u[j..=j + n];
        let mut estimate = estimate_limb(part, &v[..n]);
        if subtract_product(part, &v[..n], estimate) {
            estimate -= 1;
            add_back(part, &v[..n]);
        }
        number[j] = estimate;
    }

    let mut remainder = [0; 4];
    for i in 0..n {
        let above = if i + 1 < n && shift > 0 {
            u[i + 1] << (64 - shift)
        } else {
            0
        };
        remainder[i] = u[i] >> shift | above;
    }
    remainder
}

fn shift_left_into(target: &mut [u64], source: &[u64], shift: u32) {
    let mut carry = 0;
    for (i, out) in target.iter_mut().enumerate() {
        let limb = source.get(i).copied().unwrap_or(0);
        *out = limb << shift | carry;
        carry = if shift == 0 { 0 } else { limb >> (64 - shift) };
    }
}

/// Returns the quotient of the two top limbs of `u` and the top limb of `v`, corrected by the limb below.
/// At most 1 too large, and never too small.
fn estimate_limb(u: &[u64], v: &[u64]) -> u64 {
    let n = v.len();
    let top = u128::from(u[n]) << 64 | u128::from(u[n - 1]);
    let divisor = u128::from(v[n - 1]);
    let (mut estimate, mut rest) = if u[n] >= v[n - 1] {
        (u128::from(u64::MAX), top - divisor * u128::from(u64::MAX))
    } else {
        (top / divisor, top % divisor)
    };
    while rest >> 64 == 0 && estimate * u128::from(v[n - 2]) > (rest << 64 | u128::from(u[n - 2])) {
        estimate -= 1;
        rest += divisor;
    }
    estimate as u64
}

/// `u -= v * factor`; true if the result passed below zero.
fn subtract_product(u: &mut [u64], v: &[u64], factor: u64) -> bool {
    let mut carry = 0u128;
    let mut borrow = false;
    for (limb, &d) in u.iter_mut().zip(v.iter().chain(std::iter::once(&0))) {
        let product = u128::from(d) * u128::from(factor) + carry;
        carry = product >> 64;
        let (difference, first) = limb.overflowing_sub(product as u64);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        *limb = difference;
        borrow = first | second;
    }
    borrow
}

/// `u += v`, without the carry out of the top.
fn add_back(u: &mut [u64], v: &[u64]) {
    let mut carry = 0u128;
    for (limb, &d) in u.iter_mut().zip(v.iter().chain(std::iter::once(&0))) {
        let sum = u128::from(*limb) + u128::from(d) + carry;
        *limb = sum as u64;
        carry = sum >> 64;
    }
}
