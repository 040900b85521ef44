//! Measures whether stacks are unwound to their beginning, and whether the time by function is right.
//!
//! Generated programs with a known call tree are sampled as `fathom why` does. Short ones are explained by
//! it, and the cost of sampling is measured. Then 10,000 addresses of the largest binary on this machine are
//! named.

mod beats;
mod cost;
mod programs;
mod short;

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use fathom_stacks::{Files, Frame, Place, functions_at, named};
use fathom_trace::{Activity, Stacks, Tier};

use crate::Result;
use crate::options::Options;
use crate::random::Random;
use crate::sampling::{sampled, silent, tiers};
use crate::table::Table;
use crate::tools::Tools;
use programs::{BUILDS, Build, CallTree, Program};

/// Numbers of nested calls from `main` to the innermost function.
const DEPTHS: [usize; 4] = [5, 20, 60, 200];

/// Number of addresses of a binary that are named.
const PLACES: usize = 10_000;

/// Measures with the tier that `fathom why` would use for this user. With `--quick`, takes an eighth of the
/// samples.
pub(crate) fn measure(tools: &Tools, options: &Options) -> Result<Vec<Table>> {
    let tiers: Vec<Tier> = tiers().into_iter().take(1).collect();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let seconds = if options.quick { 0.5 } else { 4.0 };
    Ok(vec![
        trees(&tiers, seconds, folder.path())?,
        beats::measure(&tiers, seconds, folder.path())?,
        short::measure(tools, options.quick, folder.path())?,
        cost::measure(tools, &tiers, options.quick, folder.path())?,
        symbols()?,
    ])
}

fn trees(tiers: &[Tier], seconds: f64, folder: &Path) -> Result<Table> {
    let mut table = Table::new(
        "Stacks of generated call trees",
        &[
            "language",
            "build",
            "tier",
            "depth",
            "stacks",
            "to the first function",
            "worst own time",
            "worst with callees",
        ],
    );
    let (mut all, mut reached, mut within) = (0, 0, 0);
    let mut seed = 51;
    for build in BUILDS {
        if !build.is_here() {
            table.note(format!("There is no {}.", build.compiler));
            continue;
        }
        for depth in DEPTHS {
            seed += 1;
            let tree = CallTree::of_depth(depth, &mut Random::new(seed));
            let program = build.program(&tree, seconds, folder)?;
            for tier in tiers {
                let (_, seen) = sampled(&silent([&program.path]), *tier)?;
                let errors = worst(&tree, &build, &program, &seen);
                let whole = seen.whole as f64 / (seen.taken - seen.thinned).max(1) as f64;
                all += 1;
                reached += u32::from(whole >= 0.95);
                within += u32::from(errors.0 <= 0.03 && errors.1 <= 0.03);
                table.row([
                    build.language.to_owned(),
                    build.words(),
                    tier.name().to_owned(),
                    depth.to_string(),
                    seen.taken.to_string(),
                    format!("{:.1} %", 100.0 * whole),
                    format!("{:.1} points", 100.0 * errors.0),
                    format!("{:.1} points", 100.0 * errors.1),
                ]);
            }
        }
    }
    table.note(format!(
        "Goal: 95 % to the first function (reached by {reached} of {all}), and the time of each function within \
         3 points of the program's (reached by {within} of {all}). Time of own code, a sample in each 0.997 ms of it."
    ));
    Ok(table)
}

impl Build {
    /// Returns whether the compiler for this build is installed.
    fn is_here(&self) -> bool {
        Command::new(self.compiler)
            .arg("--version")
            .output()
            .is_ok()
    }

    fn words(&self) -> String {
        let mut words = self.options.join(" ");
        if self.stripped {
            words.push_str(", stripped");
        }
        words
    }
}

