//! The other tools: where they are, how they are built and called, what they say.
//!
//! They are fetched by hand and never part of this repository. `$RIVALS` names a folder with their
//! sources in `multichase`, `tinymembench`, `STREAM` and `lmbench`; they are built unmodified.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::words::{last_number, least_in_matrix, number_after};
use crate::Result;

/// Which of several rounds was disturbed least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Of times.
    Least,
    /// Of rates.
    Most,
}

/// One figure of Fathom beside one of another tool.
pub struct Comparison {
    /// What it is.
    pub figure: &'static str,
    /// The probe's id.
    pub id: &'static str,
    /// The point of the probe's curve, if it isn't the value.
    pub at: Option<f64>,
    /// Unit of the probe.
    pub unit: &'static str,
    /// The other tool's folder below `$RIVALS`.
    pub tool: &'static str,
    /// Program and arguments.
    words: &'static [&'static str],
    /// Threads that run at a time.
    threads: f64,
    /// Finds the number in what the tool prints.
    read: fn(&str) -> Option<f64>,
    /// From the tool's unit to the probe's.
    factor: f64,
    /// Which round counts.
    pub wanted: Wanted,
}

impl Comparison {
    /// The tool and how it is called, for people.
    pub fn command(&self) -> String {
        match self.words {
            [] => self.tool.to_string(),
            words => format!("{}: {}", self.tool, words.join(" ")),
        }
    }
}

const fn time(
    figure: &'static str,
    id: &'static str,
    unit: &'static str,
    tool: &'static str,
    words: &'static [&'static str],
) -> Comparison {
    Comparison {
        figure,
        id,
        at: None,
        unit,
        tool,
        words,
        threads: 1.0,
        read: last_number,
        factor: 1.0,
        wanted: Wanted::Least,
    }
}

/// A rate in MB/s of a tool; at one thread of a curve of the probe.
const fn rate(
    figure: &'static str,
    id: &'static str,
    tool: &'static str,
    words: &'static [&'static str],
    read: fn(&str) -> Option<f64>,
) -> Comparison {
    Comparison {
        at: Some(1.0),
        read,
        factor: 1e-3,
        wanted: Wanted::Most,
        ..time(figure, id, "GB/s", tool, words)
    }
}

fn copy(text: &str) -> Option<f64> {
    number_after(text, "Copy:")
}

fn fill_around(text: &str) -> Option<f64> {
    number_after(text, "SSE2 nontemporal fill")
}

fn fill(text: &str) -> Option<f64> {
    number_after(text, "SSE2 fill")
}

