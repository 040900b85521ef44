//! `fathom why`: account for a program's time and name the cause of what is slow.

mod arguments;
mod cache;
mod language;
mod limits;
mod observe;
mod timing;
mod typical;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use arguments::Arguments;
use fathom_diagnose::{Language, Languages, Limits, Observation};
use fathom_measure::{CommandLine, interrupt};
use fathom_model::{Exit, Explaining, Explanation, Run, SCHEMA_VERSION, TimedRuns};
use fathom_report as report;
use fathom_trace::Trace;
use timing::Timing;

use crate::cli::failure::Failure;
use crate::cli::target::{Source, Target, line, target};
use crate::cli::{apart, fingerprint, null_output, screen, write};

/// Beyond this the times of the observed run are only quoted as modelled for an untraced one.
const QUOTABLE_SLOWDOWN: f64 = 1.1;
/// More than a picture can show; the page merges what is shorter than a pixel.
const TIMELINE_STRETCHES: usize = 50_000;
/// Of a tree: so many processes and different programs are asked what they are written in.
const MOST_PROCESSES: usize = 1_000;
const MOST_PROGRAMS: usize = 24;

/// Times, observes, explains, prints. Returns the exit code.
///
/// # Errors
/// Everything that keeps an explanation from being printed.
pub fn run(arguments: Arguments) -> Result<i32, Failure> {
    if arguments.tiers {
        return tiers();
    }
    let files = [
        &arguments.html,
        &arguments.json,
        &arguments.export_markdown,
        &arguments.save_observation,
    ];
    write::check(files.into_iter().filter_map(|path| path.as_deref()))?;
    let target = target_of(&arguments)?;
    let written = files.into_iter().filter_map(|path| path.as_deref());
    apart::check([&target.command], written)?;
    interrupt::catch();
    fingerprint::take();
    let seen = time_and_observe(&target, &arguments);
    say(&arguments, "");
    let (mut timing, trace) = seen?;
    let stopped = interrupt::received().is_some();
    // A run that was ended is a part of what was timed: it is explained for itself.
    let before = (stopped && trace.end.cut_short).then(|| timing.take());
    let floor = timing.timed.floor.map(|floor| floor.value);
    let limits = limits::limits(arguments.limits, floor, &trace);
    let observation = observation(&target, &timing, trace, limits);
    if let Some(path) = &arguments.save_observation {
        keep(path, &observation)?;
    }
    let mut explanation = explain(&target, &timing, &observation);
    if let Some(before) = before {
        explanation.end = ended_by_signal(&before);
    }
    show(&arguments, &explanation)?;
    Ok(if stopped { 130 } else { 0 })
}

fn time_and_observe(target: &Target, arguments: &Arguments) -> Result<(Timing, Trace), Failure> {
    let timing = timing::time(target, arguments)?;
    if interrupt::received().is_some() {
        return Err(Failure::Interrupted(timing::left(&timing)));
    }
    let trace = observe::observe(target, arguments, &timing.runs)?;
    Ok((timing, trace))
}

/// Says on the terminal what is being done, in the place of what was said before.
fn say(arguments: &Arguments, what: &str) {
    let draws = screen::can_draw() && !arguments.run_options.show_output;
    screen::redraw(draws, what);
}

/// How an observed run ended that a signal to Fathom ended.
fn ended_by_signal(before: &TimedRuns) -> String {
    let untraced = report::untraced(before);
    format!("by a signal to Fathom: what it did until then is explained; before that: {untraced}")
}

fn target_of(arguments: &Arguments) -> Result<Target, Failure> {
    let source = match (&arguments.command, arguments.words.is_empty()) {
        (Some(command), true) => line(command)?,
        (None, false) => Source::Words(arguments.words.clone()),
        (None, true) => {
            return Err(Failure::Usage(
                "there is no command; try: fathom why -- python3 script.py".into(),
            ));
        }
        (Some(_), false) => {
            return Err(Failure::Usage(
                "give the command either in quotes or after --, not both".into(),
            ));
        }
    };
    target(&arguments.run_options, None, &source, 0, 1, &Vec::new())
}

