//! What was timed, how it was explained, and notes on how far to trust it.

use fathom_model::{Estimate, Explanation, ObservedProcess, TimeCategory, TimedRuns};

use crate::line::{Line, Page, Tone};
use crate::quantity::{counted, fixed, format_level, supported_decimals};
use crate::text::{JOIN, wrap};
use crate::{TimeUnit, columns, format_bytes};

/// If a run is shorter than this multiple of the floor, the floor is mentioned, as in `fathom bench`.
const FLOOR_MATTERS_BELOW: f64 = 20.0;
/// An explaining run that took less than this fraction of the timed median is not comparable: either the
/// timed runs were disturbed, or it did other work.
const NOT_TYPICAL: f64 = 0.9;
/// The maximum number of sentences on what a tier can't observe; the JSON and the page have all of them.
const SENTENCES: usize = 3;
/// The maximum number of lines of warnings, unless all details are requested.
const LINES_OF_WARNINGS: usize = 2;
/// The share of its time in its own code from which on a program is compute-bound.
const COMPUTES: f64 = 0.5;
/// The ratio of CPU time to wall time for a program that computes on one CPU.
const ONE_CPU: std::ops::RangeInclusive<f64> = 0.8..=1.1;
/// Separates two facts of one line.
const BETWEEN: &str = "   ";

/// Writes the command and its times: the untraced runs' median, CPU time and memory.
pub(super) fn time(page: &mut Page, explanation: &Explanation) {
    if let Some(process) = &explanation.process {
        return observed_process(page, explanation, process);
    }
    let name = page.fit(&explanation.command, page.width());
    page.push(Line::new().add(Tone::Strong, name));
    let timed = &explanation.timed;
    if timed.runs == 0 {
        let none = match explanation.end.is_empty() {
            true => "no run was timed",
            false => "no run was timed: the observed one did not finish",
        };
        page.prose(2, Tone::Notice, none);
    } else {
        facts(page, &times(explanation));
    }
    if !explanation.end.is_empty() {
        page.prose(2, Tone::Bad, &format!("ended: {}", explanation.end));
    }
    lost(page, explanation);
}

/// Writes how many records were lost. This comes first, since they are missing in the counts below.
fn lost(page: &mut Page, explanation: &Explanation) {
    let lost = &explanation.explaining.lost;
    if !lost.is_empty() {
        page.prose(2, Tone::Bad, &format!("lost: {}", lost.join(", ")));
    }
}

/// Writes `PID 1234 (name), 5.0 s of it`, its command and its CPU time.
fn observed_process(page: &mut Page, explanation: &Explanation, process: &ObservedProcess) {
    let title = page.clean(&process_title(explanation, process));
    page.push(Line::new().add(Tone::Strong, page.fit(&title, page.width())));
    if !explanation.command.is_empty() {
        let command = page.fit(&explanation.command, page.width().saturating_sub(2));
        page.verbatim(&format!("  {command}"));
    }
    let threads = explanation.threads.len() as u64;
    let processes = explanation.processes.len() as u64;
    let mut all = vec![format!(
        "CPU {}",
        super::quote::time(cpu_seconds(explanation))
    )];
    all.push(counted(threads, "thread", "threads"));
    if processes > 1 {
        all.push(counted(processes, "process", "processes"));
    }
    facts(page, &all);
    if process.ended && !explanation.end.is_empty() {
        page.prose(2, Tone::Bad, &format!("ended: {}", explanation.end));
    }
    lost(page, explanation);
}

/// Returns the title of an observed process: `PID 1234 (name), 5.0 s of it`.
pub(super) fn process_title(explanation: &Explanation, process: &ObservedProcess) -> String {
    let seconds = explanation.explaining.wall_ns as f64 / 1e9;
    let unit = TimeUnit::fitting(seconds);
    let up_to = if process.ended {
        ", until it exited"
    } else {
        ""
    };
    format!(
        "PID {} ({}), observed for {:.1} {}{up_to}",
        process.pid,
        process.name,
        seconds / unit.seconds(),
        unit.symbol()
    )
}

/// Returns the CPU time of all threads in seconds.
pub(super) fn cpu_seconds(explanation: &Explanation) -> f64 {
    let parts = explanation
        .threads
        .iter()
        .flat_map(|thread| &thread.account.parts);
    let of_cpu = |spent: TimeCategory| spent == TimeCategory::UserCode || spent.is_in_kernel();
    let on_cpu = parts.filter(|part| of_cpu(part.spent));
    on_cpu.map(|part| part.ns).sum::<u64>() as f64 / 1e9
}