fn micro(text: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once(':')?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

/// What is compared. Where Fathom's memory is made of huge pages (latencies, reading by one core),
/// that of the others is too, through -H or glibc; elsewhere it is what a program gets that asks
/// for nothing.
pub const ALL: [Comparison; 16] = [
    time(
        "load, L1",
        "l1_latency",
        "ns",
        "multichase",
        &["multichase", "-n", "3", "-m", "8k", "-s", "64", "-T", "8k"],
    ),
    time(
        "load, L2",
        "l2_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "3",
            "-m",
            "128k",
            "-s",
            "64",
            "-T",
            "128k",
            "-H",
        ],
    ),
    time(
        "load, last level",
        "l3_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "3",
            "-m",
            "2m",
            "-s",
            "64",
            "-T",
            "2m",
            "-H",
        ],
    ),
    time(
        "load, memory",
        "memory_latency",
        "ns",
        "multichase",
        &[
            "multichase",
            "-n",
            "3",
            "-m",
            "128m",
            "-s",
            "64",
            "-T",
            "128m",
            "-H",
        ],
    ),
    Comparison {
        threads: 2.0,
        read: least_in_matrix,
        ..time(
            "core to core",
            "core_to_core",
            "ns",
            "multichase",
            &["pingpong", "-u", "-r", "0"],
        )
    },
    Comparison {
        at: None,
        ..rate(
            "read, 1 thread",
            "read_bandwidth_1",
            "lmbench",
            &["bw_mem", "-N", "3", "128m", "rd"],
            last_number,
        )
    },
    rate(
        "write, 1 thread",
        "bandwidth_write",
        "lmbench",
        &["bw_mem", "-N", "3", "128m", "wr"],
        last_number,
    ),
    rate(
        "write, 1 thread",
        "bandwidth_write",
        "tinymembench",
        &["tinymembench"],
        fill,
    ),
    rate(
        "write around, 1 thread",
        "bandwidth_write_around",
        "tinymembench",
        &["tinymembench"],
        fill_around,
    ),
    rate(
        "copy, 1 thread",
        "bandwidth_copy",
        "STREAM",
        &["stream_1"],
        copy,
    ),
    Comparison {
        at: None,
        threads: 0.0,
        ..rate(
            "copy, all threads",
            "bandwidth_copy",
            "STREAM",
            &["stream_all"],
            copy,
        )
    },
    Comparison {
        read: micro,
        factor: 1000.0,
        ..time(
            "system call",
            "system_call",
            "ns",
            "lmbench",
            &["lat_syscall", "-N", "5", "null"],
        )
    },
    Comparison {
        read: micro,
        ..time(
            "pipe round trip, processes",
            "pipe_round_trip_processes",
            "us",
            "lmbench",
            &["lat_pipe", "-N", "5"],
        )
    },
    time(
        "context switch, processes",
        "context_switch_processes",
        "us",
        "lmbench",
        &["lat_ctx", "-N", "5", "-s", "0", "2"],
    ),
    Comparison {
        read: micro,
        factor: 1000.0,
        ..time(
            "mapped page of a file",
            "page_fault_file",
            "ns",
            "lmbench",
            &["lat_pagefault", "-N", "3", "FILE"],
        )
    },
    time("start of a program", "spawn_floor", "us", "C loop", &[]),
];

/// Real-time priority: the tools have no gate against other programs, so these must wait. In turns
/// (-r): under -f a tool whose threads share the one CPU spins for ever.
const RUN_FIRST: &[&str] = &["chrt", "-r", "1"];

fn may_run_first() -> bool {
    let (program, arguments) = (RUN_FIRST[0], &RUN_FIRST[1..]);
    let tried = Command::new(program)
        .args(arguments)
        .arg("true")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// A tool that takes longer was disturbed.
const MOST_SECONDS: &str = "40";

/// One figure of another tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// In the probe's unit.
    pub value: f64,
    /// Whether CPU time over wall time was at least 0.9 for each of its threads.
    pub had_cpu: bool,
}

/// What the tools said in one round, by how they were called.
#[derive(Default)]
pub struct Round(HashMap<&'static [&'static str], Option<(String, bool)>>);

/// The programs that could be built.
pub struct Built {
    sources: Option<PathBuf>,
    folder: PathBuf,
    /// What goes before a tool so that it has the CPU, where that is allowed.
    first: &'static [&'static str],
    problems: Vec<String>,
}

impl Built {
    /// Builds what is in `$RIVALS` into `folder`.
    ///
    /// # Errors
    /// When the folder can't be made. What can't be built is noted and left out.
    pub fn prepare(folder: &Path) -> Result<Built> {
        let io = |e: std::io::Error| format!("{}: {e}", folder.display());
        std::fs::create_dir_all(folder.join("rpc")).map_err(io)?;
        let mut built = Built {
            sources: std::env::var_os("RIVALS").map(PathBuf::from),
            folder: folder.to_path_buf(),
            first: if may_run_first() { RUN_FIRST } else { &[] },
            problems: Vec::new(),
        };
        // lmbench includes the headers of Sun's remote procedure calls in all of its programs,
        // also in those that call none; few systems still have them.
        std::fs::write(folder.join("rpc/rpc.h"), "").map_err(io)?;
        std::fs::write(folder.join("rpc/types.h"), "#include <stdint.h>\n").map_err(io)?;
        // 64 MiB, for the page faults of lat_pagefault.
        std::fs::write(folder.join("FILE"), vec![7u8; 64 << 20]).map_err(io)?;
        built.build_all();
        Ok(built)
    }

