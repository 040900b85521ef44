//! Checks whether the command does the same without the cause. If it doesn't, its time without the cause says
//! nothing.
//!
//! The check takes three runs that don't count: with the cause, without it, and with it again. The exit
//! status, the standard output and the files that the command writes must be the same. If the two runs with
//! the cause differ in numbers, for example because the command prints the time, numbers aren't compared. If
//! the output is small and always the same, it is also compared in each of the later runs.

use std::path::{Path, PathBuf};

use fathom_measure::{
    Attempt, Executor, Expectation, MeasureError, Output, OutputDigest, ProcessExecutor,
    ProcessOptions, end_what_hooks_left,
};
use fathom_model::Exit;
use sha2::{Digest, Sha256};

use crate::{ConductError, RunTerms, Target};

/// The order of the runs, by index of the command.
const RUNS: [usize; 3] = [0, 1, 0];

/// The observable behavior of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Did {
    exit: Exit,
    printed: Option<OutputDigest>,
    /// What the command printed, if that is little.
    little: Option<Vec<u8>>,
    /// The digest of each file; `None` if it doesn't exist.
    wrote: Vec<Option<OutputDigest>>,
    /// The end of its standard error, to explain a failure.
    errors: Vec<u8>,
}

/// The files that the command writes.
pub(crate) struct Files {
    pub written: Vec<PathBuf>,
    /// Where the command without the cause writes them.
    pub without: Vec<PathBuf>,
}

/// What three runs that do the same have shown.
#[derive(Debug)]
pub(crate) struct Seen {
    /// What each further run has to print.
    pub expected: Option<Expectation>,
    /// The times of the run without the cause and of the faster one with it, in seconds.
    pub without: f64,
    pub with: f64,
}

/// Checks whether both commands do the same. If not, returns `Err` with a description of what differs; `how`
/// is the phrase in it that says what was changed. The output of the commands goes to a file in `folder`.
///
/// # Errors
/// If a command can't be run at all.
pub(crate) fn check(
    arms: [&Target; 2],
    how: &str,
    files: &Files,
    folder: &Path,
    terms: &RunTerms,
    seed: u64,
) -> Result<Result<Seen, String>, ConductError> {
    let printed = folder.join("printed");
    let printing = |target: &Target| {
        let mut command = target.command.clone();
        command.output = Output::File(printed.clone());
        (command, target.hooks.clone())
    };
    let options = ProcessOptions {
        vary_environment_size: false,
        show_output: false,
        ..terms.process_options(seed)
    };
    let mut executor = ProcessExecutor::new(arms.map(printing).into(), options)?;
    let mut did = Vec::new();
    let mut times = [f64::INFINITY; 2];
    for (round, benchmark) in (0..).zip(RUNS) {
        let report = executor.run(&[Attempt {
            benchmark,
            warmup: true,
            round,
            position: 0,
        }])?;
        if report.interrupted {
            return Err(MeasureError::Interrupted.into());
        }
        let time = &mut times[benchmark];
        *time = time.min(report.run.wall_ns as f64 / 1e9);
        did.push(Did {
            exit: report.run.exit,
            printed: digest(&printed),
            little: little(&printed),
            wrote: match benchmark {
                0 => &files.written,
                _ => &files.without,
            }
            .iter()
            .map(|file| digest(file))
            .collect(),
            errors: report.stderr_tail,
        });
    }
    executor.sweep();
    end_what_hooks_left();
    let [as_it_is, without, again] = <[Did; 3]>::try_from(did).expect("three runs were made");
    Ok(
        match differs(how, &as_it_is, &without, &again, &files.written) {
            Some(differs) => Err(differs),
            None => Ok(Seen {
                expected: expected(&as_it_is, &without, &again),
                with: times[0],
                without: times[1],
            }),
        },
    )
}

/// The maximum size of output that is compared in each run: collecting it costs the command time.
const LITTLE: u64 = 4_096;

fn little(file: &Path) -> Option<Vec<u8>> {
    let is_little = std::fs::metadata(file).is_ok_and(|about| about.len() <= LITTLE);
    is_little.then(|| std::fs::read(file).ok()).flatten()
}

/// Returns what each run has to print.
fn expected(as_it_is: &Did, without: &Did, again: &Did) -> Option<Expectation> {
    let printed = as_it_is.little.as_ref()?;
    let is_same = |did: &Did| did.little.as_ref() == Some(printed);
    (is_same(without) && is_same(again)).then(|| Expectation {
        sha256: Sha256::digest(printed).into(),
        length: Some(printed.len() as u64),
        given: "its first run".to_owned(),
    })
}

fn digest(file: &Path) -> Option<OutputDigest> {
    OutputDigest::of_file(file).ok()
}

