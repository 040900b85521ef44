//! The histogram in one line.

use crate::TimeUnit;
use crate::distribution::histogram;
use crate::line::{Page, Tone};
use crate::quantity::{counted, decimals_for, fixed};
use crate::text::JOIN;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '@'];
/// Most bins; fewer where there are not at least two runs for each.
const BINS: usize = 26;

/// Draws an ascending sample of times between its smallest value and its fence, and says how many
/// runs lie beyond.
pub(crate) fn write(page: &mut Page, times: &[f64], unit: Option<TimeUnit>) {
    let bins = BINS.min(page.width() / 3).min(times.len() / 2);
    let Some(histogram) = histogram(times, bins) else {
        return;
    };
    let picture = strip(&histogram.counts, page.unicode()).replace(' ', &JOIN.to_string());
    let unit = unit.unwrap_or_else(|| TimeUnit::fitting(histogram.low));
    let time = |seconds: f64| {
        let value = seconds / unit.seconds();
        fixed(value, decimals_for(value, 4))
    };
    let mut text = format!(
        "{}{JOIN}{picture}{JOIN}{}{JOIN}{}",
        time(histogram.low),
        time(histogram.high),
        unit.symbol()
    );
    if histogram.beyond > 0 {
        text.push_str(&format!(
            ", {} beyond",
            counted(histogram.beyond as u64, "run", "runs")
        ));
    }
    page.field("spread", Tone::Plain, &text);
}

/// A glyph for each bin, as high as it is full; an empty bin is blank.
pub(super) fn strip(counts: &[usize], unicode: bool) -> String {
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    let glyphs = if unicode { BLOCKS } else { PLAIN };
    let glyph = |&count: &usize| match count {
        0 => ' ',
        // The lowest glyph is one run at least, the highest only the fullest bin.
        _ => glyphs[((count * 8).div_ceil(highest) - 1).min(7)],
    };
    counts.iter().map(glyph).collect()
}