    fn build_all(&mut self) {
        let chase = ["arena.c", "util.c", "permutation.c", "br_asm.c"];
        let gnu = ["-O3", "-std=gnu99", "-w"];
        self.cc(
            "multichase",
            "multichase",
            &gnu,
            &[&["multichase.c"], &chase[..]].concat(),
        );
        self.cc("multichase", "pingpong", &gnu, &["pingpong.c"]);
        let tiny = ["-O2", "-w", "-DMAXREPEATS=1"];
        self.cc(
            "tinymembench",
            "tinymembench",
            &tiny,
            &[
                "main.c",
                "util.c",
                "asm-opt.c",
                "x86-sse2.S",
                "arm-neon.S",
                "aarch64-asm.S",
                "mips-32.S",
            ],
        );
        // Without the option compilers turn STREAM's loop into memcpy, which writes around the
        // caches: another figure. 128 MiB an array.
        let stream = [
            "-O3",
            "-w",
            "-mcmodel=medium",
            "-fno-tree-loop-distribute-patterns",
            "-DSTREAM_ARRAY_SIZE=16777216",
            "-DNTIMES=10",
        ];
        self.cc("STREAM", "stream_1", &stream, &["stream.c"]);
        self.cc(
            "STREAM",
            "stream_all",
            &[&stream[..], &["-fopenmp"]].concat(),
            &["stream.c"],
        );
        let old = [
            "-O",
            "-std=gnu89",
            "-w",
            "-DRUSAGE",
            "-DHAVE_uint=1",
            "-DHAVE_uint64_t=1",
            "-DHAVE_int64_t=1",
            "-DHAVE_DRAND48",
            "-DHAVE_SCHED_SETAFFINITY=1",
        ];
        let library = [
            "src/lib_mem.c",
            "src/lib_stats.c",
            "src/lib_timing.c",
            "src/lib_debug.c",
            "src/lib_sched.c",
            "src/lib_unix.c",
            "src/getopt.c",
        ];
        for name in [
            "bw_mem",
            "lat_syscall",
            "lat_pipe",
            "lat_ctx",
            "lat_pagefault",
        ] {
            let own = format!("src/{name}.c");
            self.cc(
                "lmbench",
                name,
                &old,
                &[&[own.as_str()], &library[..]].concat(),
            );
        }
    }

