//! The phases of a start as a bar and a list.

use fathom_model::{StartupPhase, StartupTrace};

use super::words;
use crate::line::{Line, Page, Tone};
use crate::why::bar::cells;

const BLOCKS: [char; 8] = ['▓', '█', '▒', '░', '▚', '▌', '·', '▞'];
const PLAIN: [char; 8] = ['%', '#', '=', '+', 'o', '|', '.', '~'];

/// The slowdown above which shares are not representative of a normal start if waits for a CPU are not
/// measured: on a busy machine, `exec` took 42 % of a run that was 3.6 times slower, all of it such a wait.
const MOST_SLOWDOWN: f64 = 1.5;
/// Observing never makes a run faster. An observed run that takes less than this share of the timed ones did
/// something else, or the machine was in another state.
const LEAST_SLOWDOWN: f64 = 0.7;

/// Draws the bar with its legend. Writes nothing if the tier observed no phases. Omits the bar and the shares
/// if they would not be representative of a normal start.
pub(super) fn write(page: &mut Page, trace: &StartupTrace) {
    if trace.phases.is_empty() {
        return;
    }
    let glyphs = if page.unicode() { BLOCKS } else { PLAIN };
    let glyph = |index: usize| glyphs[index % glyphs.len()];
    let no_shares = no_shares(trace);
    let has_shares = no_shares.is_none();
    let shares: Vec<f64> = trace.phases.iter().map(|phase| phase.ns as f64).collect();
    if has_shares {
        let width = page.width().saturating_sub(4).clamp(15, 100);
        let mut bar = Line::new().add(Tone::Plain, "  ");
        for (index, (phase, cells)) in trace.phases.iter().zip(cells(&shares, width)).enumerate() {
            let piece: String = std::iter::repeat_n(glyph(index), cells).collect();
            bar = bar.add(words::phase_tone(phase.phase), piece);
        }
        page.push(bar);
    }
    let total: f64 = shares.iter().sum();
    for (index, phase) in trace.phases.iter().enumerate() {
        // Zero waiting time is only in the JSON.
        if phase.phase == StartupPhase::WaitingForCpu && phase.ns == 0 {
            continue;
        }
        let glyph = glyph(index);
        let time = words::time_ns(phase.ns);
        let share = if total > 0.0 {
            phase.ns as f64 / total * 100.0
        } else {
            0.0
        };
        let line = Line::new()
            .add(Tone::Plain, "  ")
            .add(words::phase_tone(phase.phase), format!("{glyph}{glyph}"))
            .add(Tone::Plain, "  ")
            .add(Tone::Plain, words::phase(phase.phase))
            .pad_to(30)
            .add(Tone::Plain, format!("{time:>9}"));
        page.push(match has_shares {
            true => line.add(Tone::Quiet, format!("{share:>6.0} %")),
            false => line,
        });
    }
    if let Some(why) = no_shares {
        page.prose(2, Tone::Quiet, &format!("no shares: {why}"));
    }
}

/// Lists the phases with at least a twentieth of the time, largest first: `59 % loader and libraries, 29 %
/// exec, in the kernel`. If shares would not be representative of a normal start, says why there are none.
pub(super) fn in_a_line(trace: &StartupTrace) -> String {
    const LEAST: f64 = 0.05;
    if let Some(why) = no_shares(trace) {
        return format!("no shares: {why}");
    }
    let total = trace
        .phases
        .iter()
        .map(|phase| phase.ns)
        .sum::<u64>()
        .max(1) as f64;
    let mut parts: Vec<(f64, &str)> = trace
        .phases
        .iter()
        .map(|phase| (phase.ns as f64 / total, words::phase(phase.phase)))
        .filter(|(share, _)| *share >= LEAST)
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts = parts.iter();
    let parts: Vec<String> = parts
        .map(|(share, phase)| format!("{:.0} % {phase}", share * 100.0))
        .collect();
    parts.join(", ")
}

/// Returns why the shares of these phases are not representative of a normal start; `None` if they are.
pub(super) fn no_shares(trace: &StartupTrace) -> Option<&'static str> {
    let mut phases = trace.phases.iter();
    let waits_are_known = phases.any(|phase| phase.phase == StartupPhase::WaitingForCpu);
    match trace.slowdown? {
        times if times < LEAST_SLOWDOWN => Some(
            "the observed runs were far faster than the timed ones, so they don't explain them",
        ),
        times if times > MOST_SLOWDOWN && !waits_are_known => Some(
            "the observed runs were far slower than the timed ones, and it is not known how much of that was spent \
             waiting for a CPU",
        ),
        _ => None,
    }
}
