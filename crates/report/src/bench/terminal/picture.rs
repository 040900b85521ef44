//! The histogram in one line.

use fathom_model::Metric;

use crate::TimeUnit;
use crate::distribution::histogram;
use crate::line::{Page, Tone};
use crate::quantity::{InUnit, counted};
use crate::text::JOIN;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '@'];
/// The maximum number of bins. There are fewer if the runs don't fill them with at least two each.
const BINS: usize = 26;

/// Draws an ascending sample of a metric between its smallest value and its fence, and says how many runs are
/// beyond it.
pub(crate) fn write(page: &mut Page, values: &[f64], metric: Metric, unit: Option<TimeUnit>) {
    let bins = BINS.min(page.width() / 3).min(values.len() / 2);
    let Some(histogram) = histogram(values, bins) else {
        return;
    };
    let picture = strip(&histogram.counts, page.unicode()).replace(' ', &JOIN.to_string());
    let unit = InUnit::asked(metric, histogram.low, unit);
    let end = |value: f64| unit.digits(value, 4);
    let high = unit.with_symbol(&end(histogram.high));
    let mut text = format!(
        "{}{JOIN}{picture}{JOIN}{}",
        end(histogram.low),
        high.replace(' ', &JOIN.to_string())
    );
    if histogram.beyond > 0 {
        text.push_str(&format!(
            ", {} beyond",
            counted(histogram.beyond as u64, "run", "runs")
        ));
    }
    page.field("spread", Tone::Plain, &text);
}

/// Returns a glyph for each bin, whose height shows how full the bin is; an empty bin is a space.
pub(super) fn strip(counts: &[usize], unicode: bool) -> String {
    let highest = counts.iter().copied().max().unwrap_or(1).max(1);
    let glyphs = if unicode { BLOCKS } else { PLAIN };
    let glyph = |&count: &usize| match count {
        0 => ' ',
        // The lowest glyph means at least one run; only the fullest bin gets the highest.
        _ => glyphs[((count * 8).div_ceil(highest) - 1).min(7)],
    };
    counts.iter().map(glyph).collect()
}
