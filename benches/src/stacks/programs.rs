//! Programs with known call trees, generated from a seed in four languages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::random::Random;

/// A function of a program; all iterations of its loop take equally long.
#[derive(Clone, Debug, Default)]
pub(super) struct Function {
    turns: u64,
    callees: Vec<usize>,
}

/// A tree that shows which function calls which. Each function is called by one function, from one place.
#[derive(Clone, Debug)]
pub(super) struct CallTree {
    functions: Vec<Function>,
}

/// Number of loop iterations that take about a microsecond.
const UNIT: u64 = 700;

impl CallTree {
    /// Creates a chain of `depth` calls, with shorter side branches.
    pub(super) fn of_depth(depth: usize, random: &mut Random) -> Self {
        let mut functions = vec![Function::default(); depth];
        for at in 0..depth {
            functions[at].turns = turns(random);
            if at + 1 < depth {
                functions[at].callees.push(at + 1);
            }
            let mut caller = at;
            while random.unit() < 0.3 {
                functions.push(Function {
                    turns: turns(random),
                    callees: Vec::new(),
                });
                let aside = functions.len() - 1;
                functions[caller].callees.push(aside);
                caller = aside;
            }
        }
        Self { functions }
    }

    fn turns(&self) -> u64 {
        self.functions.iter().map(|function| function.turns).sum()
    }

    /// Returns each function's shares of the time: its own, and including its callees.
    pub(super) fn truth(&self) -> Vec<(f64, f64)> {
        let all = self.turns() as f64;
        // A callee has a higher number.
        let mut inclusive = vec![0; self.functions.len()];
        for at in (0..self.functions.len()).rev() {
            let function = &self.functions[at];
            let below: u64 = function
                .callees
                .iter()
                .map(|callee| inclusive[*callee])
                .sum();
            inclusive[at] = function.turns + below;
        }
        let own = self.functions.iter().map(|function| function.turns);
        own.zip(inclusive)
            .map(|(own, inclusive)| (own as f64 / all, inclusive as f64 / all))
            .collect()
    }
}

/// Draws a number of iterations, such that a third of the functions take most of the time.
fn turns(random: &mut Random) -> u64 {
    match random.unit() < 0.3 {
        true => UNIT * (20 + random.below(200) as u64),
        false => UNIT * (1 + random.below(5) as u64),
    }
}

/// A way to build a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build {
    pub language: &'static str,
    pub compiler: &'static str,
    pub options: &'static [&'static str],
    /// Whether names are removed from the measured program.
    pub stripped: bool,
}

const fn build(
    language: &'static str,
    compiler: &'static str,
    options: &'static [&'static str],
    stripped: bool,
) -> Build {
    Build {
        language,
        compiler,
        options,
        stripped,
    }
}

/// The builds: with and without frame pointers, debug information and names.
pub(super) const BUILDS: [Build; 9] = [
    build("C", "gcc", &["-O2", "-fomit-frame-pointer"], false),
    build("C", "gcc", &["-O2", "-fno-omit-frame-pointer", "-g"], false),
    build("C", "gcc", &["-O2", "-fomit-frame-pointer"], true),
    build("C++", "g++", &["-O2", "-g"], false),
    build("C++", "g++", &["-O2"], true),
    build("Rust", "rustc", &["-O"], false),
    build(
        "Rust",
        "rustc",
        &["-O", "-Cforce-frame-pointers=yes", "-g"],
        false,
    ),
    build("Go", "go", &["build"], false),
    build("Go", "go", &["build", "-ldflags=-s -w"], false),
];

/// A program, and the same program with names.
pub(super) struct Program {
    pub path: PathBuf,
    pub named: PathBuf,
}

