//! What was timed, how it was explained, and what must be known to trust it.

use fathom_model::{Estimate, Explanation, TimedRuns};

use crate::line::{Page, Tone};
use crate::quantity::{counted, fixed, format_level, supported_decimals};
use crate::text::JOIN;
use crate::{TimeUnit, format_bytes};

/// A run shorter than this many floors shows the floor, as in `fathom bench`.
const FLOOR_MATTERS_BELOW: f64 = 20.0;
/// An explaining run that took less than this part of the timed median is not like them: they were
/// disturbed, or it did other work.
const NOT_TYPICAL: f64 = 0.9;
/// What a tier can't see is said in this many sentences; all are in the JSON and on the page.
const SENTENCES: usize = 3;

/// Command, timed runs, tier and its limits.
pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    let name = page.fit(&explanation.command, page.width());
    page.push(crate::line::Line::new().add(Tone::Strong, name));
    let timed = &explanation.timed;
    if timed.runs == 0 {
        let none = match explanation.end.is_empty() {
            true => "no run was timed",
            false => "none: the observed run did not come to its end",
        };
        page.field("median wall", Tone::Notice, none);
    } else {
        let median = format!("{}, {}", estimate(&timed.wall), counted_runs(timed));
        page.field("median wall", Tone::Strong, &median);
        page.field("CPU", Tone::Plain, &resources(explanation));
    }
    if !explanation.end.is_empty() {
        let end = page.clean(&explanation.end);
        page.field("ended", Tone::Bad, &end);
    }
    if let Some(ran) = really_ran(explanation) {
        let ran = page.clean(&ran);
        page.field("really ran", Tone::Plain, &ran);
    }
    let tier = explained(page, explanation);
    let tone = match explanation.explaining.times_are_quoted {
        true => Tone::Plain,
        false => Tone::Notice,
    };
    page.field("explained", tone, &tier);
    limits(page, explanation);
}

/// The last program that the command's own process executed, where it was not the first: what a
/// shim or a wrapper leads to.
fn really_ran(explanation: &Explanation) -> Option<String> {
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

/// What the account is of: `median wall time`.
pub(super) fn whole(explanation: &Explanation) -> &'static str {
    match explanation.timed.runs {
        0 => "observed run",
        _ => "median wall time",
    }
}

pub(super) fn counted_runs(timed: &TimedRuns) -> String {
    counted(timed.runs as u64, "untraced run", "untraced runs")
}

/// `12 untraced runs, median 651.2 ms, 95 % interval 648.0 to 655.1 ms`.
pub fn untraced(timed: &TimedRuns) -> String {
    match timed.runs {
        0 => "no run was timed".to_string(),
        _ => {
            format!("{}, median {}", counted_runs(timed), estimate(&timed.wall)).replace(JOIN, " ")
        }
    }
}

/// `651.2 ms, 95 % interval 648.0 to 655.1`.
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

fn resources(explanation: &Explanation) -> String {
    let timed = &explanation.timed;
    let unit = TimeUnit::fitting(timed.cpu.value);
    let decimals = supported_decimals(&timed.cpu, unit.seconds());
    let mut text = format!(
        "{}{JOIN}{}; peak memory {}",
        fixed(timed.cpu.value / unit.seconds(), decimals),
        unit.symbol(),
        format_bytes(timed.peak_memory.value).replace(' ', &JOIN.to_string())
    );
    if let Some(floor) = floor_that_matters(explanation) {
        let floor = super::quote::time(floor.value).replace(' ', &JOIN.to_string());
        text.push_str(&format!("; running nothing takes {floor}"));
    }
    text
}

/// The time of the empty program, if the command is so short that it is a good part of it.
pub(super) fn floor_that_matters(explanation: &Explanation) -> Option<&Estimate> {
    let timed = &explanation.timed;
    let matters = |floor: &&Estimate| timed.wall.value < floor.value * FLOOR_MATTERS_BELOW;
    timed.floor.as_ref().filter(matters)
}

/// The tier in words: what it is, and what it cost.
pub(super) fn explained_by(tier: &str) -> String {
    match tier {
        "kernel" => "counted in the kernel (tier kernel)".to_owned(),
        "perf" => "waits timed by the kernel, sampled from outside (tier perf)".to_owned(),
        "sample" => "sampled from outside (tier sample)".to_owned(),
        "ptrace" => "stopped at each call (tier ptrace)".to_owned(),
        other => format!("tier {other}"),
    }
}

/// `1.04x slower`: its wall time divided by the median of the untraced runs.
pub(super) fn slowdown(explanation: &Explanation) -> String {
    let factor = explanation.explaining.slowdown;
    if explanation.timed.runs == 0 {
        "with no timed run to compare it with".to_owned()
    } else if !factor.is_finite() {
        "how much slower is not known".to_owned()
    } else if factor < NOT_TYPICAL {
        format!("{factor:.2}x of the median wall time: not a typical run")
    } else if factor < 1.005 {
        "no slower".to_owned()
    } else if factor < 9.95 {
        format!("{factor:.2}x slower")
    } else {
        format!("{factor:.0}x slower")
    }
}

fn explained(page: &Page, explanation: &Explanation) -> String {
    let explaining = &explanation.explaining;
    let mut text = format!(
        "{}, {}",
        explained_by(&page.clean(&explaining.tier)),
        slowdown(explanation)
    );
    if !explaining.times_are_quoted {
        text.push_str(
            ": over 1.1x, so its counts are quoted, and times only as modelled for an untraced run",
        );
    }
    text
}

fn limits(page: &mut Page, explanation: &Explanation) {
    let not_visible = &explanation.explaining.not_visible;
    if !not_visible.is_empty() {
        let sentences: Vec<String> = not_visible
            .iter()
            .take(SENTENCES)
            .map(|sentence| page.clean(sentence).trim_end_matches('.').to_owned())
            .collect();
        let mut text = sentences.join("; ");
        if not_visible.len() > SENTENCES {
            let more = not_visible.len() - SENTENCES;
            text.push_str(&format!("; {more} more in --json"));
        }
        page.field("not seen", Tone::Quiet, &text);
    }
    for lost in &explanation.explaining.lost {
        let lost = page.clean(lost);
        page.field("lost", Tone::Bad, &lost);
    }
}

/// Warnings, and the machine.
pub(super) fn footer(page: &mut Page, explanation: &Explanation) {
    if !explanation.warnings.is_empty() {
        page.gap();
    }
    for warning in &explanation.warnings {
        let warning = page.clean(warning);
        page.prose(0, Tone::Notice, &format!("warning: {warning}"));
    }
}
