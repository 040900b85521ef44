//! The phases of a start as a bar and a list.

use fathom_model::StartupTrace;

use super::words;
use crate::line::{Line, Page, Tone};
use crate::why::bar::cells;

const BLOCKS: [char; 7] = ['▓', '█', '▒', '░', '▚', '▌', '·'];
const PLAIN: [char; 7] = ['%', '#', '=', '+', 'o', '|', '.'];

/// Draws the bar with its legend. Nothing where the tier told no phases.
pub(super) fn write(page: &mut Page, trace: &StartupTrace) {
    if trace.phases.is_empty() {
        return;
    }
    let glyphs = if page.unicode() { BLOCKS } else { PLAIN };
    let glyph = |index: usize| glyphs[index % glyphs.len()];
    let shares: Vec<f64> = trace.phases.iter().map(|phase| phase.ns as f64).collect();
    let width = page.width().saturating_sub(4).clamp(15, 100);
    let mut bar = Line::new().add(Tone::Plain, "  ");
    for (index, (phase, cells)) in trace.phases.iter().zip(cells(&shares, width)).enumerate() {
        let piece: String = std::iter::repeat_n(glyph(index), cells).collect();
        bar = bar.add(words::phase_tone(phase.phase), piece);
    }
    page.push(bar);
    let total: f64 = shares.iter().sum();
    for (index, phase) in trace.phases.iter().enumerate() {
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
            .add(Tone::Plain, format!("{time:>9}"))
            .add(Tone::Quiet, format!("{share:>6.0} %"));
        page.push(line);
    }
}
