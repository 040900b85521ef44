//! Finds and builds the other tools.
//!
//! They are fetched manually and are never part of this repository. `$RIVALS` is a folder with their sources
//! in `multichase`, `tinymembench`, `STREAM` and `lmbench`. They are built unmodified, except for the size of
//! tinymembench's buffers and the length of multichase's samples.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::comparisons::{Comparison, FILLS, memory_mib, stream_elements};
use crate::Result;

/// Runs a tool with real-time priority: the tools don't detect disturbances by other programs, so those must
/// wait. Uses round-robin (-r), because with -f a tool whose threads share one CPU spins forever.
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

/// A source file of another tool that is built with changed constants, because the tool has no options for
/// them.
struct Changed<'a> {
    tool: &'static str,
    file: &'static str,
    /// Pairs of an original text and its replacement.
    numbers: &'a [(&'static str, &'a str)],
    /// Name of the changed file.
    name: &'static str,
}

/// multichase's programs report the best of their samples, and a sample of 0.25 to 2 s always includes timer
/// interrupts and neighbours. With samples of 20 ms, more of them fit into the same time.
const CHASE: Changed<'_> = Changed {
    tool: "multichase",
    file: "multichase.c",
    numbers: &[("#define DELAY_USECS 500000", "#define DELAY_USECS 20000")],
    name: "multichase_20_ms.c",
};
const LOADS: Changed<'_> = Changed {
    tool: "multichase",
    file: "multiload.c",
    numbers: &[(
        "#define LOAD_DELAY_RUN_uS 2000000",
        "#define LOAD_DELAY_RUN_uS 20000",
    )],
    name: "multiload_20_ms.c",
};

/// Writes the file of lat_pagefault in the same way as Fathom's own: 1 MiB, just written, in one write or 4
/// KiB at a time. This determines the size of the pieces in which the system keeps a file, and a fault maps
/// the available part of one piece: 2 MiB of 64 MiB written at once (20 ns per page here). Data read back
/// from the disk is in pages of yet another size.
pub(super) fn write_anew(path: &Path) -> std::io::Result<()> {
    let piece = match path.ends_with("PAGES") {
        true => 4096,
        false => 1 << 20,
    };
    let mut file = std::fs::File::create(path)?;
    (0..(1 << 20) / piece).try_for_each(|_| file.write_all(&vec![7; piece]))
}

impl Changed<'_> {
    /// Writes the changed source.
    ///
    /// # Errors
    /// If the source can't be read or written, or lacks one of the constants.
    fn write(&self, sources: &Path, to: &Path) -> std::io::Result<()> {
        let mut text = std::fs::read_to_string(sources.join(self.tool).join(self.file))?;
        for (old, new) in self.numbers {
            if !text.contains(old) {
                return Err(std::io::Error::other(format!("{} has no {old}", self.file)));
            }
            text = text.replace(old, new);
        }
        std::fs::write(to, text)
    }
}

/// The successfully built programs.
pub(super) struct Built {
    /// Folder with the sources of the tools.
    pub sources: Option<PathBuf>,
    /// Folder with the built programs.
    pub folder: PathBuf,
    /// Prefix of a tool's command that gives the tool priority on the CPU, if that is allowed.
    pub first: &'static [&'static str],
    problems: Vec<String>,
}

impl Built {
    /// Builds the tools in `$RIVALS` in `folder`. Tools that can't be built are noted and skipped.
    ///
    /// # Errors
    /// If the folder can't be created.
    pub(super) fn prepare(folder: &Path) -> Result<Built> {
        let io = |e: std::io::Error| format!("{}: {e}", folder.display());
        std::fs::create_dir_all(folder.join("rpc")).map_err(io)?;
        let mut built = Built {
            sources: std::env::var_os("RIVALS").map(PathBuf::from),
            folder: folder.to_path_buf(),
            first: if may_run_first() { RUN_FIRST } else { &[] },
            problems: Vec::new(),
        };
        // lmbench includes the headers of Sun RPC in all of its programs, even those that don't use RPC; few
        // systems still have them.
        std::fs::write(folder.join("rpc/rpc.h"), "").map_err(io)?;
        std::fs::write(folder.join("rpc/types.h"), "#include <stdint.h>\n").map_err(io)?;
        built.build_all();
        Ok(built)
    }

    fn build_all(&mut self) {
        self.expand();
        self.build_multichase();
        self.build_tinymembench();
        self.build_stream();
        self.build_lmbench();
    }

    fn build_multichase(&mut self) {
        let chase = ["arena.c", "util.c", "permutation.c", "br_asm.c"];
        let gnu = ["-O3", "-std=gnu99", "-w"];
        let [multichase, multiload] = [CHASE, LOADS].map(|changed| self.change(&changed));
        self.cc(
            "multichase",
            "multichase",
            &gnu,
            &[&[multichase.as_str()], &chase[..]].concat(),
        );
        self.cc("multichase", "pingpong", &gnu, &["pingpong.c"]);
        // Build it with the processor's widest loads, like Fathom and STREAM.
        self.cc(
            "multichase",
            "multiload",
            &[&gnu[..], &["-march=native"]].concat(),
            &[&[multiload.as_str()], &chase[..]].concat(),
        );
    }

