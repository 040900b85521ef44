//! The engines and the two storages must agree on everything visible, for any program and any amount
//! of gas. `compare` compares them with go-ethereum.

use evm::buffer::{FIXED_CODE, NoHeap, OnHeap, Storage};
use evm::machine::{End, Failure, Machine};
use evm::random::{Random, program};
use evm::u256::U256;
use evm::{decoded, fast, plain};

#[derive(Debug, PartialEq)]
struct Seen {
    end: End,
    gas: u64,
    output: Vec<u8>,
}

fn seen<S: Storage>(code: &[u8], gas: u64, run: fn(&mut Machine<S>, &[u8]) -> End) -> Seen {
    let mut machine = Machine::new(gas);
    let end = run(&mut machine, code);
    Seen {
        output: machine.output(&end).to_vec(),
        gas: machine.gas,
        end,
    }
}

#[test]
fn all_engines_see_the_same_whatever_the_gas() {
    let mut random = Random::new(7);
    for seed in 0..4000 {
        let steps = random.below(200) as usize;
        let code = program(seed, steps);
        let gas = [random.below(600), random.below(6000), 100_000][random.below(3) as usize];
        let plain = seen::<OnHeap>(&code, gas, plain::run);
        assert_eq!(
            seen::<OnHeap>(&code, gas, fast::run),
            plain,
            "fast, seed {seed}, gas {gas}"
        );
        assert_eq!(
            seen::<OnHeap>(&code, gas, decoded::run),
            plain,
            "decoded, seed {seed}, gas {gas}"
        );
    }
}

#[test]
fn without_heap_the_same_is_seen_where_there_is_room() {
    let mut compared = 0;
    for seed in 0..1000 {
        let code = program(seed, 100);
        if code.len() > FIXED_CODE {
            continue;
        }
        let fixed = seen::<NoHeap>(&code, 100_000, plain::run);
        if fixed.end != End::Failed(Failure::NoRoom) {
            assert_eq!(
                fixed,
                seen::<OnHeap>(&code, 100_000, plain::run),
                "seed {seed}"
            );
            compared += 1;
        }
    }
    assert!(compared > 900, "only {compared} programs were compared");
}

#[test]
fn random_programs_end_in_every_way() {
    let ends: Vec<End> = (0..3000)
        .map(|seed| seen::<OnHeap>(&program(seed, 60), 50_000, plain::run).end)
        .collect();
    let some = |wanted: fn(&End) -> bool| assert!(ends.iter().any(wanted));
    some(|end| *end == End::Stop);
    some(|end| matches!(end, End::Return(_)));
    some(|end| matches!(end, End::Revert(_)));
    some(|end| *end == End::Failed(Failure::OutOfGas));
    some(|end| *end == End::Failed(Failure::StackUnderflow));
    some(|end| *end == End::Failed(Failure::StackOverflow));
    some(|end| *end == End::Failed(Failure::BadJump));
    some(|end| *end == End::Failed(Failure::Invalid));
    let done = ends
        .iter()
        .filter(|end| matches!(end, End::Return(_)))
        .count();
    assert!(
        done > ends.len() / 2,
        "only {done} of {} programs ran to their end",
        ends.len()
    );
}

/// Numbers of every size, also with limbs of ones and zeros.
fn number(random: &mut Random) -> U256 {
    let limbs = random.below(5) as usize;
    let mut number = U256::ZERO;
    for limb in &mut number.0[..limbs] {
        *limb = match random.below(4) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << random.below(64),
            _ => random.below(u64::MAX),
        };
    }
    number
}

#[test]
fn quotient_times_divisor_and_remainder_is_the_dividend() {
    let mut random = Random::new(3);
    for _ in 0..200_000 {
        let (a, b) = (number(&mut random), number(&mut random));
        if b.is_zero() {
            continue;
        }
        let remainder = a.remainder(b);
        assert!(remainder.compare(b).is_lt(), "{a:x?} mod {b:x?}");
        assert_eq!(
            a.quotient(b).wrapping_mul(b).wrapping_add(remainder),
            a,
            "{a:x?} / {b:x?}"
        );
    }
}

#[test]
fn a_modular_product_is_the_sum_of_modular_doublings() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let (a, b, modulus) = (
            number(&mut random),
            number(&mut random),
            number(&mut random),
        );
        let mut sum = U256::ZERO;
        for bit in (0..256).rev() {
            sum = sum.add_mod(sum, modulus);
            if b.0[bit / 64] >> (bit % 64) & 1 == 1 {
                sum = sum.add_mod(a, modulus);
            }
        }
        assert_eq!(
            a.mul_mod(b, modulus),
            sum,
            "{a:x?} * {b:x?} mod {modulus:x?}"
        );
    }
}