fn tiers() -> Result<i32, Failure> {
    let mut text = String::new();
    for tier in observe::detected(&cache::rights_stamp()) {
        let name = tier.tier.name();
        let what = observe::description(tier.tier);
        if tier.available {
            text.push_str(&format!("{name:<8} yes  {what}\n"));
        } else {
            text.push_str(&format!("{name:<8} no   {what}\n"));
            text.push_str(&format!(
                "              {}\n",
                report::escape(&tier.why_not)
            ));
            if !tier.remedy.is_empty() {
                text.push_str(&format!("              {}\n", report::escape(&tier.remedy)));
            }
        }
    }
    write::print(text.as_bytes())?;
    Ok(0)
}

/// The file that the command ran in the end: a version manager's shim becomes another program, which may be named
/// relative to where the command began. That it went elsewhere meanwhile isn't known here.
fn program_of(command: &CommandLine, last: Option<&str>) -> PathBuf {
    let named = last.map(|path| command.folder().join(path));
    let named = named.filter(|path| path.is_file());
    named.unwrap_or_else(|| as_seen_from_here(command))
}

/// A program that is named relative to where the command runs (`--cwd`) lies elsewhere seen from here.
fn as_seen_from_here(command: &CommandLine) -> PathBuf {
    command.folder().join(&command.program)
}

/// What the other programs of the tree are written in, as far as their files tell and their names don't.
fn languages(target: &Target, trace: &Trace) -> Languages {
    let mut programs = trace
        .processes
        .iter()
        .map(|process| process.execs.last().map(|exec| &exec.path));
    // The command's own is asked apart.
    let own = programs.next().flatten();
    let programs = programs.flatten().filter(|path| Some(*path) != own);
    let unknown = |path: &&String| Language::from_program_name(path).is_none();
    let programs: BTreeSet<&String> = programs.filter(unknown).take(MOST_PROCESSES).collect();
    let folder = target.command.folder();
    let known = programs
        .into_iter()
        .take(MOST_PROGRAMS)
        .filter_map(|path| Some((path.clone(), language::language_of(&folder.join(path))?)));
    known.collect()
}

/// Writes what the diagnosis is made from.
fn keep(path: &Path, observation: &Observation) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(observation).map_err(|error| Failure::Write {
        path: path.to_path_buf(),
        error: error.into(),
    })?;
    write::export(path, bytes)
}

/// What was timed and traced, with what the files of its programs say.
fn observation(target: &Target, timing: &Timing, trace: Trace, limits: Limits) -> Observation {
    let languages = languages(target, &trace);
    let root = trace.processes.first();
    let last = root.and_then(|process| process.execs.last());
    let program = program_of(&target.command, last.map(|exec| exec.path.as_str()));
    Observation {
        timed: timing.runs.clone(),
        floor_seconds: timing.timed.floor.map(|floor| floor.value),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        limits,
        language: language::language_of(&program),
        languages,
        python_unbuffered: language::python_unbuffered(&target.command.variables),
        trace,
    }
}

fn explain(target: &Target, timing: &Timing, observation: &Observation) -> Explanation {
    let trace = &observation.trace;
    let mut diagnosis = fathom_diagnose::diagnose(observation);
    let less_work = null_output::warning(0, &target.benchmark);
    diagnosis.warnings.extend(less_work.map(|it| it.message));
    let slowdown = slowdown(timing, trace);
    Explanation {
        schema_version: SCHEMA_VERSION,
        kind: "why".to_string(),
        fathom_version: env!("CARGO_PKG_VERSION").to_string(),
        started_at: timing.started_at.clone(),
        environment: fingerprint::environment(),
        command: target.benchmark.command.clone(),
        arguments: target.benchmark.arguments.clone(),
        end: end_of(&timing.runs, trace),
        timed: timing.timed.clone(),
        explaining: Explaining {
            tier: trace
                .tier
                .map_or("none", fathom_trace::Tier::name)
                .to_string(),
            wall_ns: trace.duration_ns,
            slowdown,
            // As it is shown, with two digits.
            times_are_quoted: (slowdown * 100.0).round() <= QUOTABLE_SLOWDOWN * 100.0,
            not_visible: trace.not_visible.clone(),
            lost: observe::losses(&trace.lost),
        },
        account: diagnosis.account,
        threads: diagnosis.threads,
        io: diagnosis.io,
        calls: diagnosis.calls,
        own_code: diagnosis.own_code,
        processes: fathom_diagnose::process_rows(trace),
        phases: fathom_diagnose::phases(trace),
        findings: diagnosis.findings,
        timeline: fathom_diagnose::timeline(trace, TIMELINE_STRETCHES),
        warnings: diagnosis.warnings,
    }
}

