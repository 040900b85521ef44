//! Runs random programs on this interpreter and on go-ethereum's `evm`; tells where they differ.

use evm::buffer::OnHeap;
use evm::machine::{End, Failure, Machine};
use evm::random::{Random, program};
use evm::{decoded, fast, plain};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

const USAGE: &str = "\
usage: compare EVM [PROGRAMS [SEED]]
  EVM        go-ethereum's evm command
  PROGRAMS   how many (500)
  SEED       of the first one (1); each further one has the next
ends with 0 if all agree, 1 if some differ, 2 if it could not run";

/// What both sides say of a run.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    output: String,
    gas: u64,
    end: &'static str,
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = |index: usize, default: u64| {
        words
            .get(index)
            .map_or(Some(default), |word| word.parse().ok())
    };
    let (Some(evm), Some(count), Some(seed)) = (words.first(), number(1, 500), number(2, 1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match compare(Path::new(evm), seed..seed + count) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::from(2)
        }
    }
}

/// How many programs the two don't agree on.
fn compare(evm: &Path, seeds: std::ops::Range<u64>) -> io::Result<u64> {
    let folder = env::temp_dir().join(format!("evm-compare-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let file = folder.join("program.hex");
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    let mut differences = 0;
    let total = seeds.end - seeds.start;
    for seed in seeds {
        let (code, gas) = case(seed);
        fs::write(&file, hex(&code))?;
        let theirs = theirs(evm, &file, gas)?;
        let plain = ours(&code, gas, plain::run);
        let (fast, decoded) = (ours(&code, gas, fast::run), ours(&code, gas, decoded::run));
        *ends.entry(plain.end).or_default() += 1;
        if [&plain, &fast, &decoded]
            .iter()
            .any(|&ours| *ours != theirs)
        {
            differences += 1;
            println!(
                "seed {seed}, gas {gas}, code {}\n  evm     {theirs:?}\n  plain   {plain:?}\n  fast    {fast:?}\n  decoded {decoded:?}",
                hex(&code)
            );
        }
    }
    fs::remove_dir_all(&folder)?;
    println!("{total} programs, {differences} differences; ends: {ends:?}");
    Ok(differences)
}

/// A program, and gas that is enough for most.
fn case(seed: u64) -> (Vec<u8>, u64) {
    let mut random = Random::new(!seed);
    let steps = 5 + random.below(120) as usize;
    let gas = if random.below(5) == 0 {
        random.below(2000)
    } else {
        100_000
    };
    (program(seed, steps), gas)
}

fn ours(code: &[u8], gas: u64, run: fn(&mut Machine<OnHeap>, &[u8]) -> End) -> Seen {
    let mut machine = Machine::new(gas);
    let end = run(&mut machine, code);
    let output = hex(machine.output(&end));
    Seen {
        output,
        gas: gas - machine.gas,
        end: name(&end),
    }
}

fn name(end: &End) -> &'static str {
    match end {
        End::Stop | End::Return(_) => "done",
        End::Revert(_) => "revert",
        End::Failed(Failure::OutOfGas) => "out of gas",
        End::Failed(Failure::StackUnderflow) => "stack underflow",
        End::Failed(Failure::StackOverflow) => "stack overflow",
        End::Failed(Failure::BadJump) => "bad jump",
        End::Failed(Failure::Invalid) => "INVALID",
        End::Failed(Failure::Unsupported(_)) => "unsupported",
        End::Failed(Failure::NoRoom) => "no room",
    }
}

fn theirs(evm: &Path, file: &Path, gas: u64) -> io::Result<Seen> {
    let gas_word = gas.to_string();
    let done = Command::new(evm)
        .args(["run", "--statdump", "--gas", &gas_word, "--codefile"])
        .arg(file)
        .output()?;
    let (stdout, stderr) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    let strange = || io::Error::other(format!("evm's output is not understood:\n{stdout}{stderr}"));
    let used = stderr
        .lines()
        .find_map(|line| line.strip_prefix("EVM gas used:"))
        .ok_or_else(strange)?;
    Ok(Seen {
        output: stdout
            .lines()
            .find_map(|line| line.strip_prefix("0x"))
            .unwrap_or("")
            .to_owned(),
        gas: used.trim().parse().map_err(|_| strange())?,
        end: stdout
            .lines()
            .chain(stderr.lines())
            .find_map(|line| line.trim().strip_prefix("error: "))
            .map_or("done", known_error),
    })
}

/// Our name for an error of go-ethereum. It distinguishes offsets beyond 2^64; the Yellow Paper has
/// them out of gas.
fn known_error(message: &str) -> &'static str {
    const NAMES: [(&str, &str); 7] = [
        ("execution reverted", "revert"),
        ("out of gas", "out of gas"),
        ("gas uint64 overflow", "out of gas"),
        ("stack underflow", "stack underflow"),
        ("stack limit reached", "stack overflow"),
        ("invalid jump destination", "bad jump"),
        ("invalid opcode: INVALID", "INVALID"),
    ];
    NAMES
        .iter()
        .find(|(start, _)| message.starts_with(start))
        .map_or("unknown", |(_, name)| name)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