/// Returns the whole to which savings refer, in seconds.
pub(crate) fn whole_seconds(explanation: &Explanation) -> f64 {
    match &explanation.process {
        Some(_) => explanation.account.wall_ns as f64 / 1e9,
        None => explanation.timed.wall.value,
    }
}

/// Writes as many facts side by side as fit, with the first one in bold.
fn facts(page: &mut Page, facts: &[String]) {
    let mut line = Line::new();
    let mut used = 0;
    for (index, fact) in facts.iter().enumerate() {
        let tone = if index == 0 {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let needed = BETWEEN.len() + columns(fact);
        if used > 0 && used + needed > page.width() {
            page.push(std::mem::take(&mut line));
            used = 0;
        }
        let before = if used == 0 { "  " } else { BETWEEN };
        used += before.len() + columns(fact);
        if used > page.width() {
            page.prose(2, tone, fact);
            used = 0;
        } else {
            line = line.add(Tone::Plain, before).add(tone, fact.as_str());
        }
    }
    if used > 0 {
        page.push(line);
    }
}

/// Writes how the command was observed, and notes on how far to trust the numbers.
pub(super) fn observed(page: &mut Page, explanation: &Explanation, all: bool) {
    let explaining = &explanation.explaining;
    let mut text = format!(
        "observed {}; {}",
        explained_by(&page.clean(&explaining.tier)),
        slowdown(explanation)
    );
    if !explaining.times_are_quoted {
        text.push_str(", times are scaled");
    }
    let hint = "details: -v";
    match all {
        true => page.prose(0, Tone::Quiet, &text),
        false if columns(&text) + BETWEEN.len() + hint.len() <= page.width() => {
            let line = Line::new().add(Tone::Quiet, text.as_str());
            let line = line.pad_to(columns(&text) + BETWEEN.len());
            page.push(line.add(Tone::Quiet, hint));
        }
        false => page.prose(0, Tone::Quiet, &format!("{text}; details:{JOIN}-v")),
    }
    let most = if all { usize::MAX } else { LINES_OF_WARNINGS };
    warnings(page, &explanation.warnings, most);
    if all {
        limits(page, explanation);
    }
    if let Some(command) = &explanation.explaining.names_by {
        // The command gets its own uncut line, so that it can be copied.
        page.prose(0, Tone::Plain, "For function names, run:");
        let command = page.clean(command);
        page.verbatim(&format!("  {command}"));
    }
}

/// Writes warnings about the numbers, in at most `most` lines.
pub(super) fn warnings(page: &mut Page, warnings: &[String], most: usize) {
    let texts = warnings.iter();
    let texts = texts.map(|text| format!("! {}", page.clean(text)));
    let lines: Vec<String> = texts.flat_map(|text| wrap(&text, page.width())).collect();
    let shown = lines.len().min(most);
    let is_cut = lines.len() > shown;
    for (index, line) in lines.into_iter().take(shown).enumerate() {
        let line = match is_cut && index + 1 == shown {
            true => page.begin(&line, page.width() - 5) + " (-v)",
            false => line,
        };
        page.push(Line::new().add(Tone::Notice, line));
    }
}

/// Returns the last program that the command's own process executed, if it was not the first: the program
/// that a shim or a wrapper runs.
fn really_ran(explanation: &Explanation) -> Option<String> {
    if explanation.process.is_some() {
        return None;
    }
    let command = explanation
        .processes
        .iter()
        .find(|row| row.parent.is_none())?;
    let paths = command.programs.iter().filter_map(|words| words.first());
    let mut paths: Vec<&String> = paths.collect();
    let last = paths.pop()?;
    let name = |path: &&String| path.rsplit('/').next().unwrap_or(path).to_owned();
    let before: Vec<String> = paths.iter().map(name).collect();
    (!before.is_empty()).then(|| format!("{last}, after {}", before.join(", ")))
}

/// Returns what the account divides: `median wall time`.
pub(super) fn whole(explanation: &Explanation) -> &'static str {
    match explanation.timed.runs {
        0 if explanation.process.is_some() => "observed time",
        0 => "observed run",
        _ => "median wall time",
    }
}

pub(super) fn counted_runs(timed: &TimedRuns) -> String {
    counted(timed.runs as u64, "untraced run", "untraced runs")
}

/// Formats an estimate: `651.2 ms, 95 % interval 648.0 to 655.1`.
pub(super) fn estimate(estimate: &Estimate) -> String {
    let unit = TimeUnit::fitting(estimate.value);
    let decimals = supported_decimals(estimate, unit.seconds());
    let number = |seconds: f64| fixed(seconds / unit.seconds(), decimals);
    let median = format!("{}{JOIN}{}", number(estimate.value), unit.symbol());
    if estimate.level <= 0.0 {
        return format!("{median}, no interval");
    }
    format!(
        "{median}, {} interval {}{JOIN}to{JOIN}{}",
        format_level(estimate.level),
        number(estimate.low),
        number(estimate.high)
    )
}

