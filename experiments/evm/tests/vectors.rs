//! Known answers: the Yellow Paper's edge cases, the examples of EIP-145 (shifts), EIP-160 (EXP) and
//! the gas of memory.

use evm::buffer::{NoHeap, OnHeap, Storage};
use evm::machine::{End, Failure, Machine};
use evm::opcode::*;
use evm::{decoded, plain};

const MINUS_ONE: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
const LOWEST: &str = "8000000000000000000000000000000000000000000000000000000000000000";
const HIGHEST: &str = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

fn bytes(hex: &str) -> Vec<u8> {
    let padded = if hex.len() % 2 == 1 {
        format!("0{hex}")
    } else {
        hex.to_owned()
    };
    (0..padded.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&padded[i..i + 2], 16).expect("hex"))
        .collect()
}

fn push(word: &str) -> Vec<u8> {
    let data = bytes(word);
    let mut code = vec![PUSH0 + data.len() as u8];
    code.extend(data);
    code
}

/// Returns the result of `opcode` for the operands; the first one is on top.
fn result(opcode: u8, operands: &[&str]) -> String {
    let mut code: Vec<u8> = operands.iter().rev().flat_map(|word| push(word)).collect();
    code.extend([opcode, PUSH0, MSTORE, PUSH1, 32, PUSH0, RETURN]);
    let hex: String = run::<OnHeap>(&code, 100_000)
        .0
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let short = hex.trim_start_matches('0');
    if short.is_empty() {
        "0".into()
    } else {
        short.into()
    }
}

fn run<S: Storage>(code: &[u8], gas: u64) -> (Vec<u8>, u64, End) {
    let mut machine = Machine::<S>::new(gas);
    let end = plain::run(&mut machine, code);
    (machine.output(&end).to_vec(), gas - machine.gas, end)
}

