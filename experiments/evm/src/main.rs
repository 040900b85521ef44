//! Runs Ethereum bytecode from standard input; prints its result, the gas and the time.

use evm::buffer::{Buffer, NoHeap, OnHeap, Storage};
use evm::machine::{End, Machine};
use evm::read::{Reading, read_code};
use evm::{decoded, fast, plain};
use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: evm [options] < BYTECODE
  --read byte|buffered|block   how standard input is read (buffered)
  --storage heap|fixed         where code, stack and memory lie (heap)
  --engine plain|fast|decoded  how the code is run (plain)
  --gas N                      gas to use (10000000000)
  --repeat N                   run the code N times and tell the fastest (1)
  --clock early|late           late: only when fixed arrays have their pages (early)
  --time                       print the time for reading and running, in microseconds
ends with 0 after STOP and RETURN, 1 after REVERT and failures, 2 if it could not run";

#[derive(Clone, Copy, PartialEq)]
enum Engine {
    Plain,
    Fast,
    Decoded,
}

struct Options {
    reading: Reading,
    fixed: bool,
    engine: Engine,
    gas: u64,
    repeat: u32,
    late_clock: bool,
    time: bool,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => return fail(&format!("{message}\n{USAGE}")),
    };
    let start = Instant::now();
    let done = if options.fixed {
        run::<NoHeap>(&options, start)
    } else {
        run::<OnHeap>(&options, start)
    };
    done.unwrap_or_else(|error| fail(&error.to_string()))
}

fn fail(message: &str) -> ExitCode {
    eprintln!("evm: {message}");
    ExitCode::from(2)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        reading: Reading::Buffered,
        fixed: false,
        engine: Engine::Plain,
        gas: 10_000_000_000,
        repeat: 1,
        late_clock: false,
        time: false,
    };
    while let Some(word) = words.next() {
        if word == "--time" {
            options.time = true;
            continue;
        }
        let value = words
            .next()
            .ok_or(format!("{word}: unknown, or without a value"))?;
        match (word.as_str(), value.as_str()) {
            ("--read", "byte") => options.reading = Reading::Byte,
            ("--read", "buffered") => options.reading = Reading::Buffered,
            ("--read", "block") => options.reading = Reading::Block,
            ("--storage", "heap") => options.fixed = false,
            ("--storage", "fixed") => options.fixed = true,
            ("--engine", "plain") => options.engine = Engine::Plain,
            ("--engine", "fast") => options.engine = Engine::Fast,
            ("--engine", "decoded") => options.engine = Engine::Decoded,
            ("--clock", "early") => options.late_clock = false,
            ("--clock", "late") => options.late_clock = true,
            ("--gas", number) => {
                options.gas = number
                    .parse()
                    .map_err(|_| format!("--gas {number}: not a number"))?
            }
            ("--repeat", number) => {
                options.repeat = number
                    .parse()
                    .ok()
                    .filter(|&n| n > 0)
                    .ok_or(format!("--repeat {number}: not 1 or more"))?;
            }
            _ => return Err(format!("{word} {value}: unknown")),
        }
    }
    if options.fixed && options.engine == Engine::Decoded {
        return Err("--storage fixed: the decoded engine needs the heap".into());
    }
    Ok(options)
}

/// The caller takes `start`, because a function with large arrays touches their pages on entry.
/// A late clock misses that, which is the mistake that the experiment shows.
#[inline(never)]
fn run<S: Storage>(options: &Options, start: Instant) -> io::Result<ExitCode> {
    let start = if options.late_clock {
        Instant::now()
    } else {
        start
    };
    let mut code = S::Code::default();
    read_code(options.reading, &*standard_input(), &mut code)?;
    let reading = start.elapsed();

    let earlier = (1..options.repeat)
        .map(|_| execute::<S, _>(options, code.items(), Instant::now(), |_, _, time| time))
        .min();
    execute::<S, _>(
        options,
        code.items(),
        Instant::now(),
        |machine, end, time| {
            let running = earlier.map_or(time, |earlier| earlier.min(time));
            let times = options.time.then_some((reading, running));
            report(
                &mut io::stdout().lock(),
                machine.output(end),
                end,
                options.gas - machine.gas,
                times,
            )?;
            Ok(ExitCode::from(u8::from(matches!(
                end,
                End::Revert(_) | End::Failed(_)
            ))))
        },
    )
}

/// Standard input without the buffer that Rust's `Stdin` always has.
fn standard_input() -> ManuallyDrop<File> {
    #[allow(unsafe_code, reason = "the standard library has no safe way to it")]
    // SAFETY: descriptor 0 stays open: nothing in this program closes it, and neither does this file,
    // which is never dropped.
    ManuallyDrop::new(unsafe { File::from_raw_fd(0) })
}

/// Runs the code and passes on the machine without moving it.
#[inline(never)]
fn execute<S: Storage, R>(
    options: &Options,
    code: &[u8],
    start: Instant,
    done: impl FnOnce(&Machine<S>, &End, Duration) -> R,
) -> R {
    let start = if options.late_clock {
        Instant::now()
    } else {
        start
    };
    let mut machine = Machine::<S>::new(options.gas);
    let end = match options.engine {
        Engine::Plain => plain::run(&mut machine, code),
        Engine::Fast => fast::run(&mut machine, code),
        Engine::Decoded => decoded::run(&mut machine, code),
    };
    let time = start.elapsed();
    done(&machine, &end, time)
}

fn report(
    out: &mut impl Write,
    output: &[u8],
    end: &End,
    gas: u64,
    times: Option<(Duration, Duration)>,
) -> io::Result<()> {
    let hex: String = output.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(out, "output:         0x{hex}")?;
    writeln!(out, "ended by:       {end}")?;
    writeln!(out, "gas used:       {gas}")?;
    let Some((reading, running)) = times else {
        return Ok(());
    };
    let us = |time: Duration| time.as_nanos() as f64 / 1000.0;
    writeln!(out, "reading:        {:.3} us", us(reading))?;
    writeln!(out, "running:        {:.3} us", us(running))?;
    writeln!(out, "execution time: {:.3} us", us(reading + running))
}