/// Describes the difference, if any.
fn differs(
    how: &str,
    as_it_is: &Did,
    without: &Did,
    again: &Did,
    files: &[PathBuf],
) -> Option<String> {
    if as_it_is.exit != again.exit {
        return Some("its exit status differs from run to run".to_owned());
    }
    if as_it_is.exit != without.exit {
        let ended = |did: &Did| match did.exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(signal) => format!("signal {signal}"),
            Exit::TimedOut => "the time limit".to_owned(),
        };
        let errors = String::from_utf8_lossy(&without.errors);
        let last = errors.lines().rfind(|line| !line.trim().is_empty());
        let last = last.map_or(String::new(), |line| format!(": {line}"));
        return Some(format!(
            "{how}, the command ends with {} instead of {}{last}",
            ended(without),
            ended(as_it_is)
        ));
    }
    let mut printed_and_written = vec![(
        "what it prints".to_owned(),
        [as_it_is.printed, without.printed, again.printed],
    )];
    printed_and_written.extend(files.iter().enumerate().map(|(index, file)| {
        let of = |did: &Did| did.wrote[index];
        (
            file.display().to_string(),
            [of(as_it_is), of(without), of(again)],
        )
    }));
    printed_and_written
        .into_iter()
        .find_map(|(what, digests)| content_differs(how, &what, digests))
}

fn content_differs(how: &str, what: &str, digests: [Option<OutputDigest>; 3]) -> Option<String> {
    let exact = digests.map(|digest| digest.map(|digest| digest.exact));
    let but_for_numbers = digests.map(|digest| digest.map(|digest| digest.but_for_numbers));
    let [as_it_is, without, again] = match exact[0] == exact[2] {
        true => exact,
        false => but_for_numbers,
    };
    if as_it_is != again {
        Some(format!(
            "{what} differs from run to run, so it can't be compared"
        ))
    } else if as_it_is != without {
        Some(format!("{what} is not the same {how}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn did(printed: &str) -> Did {
        Did {
            exit: Exit::Code(0),
            printed: Some(OutputDigest::of(printed.as_bytes())),
            little: Some(printed.as_bytes().to_vec()),
            wrote: vec![None],
            errors: Vec::new(),
        }
    }

    fn said(as_it_is: &Did, without: &Did, again: &Did) -> Option<String> {
        differs(
            "without it",
            as_it_is,
            without,
            again,
            &[PathBuf::from("/srv/out")],
        )
    }

    #[test]
    fn the_same_is_the_same() {
        assert_eq!(said(&did("a"), &did("a"), &did("a")), None);
    }

    #[test]
    fn another_output_is_not() {
        let said = said(&did("a"), &did("b"), &did("a")).unwrap();
        assert_eq!(said, "what it prints is not the same without it");
        let numbers = super::tests::said(&did("1"), &did("2"), &did("1"));
        assert!(
            numbers.is_some(),
            "numbers count where they are always the same"
        );
    }

    #[test]
    fn numbers_that_vary_by_themselves_are_not_compared() {
        assert_eq!(
            said(&did("in 9 ms"), &did("in 2 ms"), &did("in 10 ms")),
            None
        );
        let varies = said(&did("a"), &did("a"), &did("b")).unwrap();
        assert!(varies.contains("from run to run"), "{varies}");
        assert!(said(&did("in 9 ms"), &did("out 9 ms"), &did("in 10 ms")).is_some());
    }

    #[test]
    fn another_end_says_why() {
        let failed = Did {
            exit: Exit::Code(3),
            errors: b"first\nno such thing\n".to_vec(),
            ..did("a")
        };
        assert_eq!(
            said(&did("a"), &failed, &did("a")).unwrap(),
            "without it, the command ends with exit code 3 instead of exit code 0: no such thing"
        );
        assert!(
            said(&did("a"), &did("a"), &failed)
                .unwrap()
                .contains("run to run")
        );
    }

    #[test]
    fn a_file_that_is_missing_or_another_is_named() {
        let wrote = |text: &str| Did {
            wrote: vec![Some(OutputDigest::of(text.as_bytes()))],
            ..did("a")
        };
        assert_eq!(said(&wrote("x"), &wrote("x"), &wrote("x")), None);
        for without in [wrote("y"), did("a")] {
            let said = said(&wrote("x"), &without, &wrote("x")).unwrap();
            assert_eq!(said, "/srv/out is not the same without it");
        }
    }

    #[test]
    fn little_that_is_always_the_same_is_expected_of_each_run() {
        let of = |without: &Did, again: &Did| expected(&did("a"), without, again);
        let expectation = of(&did("a"), &did("a")).unwrap();
        assert_eq!(expectation.length, Some(1));
        assert_eq!(of(&did("a"), &did("b")), None);
        let much = Did {
            little: None,
            ..did("a")
        };
        assert_eq!(of(&much, &did("a")), None);
    }
}
