//! Lines of text with tones, and pages of such lines.

use anstyle::{AnsiColor, Style};
use fathom_model::Verdict;

use crate::Screen;
use crate::text::{JOIN, columns, escape, escape_to_ascii, prefix, shorten_with, wrap};

/// The meaning of a piece of text, which determines its appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// The name of a benchmark, the median.
    Strong,
    /// Labels and details.
    Quiet,
    /// An improvement.
    Good,
    /// A regression, a failure, or a partial result.
    Bad,
    /// Needs attention.
    Notice,
    /// Time on a CPU in the program's own code.
    OwnTime,
    /// Time on a CPU in the kernel.
    KernelTime,
    /// Time asleep.
    WaitTime,
    /// Time in which the thread had no CPU.
    StarvedTime,
}

impl Tone {
    /// Returns the tone of a verdict.
    pub(crate) fn of(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Faster => Tone::Good,
            Verdict::Slower => Tone::Bad,
            Verdict::Same => Tone::Strong,
            Verdict::Undecided => Tone::Notice,
        }
    }

    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default().bold(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Notice => AnsiColor::Yellow.on_default(),
            Tone::OwnTime => AnsiColor::Blue.on_default(),
            Tone::KernelTime => AnsiColor::Magenta.on_default(),
            Tone::WaitTime => AnsiColor::Yellow.on_default(),
            Tone::StarvedTime => AnsiColor::Red.on_default(),
        }
    }
}

/// Pieces of a line, with their tones.
type Pieces = Vec<(Tone, String)>;

/// One line, consisting of pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pieces: Pieces,
    width: usize,
}

impl Line {
    pub(crate) fn new() -> Line {
        Line::default()
    }

    /// Adds a piece.
    pub(crate) fn add(mut self, tone: Tone, text: impl Into<String>) -> Line {
        let text = text.into();
        self.width += columns(&text);
        self.pieces.push((tone, text));
        self
    }

    /// Pads with spaces to `width` columns.
    pub(crate) fn pad_to(self, width: usize) -> Line {
        let missing = width.saturating_sub(self.width);
        self.add(Tone::Plain, " ".repeat(missing))
    }
}

/// Width of the label of a field.
pub(crate) const LABEL_WIDTH: usize = 15;

/// On narrower terminals, lines have this width.
const NARROWEST: usize = 32;

/// Splits the pieces at this byte of their concatenated text.
fn split_at(pieces: Pieces, at: usize) -> (Pieces, Pieces) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut left = at;
    for (tone, text) in pieces {
        let here = left.min(text.len());
        left -= here;
        let (first, second) = text.split_at(here);
        if !first.is_empty() {
            before.push((tone, first.to_owned()));
        }
        if !second.is_empty() {
            after.push((tone, second.to_owned()));
        }
    }
    (before, after)
}

/// Removes everything before the first blank.
fn from_blank(pieces: Pieces) -> Pieces {
    let whole: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
    let at = whole.find(' ').unwrap_or(whole.len());
    split_at(pieces, at).1
}

/// Removes leading blanks.
fn without_blanks(pieces: Pieces) -> Pieces {
    let whole: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
    let at = whole.len() - whole.trim_start_matches(' ').len();
    split_at(pieces, at).1
}

/// Text for the terminal, built line by line.
pub(crate) struct Page {
    text: String,
    width: usize,
    color: bool,
    unicode: bool,
}

impl Page {
    pub(crate) fn new(screen: &Screen) -> Page {
        Page {
            text: String::new(),
            width: screen.width.max(NARROWEST),
            color: screen.color,
            unicode: screen.unicode,
        }
    }

    /// Returns the width of a line in columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns whether the terminal shows more than ASCII.
    pub(crate) fn unicode(&self) -> bool {
        self.unicode
    }

    /// Returns untrusted text made safe for display.
    pub(crate) fn clean(&self, text: &str) -> String {
        if self.unicode {
            escape(text)
        } else {
            escape_to_ascii(text)
        }
    }

    /// Returns a sentence of Fathom that may contain untrusted names, made safe for display.
    pub(crate) fn own(&self, text: &str) -> String {
        let parts = text.split(JOIN).map(|part| match self.unicode {
            true => escape(part),
            false => escape_to_ascii(&part.replace('µ', "u")),
        });
        parts.collect::<Vec<_>>().join("\u{a0}")
    }

    /// Returns untrusted text made safe for display, in at most `width` columns.
    pub(crate) fn fit(&self, text: &str, width: usize) -> String {
        shorten_with(
            &self.clean(text),
            width,
            if self.unicode { "…" } else { "..." },
        )
    }

    /// Returns the beginning of a safe text, in at most `width` columns; an omission at the end is marked.
    pub(crate) fn begin(&self, text: &str, width: usize) -> String {
        if columns(text) <= width {
            return text.to_owned();
        }
        let mark = if self.unicode { "…" } else { "..." };
        let begin = prefix(text, width.saturating_sub(columns(mark)));
        format!("{}{mark}", begin.trim_end())
    }

