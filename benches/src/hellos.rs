//! The hello programs of `experiments/startup-showdown`, built in the simplest way for their languages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::find::in_path;

/// A program that can be started.
#[derive(Debug)]
pub(crate) struct Hello {
    /// Its language.
    pub language: &'static str,
    /// A command that doesn't need a shell.
    pub command: String,
    /// The file that is executed.
    pub program: PathBuf,
}

/// Builds the programs with an installed compiler in `folder`. Also returns the names of the other languages.
///
/// # Errors
/// If an installed compiler fails.
pub(crate) fn build(folder: &Path) -> Result<(Vec<Hello>, Vec<&'static str>)> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/startup-showdown/src");
    let mut there = Vec::new();
    let mut missing = Vec::new();
    let compilers: [(&'static str, &str, &[&str], &str); 4] = [
        ("C", "cc", &["-o"], "hello.c"),
        ("C++", "c++", &["-o"], "hello.cpp"),
        ("Rust", "rustc", &["-O", "-o"], "hello.rs"),
        ("Go", "go", &["build", "-o"], "hello.go"),
    ];
    for (language, compiler, arguments, source) in compilers {
        let Some(compiler) = in_path(compiler) else {
            missing.push(language);
            continue;
        };
        let program = folder.join(format!("hello-{}", language.to_lowercase()));
        run(Command::new(compiler)
            .args(arguments)
            .arg(&program)
            .arg(sources.join(source)))?;
        there.push(Hello {
            language,
            command: quoted(&[&program]),
            program,
        });
    }
    let interpreters: [(&'static str, Option<PathBuf>, &str); 5] = [
        ("Python", real_python(), "hello.py"),
        ("Node", in_path("node"), "hello.js"),
        ("dash", in_path("dash"), "hello.dash"),
        ("bash", in_path("bash"), "hello.bash"),
        ("zsh", in_path("zsh"), "hello.zsh"),
    ];
    for (language, interpreter, source) in interpreters {
        match interpreter {
            Some(interpreter) => there.push(Hello {
                language,
                command: quoted(&[&interpreter, &sources.join(source)]),
                program: interpreter,
            }),
            None => missing.push(language),
        }
    }
    Ok((there, missing))
}

/// Returns the Python program itself rather than a shim that searches for it.
fn real_python() -> Option<PathBuf> {
    let output = Command::new(in_path("python3")?)
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_file().then_some(path)
}

fn quoted(words: &[&Path]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.display()))
        .collect();
    words.join(" ")
}

fn run(command: &mut Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("can't start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{command:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
