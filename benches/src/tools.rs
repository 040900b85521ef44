//! The compared tools: where they are, how to run them, and the results that they reported.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_model::BenchRecord;
use serde_json::Value;

use crate::Result;
use crate::compile::compile;
use crate::find::{build_fathom, find_hyperfine, in_path};

/// Everything needed to measure.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The `fathom` of this workspace.
    pub fathom: PathBuf,
    /// hyperfine 2, if installed.
    pub hyperfine: Option<PathBuf>,
    /// A C loop around vfork, execve and wait4.
    pub vfork_loop: PathBuf,
    /// A program that runs a tool and reports what that cost.
    pub meter: PathBuf,
    /// A program with a fixed amount of work.
    pub work: PathBuf,
    /// A program of 0.7 MiB.
    pub tiny: PathBuf,
    /// A program that acts as a neighbour.
    pub load: PathBuf,
    /// An empty dynamic program.
    pub empty: PathBuf,
    /// Folder for result files.
    scratch: PathBuf,
}

/// The cost of a tool, including all processes that it waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    /// User and system time in seconds.
    pub cpu_s: f64,
    /// Largest resident memory of any one of the processes, in bytes.
    pub peak_bytes: f64,
}

/// A tool's results for one command, in the order of the runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    /// Wall times in seconds.
    pub wall_s: Vec<f64>,
    /// Total CPU time of all runs, in seconds.
    pub cpu_s: f64,
    /// Peak memory in bytes.
    pub peak_bytes: Vec<f64>,
    /// The median wall time that the tool itself reports, in seconds.
    pub median_s: f64,
}

/// A session of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// The samples of each command.
    pub commands: Vec<Samples>,
    /// The cost of the session.
    pub usage: Usage,
}

impl Tools {
    /// Finds and builds the tools.
    ///
    /// # Errors
    /// If Fathom or a C program can't be built.
    pub(crate) fn prepare() -> Result<Tools> {
        let own = std::env::current_exe().map_err(|e| format!("can't tell where I am: {e}"))?;
        let target = own
            .ancestors()
            .nth(2)
            .ok_or("can't tell where target/ is")?;
        let folder = target.join("benches");
        std::fs::create_dir_all(&folder)
            .map_err(|e| format!("can't make {}: {e}", folder.display()))?;
        let fathom = match std::env::var_os("FATHOM") {
            Some(path) => PathBuf::from(path),
            None => build_fathom(target)?,
        };
        Ok(Tools {
            fathom,
            hyperfine: find_hyperfine(),
            vfork_loop: compile("vfork_loop.c", &[], &folder)?,
            meter: compile("meter.c", &["-static"], &folder)?,
            work: compile("subjects/work.c", &["-static"], &folder)?,
            tiny: compile("subjects/tiny.c", &["-static"], &folder)?,
            load: compile("subjects/load.c", &[], &folder)?,
            empty: in_path("true").ok_or("there is no program 'true' in PATH")?,
            scratch: folder,
        })
    }

    /// Returns the folder for scratch files.
    pub(crate) fn scratch_folder(&self) -> &Path {
        &self.scratch
    }

    /// Runs a program with an environment that is the same for all tools, because the caller's variables
    /// (such as cargo's LD_LIBRARY_PATH) change the cost of starting a program.
    ///
    /// # Errors
    /// If the program can't be run or fails.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, program: &Path, arguments: &[S]) -> Result<Usage> {
        let account = self.scratch.join("account");
        let failed = |what: &str| format!("{} {what}", program.display());
        let output = Command::new(&self.meter)
            .arg(&account)
            .arg(program)
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C")
            // Data that a tool caches between runs belongs to this measurement.
            .env("XDG_CACHE_HOME", self.scratch.join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .map_err(|e| failed(&format!("could not be started: {e}")))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let text = std::fs::read_to_string(&account)
            .map_err(|e| failed(&format!("left no account ({e}): {stderr}")))?;
        let _ = std::fs::remove_file(&account);
        let numbers: Vec<f64> = text
            .split_ascii_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [status, user_us, system_us, peak_kib] = numbers[..] else {
            return Err(failed(&format!(
                "left an account that can't be read: {text}"
            )));
        };
        if status != 0.0 {
            return Err(failed(&format!("failed (wait status {status}): {stderr}")));
        }
        Ok(Usage {
            cpu_s: (user_us + system_us) / 1e6,
            peak_bytes: peak_kib * 1024.0,
        })
    }

