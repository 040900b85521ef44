//! The cost of handing work to another thread: creation, switches, pipes, a local socket.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::affinity::Pinned;
use crate::context::Context;
use crate::cpu_gate::CpuOf;
use crate::probes::echo_process::EchoProcess;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};
use crate::samples::{Agreement, quantile};
use crate::track::{Track, alone, interleave, sample};

const CREATE: Heading = Heading {
    id: "thread_creation",
    title: "thread, start and join",
    unit: "us",
    method: "a thread that does nothing is started and joined on the same CPU; the 10th percentile.",
};

const SELF: Heading = Heading {
    id: "pipe_self",
    title: "pipe, write and read back",
    unit: "us",
    method: "one byte written to and read from a pipe by one thread: the calls without a switch; \
             the fastest chunk.",
};

const SAME: Heading = Heading {
    id: "pipe_round_trip",
    title: "pipe round trip between threads",
    unit: "us",
    method: "one byte to another thread and back through two pipes, both threads on one CPU; the 10th percentile.",
};

const SWITCH: Heading = Heading {
    id: "context_switch",
    title: "context switch between threads",
    unit: "us",
    method: "(round trip on one CPU - 2 x write and read back) / 2: the rest of the round trip is two switches.",
};

const SAME_PROCESSES: Heading = Heading {
    id: "pipe_round_trip_processes",
    title: "pipe round trip between processes",
    unit: "us",
    method: "the same to another process, which also changes the address space; the 10th percentile.",
};

const SWITCH_PROCESSES: Heading = Heading {
    id: "context_switch_processes",
    title: "context switch between processes",
    unit: "us",
    method: "(round trip between processes - 2 x write and read back) / 2.",
};

const OTHER: Heading = Heading {
    id: "pipe_round_trip_far",
    title: "pipe round trip, other CPU",
    unit: "us",
    method: "the same with the threads on two CPUs, which includes waking an idle CPU; the 10th percentile, shown with \
         the median because it has several modes.",
};

const FLOW: Heading = Heading {
    id: "pipe_bandwidth",
    title: "pipe bandwidth",
    unit: "GB/s",
    method: "one thread writes 64 KiB to a pipe and reads them back, repeatedly: the two copies without waiting; the \
         median chunk.",
};

const SOCKET: Heading = Heading {
    id: "tcp_round_trip",
    title: "local TCP round trip, same CPU",
    unit: "us",
    method: "one byte to another thread and back over 127.0.0.1 with TCP_NODELAY, both threads on one CPU; the 10th \
         percentile.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[
    SAME_PROCESSES,
    SWITCH_PROCESSES,
    CREATE,
    SELF,
    SAME,
    SWITCH,
    OTHER,
    FLOW,
    SOCKET,
];

/// Measures all figures.
pub(crate) fn run(context: &Context) -> Vec<ProbeResult> {
    let lowest = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.1,
    };
    let pass = Duration::from_millis(40);
    let mut results = Vec::new();
    let mut tracks = vec![
        Track::new(CREATE, lowest, pass, || {
            let start = Instant::now();
            let ended = std::thread::spawn(|| 7).join();
            let us = start.elapsed().as_nanos() as f64 / 1e3;
            if ended.is_ok_and(|seven| seven == 7) {
                us
            } else {
                f64::NAN
            }
        })
        .gated_by(CpuOf::Process),
    ];
    match own_pipe() {
        Ok((mut reader, mut writer)) => {
            let least = Agreement {
                estimator: Estimator::Minimum,
                tolerance: 0.05,
            };
            tracks.push(Track::new(SELF, least, pass, move || {
                let start = Instant::now();
                for _ in 0..20 {
                    if bounce(&mut reader, &mut writer).is_err() {
                        return f64::NAN;
                    }
                }
                start.elapsed().as_nanos() as f64 / 20e3
            }));
        }
        Err(error) => results.push(SELF.not_measurable(error.to_string())),
    }
    for (heading, partner) in [
        (SAME, Partner::over_pipes(None)),
        (SOCKET, Partner::over_tcp()),
    ] {
        match partner {
            Ok(mut partner) => tracks.push(
                Track::new(heading, lowest, pass, move || partner.round_trips(8))
                    .gated_by(CpuOf::Process),
            ),
            Err(error) => results.push(heading.not_measurable(error.to_string())),
        }
    }
    match between_processes(lowest, pass) {
        Ok(track) => tracks.push(track),
        Err(error) => results.push(SAME_PROCESSES.not_measurable(error.to_string())),
    }
    results.extend(interleave(tracks, Duration::from_millis(1100)));
    let switches = [(SWITCH, SAME), (SWITCH_PROCESSES, SAME_PROCESSES)]
        .map(|(heading, trip)| switch(heading, trip, &results));
    results.extend(switches);
    results.push(other(context));
    results.push(flow());
    results
}