    /// Writes a line. A line that is too wide continues on the next one, because wrapping by the terminal
    /// would break the layout and cut figures. Only a word wider than a line is cut.
    pub(crate) fn push(&mut self, line: Line) {
        const FURTHER_IN: usize = 4;
        let mut rest = line.pieces;
        let mut room = self.width;
        let mut indent = 0;
        loop {
            let whole: String = rest.iter().map(|(_, text)| text.as_str()).collect();
            let fitting = prefix(whole.trim_end(), room);
            let is_all = fitting.len() == whole.trim_end().len();
            let at = match fitting.rfind(' ') {
                _ if is_all || whole[fitting.len()..].starts_with(' ') => fitting.len(),
                Some(at) if !fitting[..at].trim().is_empty() => at,
                _ => fitting.len(),
            };
            let (first, after) = split_at(rest, at);
            let mut pieces = vec![(Tone::Plain, " ".repeat(indent))];
            pieces.extend(first);
            self.write(pieces);
            // A word wider than the line is cut, like a name.
            let is_cut = !is_all && at == fitting.len() && !whole[at..].starts_with(' ');
            rest = match is_cut {
                true => from_blank(after),
                false => after,
            };
            rest = without_blanks(rest);
            if rest.is_empty() {
                return;
            }
            indent = FURTHER_IN;
            room = self.width - FURTHER_IN;
        }
    }

    fn write(&mut self, mut pieces: Pieces) {
        if !self.unicode {
            for (_, text) in &mut pieces {
                *text = text.replace('µ', "u");
            }
        }
        // Trailing spaces are only noticed in pasted text.
        while let Some((_, last)) = pieces.last_mut() {
            last.truncate(last.trim_end_matches(' ').len());
            if !last.is_empty() {
                break;
            }
            pieces.pop();
        }
        for (tone, text) in pieces {
            let style = tone.style();
            if self.color && style != Style::new() && !text.trim().is_empty() {
                self.text.push_str(&format!("{style}{text}{style:#}"));
            } else {
                self.text.push_str(&text);
            }
        }
        self.text.push('\n');
    }

    /// Writes a line that is never cut: a command to be copied. The text must already be clean.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes an empty line, unless the page is still empty or already ends with one.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Writes prose that may contain untrusted names, broken into lines that all begin at column `indent`.
    pub(crate) fn prose(&mut self, indent: usize, tone: Tone, text: &str) {
        for line in wrap(&self.own(text), self.width.saturating_sub(indent)) {
            self.push(Line::new().pad_to(indent).add(tone, line));
        }
    }

    /// Writes a label followed by prose, which may contain untrusted names.
    pub(crate) fn field(&mut self, label: &str, tone: Tone, text: &str) {
        let lines = wrap(&self.own(text), self.width - LABEL_WIDTH);
        for (index, line) in lines.into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let start = Line::new()
                .add(Tone::Plain, "  ")
                .add(Tone::Quiet, label)
                .pad_to(LABEL_WIDTH);
            self.push(start.add(tone, line));
        }
    }

    /// Writes an empty line and a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        let text = self.own(text);
        self.push(Line::new().add(Tone::Strong, text));
    }

    /// Writes important lines, with a mark before the first unless they are quiet.
    pub(crate) fn note(&mut self, tone: Tone, lines: &[String]) {
        let mark = if tone == Tone::Quiet { "    " } else { "  ! " };
        for (index, line) in lines.iter().enumerate() {
            let start = if index == 0 { mark } else { "    " };
            self.push(Line::new().add(tone, start).add(tone, line.as_str()));
        }
    }

    /// Returns the number of lines so far.
    pub(crate) fn lines(&self) -> usize {
        self.text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Returns the finished text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_line_goes_on_in_the_next_and_keeps_its_figures() {
        let mut page = Page::new(&Screen {
            width: 32,
            ..Screen::default()
        });
        let line = Line::new()
            .add(Tone::Strong, "a benchmark")
            .pad_to(20)
            .add(Tone::Plain, "10000000.5 ops/s")
            .add(Tone::Plain, "  12345678");
        page.push(line);
        assert_eq!(
            page.finish(),
            "a benchmark         10000000.5\n    ops/s  12345678\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_digit_is_lost_and_no_line_is_too_wide(
            powers in proptest::collection::vec(-12.0f64..15.0, 1..9),
            width in 32usize..120,
        ) {
            let figures: Vec<String> = powers
                .iter()
                .map(|power| format!("{:.3}", 10f64.powf(*power)))
                .collect();
            let mut page = Page::new(&Screen {
                width,
                ..Screen::default()
            });
            let line = figures.iter().enumerate().fold(Line::new(), |line, (at, figure)| {
                line.pad_to(at * 14).add(Tone::Plain, figure.as_str()).add(Tone::Quiet, " ")
            });
            page.push(line);
            let text = page.finish();
            proptest::prop_assert!(text.lines().all(|line| columns(line) <= width), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            proptest::prop_assert_eq!(words, figures);
        }
    }
}