    /// Measures with Fathom, and returns its complete record.
    ///
    /// # Errors
    /// If Fathom fails.
    pub(crate) fn fathom_record(
        &self,
        options: &[&str],
        commands: &[String],
    ) -> Result<(BenchRecord, Usage)> {
        let file = self.scratch.join("fathom.json");
        let usage = self.run(
            &self.fathom,
            &line(&["bench", "--json"], &file, options, commands),
        )?;
        let text = std::fs::read_to_string(&file).map_err(|e| format!("fathom --json: {e}"))?;
        let record = serde_json::from_str(&text).map_err(|e| format!("fathom --json: {e}"))?;
        Ok((record, usage))
    }

    /// Does the same as [`Tools::fathom_record`], but returns samples.
    ///
    /// # Errors
    /// If Fathom fails.
    pub(crate) fn fathom_json(&self, options: &[&str], commands: &[String]) -> Result<Measured> {
        let (record, usage) = self.fathom_record(options, commands)?;
        let samples = |benchmark| {
            let runs: Vec<_> = record
                .runs
                .iter()
                .filter(|r| r.benchmark == benchmark)
                .collect();
            let wall_s: Vec<f64> = runs.iter().map(|run| run.wall_ns as f64 / 1e9).collect();
            Samples {
                median_s: median(&wall_s),
                wall_s,
                cpu_s: runs.iter().map(|run| run.cpu_ns as f64 / 1e9).sum(),
                peak_bytes: runs
                    .iter()
                    .map(|run| run.peak_memory_bytes as f64)
                    .collect(),
            }
        };
        Ok(Measured {
            commands: (0..record.benchmarks.len()).map(samples).collect(),
            usage,
        })
    }

    /// Measures with Fathom and writes hyperfine's export format, without the record.
    ///
    /// # Errors
    /// If Fathom fails.
    pub(crate) fn fathom_export(&self, options: &[&str], commands: &[String]) -> Result<Measured> {
        let file = self.scratch.join("fathom-export.json");
        let words = line(&["bench", "--export-json"], &file, options, commands);
        let usage = self.run(&self.fathom, &words)?;
        let samples = |result: &Value| {
            let number = |key: &str| result[key].as_f64().unwrap_or(f64::NAN);
            let wall_s = numbers(&result["times"]);
            Samples {
                median_s: number("median"),
                cpu_s: (number("user") + number("system")) * wall_s.len() as f64,
                wall_s,
                peak_bytes: numbers(&result["memory_usage_byte"]),
            }
        };
        Ok(Measured {
            commands: results(&file)?.iter().map(samples).collect(),
            usage,
        })
    }

    /// Measures with hyperfine 2; `None` if it isn't installed.
    ///
    /// # Errors
    /// If hyperfine fails.
    pub(crate) fn hyperfine(
        &self,
        options: &[&str],
        commands: &[String],
    ) -> Result<Option<Measured>> {
        let Some(hyperfine) = &self.hyperfine else {
            return Ok(None);
        };
        let file = self.scratch.join("hyperfine.json");
        let usage = self.run(
            hyperfine,
            &line(&["--export-json"], &file, options, commands),
        )?;
        let samples = |result: &Value| {
            let runs = result["measurements"]
                .as_array()
                .map_or(&[][..], Vec::as_slice);
            let all = |metric: &str| -> Vec<f64> {
                runs.iter()
                    .filter_map(|run| run[metric]["value"].as_f64())
                    .collect()
            };
            let median_s = &result["summary"]["time_wall_clock"]["median"];
            Samples {
                median_s: median_s.as_f64().unwrap_or(f64::NAN),
                wall_s: all("time_wall_clock"),
                cpu_s: all("time_cpu").iter().sum(),
                peak_bytes: all("memory_peak_resident"),
            }
        };
        Ok(Some(Measured {
            commands: results(&file)?.iter().map(samples).collect(),
            usage,
        }))
    }