fn failure(code: &[u8], gas: u64) -> Failure {
    let (output, used, end) = run::<OnHeap>(code, gas);
    assert_eq!(
        (output.len(), used),
        (0, gas),
        "a failure returns nothing and uses all gas"
    );
    match end {
        End::Failed(failure) => failure,
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[test]
fn arithmetic_wraps_at_2_to_the_256() {
    assert_eq!(result(ADD, &[MINUS_ONE, "2"]), "1");
    assert_eq!(result(SUB, &["0", "1"]), MINUS_ONE);
    assert_eq!(result(MUL, &[MINUS_ONE, MINUS_ONE]), "1");
    assert_eq!(
        result(MUL, &["ffffffffffffffff", "ffffffffffffffff"]),
        "fffffffffffffffe0000000000000001"
    );
    assert_eq!(result(EXP, &["2", "ff"]), LOWEST);
    assert_eq!(result(EXP, &["2", "100"]), "0");
    assert_eq!(result(EXP, &["0", "0"]), "1");
}

#[test]
fn division_by_zero_gives_zero() {
    for opcode in [DIV, SDIV, MOD, SMOD] {
        assert_eq!(result(opcode, &["7", "0"]), "0");
    }
    assert_eq!(result(ADDMOD, &["7", "7", "0"]), "0");
    assert_eq!(result(MULMOD, &["7", "7", "0"]), "0");
}

#[test]
fn signed_division_rounds_towards_zero_and_overflows_to_itself() {
    let minus_7 = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff9";
    let minus_3 = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffd";
    assert_eq!(result(SDIV, &[minus_7, "2"]), minus_3);
    assert_eq!(result(SDIV, &[minus_7, minus_3]), "2");
    assert_eq!(result(SMOD, &[minus_7, "3"]), MINUS_ONE);
    assert_eq!(result(SMOD, &["7", minus_3]), "1");
    assert_eq!(result(SDIV, &[LOWEST, MINUS_ONE]), LOWEST);
}

#[test]
fn long_division_corrects_a_quotient_limb_that_was_estimated_too_large() {
    // The estimate from the top limbs is one too large; only the third limb shows it.
    let dividend = format!("7fffffffffffffff8000000000000000{}", "0".repeat(32));
    let divisor = format!("8000000000000000{}1", "0".repeat(31));
    assert_eq!(result(DIV, &[&dividend, &divisor]), "fffffffffffffffe");
    assert_eq!(
        result(MOD, &[&dividend, &divisor]),
        "7fffffffffffffffffffffffffffffff0000000000000002"
    );
}

#[test]
fn modular_sum_and_product_are_not_cut() {
    assert_eq!(result(ADDMOD, &[MINUS_ONE, "2", "2"]), "1");
    assert_eq!(result(ADDMOD, &[MINUS_ONE, MINUS_ONE, MINUS_ONE]), "0");
    assert_eq!(result(MULMOD, &[MINUS_ONE, MINUS_ONE, "c"]), "9");
    assert_eq!(result(MULMOD, &[MINUS_ONE, MINUS_ONE, MINUS_ONE]), "0");
}

#[test]
fn sign_extension_looks_at_one_bit() {
    assert_eq!(result(SIGNEXTEND, &["0", "7f"]), "7f");
    assert_eq!(
        result(SIGNEXTEND, &["0", "80"]),
        MINUS_ONE[..62].to_owned() + "80"
    );
    assert_eq!(result(SIGNEXTEND, &["0", "ff7f"]), "7f");
    assert_eq!(result(SIGNEXTEND, &["1e", LOWEST]), "0");
    assert_eq!(result(SIGNEXTEND, &["1f", LOWEST]), LOWEST);
    assert_eq!(result(SIGNEXTEND, &[MINUS_ONE, "80"]), "80");
}

#[test]
fn comparison_knows_signs() {
    assert_eq!(result(LT, &["1", MINUS_ONE]), "1");
    assert_eq!(result(SLT, &["1", MINUS_ONE]), "0");
    assert_eq!(result(GT, &[MINUS_ONE, "1"]), "1");
    assert_eq!(result(SGT, &[HIGHEST, LOWEST]), "1");
    assert_eq!(result(EQ, &[LOWEST, LOWEST]), "1");
    assert_eq!(result(ISZERO, &["0"]), "1");
}

#[test]
fn bits_and_bytes() {
    assert_eq!(result(AND, &["ff00", "0ff0"]), "f00");
    assert_eq!(result(OR, &["ff00", "0ff0"]), "fff0");
    assert_eq!(result(XOR, &["ff00", "0ff0"]), "f0f0");
    assert_eq!(result(NOT, &["0"]), MINUS_ONE);
    assert_eq!(result(BYTE, &["1f", "abcd"]), "cd");
    assert_eq!(result(BYTE, &["0", LOWEST]), "80");
    assert_eq!(result(BYTE, &["20", MINUS_ONE]), "0");
}

#[test]
fn shifts_as_in_eip_145() {
    assert_eq!(result(SHL, &["1", "1"]), "2");
    assert_eq!(result(SHL, &["ff", "1"]), LOWEST);
    assert_eq!(result(SHL, &["100", MINUS_ONE]), "0");
    assert_eq!(
        result(SHL, &["1", HIGHEST]),
        MINUS_ONE[..63].to_owned() + "e"
    );
    assert_eq!(
        result(SHR, &["1", LOWEST]),
        "4".to_owned() + &"0".repeat(63)
    );
    assert_eq!(result(SHR, &["ff", MINUS_ONE]), "1");
    assert_eq!(result(SHR, &["100", LOWEST]), "0");
    assert_eq!(
        result(SAR, &["1", LOWEST]),
        "c".to_owned() + &"0".repeat(63)
    );
    assert_eq!(result(SAR, &["ff", LOWEST]), MINUS_ONE);
    assert_eq!(result(SAR, &["101", MINUS_ONE]), MINUS_ONE);
    assert_eq!(result(SAR, &["fe", HIGHEST]), "1");
    assert_eq!(result(SAR, &["100", HIGHEST]), "0");
}

#[test]
fn the_published_program_returns_1_for_18_gas() {
    let code = bytes("60016000526001601ff3");
    for (output, gas, end) in [run::<OnHeap>(&code, 100), run::<NoHeap>(&code, 100)] {
        assert_eq!((output, gas, end), (vec![1], 18, End::Return(31..32)));
    }
}

#[test]
fn memory_costs_more_the_more_of_it_there_is() {
    let touch = |offset: &str| {
        let mut code = push(offset);
        code.push(MLOAD);
        run::<OnHeap>(&code, 10_000_000).1 - 6
    };
    assert_eq!(touch("0"), 3);
    assert_eq!(
        touch("1"),
        6,
        "an access across the edge of a word touches two"
    );
    assert_eq!(touch("3e0"), 32 * 3 + 32 * 32 / 512);
    assert_eq!(touch("fffe0"), 32768 * 3 + 32768 * 32768 / 512);
}

#[test]
fn memory_that_nobody_can_pay_for_is_out_of_gas() {
    for offset in ["ffffffff", "ffffffffffffffff", MINUS_ONE] {
        let mut code = push(offset);
        code.push(MLOAD);
        assert_eq!(failure(&code, 10_000_000_000), Failure::OutOfGas);
    }
}

#[test]
fn output_of_no_length_costs_nothing_wherever_it_lies() {
    let mut code = vec![PUSH0];
    code.extend(push(MINUS_ONE));
    code.push(RETURN);
    assert_eq!(run::<OnHeap>(&code, 5), (vec![], 5, End::Return(0..0)));
}

#[test]
fn a_power_costs_50_for_each_byte_of_its_exponent() {
    let gas = |exponent: &str| {
        let mut code = push(exponent);
        code.extend([PUSH1, 3, EXP]);
        run::<OnHeap>(&code, 100_000).1 - 6
    };
    assert_eq!(gas("0"), 10);
    assert_eq!(gas("ff"), 60);
    assert_eq!(gas("100"), 110);
    assert_eq!(gas(MINUS_ONE), 10 + 50 * 32);
}

#[test]
fn jumps_reach_jumpdests_only() {
    assert_eq!(
        run::<OnHeap>(&[PUSH1, 4, JUMP, INVALID, JUMPDEST], 100).1,
        3 + 8 + 1
    );
    assert_eq!(failure(&[PUSH1, 3, JUMP, STOP], 100), Failure::BadJump);
    assert_eq!(
        failure(&[PUSH1, 4, JUMP, PUSH1, JUMPDEST], 100),
        Failure::BadJump,
        "push data is no destination"
    );
    assert_eq!(
        run::<OnHeap>(&[PUSH0, PUSH1, 9, JUMPI, STOP], 100).2,
        End::Stop,
        "a jump not taken may name anything"
    );
}

#[test]
fn each_way_to_fail_uses_all_gas() {
    assert_eq!(failure(&[ADD], 100), Failure::StackUnderflow);
    assert_eq!(failure(&[MSIZE; 1025], 10_000), Failure::StackOverflow);
    assert_eq!(failure(&[PUSH0; 2], 3), Failure::OutOfGas);
    assert_eq!(failure(&[INVALID], 100), Failure::Invalid);
    assert_eq!(failure(&[0x54], 100), Failure::Unsupported(0x54));
}

#[test]
fn revert_keeps_the_gas_that_is_left() {
    let (output, gas, end) = run::<OnHeap>(&[PUSH1, 2, PUSH0, REVERT], 100);
    assert_eq!((output, gas, end), (vec![0, 0], 8, End::Revert(0..2)));
}

#[test]
fn push_data_beyond_the_end_are_zeros() {
    let mut machine = Machine::<OnHeap>::new(100);
    assert_eq!(plain::run(&mut machine, &[PUSH1 + 2, 0xab]), End::Stop);
    assert_eq!(machine.stack(), [evm::u256::U256::from(0xab_0000)]);
}

#[test]
fn pc_gas_and_msize_tell_where_the_run_is() {
    let code = [PC, PC, GAS, PUSH0, MLOAD, POP, MSIZE];
    let expected: [u64; 4] = [0, 1, 94, 32];
    let mut machine = Machine::<OnHeap>::new(100);
    plain::run(&mut machine, &code);
    assert_eq!(machine.stack(), expected.map(evm::u256::U256::from));
    let mut machine = Machine::<OnHeap>::new(100);
    decoded::run(&mut machine, &code);
    assert_eq!(
        machine.stack(),
        expected.map(evm::u256::U256::from),
        "also where a block's gas is taken at once"
    );
}