impl Build {
    /// Builds a program that runs through the tree for `seconds` seconds.
    pub(super) fn program(&self, tree: &CallTree, seconds: f64, folder: &Path) -> Result<Program> {
        let rounds = (seconds * 7e8 / tree.turns() as f64).ceil() as u64;
        let (source, suffix) = match self.language {
            "C" => (c(tree, rounds), "c"),
            "C++" => (cpp(tree, rounds), "cpp"),
            "Rust" => (rust(tree, rounds), "rs"),
            _ => (go(tree, rounds), "go"),
        };
        let file = folder.join(format!("program.{suffix}"));
        let named = folder.join("program");
        fs::write(&file, source).map_err(|error| format!("{}: {error}", file.display()))?;
        run(Command::new(self.compiler)
            .args(self.options)
            .arg("-o")
            .arg(&named)
            .arg(&file)
            .current_dir(folder))?;
        let path = match self.stripped {
            true => folder.join("stripped"),
            false => named.clone(),
        };
        if self.stripped {
            run(Command::new("strip").arg("-o").arg(&path).arg(&named))?;
        }
        Ok(Program { path, named })
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .map_err(|error| format!("can't start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Returns the source text of each function, callees first.
fn functions(tree: &CallTree, text: impl Fn(usize, u64, String) -> String, call: &str) -> String {
    let all = tree.functions.iter().enumerate().rev();
    all.map(|(at, function)| {
        let calls = function.callees.iter();
        let calls: String = calls.map(|it| call.replace('#', &it.to_string())).collect();
        text(at, function.turns, calls)
    })
    .collect()
}

/// The factor and the summand of an iteration's multiplication, which depends on the previous iteration, so
/// that its duration is the same at any address.
const NEXT: &str = "6364136223846793005UL + 1442695040888963407UL";

fn c(tree: &CallTree, rounds: u64) -> String {
    let function = |at, turns, calls| {
        format!(
            "__attribute__((noinline)) unsigned long n{at}(unsigned long x) {{\n\
             volatile char room[{}]; room[0] = x;\n\
             for (long i = 0; i < {turns}; i++) x = x * {NEXT};\n{calls} return x + room[0];\n}}\n",
            8 + at * 7 % 50
        )
    };
    let functions = functions(tree, function, " x = n#(x);\n");
    format!(
        "{functions}int main(void) {{ unsigned long x = 1; for (long i = 0; i < {rounds}; i++) x = n0(x); \
         return x == 0; }}\n"
    )
}

fn cpp(tree: &CallTree, rounds: u64) -> String {
    let function = |at, turns, calls| {
        format!(
            "struct n{at} : Node {{ unsigned long run(unsigned long x) override; }};\n\
             unsigned long n{at}::run(unsigned long x) {{\n\
             for (long i = 0; i < {turns}; i++) x = x * {NEXT};\n{calls} return x + 1;\n}}\n"
        )
    };
    let call = " { static Node *volatile next = new n#; x = next->run(x); }\n";
    let functions = functions(tree, function, call);
    format!(
        "namespace tree {{\nstruct Node {{ virtual unsigned long run(unsigned long) = 0; }};\n{functions}}}\n\
         int main() {{ tree::Node *volatile first = new tree::n0; unsigned long x = 1; \
         for (long i = 0; i < {rounds}; i++) x = first->run(x); return x == 0; }}\n"
    )
}

fn rust(tree: &CallTree, rounds: u64) -> String {
    let function = |at, turns, calls| {
        format!(
            "#[inline(never)] fn n{at}(mut x: u64) -> u64 {{\n\
             for _ in 0..{turns}u64 {{ x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);\n\
             unsafe {{ std::arch::asm!(\"/* {{0}} */\", inout(reg) x) }} }}\n\
             {calls} black_box(x) + 1\n}}\n"
        )
    };
    let functions = functions(tree, function, " x = black_box(n#(x) >> 1);\n");
    format!(
        "use std::hint::black_box;\n{functions}fn main() {{ let mut x = 1; for _ in 0..{rounds} {{ \
         x = n0(x) >> 1; }} std::process::exit((x == 0) as i32) }}\n"
    )
}

fn go(tree: &CallTree, rounds: u64) -> String {
    let function = |at, turns, calls| {
        format!(
            "//go:noinline\nfunc n{at}(x uint64) uint64 {{\n\
             for i := 0; i < {turns}; i++ {{ x = x*6364136223846793005 + 1442695040888963407 }}\n\
             {calls} return x + 1\n}}\n"
        )
    };
    let functions = functions(tree, function, " x = n#(x)\n");
    format!(
        "package main\n\nimport \"os\"\n\n{functions}func main() {{\n x := uint64(1)\n\
         for i := 0; i < {rounds}; i++ {{ x = n0(x) }}\n if x == 0 {{ os.Exit(1) }}\n}}\n"
    )
}
