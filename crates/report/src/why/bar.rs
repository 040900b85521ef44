//! The account as one horizontal bar.

use super::account::Entry;
use super::quote::share_text;
use super::words::{self, Kind};
use crate::columns;
use crate::line::{LABEL_WIDTH, Line, Page, Tone};

/// The fill characters of the parts, used in this order: neighbours differ even without color.
const BLOCKS: [char; 10] = ['█', '▒', '▓', '░', '▚', '▄', '▌', '▞', '▀', '▐'];
const PLAIN: [char; 10] = ['#', '=', '+', '-', 'o', ':', 'x', '~', '%', '*'];
/// The fill character of the sum of small parts, and of parts after the tenth.
const REST: (char, char) = ('·', '.');
const WIDEST: usize = 100;

/// Returns the fill character of the entry at `index`.
pub(super) fn glyph(unicode: bool, index: usize, entry: &Entry) -> char {
    let (list, rest) = if unicode {
        (&BLOCKS, REST.0)
    } else {
        (&PLAIN, REST.1)
    };
    match entry.spent {
        Some(_) => list.get(index).copied().unwrap_or(rest),
        None => rest,
    }
}

/// Returns the tone of an entry.
pub(super) fn tone(entry: &Entry) -> Tone {
    entry.spent.map_or(Kind::Unknown, words::kind).tone()
}

/// Draws the bar over the width of the page. The width of each part is proportional to its share, but at
/// least one column.
pub(super) fn write(page: &mut Page, entries: &[Entry]) {
    let width = page.width().saturating_sub(4).clamp(LABEL_WIDTH, WIDEST);
    let shares: Vec<f64> = entries.iter().map(|entry| entry.share).collect();
    let mut line = Line::new().add(Tone::Plain, "  ");
    for (index, (entry, cells)) in entries.iter().zip(cells(&shares, width)).enumerate() {
        let piece: String =
            std::iter::repeat_n(glyph(page.unicode(), index, entry), cells).collect();
        line = line.add(tone(entry), piece);
    }
    page.push(line);
}

/// Names as many parts of the bar as fit in one line, and the sum of the others.
pub(super) fn legend(page: &mut Page, entries: &[Entry]) {
    let named = |index: usize, entry: &Entry| {
        let name = entry.spent.map_or("other", words::short);
        let glyph = glyph(page.unicode(), index, entry);
        (glyph, format!(" {name} {}", share_text(entry.share)))
    };
    let all: Vec<(char, String)> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| named(index, entry))
        .collect();
    let width = |(_, text): &(char, String)| 3 + columns(text);
    let rest = |from: usize| -> f64 { entries[from..].iter().map(|entry| entry.share).sum() };
    let room = page.width();
    let fits = |shown: usize| {
        let others = if shown < all.len() { OTHERS } else { 0 };
        all[..shown].iter().map(width).sum::<usize>() + others <= room
    };
    let shown = (0..=all.len()).rev().find(|shown| fits(*shown));
    let shown = shown.unwrap_or(0);
    let mut line = Line::new();
    for ((glyph, text), entry) in all[..shown].iter().zip(entries) {
        line = line
            .add(Tone::Plain, "  ")
            .add(tone(entry), glyph.to_string())
            .add(Tone::Plain, text.as_str());
    }
    if shown < all.len() {
        let rest = format!("  other {}", share_text(rest(shown)));
        line = line.add(Tone::Quiet, rest);
    }
    page.push(line);
}

/// Width of the sum of the others: `  other < 0.1 %`.
const OTHERS: usize = 15;

/// Divides `width` cells in proportion to `shares`. Each part gets at least one cell; the rest is distributed
/// by largest remainder, which fills the width exactly.
pub(crate) fn cells(shares: &[f64], width: usize) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    if shares.is_empty() || total <= 0.0 || shares.len() > width {
        return vec![0; shares.len()];
    }
    let free = width - shares.len();
    let wanted: Vec<f64> = shares
        .iter()
        .map(|share| (share / total * width as f64 - 1.0).max(0.0))
        .collect();
    let sum: f64 = wanted.iter().sum();
    if sum <= 0.0 {
        return vec![1; shares.len()];
    }
    let exact: Vec<f64> = wanted.iter().map(|cell| cell / sum * free as f64).collect();
    let mut cells: Vec<usize> = exact.iter().map(|cell| 1 + cell.floor() as usize).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
    let missing = width.saturating_sub(cells.iter().sum());
    for index in order.into_iter().cycle().take(missing) {
        cells[index] += 1;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn a_small_part_is_still_seen() {
        assert_eq!(cells(&[0.99, 0.01], 20), [19, 1]);
        assert_eq!(cells(&[0.5, 0.25, 0.25], 40), [20, 10, 10]);
    }

    #[test]
    fn nothing_has_no_cells() {
        assert!(cells(&[], 10).is_empty());
        assert_eq!(cells(&[0.0], 10), [0]);
    }

    proptest::proptest! {
        #[test]
        fn the_width_is_filled(shares in proptest::collection::vec(0.001f64..1.0, 1..12), width in 12usize..120) {
            let cells = cells(&shares, width);
            assert_eq!(cells.iter().sum::<usize>(), width);
            assert!(cells.iter().all(|&count| count > 0));
        }
    }
}