    fn cc(&mut self, tool: &str, program: &str, flags: &[&str], files: &[&str]) {
        let Some(sources) = self.sources.as_ref().map(|all| all.join(tool)) else {
            return;
        };
        let output = Command::new("cc")
            .arg("-o")
            .arg(self.folder.join(program))
            .args(flags)
            .arg("-I")
            .arg(&self.folder)
            .args(files)
            .args(["-pthread", "-lm"])
            .current_dir(&sources)
            .output();
        match output {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                let first = errors
                    .lines()
                    .find(|line| line.contains("error"))
                    .unwrap_or_default();
                self.problems
                    .push(format!("{program} can't be built: {first}"));
                // An older build must not be taken for this one.
                let _ = std::fs::remove_file(self.folder.join(program));
            }
            Err(error) => self
                .problems
                .push(format!("{}: {error}", sources.display())),
        }
    }

    /// What the tool says; `None` if it isn't there or says nothing. A tool
    /// that says several things runs once for each `round`.
    pub fn measure(&self, comparison: &Comparison, round: &mut Round) -> Option<Said> {
        let said = match round.0.get(comparison.words) {
            Some(said) => said.clone(),
            None => {
                let said = self.run(comparison);
                round.0.insert(comparison.words, said.clone());
                said
            }
        };
        let (text, had_cpu) = said?;
        Some(Said {
            value: (comparison.read)(&text)? * comparison.factor,
            had_cpu,
        })
    }

    /// What the tool prints, and whether it had the CPU.
    fn run(&self, comparison: &Comparison) -> Option<(String, bool)> {
        self.sources.as_ref()?;
        let (name, arguments) = comparison.words.split_first()?;
        let program = self.folder.join(name);
        if !program.is_file() {
            return None;
        }
        // Line by line, so that what a tool said before its time was up is not lost.
        let mut command = Command::new("timeout");
        command.arg(MOST_SECONDS).args(self.first);
        command.args(["stdbuf", "-oL", "taskset"]);
        // Two processes that hand over to each other must stand on one CPU, as Fathom's do.
        let cpus = if comparison.threads == 1.0 {
            last_cpu()
        } else {
            "0-4095".to_string()
        };
        command
            .args(["-c", &cpus])
            .arg(program)
            .args(arguments)
            .current_dir(&self.folder)
            .env("ENOUGH", "100000")
            .env("TIMING_O", "0")
            .env("LOOP_O", "0")
            .stdin(Stdio::null());
        if comparison.unit == "ns" || comparison.id == "read_bandwidth_1" {
            command.env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
        }
        let before = children_cpu_seconds();
        let began = Instant::now();
        let output = command.output().ok()?;
        let wall = began.elapsed().as_secs_f64();
        let share = (children_cpu_seconds() - before) / wall;
        // How many threads STREAM starts is its own affair.
        let had_cpu = share >= 0.9 * comparison.threads;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        // lmbench prints its results on standard error.
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Some((text, had_cpu))
    }

    /// Why a tool has no figure.
    pub fn absence(&self, comparison: &Comparison) -> &'static str {
        match (&self.sources, comparison.words.first()) {
            (Some(_), Some(name)) if self.folder.join(name).is_file() => "said nothing",
            _ => "not here",
        }
    }

    /// What to say below the table.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.problems.clone();
        if !self.first.is_empty() {
            notes.push(
                "The other tools ran with real-time priority (chrt -r 1); Fathom did not.".into(),
            );
        }
        notes.push(
            "tinymembench fills 32 MiB, Fathom four times the last level: where that holds 32 MiB, a part of its fill stays there.".into(),
        );
        match &self.sources {
            None => notes.push("The other tools are not here: put the sources of multichase, tinymembench, STREAM and lmbench into one folder and name it in $RIVALS.".into()),
            Some(sources) => {
                let version = std::fs::read_to_string(sources.join("lmbench/src/version.h"));
                let line = version.ok().and_then(|text| {
                    text.lines().find(|line| line.contains("define")).map(|line| line.trim().to_string())
                });
                notes.push(format!(
                    "lmbench is unmodified ({}); its programs ran with -O, ENOUGH=100000 and its loop overheads taken as 0.",
                    line.unwrap_or_else(|| "version unknown".into())
                ));
            }
        }
        notes
    }
}

/// The last CPU of those that may be used: the first takes most interrupts.
fn last_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap_or("0");
    let last = list.trim().rsplit([',', '-']).next().unwrap_or("0");
    last.to_string()
}

/// CPU time of all children that were waited for, in seconds, from `/proc/self/stat`: in ticks,
/// which is fine enough for tools that run for seconds.
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: f64 = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_ascii_whitespace().skip(13).take(2))
        .into_iter()
        .flatten()
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    // Linux shows 100 ticks a second to programs on all architectures.
    ticks / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_counts() {
        let before = children_cpu_seconds();
        let busy = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
            .status()
            .unwrap();
        assert!(busy.success());
        assert!(children_cpu_seconds() > before);
    }

    #[test]
    fn the_two_fills_of_tinymembench_are_told_apart() {
        let text = " SSE2 copy                        :  10211.0 MB/s\n \
                    SSE2 fill                        :  22711.3 MB/s (0.4%)\n \
                    SSE2 nontemporal fill            :  21034.9 MB/s\n";
        assert_eq!(fill(text), Some(22711.3));
        assert_eq!(fill_around(text), Some(21034.9));
    }

    #[test]
    fn lmbench_puts_its_number_behind_the_last_colon() {
        let text = "Pagefaults on /tmp/a: 0.4114 microseconds\n";
        assert_eq!(micro(text), Some(0.4114));
    }
}
