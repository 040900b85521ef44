//! The programs that are measured and the loads beside them, compiled from C.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::tools::Tools;

/// Compiles `source`, a file of this package, into `folder`.
///
/// # Errors
/// When there is no C compiler, or it fails.
pub fn compile(source: &str, flags: &[&str], folder: &Path) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let name = source.file_stem().unwrap_or_default();
    let program = folder.join(name);
    let output = Command::new("cc")
        .args(["-O2", "-Wall", "-o"])
        .arg(&program)
        .args(flags)
        .arg(&source)
        .output()
        .map_err(|error| {
            format!("can't start the C compiler 'cc': {error}; install gcc or clang")
        })?;
    if output.status.success() {
        return Ok(program);
    }
    let hint = if flags.contains(&"-static") {
        "\n(-static needs the C library in static form: libc6-dev or glibc-static)"
    } else {
        ""
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "can't compile {}:\n{errors}{hint}",
        source.display()
    ))
}

/// CPU time of a `work` of so many rounds, in seconds: the least of some runs, since neighbours only
/// add to it.
fn work_seconds(tools: &Tools, iterations: u64) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..9 {
        let usage = tools.run(&tools.work, &[iterations.to_string()])?;
        least = least.min(usage.cpu_s);
    }
    Ok(least)
}

/// CPU time of one iteration of `work`, in seconds, and of a million of them with start and exit.
fn iteration_seconds(tools: &Tools) -> Result<(f64, f64)> {
    const HIGH: u64 = 5 * LOW;
    let (low, high) = (work_seconds(tools, LOW)?, work_seconds(tools, HIGH)?);
    let each = (high - low) / (HIGH - LOW) as f64;
    if each <= 0.0 {
        return Err("this machine is too busy to find out how fast it is; try again later".into());
    }
    Ok((each, low))
}

const LOW: u64 = 1_000_000;

/// How many iterations of `work` take `seconds` with start and exit on this machine.
///
/// # Errors
/// When `work` can't be run.
pub fn iterations_for(tools: &Tools, seconds: f64) -> Result<u64> {
    let (each, low) = iteration_seconds(tools)?;
    Ok(((seconds - low) / each + LOW as f64).max(1.0) as u64)
}

/// How many iterations make the whole command take longer than `iterations` do by this share. Its start
/// and exit, which the C loop times, stay the same, so that the loop takes a little more than that.
///
/// # Errors
/// When `work` can't be run.
pub fn iterations_longer_by(tools: &Tools, share: f64, iterations: u64) -> Result<u64> {
    let (each, _) = iteration_seconds(tools)?;
    let rest = tools.c_loop(20, 300, &tools.work)?.commands[0].median_s;
    let more = share * (iterations as f64 + rest / each);
    Ok(iterations + more.round() as u64)
}

/// What goes on beside the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Nothing that we started.
    Quiet,
    /// 5 ms on, 5 ms off, on one CPU.
    Periodic,
    /// CPU 0 has a program that never stops.
    Neighbour,
    /// Every CPU has a program that never stops.
    Busy,
}

impl Condition {
    /// For the table.
    pub fn name(self) -> &'static str {
        match self {
            Condition::Quiet => "quiet",
            Condition::Periodic => "periodic load on CPU 1",
            Condition::Neighbour => "a program spins on CPU 0",
            Condition::Busy => "all CPUs busy",
        }
    }

    /// Starts the load; it ends when the value is dropped, and in any case when this process ends.
    ///
    /// # Errors
    /// When a load can't be started.
    pub fn start(self, tools: &Tools) -> Result<Loads> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted: Vec<(usize, u32, u32)> = match self {
            Condition::Quiet => Vec::new(),
            Condition::Periodic => vec![(1.min(cpus - 1), 5_000, 5_000)],
            Condition::Neighbour => vec![(0, 5_000, 0)],
            Condition::Busy => (0..cpus).map(|cpu| (cpu, 5_000, 0)).collect(),
        };
        let mut loads = Loads(Vec::new());
        for (cpu, busy, idle) in wanted {
            let started = Command::new(&tools.load)
                .args([cpu.to_string(), busy.to_string(), idle.to_string()])
                .stdin(Stdio::null())
                .spawn()
                .map_err(|error| format!("can't start {}: {error}", tools.load.display()))?;
            loads.0.push(started);
        }
        Ok(loads)
    }
}

/// Running loads.
#[derive(Debug)]
pub struct Loads(Vec<Child>);

impl Loads {
    /// Says so if a load has ended: what was measured would not be what the table says.
    ///
    /// # Errors
    /// When one has.
    pub fn check(&mut self) -> Result<()> {
        for load in &mut self.0 {
            if let Ok(Some(status)) = load.try_wait() {
                return Err(format!(
                    "a load beside the measurement ended early: {status}"
                ));
            }
        }
        Ok(())
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        for load in &mut self.0 {
            let _ = load.kill();
            let _ = load.wait();
        }
    }
}

/// Makes the empty program as small as that which Fathom starts, one segment with the code: mapping a second one and
/// notes takes 3 to 6 us.
const ONE_SEGMENT: &[&str] = &[
    "-static",
    "-nostdlib",
    "-fno-asynchronous-unwind-tables",
    "-Wl,--build-id=none,-z,noseparate-code",
];

/// Builds an empty program in `folder` as Fathom's own is.
///
/// # Errors
/// When the compiler fails.
pub fn empty_static(folder: &Path) -> Result<PathBuf> {
    compile("subjects/floor.c", ONE_SEGMENT, folder)
}
