//! Runs bytecode in revm, with the arguments and the output of go-ethereum's `evm run`, so that the same
//! programs can compare both with the interpreter of this experiment.

use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use revm_interpreter::bytecode::Bytecode;
use revm_interpreter::host::DummyHost;
use revm_interpreter::interpreter::{EthInterpreter, ExtBytecode};
use revm_interpreter::primitives::Bytes;
use revm_interpreter::primitives::hardfork::SpecId;
use revm_interpreter::{
    InputsImpl, InstructionResult, Interpreter, InterpreterAction, InterpreterResult, STACK_LIMIT,
    SharedMemory, gas_table, instruction_table,
};

const USAGE: &str = "\
usage: evm-revm run [--statdump] [--gas N] [--repeat N] --codefile FILE
       evm-revm batch < PROGRAMS
       evm-revm --version
  --statdump  tell time and gas on standard error
  --gas N     gas limit (10000000000)
  --repeat N  run N times in one process and tell the shortest time (1)
  batch       for each line of gas and hex digits, a line of the gas used, the output and an error's words";

/// The options of the command line.
struct Asked {
    file: String,
    gas: u64,
    repeat: u32,
    tell: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--version"] {
        println!("evm-revm with revm-interpreter 43.0.2");
        return ExitCode::SUCCESS;
    }
    if words == ["batch"] {
        return match batch() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("evm-revm: {error}");
                ExitCode::from(2)
            }
        };
    }
    let Some(asked) = parse(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match code_of(&asked.file) {
        Ok(code) => {
            show(&asked, &code);
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("evm-revm: {}: {why}", asked.file);
            ExitCode::from(2)
        }
    }
}

fn parse(words: &[String]) -> Option<Asked> {
    let mut asked = Asked {
        file: String::new(),
        gas: 10_000_000_000,
        repeat: 1,
        tell: false,
    };
    let mut words = words.iter();
    if words.next()? != "run" {
        return None;
    }
    while let Some(word) = words.next() {
        match word.as_str() {
            "--statdump" => asked.tell = true,
            "--gas" => asked.gas = words.next()?.parse().ok()?,
            "--repeat" => asked.repeat = words.next()?.parse().ok()?,
            "--codefile" => asked.file = words.next()?.clone(),
            _ => return None,
        }
    }
    (!asked.file.is_empty() && asked.repeat > 0).then_some(asked)
}

/// Returns the bytes of a file of hex digits.
fn code_of(file: &str) -> Result<Vec<u8>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    bytes_of(text.trim())
}

fn bytes_of(digits: &str) -> Result<Vec<u8>, String> {
    let digits = digits.as_bytes();
    if digits.len() % 2 == 1 {
        return Err("an odd number of digits".to_string());
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect::<Option<_>>()
        .ok_or_else(|| "not hex digits".to_string())
}

/// Runs many programs in one process.
fn batch() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (gas, code) = line
            .split_once(' ')
            .and_then(|(gas, digits)| Some((gas.parse().ok()?, bytes_of(digits).ok()?)))
            .ok_or_else(|| io::Error::other(format!("not gas and hex digits: {line}")))?;
        let (result, _) = run(&code, gas);
        write!(out, "{} {}", used(&result, gas), hex(&result.output))?;
        if let Some(error) = error_of(result.result) {
            write!(out, " {error}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

fn show(asked: &Asked, code: &[u8]) {
    let (mut result, mut shortest) = run(code, asked.gas);
    for _ in 1..asked.repeat {
        let (again, time) = run(code, asked.gas);
        (result, shortest) = (again, shortest.min(time));
    }
    println!("{}", hex(&result.output));
    if let Some(error) = error_of(result.result) {
        println!("error: {error}");
    }
    if asked.tell {
        eprintln!("EVM gas used:    {}", used(&result, asked.gas));
        eprintln!("execution time:  {:.3}us", shortest.as_secs_f64() * 1e6);
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// Any failure except REVERT uses all gas: the caller of the interpreter must apply that.
fn used(result: &InterpreterResult, gas: u64) -> u64 {
    match result.result.is_ok_or_revert() {
        true => result.gas.total_gas_spent(),
        false => gas,
    }
}

/// Makes one run in a new interpreter. The time covers the search for jump destinations and the run, as in
/// go-ethereum's figure.
fn run(code: &[u8], gas: u64) -> (InterpreterResult, Duration) {
    let table = instruction_table::<EthInterpreter, DummyHost>();
    let prices = gas_table();
    let mut host = DummyHost::default();
    let code = Bytes::copy_from_slice(code);
    let began = Instant::now();
    let mut interpreter = Interpreter::<EthInterpreter>::new(
        SharedMemory::new(),
        ExtBytecode::new(Bytecode::new_raw(code)),
        InputsImpl::default(),
        false,
        SpecId::CANCUN,
        gas,
    );
    let action = interpreter.run_plain(&table, &prices, &mut host);
    let time = began.elapsed();
    match action {
        InterpreterAction::Return(mut result) => {
            // revm reports an overflow if DUP reaches below the bottom of the stack.
            let is_full = interpreter.stack.len() == STACK_LIMIT;
            if result.result == InstructionResult::StackOverflow && !is_full {
                result.result = InstructionResult::StackUnderflow;
            }
            (result, time)
        }
        // No program of this experiment calls another.
        InterpreterAction::NewFrame(_) => (
            InterpreterResult::new(
                InstructionResult::CallNotAllowedInsideStatic,
                Bytes::new(),
                interpreter.gas,
            ),
            time,
        ),
    }
}

/// Returns go-ethereum's message for an end other than STOP and RETURN.
fn error_of(result: InstructionResult) -> Option<String> {
    use InstructionResult as R;
    Some(match result {
        R::Stop | R::Return => return None,
        R::Revert => "execution reverted".to_string(),
        R::OutOfGas | R::MemoryOOG | R::InvalidOperandOOG => "out of gas".to_string(),
        R::StackUnderflow => "stack underflow".to_string(),
        R::StackOverflow => "stack limit reached".to_string(),
        R::InvalidJump => "invalid jump destination".to_string(),
        R::InvalidFEOpcode => "invalid opcode: INVALID".to_string(),
        other => format!("{other:?}"),
    })
}