/// Measures the round trip to another process on this CPU.
fn between_processes(agreement: Agreement, pass: Duration) -> io::Result<Track> {
    let mut process = EchoProcess::start()?;
    let clock = process.clock;
    let chunk = move || {
        const TRIPS: u32 = 8;
        let Some(writer) = &mut process.writer else {
            return f64::NAN;
        };
        let start = Instant::now();
        for _ in 0..TRIPS {
            if bounce(&mut process.reader, writer).is_err() {
                return f64::NAN;
            }
        }
        start.elapsed().as_nanos() as f64 / (1e3 * f64::from(TRIPS))
    };
    Ok(Track::new(SAME_PROCESSES, agreement, pass, chunk).gated_by(CpuOf::With(clock)))
}

fn own_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    io::pipe()
}

/// Writes and reads one byte.
fn bounce(reader: &mut impl Read, writer: &mut impl Write) -> io::Result<u8> {
    let mut byte = [0];
    writer.write_all(&[42])?;
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// A thread that sends each byte back, on the CPU of the caller or on `cpu`.
struct Partner {
    reader: Option<Box<dyn Read>>,
    writer: Option<Box<dyn Write>>,
    thread: Option<JoinHandle<()>>,
}

/// Sends input back until the other end closes.
fn echo(mut reader: impl Read, mut writer: impl Write) {
    let mut byte = [0];
    while reader.read_exact(&mut byte).is_ok() && writer.write_all(&byte).is_ok() {}
}

impl Partner {
    fn over_pipes(cpu: Option<usize>) -> io::Result<Partner> {
        let (their_reader, writer) = io::pipe()?;
        let (reader, their_writer) = io::pipe()?;
        let thread = std::thread::spawn(move || {
            let _pinned = cpu.map(Pinned::to);
            echo(their_reader, their_writer);
        });
        Ok(Partner {
            reader: Some(Box::new(reader)),
            writer: Some(Box::new(writer)),
            thread: Some(thread),
        })
    }

    fn over_tcp() -> io::Result<Partner> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let stream = TcpStream::connect(listener.local_addr()?)?;
        let (theirs, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        theirs.set_nodelay(true)?;
        let their_reader = theirs.try_clone()?;
        let thread = std::thread::spawn(move || echo(their_reader, theirs));
        Ok(Partner {
            reader: Some(Box::new(stream.try_clone()?)),
            writer: Some(Box::new(Closing(stream))),
            thread: Some(thread),
        })
    }

    /// Returns us per round trip, over `trips` in a row.
    fn round_trips(&mut self, trips: u32) -> f64 {
        let (Some(reader), Some(writer)) = (&mut self.reader, &mut self.writer) else {
            return f64::NAN;
        };
        let start = Instant::now();
        for _ in 0..trips {
            if bounce(reader, writer).is_err() {
                return f64::NAN;
            }
        }
        start.elapsed().as_nanos() as f64 / (1e3 * f64::from(trips))
    }
}

/// A socket whose writing half is shut down when dropped, even if the reading half is still open.
struct Closing(TcpStream);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.writer = None;
        self.reader = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Derives the cost of a switch from the round trip `trip` and the system calls in it.
fn switch(heading: Heading, trip: Heading, results: &[ProbeResult]) -> ProbeResult {
    let of = |heading: Heading| {
        let found = results.iter().find(|result| result.id == heading.id)?;
        Some((found.value?, found.spread.unwrap_or(0.0)))
    };
    match of(trip).zip(of(SELF)) {
        Some(((round, round_spread), (calls, calls_spread))) if round > 2.0 * calls => {
            let mut result = heading.blank(Estimator::Derived, ProbeVerdict::Ok);
            let value = (round - 2.0 * calls) / 2.0;
            result.value = Some(value);
            // The combined spread of both.
            let wide = round * round_spread + 2.0 * calls * calls_spread;
            result.spread = Some(wide / 2.0 / value);
            result.n = 2;
            result
        }
        Some(_) => heading.no_answer("the round trip took no longer than its calls alone"),
        None => heading.no_answer("the figures that this one depends on are missing"),
    }
}

/// Measures the round trip between two CPUs. CPU time can't be compared with wall time here: both threads
/// sleep by design.
fn other(context: &Context) -> ProbeResult {
    let Some(cpu) = context.cpus.iter().copied().find(|cpu| *cpu != context.cpu) else {
        return OTHER.not_measurable("only one CPU may be used");
    };
    let mut partner = match Partner::over_pipes(Some(cpu)) {
        Ok(partner) => partner,
        Err(error) => return OTHER.not_measurable(error.to_string()),
    };
    let mut chunk = || partner.round_trips(1);
    let mut pass = || sample(CpuOf::Nobody, Duration::from_millis(60), &mut chunk);
    let passes = [pass(), pass(), pass()];
    let agreement = Agreement {
        estimator: Estimator::P10,
        tolerance: 0.3,
    };
    let mut result = crate::samples::judge(OTHER, agreement, &passes);
    let all: Vec<f64> = passes
        .iter()
        .flat_map(|pass| pass.values.iter().copied())
        .collect();
    if let (Some(median), Some(high)) = (quantile(&all, 0.5), quantile(&all, 0.9)) {
        result.add_note(format!("median {median:.1} µs, p90 {high:.1} µs"));
    }
    result
}

fn flow() -> ProbeResult {
    let (mut reader, mut writer) = match own_pipe() {
        Ok(pipe) => pipe,
        Err(error) => return FLOW.not_measurable(error.to_string()),
    };
    let agreement = Agreement {
        estimator: Estimator::Median,
        tolerance: 0.15,
    };
    let mut buffer = vec![7u8; 64 << 10];
    alone(Track::new(
        FLOW,
        agreement,
        Duration::from_millis(30),
        move || {
            let start = Instant::now();
            // 64 KiB is the default capacity of a pipe: the write never blocks.
            let done = writer
                .write_all(&buffer)
                .and_then(|()| reader.read_exact(&mut buffer));
            let ns = start.elapsed().as_nanos() as f64;
            if done.is_ok() {
                buffer.len() as f64 / ns
            } else {
                f64::NAN
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_comes_back_as_it_was() {
        let (mut reader, mut writer) = own_pipe().unwrap();
        assert_eq!(bounce(&mut reader, &mut writer).unwrap(), 42);
    }

    #[test]
    fn partners_answer_and_end() {
        for partner in [Partner::over_pipes(None), Partner::over_tcp()] {
            let mut partner = partner.unwrap();
            assert!(partner.round_trips(3) > 0.0);
            drop(partner);
        }
    }

    #[test]
    fn a_switch_is_half_of_what_the_calls_leave() {
        let figure = |heading: Heading, value| ProbeResult {
            value: Some(value),
            ..heading.blank(Estimator::P10, ProbeVerdict::Ok)
        };
        let result = switch(SWITCH, SAME, &[figure(SAME, 4.7), figure(SELF, 0.68)]);
        assert!((result.value.unwrap() - 1.67).abs() < 1e-9);
        let short = [figure(SAME, 1.0), figure(SELF, 0.68)];
        assert_eq!(switch(SWITCH, SAME, &short).value, None);
        assert_eq!(switch(SWITCH, SAME, &[]).verdict, ProbeVerdict::NoAnswer);
    }
}