/// Returns `651.2 ms (95 % interval 648.0 to 655.1, 10 runs)`, `CPU 602 ms` and so on.
fn times(explanation: &Explanation) -> Vec<String> {
    let timed = &explanation.timed;
    let runs = counted(timed.runs as u64, "run", "runs");
    let wall = estimate(&timed.wall).replace(JOIN, " ");
    let wall = match wall.split_once(", ") {
        Some((median, interval)) => format!("{median} ({interval}, {runs})"),
        None => wall,
    };
    let unit = TimeUnit::fitting(timed.cpu.value);
    let decimals = supported_decimals(&timed.cpu, unit.seconds());
    let cpu = fixed(timed.cpu.value / unit.seconds(), decimals);
    let mut facts = vec![
        wall,
        format!("CPU {cpu} {}{}", unit.symbol(), of_cpus(explanation)),
        format!("memory {}", format_bytes(timed.peak_memory.value)),
    ];
    if let Some(floor) = floor_that_matters(explanation) {
        let floor = super::quote::time(floor.value);
        facts.push(format!("{floor} of this is process start-up"));
    }
    facts
}

/// Returns a note if a program computes on only one of several CPUs. It is a fact, not a promise of a saving.
fn of_cpus(explanation: &Explanation) -> String {
    let timed = &explanation.timed;
    let cpus = explanation.environment.cpus;
    let used = timed.cpu.value / timed.wall.value.max(f64::MIN_POSITIVE);
    let computes = explanation.account.share(TimeCategory::UserCode) >= COMPUTES;
    match cpus > 1 && computes && ONE_CPU.contains(&used) {
        true => format!(" on one of {cpus} CPUs"),
        false => String::new(),
    }
}

/// Returns the time of the empty program, if it is a considerable part of the command's time.
pub(super) fn floor_that_matters(explanation: &Explanation) -> Option<&Estimate> {
    let timed = &explanation.timed;
    let matters = |floor: &&Estimate| timed.wall.value < floor.value * FLOOR_MATTERS_BELOW;
    timed.floor.as_ref().filter(matters)
}

/// Returns how the command was observed: `in the kernel`.
pub(super) fn explained_by(tier: &str) -> String {
    match tier {
        "kernel" => "in the kernel".to_owned(),
        "perf" => "by switches and samples (tier perf)".to_owned(),
        "sample" => "by sampling (tier sample)".to_owned(),
        "ptrace" => "by stopping at each call (tier ptrace)".to_owned(),
        other => format!("by tier {other}"),
    }
}

/// Returns `traced run 1.04x slower`: its wall time divided by the median of the untraced runs.
pub(super) fn slowdown(explanation: &Explanation) -> String {
    let factor = explanation.explaining.slowdown;
    if explanation.process.is_some() {
        "it was not stopped".to_owned()
    } else if explanation.timed.runs == 0 {
        "no timed run to compare it with".to_owned()
    } else if !factor.is_finite() {
        "the slowdown of the traced run is unknown".to_owned()
    } else if factor < NOT_TYPICAL {
        format!("traced run {factor:.2}x the median, so it is not typical")
    } else if factor < 1.005 {
        "traced run no slower".to_owned()
    } else if factor < 9.95 {
        format!("traced run {factor:.2}x slower")
    } else {
        format!("traced run {factor:.0}x slower")
    }
}

fn limits(page: &mut Page, explanation: &Explanation) {
    if let Some(added) = &explanation.explaining.added {
        let added = page.clean(added);
        let text =
            format!("to get function names, the observed run used {added}; the timed runs did not");
        page.prose(0, Tone::Quiet, &text);
    }
    let not_visible = &explanation.explaining.not_visible;
    if !not_visible.is_empty() {
        let sentences: Vec<String> = not_visible
            .iter()
            .take(SENTENCES)
            .map(|sentence| sentence.trim_end_matches('.').to_owned())
            .collect();
        let mut text = sentences.join("; ");
        if not_visible.len() > SENTENCES {
            let more = not_visible.len() - SENTENCES;
            text.push_str(&format!("; {more} more in --json"));
        }
        page.prose(0, Tone::Quiet, &format!("not visible: {text}"));
    }
    if let Some(ran) = really_ran(explanation) {
        page.prose(
            0,
            Tone::Quiet,
            &format!("the program that finally ran: {ran}"),
        );
    }
}