    /// Measures one program with the C loop.
    ///
    /// # Errors
    /// If the loop fails.
    pub(crate) fn c_loop(&self, warmups: usize, runs: usize, program: &Path) -> Result<Measured> {
        self.c_loop_as(&[], warmups, runs, program)
    }

    /// Does the same as [`Tools::c_loop`], with the loop and the program on one CPU.
    ///
    /// # Errors
    /// If the loop fails.
    pub(crate) fn c_loop_on(
        &self,
        cpu: usize,
        warmups: usize,
        runs: usize,
        program: &Path,
    ) -> Result<Measured> {
        let taskset = ["/usr/bin/env", "taskset", "-c", &cpu.to_string()];
        self.c_loop_as(&taskset, warmups, runs, program)
    }

    fn c_loop_as(
        &self,
        prefix: &[&str],
        warmups: usize,
        runs: usize,
        program: &Path,
    ) -> Result<Measured> {
        let file = self.scratch.join("loop.txt");
        let (warmups, runs) = (warmups.to_string(), runs.to_string());
        let own: [&OsStr; 5] = [
            self.vfork_loop.as_ref(),
            file.as_ref(),
            warmups.as_ref(),
            runs.as_ref(),
            program.as_ref(),
        ];
        let words: Vec<&OsStr> = prefix.iter().map(OsStr::new).chain(own).collect();
        let usage = self.run(Path::new(words[0]), &words[1..])?;
        let text = std::fs::read_to_string(&file).map_err(|e| format!("the C loop: {e}"))?;
        let columns: Vec<(f64, f64)> = text
            .lines()
            .filter_map(|line| {
                let (wall, cpu) = line.split_once(' ')?;
                Some((
                    wall.parse::<f64>().ok()? / 1e9,
                    cpu.parse::<f64>().ok()? / 1e9,
                ))
            })
            .collect();
        let (wall_s, cpu_s): (Vec<f64>, Vec<f64>) = columns.into_iter().unzip();
        let samples = Samples {
            median_s: median(&wall_s),
            wall_s,
            cpu_s: cpu_s.iter().sum(),
            peak_bytes: Vec::new(),
        };
        Ok(Measured {
            commands: vec![samples],
            usage,
        })
    }

    /// Returns the path of a file for results.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Returns a command that runs the empty program.
    pub(crate) fn empty_command(&self) -> String {
        quoted(&self.empty)
    }

    /// Returns a command that runs `work` with `iterations` iterations.
    pub(crate) fn work_command(&self, iterations: u64) -> String {
        format!("{} {iterations}", quoted(&self.work))
    }

    /// Returns a command that runs `tiny`.
    pub(crate) fn tiny_command(&self) -> String {
        quoted(&self.tiny)
    }
}

/// Quotes a path as a word of a command line.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Returns the median; NaN if there are no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    fathom_stats::quantile(&sorted, 0.5)
}

/// Returns the arguments of a call that prints nothing: both tools support `-N` and `--style none`.
fn line(first: &[&str], file: &Path, options: &[&str], commands: &[String]) -> Vec<String> {
    let mut words: Vec<String> = first.iter().map(std::string::ToString::to_string).collect();
    words.push(file.display().to_string());
    words.extend(["-N", "--style", "none"].map(String::from));
    words.extend(options.iter().map(std::string::ToString::to_string));
    words.extend_from_slice(commands);
    words
}

fn results(file: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let whole: Value =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let results = whole["results"].as_array().cloned().unwrap_or_default();
    if results.is_empty() {
        return Err(format!("{} has no results", file.display()));
    }
    Ok(results)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(Value::as_f64)
        .collect()
}