    fn build_tinymembench(&mut self) {
        let tiny = ["-O2", "-w", "-DMAXREPEATS=1"];
        // The tool's own 32 MiB would partly stay in a last-level cache of that size.
        let bytes = format!("({} * 1024 * 1024)", memory_mib());
        let enlarged = self.change(&Changed {
            tool: "tinymembench",
            file: "main.c",
            numbers: &[("(32 * 1024 * 1024)", &bytes)],
            name: "tinymembench_in_memory.c",
        });
        self.cc(
            "tinymembench",
            "tinymembench",
            &tiny,
            &[
                enlarged.as_str(),
                "util.c",
                "asm-opt.c",
                "x86-sse2.S",
                "arm-neon.S",
                "aarch64-asm.S",
                "mips-32.S",
            ],
        );
    }

    fn build_stream(&mut self) {
        // Without `-fno-tree-loop-distribute-patterns`, compilers turn STREAM's loop into memcpy, which
        // writes around the caches and gives a different figure. OFFSET is STREAM's own option. With 0, all
        // arrays are at the same offset in a page, where a load waits for the last store to the same offset
        // (16.9 instead of 21.5 GB/s here). With 128 numbers, the target is 2 KiB away from the source, as in
        // Fathom.
        let stream = [
            "-O3",
            "-march=native",
            "-DOFFSET=128",
            "-w",
            "-mcmodel=medium",
            "-fno-tree-loop-distribute-patterns",
            &format!("-DSTREAM_ARRAY_SIZE={}", stream_elements()),
            "-DNTIMES=10",
        ];
        self.cc("STREAM", "stream_1", &stream, &["stream.c"]);
        self.cc(
            "STREAM",
            "stream_all",
            &[&stream[..], &["-fopenmp"]].concat(),
            &["stream.c"],
        );
    }

    fn build_lmbench(&mut self) {
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

    /// Writes the changed source; returns its path.
    fn change(&mut self, changed: &Changed<'_>) -> String {
        let written = self.folder.join(changed.name);
        if let Some(sources) = &self.sources
            && let Err(error) = changed.write(sources, &written)
        {
            self.problems.push(format!("{}: {error}", changed.tool));
        }
        written.display().to_string()
    }

    /// Generates one of multichase's headers with its own script.
    fn expand(&mut self) {
        let Some(script) = self
            .sources
            .as_ref()
            .map(|all| all.join("multichase/gen_expand"))
        else {
            return;
        };
        let expanded = Command::new("perl").arg(script).arg("200").output();
        let written = match expanded {
            Ok(output) if output.status.success() => {
                std::fs::write(self.folder.join("expand.h"), output.stdout)
            }
            Ok(output) => Err(std::io::Error::other(output.status.to_string())),
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            self.problems
                .push(format!("multichase's expand.h: {error}"));
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
            // The changed source includes files from its original folder.
            .args(["-I", "."])
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
                // Remove an older build so that it isn't used instead of this one.
                let _ = std::fs::remove_file(self.folder.join(program));
            }
            Err(error) => self
                .problems
                .push(format!("{}: {error}", sources.display())),
        }
    }

    /// Returns the reason why a tool has no figure.
    pub(super) fn absence(&self, comparison: &Comparison) -> &'static str {
        match (&self.sources, comparison.words.first()) {
            (Some(_), Some(name)) if self.folder.join(name).is_file() => "no figure",
            _ => "not here",
        }
    }

    /// Returns the notes below the table.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.problems.clone();
        if !self.first.is_empty() {
            notes.push(
                "The other tools ran with real-time priority (chrt -r 1), except where processes wake each other: that takes longer between real-time ones (6.6 instead of 6.0 us a round trip). Fathom never did.".into(),
            );
        }
        notes.push("STREAM copies between arrays whose places in a page differ by 2 KiB (its OFFSET=128), with the processor's widest plain stores (-march=native, no memcpy), as Fathom does. Its own default, OFFSET=0 and 16-byte stores, is slower here by a fifth. Both count read and written bytes, and not the lines that stores fetch first.".into());
        notes.push(format!("tinymembench was built with buffers of {} MiB, as lmbench has them, instead of its own 32: where the last level holds 32 MiB, a part of such a fill stays there. Where that makes it take longer than {FILLS} s, its fills are not reached.", memory_mib()));
        notes.push("multichase's programs were built with samples of 20 ms, of which they take the best, instead of 250 to 2000; its memory loads with -march=native. pingpong hands one line over, and which pieces of the last level that goes through is luck: it runs five times in a round, whose median counts, as Fathom takes that of 16 lines. It waits with one pause between its loads (-r 1), as Fathom does: without one (-r 0), each change of the line throws away what the core had read ahead (41 instead of 28 ns).".into());
        notes.push("Rates are means on both sides: of STREAM's times with one thread, of lmbench's windows; with all threads STREAM's best rate, as in its mean each thread waits for the slowest at the end of every pass; of reading by one thread the best mean: of Fathom's passes of 40 ms, of multiload's samples of 20 ms.".into());
        match &self.sources {
            None => notes.push("The other tools are not here: put the sources of multichase, tinymembench, STREAM and lmbench into one folder and name it in $RIVALS.".into()),
            Some(sources) => {
                let version = std::fs::read_to_string(sources.join("lmbench/src/version.h"));
                let line = version.ok().and_then(|text| {
                    text.lines().find(|line| line.contains("define")).map(|line| line.trim().to_string())
                });
                notes.push(format!(
                    "lmbench is unmodified ({}); its programs ran with -O and its loop overheads taken as 0; calls in windows of 0.5 ms and switches in 5 ms (ENOUGH), because a mean over its 0.1 s has the timer's interrupts in it, which is not what a call costs; memory in windows of 0.1 s.",
                    line.unwrap_or_else(|| "version unknown".into())
                ));
            }
        }
        notes
    }
}