/// Returns the largest deviations of a function's shares from the true ones: for its own time, and for the
/// time including its callees.
fn worst(tree: &CallTree, build: &Build, program: &Program, seen: &Stacks) -> (f64, f64) {
    let truth = tree.truth();
    let numbers = numbers(build, program, seen);
    let mut own = vec![0.0; truth.len()];
    let mut inclusive = vec![0.0; truth.len()];
    let mut all = 0.0;
    for row in seen
        .rows
        .iter()
        .filter(|row| row.activity == Activity::OwnCode)
    {
        let Some(node) = row.node else { continue };
        let time = row.ns as f64;
        all += time;
        let mut path: Vec<usize> = seen.tree.path(node).filter_map(&numbers).collect();
        // Inlined code counts as the function's own.
        let mut compiled = seen.tree.path(node).filter(|it| !it.inlined);
        if let Some(innermost) = compiled.next().and_then(&numbers) {
            own[innermost] += time;
        }
        path.sort_unstable();
        path.dedup();
        for function in path {
            inclusive[function] += time;
        }
    }
    let mut errors = (0.0f64, 0.0f64);
    for (at, (own_truth, inclusive_truth)) in truth.into_iter().enumerate() {
        errors.0 = errors.0.max((own[at] / all - own_truth).abs());
        errors.1 = errors.1.max((inclusive[at] / all - inclusive_truth).abs());
    }
    errors
}

/// Returns a function that maps a frame to the number of its function. If the program has no names, a
/// function is found by its start address in the program with names.
fn numbers(
    build: &Build,
    program: &Program,
    seen: &Stacks,
) -> impl Fn(&Frame) -> Option<usize> + use<> {
    let mut names: HashMap<u64, String> = HashMap::new();
    if build.stripped
        && let Ok(data) = fs::metadata(&program.named)
    {
        let mut files = Files::default();
        let file = files.number(&program.named.to_string_lossy(), data.ino(), 0);
        let own = program.path.to_string_lossy();
        let frames = seen.tree.frames.iter().filter(|it| it.binary == own);
        names = functions_at(&files, file, frames.filter_map(|it| it.offset));
    }
    move |frame| {
        let name = frame.function.as_ref();
        let name = name.or_else(|| names.get(&frame.offset?))?;
        let mut words = name.split(|it: char| !it.is_ascii_alphanumeric());
        words.find_map(|word| word.strip_prefix('n')?.parse().ok())
    }
}

/// Names addresses all over a binary.
fn symbols() -> Result<Table> {
    let mut table = Table::new(
        "Names of 10,000 places of a large binary",
        &["binary", "size", "named", "time", "memory"],
    );
    for binary in binaries() {
        let Ok(data) = fs::metadata(&binary) else {
            continue;
        };
        let mut files = Files::default();
        let file = files.number(&binary.to_string_lossy(), data.ino(), 0);
        let mut random = Random::new(51);
        let place = |_| Place {
            file,
            returns: true,
            offset: (data.len() as f64 * random.unit()) as u64,
        };
        let places: Vec<Place> = (0..PLACES).map(place).collect();
        fs::write("/proc/self/clear_refs", "5").map_err(|error| error.to_string())?;
        let before = memory("VmRSS:");
        let began = Instant::now();
        let frames = named(&files, places);
        let took = began.elapsed();
        let named = frames.values().flatten().filter(|it| it.function.is_some());
        table.row([
            binary.display().to_string(),
            format!("{} MB", data.len() / 1_000_000),
            named.count().to_string(),
            format!("{:.2} s", took.as_secs_f64()),
            format!("{} MB", memory("VmHWM:").saturating_sub(before) / 1_000),
        ]);
    }
    table.note("Goal: 2 s and 200 MB for a binary of 100 MB. Bytes all over the file: many are of no code. Pages of the file itself count as memory.");
    Ok(table)
}

/// Returns the libraries of the compiler, Node and Java, if installed.
fn binaries() -> Vec<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map_or_else(
        |_| String::new(),
        |it| String::from_utf8_lossy(&it.stdout).trim().to_owned(),
    );
    let library = fs::read_dir(Path::new(&sysroot).join("lib"));
    let files = library.into_iter().flatten().flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = files
        .filter(|it| it.to_string_lossy().contains("/librustc_driver"))
        .collect();
    found.extend(std::env::current_exe());
    found.extend(["/usr/bin/node"].map(PathBuf::from));
    found
}

/// Returns the memory figure of this process that has this name, in kB.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_ascii_whitespace().next());
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}