/// How much longer the observed run took than the median of the timed ones, waiting for a CPU included in
/// both: what a reader gets who divides the two.
fn slowdown(timing: &Timing, trace: &Trace) -> f64 {
    match timing.timed.wall.value {
        timed if timed > 0.0 => trace.duration_ns as f64 / 1e9 / timed,
        _ => 1.0,
    }
}

/// How the timed runs ended, if not all of them ended well; else how the observed one did.
fn end_of(runs: &[Run], trace: &Trace) -> String {
    let bad: Vec<&Run> = runs.iter().filter(|run| !run.exit.is_success()).collect();
    let Some(first) = bad.first() else {
        return observe::bad_end(&trace.end);
    };
    let how = match first.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "ended by --timeout".to_string(),
    };
    format!("{how} in {} of {} runs", bad.len(), runs.len())
}

fn show(arguments: &Arguments, explanation: &Explanation) -> Result<(), Failure> {
    let json_to_stdout = arguments.json.as_deref().is_some_and(write::is_stdout);
    if !json_to_stdout {
        let options = report::WhyOptions {
            width: screen::stdout_width(),
            color: screen::stdout_has_colour(),
            unicode: screen::speaks_unicode(),
            syscalls: arguments.syscalls,
            functions: arguments.functions,
            threads: arguments.threads,
            processes: arguments.processes,
        };
        write::print(report::explain_terminal(explanation, &options).as_bytes())?;
    }
    if let Some(path) = &arguments.json {
        let mut bytes = Vec::new();
        report::explain_json(explanation, &mut bytes).map_err(|error| Failure::Write {
            path: path.clone(),
            error,
        })?;
        write::export(path, bytes)?;
    }
    if let Some(path) = &arguments.html {
        write::export(path, report::explain_html(explanation))?;
        told(path);
    }
    if let Some(path) = &arguments.export_markdown {
        write::export(path, report::explain_markdown(explanation))?;
    }
    Ok(())
}

fn told(path: &Path) {
    if !write::is_stdout(path) {
        anstream::eprintln!(
            "the picture is in {}",
            report::escape(&path.display().to_string())
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_measure::{Input, Output};

    fn command(program: &str, folder: Option<&str>) -> CommandLine {
        CommandLine {
            arguments: vec![program.into()],
            program: program.into(),
            directory: folder.map(PathBuf::from),
            variables: Vec::new(),
            input: Input::Null,
            output: Output::Null,
            expect: None,
        }
    }

    #[test]
    fn a_program_is_looked_for_where_the_command_runs() {
        let seen = |program: &str, folder| as_seen_from_here(&command(program, folder));
        assert_eq!(seen("./prog", Some("/srv")), Path::new("/srv/prog"));
        assert_eq!(seen("./prog", None), Path::new("./prog"));
        assert_eq!(seen("/bin/true", Some("/srv")), Path::new("/bin/true"));
    }

    #[test]
    fn what_a_script_becomes_is_looked_for_there_too() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let script = command("./script.sh", Some(folder));
        let ran = |last: Option<&str>| program_of(&script, last);
        let here = Path::new(folder);
        assert_eq!(ran(Some("./Cargo.toml")), here.join("./Cargo.toml"));
        assert_eq!(ran(Some("./is-elsewhere")), here.join("./script.sh"));
        assert_eq!(ran(None), here.join("./script.sh"));
    }
}
