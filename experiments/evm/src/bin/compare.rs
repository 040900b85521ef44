//! Runs random programs on this interpreter's three engines and on another one, and compares the results.

use evm::buffer::OnHeap;
use evm::machine::{End, Failure, Machine};
use evm::random::{Random, program};
use evm::{decoded, fast, plain};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::process::{Command, ExitCode, Stdio};
use std::{env, thread};

const USAGE: &str = "\
usage: compare PROGRAMS SEED OTHER [ARGUMENT...]
  PROGRAMS   how many
  SEED       of the first one; each further one has the next
  OTHER      a command that reads lines of gas and hex digits, and answers each with a line of the gas
             that was used, the output after 0x, and an error's words (geth/ and revm/ hold two)
ends with 0 if all could be compared, whether they differ or not; 2 if not";

/// The result of a run, on both sides.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    output: String,
    gas: u64,
    end: &'static str,
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    let (Some(count), Some(seed), Some(other)) = (number(0), number(1), words.get(2)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut command = Command::new(other);
    command.args(&words[3..]);
    match compare(&mut command, seed..seed + count) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {other}: {error}");
            ExitCode::from(2)
        }
    }
}

/// Writes a line for each program: whether all engines and the other interpreter agree.
fn compare(other: &mut Command, seeds: std::ops::Range<u64>) -> io::Result<()> {
    let mut child = other.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (asks, answers) = (child.stdin.take(), child.stdout.take());
    let (asks, answers) = asks.zip(answers).expect("both are pipes");
    // Write from a separate thread: both pipes may be full at once.
    let asked = seeds.clone();
    let asker = thread::spawn(move || ask(BufWriter::new(asks), asked));
    let mut answers = BufReader::new(answers).lines();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut differences = 0;
    let total = seeds.end - seeds.start;
    for seed in seeds {
        let line = answers.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        let theirs = theirs(&line)
            .ok_or_else(|| io::Error::other(format!("its answer is not understood: {line}")))?;
        let (code, gas) = case(seed);
        let engines = [plain::run, fast::run, decoded::run];
        let ours = engines.map(|run| ours(&code, gas, run));
        if ours.iter().all(|ours| *ours == theirs) {
            writeln!(out, "{seed}: same, {}", theirs.end)?;
        } else {
            differences += 1;
            let code = hex(&code);
            writeln!(
                out,
                "{seed}: DIFFERENT, gas {gas}, code {code}\n  {line}\n  {ours:?}"
            )?;
        }
    }
    writeln!(out, "{total} programs, {differences} differences")?;
    asker.join().expect("it does not panic")?;
    if !child.wait()?.success() {
        return Err(io::Error::other("it failed after its last answer"));
    }
    Ok(())
}

fn ask(mut asks: impl Write, seeds: std::ops::Range<u64>) -> io::Result<()> {
    for seed in seeds {
        let (code, gas) = case(seed);
        writeln!(asks, "{gas} {}", hex(&code))?;
    }
    asks.flush()
}

/// A program, with enough gas for most programs.
fn case(seed: u64) -> (Vec<u8>, u64) {
    let mut random = Random::new(!seed);
    let steps = 5 + random.below(120) as usize;
    let gas = if random.below(5) == 0 {
        // go-ethereum treats 0 as no limit.
        1 + random.below(2000)
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

fn theirs(line: &str) -> Option<Seen> {
    let (gas, rest) = line.split_once(' ')?;
    let (output, error) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(Seen {
        output: output.strip_prefix("0x")?.to_owned(),
        gas: gas.parse().ok()?,
        end: if error.is_empty() {
            "done"
        } else {
            known_error(error)
        },
    })
}

/// Returns our name for an error of go-ethereum. go-ethereum distinguishes offsets beyond 2^64; in the Yellow
/// Paper, they are out of gas.
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
