//! Starts the program behind a wrapper directly, in the environment that the wrapper set up.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fathom_measure::server::descendants;
use fathom_measure::{
    Attempt, Executor, MeasureError, ProcessExecutor, ProcessOptions, end_what_hooks_left,
    variables,
};
use fathom_model::FindingId;
use fathom_trace::Exec;

use crate::Target;
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "no-wrapper",
    takes_away: "the work of a wrapper, such as a version manager's shim, before it executes the real program",
    needs: "a command whose first process eventually executes another program",
    can_break: "the wrapper's output is missing",
    findings: &[FindingId::StartupDominated, FindingId::ProcessSpawning],
    looks: 1,
    arrange,
    ..USUAL
};

/// The interval between checks whether the real program has started.
const BETWEEN_LOOKS: Duration = Duration::from_micros(500);

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let root = case.trace.processes.first();
    let execs = root.map_or(&[][..], |process| &process.execs);
    let [first, .., last] = execs else {
        return Err("it has no wrapper".to_owned());
    };
    if first.path == last.path || last.arguments_cut || last.arguments.is_empty() {
        return Err("it has no wrapper".to_owned());
    }
    if !case.may_look {
        return Ok(Change::default());
    }
    let made = environment_of(case, last)?;
    let own = case.target.command.environment();
    let unset = own.iter().map(|(name, _)| name);
    let unset = unset.filter(|name| !made.iter().any(|(known, _)| known == *name));
    let unset = unset.cloned().collect();
    let differs = |one: &(OsString, OsString)| !own.contains(one);
    Ok(Change {
        program: Some(case.target.command.folder().join(&last.path)),
        words: Some(last.arguments.iter().map(OsString::from).collect()),
        set: made.into_iter().filter(differs).collect(),
        unset,
        ..Change::default()
    })
}

/// Runs the command once more, and reads the environment variables of the real program while it runs.
fn environment_of(case: &Case<'_>, real: &Exec) -> Result<Vec<(OsString, OsString)>, String> {
    let ended = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let looking = scope.spawn(|| look(&real.arguments, &ended));
        // The program runs to its end, so that its work isn't cut off halfway.
        let ran = run(case.target);
        ended.store(true, Relaxed);
        ran.map(|()| looking.join().ok().flatten())
    });
    let (block, folder) = seen
        .map_err(|error| error.to_string())?
        .ok_or("the program that its wrapper runs ends too soon to be examined")?;
    if case
        .folder_of_runs()
        .canonicalize()
        .is_ok_and(|own| own != folder)
    {
        return Err("its wrapper changes to another folder".to_owned());
    }
    Ok(variables(&block).collect())
}

fn run(target: &Target) -> Result<(), MeasureError> {
    let options = ProcessOptions {
        timeout: None,
        pin: Vec::new(),
        vary_environment_size: false,
        show_output: false,
        keep_daemons: false,
        seed: 0,
    };
    let command = (target.command.clone(), target.hooks.clone());
    let mut executor = ProcessExecutor::new(vec![command], options)?;
    executor.run(&[Attempt {
        benchmark: 0,
        warmup: true,
        round: 0,
        position: 0,
    }])?;
    executor.sweep();
    end_what_hooks_left();
    Ok(())
}

/// Waits for a process below this one with these arguments; returns its variables and its folder.
fn look(arguments: &[String], ended: &AtomicBool) -> Option<(Vec<u8>, PathBuf)> {
    let words = arguments.iter();
    let wanted: Vec<u8> = words
        .flat_map(|word| [word.as_bytes(), b"\0"].concat())
        .collect();
    while !ended.load(Relaxed) {
        for pid in descendants(std::process::id()) {
            let about = PathBuf::from(format!("/proc/{pid}"));
            if std::fs::read(about.join("cmdline")).is_ok_and(|words| words == wanted) {
                let block = std::fs::read(about.join("environ")).ok();
                let seen = block.zip(std::fs::read_link(about.join("cwd")).ok());
                if seen.is_some() {
                    return seen;
                }
            }
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    None
}
