//! Turns the user's input into runnable stages.

use std::ffi::OsString;
use std::time::Duration;

use fathom_conduct::Target;
use fathom_conduct::pipe::Stages;
use fathom_measure::pipeline::MOST_STAGES;
use fathom_model::PipeStage;

use super::arguments::Arguments;
use super::line;
use crate::cli::failure::{Failure, usage};
use crate::cli::quantities;
use crate::cli::run_options::RunOptions;
use crate::cli::target::{self, Source};

/// Splits the pipeline, finds the programs and names them.
///
/// # Errors
/// Usage errors, which say what to type; programs and files that don't exist.
pub(super) fn prepare(arguments: &Arguments) -> Result<Stages, Failure> {
    let texts = texts(arguments)?;
    once(&arguments.run_options)?;
    let shell = arguments
        .run_options
        .shell_words()
        .map_err(Failure::Usage)?;
    let last = texts.len() - 1;
    let mut targets: Vec<Target> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let hidden = line::shell_syntax(text, index + 1, index == last);
        if let (None, Some(problem)) = (&shell, hidden) {
            return usage(problem);
        }
        let options = options_of(&arguments.run_options, index, last);
        let source = Source::Line(text.clone());
        targets.push(target::target(
            &options,
            None,
            &source,
            index,
            texts.len(),
            &Vec::new(),
        )?);
    }
    Ok(Stages::of(targets)?)
}

fn texts(arguments: &Arguments) -> Result<Vec<String>, Failure> {
    let text_of = |word: &OsString| {
        word.to_str().map(str::to_string).ok_or_else(|| {
            Failure::Usage(format!(
                "the stage {:?} isn't UTF-8; put it in a script",
                word.to_string_lossy()
            ))
        })
    };
    let texts = match (&arguments.stages[..], &arguments.line[..]) {
        ([], []) => {
            return usage("no pipeline; try: fathom pipe 'cat FILE' 'wc -l'");
        }
        ([], [line]) => line::split(&text_of(line)?).map_err(Failure::Usage)?,
        ([], words) => {
            let words: Vec<String> = words.iter().map(text_of).collect::<Result<_, _>>()?;
            return usage(format!(
                "after --, write the whole pipeline in one pair of quotes: fathom pipe -- {}",
                shell_words::quote(&words.join(" "))
            ));
        }
        (stages, []) => stages.iter().map(text_of).collect::<Result<_, _>>()?,
        (_, _) => {
            return usage(
                "give each stage in quotes, or the whole pipeline as 'A | B' after --, not both",
            );
        }
    };
    match &texts[..] {
        [only] if line::split(only).is_ok_and(|stages| stages.len() > 1) => usage(format!(
            "the only command is a whole pipeline; write: fathom pipe -- {}",
            shell_words::quote(only)
        )),
        [only] => usage(format!(
            "a pipeline has at least two stages; for one command, use: fathom why {}",
            shell_words::quote(only)
        )),
        many if many.len() > MOST_STAGES => usage(format!(
            "{} stages are too many: at most {MOST_STAGES} can be run; combine some with sh -c 'A | B'",
            many.len()
        )),
        _ => Ok(texts),
    }
}

/// Refuses options for the whole pipeline that are given more than once.
fn once(options: &RunOptions) -> Result<(), Failure> {
    for (name, values) in [
        ("--input", &options.input),
        ("--output", &options.output),
        ("--prepare", &options.prepare),
    ] {
        if values.len() > 1 {
            return usage(format!(
                "{name} was given {} times; it applies to the whole pipeline: give it once",
                values.len()
            ));
        }
    }
    Ok(())
}

/// Returns the options of one stage. Input, output and preparation belong to the whole pipeline, not to every
/// stage.
fn options_of(options: &RunOptions, index: usize, last: usize) -> RunOptions {
    let mut own = options.clone();
    if index != 0 {
        own.input.clear();
        own.prepare.clear();
    }
    if index != last {
        own.output.clear();
        own.show_output = false;
    }
    own
}

/// Returns the delay of each stage; `None` if none was given.
///
/// # Errors
/// If a stage or a time can't be parsed.
pub(super) fn delays(
    given: &[String],
    stages: &[PipeStage],
) -> Result<Option<Vec<Duration>>, Failure> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut delays = vec![Duration::ZERO; stages.len()];
    for text in given {
        let Some((stage, time)) = text.rsplit_once('=') else {
            return usage(format!(
                "--delay takes STAGE=TIME, such as {}=200ms, not {text:?}",
                stages[stages.len() - 1].name
            ));
        };
        let time = quantities::duration(time)
            .map_err(|problem| Failure::Usage(format!("--delay {text}: {problem}")))?;
        delays[stage_named(stage, stages)?] = time;
    }
    Ok(Some(delays))
}

/// Finds a stage by its number from 1, or by its name.
fn stage_named(text: &str, stages: &[PipeStage]) -> Result<usize, Failure> {
    if let Some(found) = stages.iter().position(|stage| stage.name == text) {
        return Ok(found);
    }
    match text.parse::<usize>() {
        Ok(number) if (1..=stages.len()).contains(&number) => Ok(number - 1),
        _ => {
            let known: Vec<String> = stages
                .iter()
                .zip(1..)
                .map(|(stage, number)| format!("{number} {}", stage.name))
                .collect();
            usage(format!(
                "--delay: no stage {text:?}; the stages are {}",
                known.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &str) -> PipeStage {
        PipeStage {
            name: name.to_string(),
            command: name.to_string(),
            arguments: vec![name.to_string()],
            working_directory: None,
        }
    }

    #[test]
    fn a_delay_names_its_stage_by_name_or_number() {
        let stages = [stage("cat"), stage("7"), stage("wc")];
        let of = |text: &str| delays(&[text.to_string()], &stages).unwrap().unwrap();
        let late = Duration::from_millis(200);
        assert_eq!(of("wc=200ms"), [Duration::ZERO, Duration::ZERO, late]);
        assert_eq!(of("1=200ms"), [late, Duration::ZERO, Duration::ZERO]);
        assert_eq!(of("7=200ms"), [Duration::ZERO, late, Duration::ZERO]);
        assert!(delays(&[], &stages).unwrap().is_none());
    }

    #[test]
    fn a_wrong_delay_is_answered_with_the_stages() {
        let stages = [stage("cat"), stage("wc")];
        let of = |text: &str| {
            delays(&[text.to_string()], &stages)
                .unwrap_err()
                .to_string()
        };
        assert!(of("grep=1s").contains("1 cat, 2 wc"));
        assert!(of("3=1s").contains("1 cat, 2 wc"));
        assert!(of("wc").contains("wc=200ms"));
        assert!(of("wc=soon").contains("500ms"));
    }
}
