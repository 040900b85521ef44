//! Lines of text with tones, and a page of them.

use anstyle::{AnsiColor, Style};

use crate::text::{columns, escape, escape_to_ascii, prefix, shorten_with, wrap};

/// What a piece of text means; how it looks follows from that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// The name of a benchmark, the median.
    Strong,
    /// Labels, and what is read last.
    Quiet,
    /// Takes less.
    Good,
    /// Takes more, failed, is partial.
    Bad,
    /// Wants attention.
    Notice,
    /// Time on a CPU in the program's own code.
    OwnTime,
    /// Time on a CPU in the kernel.
    KernelTime,
    /// Time asleep.
    WaitTime,
    /// Time in which the CPU was withheld.
    StarvedTime,
}

impl Tone {
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

/// One line, made of pieces.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pieces: Vec<(Tone, String)>,
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

    /// Fills up with spaces to `width` columns.
    pub(crate) fn pad_to(self, width: usize) -> Line {
        let missing = width.saturating_sub(self.width);
        self.add(Tone::Plain, " ".repeat(missing))
    }
}

/// Columns before the text of a labelled field.
pub(crate) const LABEL_WIDTH: usize = 15;

/// Narrower terminals than this get lines of this width.
const NARROWEST: usize = 32;

/// What is written to the terminal, line by line.
pub(crate) struct Page {
    text: String,
    width: usize,
    color: bool,
    unicode: bool,
}

impl Page {
    pub(crate) fn new(width: usize, color: bool, unicode: bool) -> Page {
        Page {
            text: String::new(),
            width: width.max(NARROWEST),
            color,
            unicode,
        }
    }

    /// Columns that a line may take.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether more than ASCII can be shown.
    pub(crate) fn unicode(&self) -> bool {
        self.unicode
    }

    /// Text from outside, safe to show.
    pub(crate) fn clean(&self, text: &str) -> String {
        if self.unicode {
            escape(text)
        } else {
            escape_to_ascii(text)
        }
    }

    /// Text from outside, safe to show, in at most `width` columns.
    pub(crate) fn fit(&self, text: &str, width: usize) -> String {
        shorten_with(
            &self.clean(text),
            width,
            if self.unicode { "…" } else { "..." },
        )
    }

    /// The beginning of text that is safe to show, in at most `width` columns; what is left out at
    /// its end shows.
    pub(crate) fn begin(&self, text: &str, width: usize) -> String {
        if columns(text) <= width {
            return text.to_owned();
        }
        let mark = if self.unicode { "…" } else { "..." };
        let begin = prefix(text, width.saturating_sub(columns(mark)));
        format!("{}{mark}", begin.trim_end())
    }

    /// Writes a line. What is too wide is cut: nothing may wrap by itself and break the layout.
    pub(crate) fn push(&mut self, line: Line) {
        let mut room = self.width;
        let mut pieces = Vec::with_capacity(line.pieces.len());
        for (tone, text) in line.pieces {
            let fitting = prefix(&text, room);
            room -= columns(fitting);
            let fitting = if self.unicode {
                fitting.to_owned()
            } else {
                fitting.replace('µ', "u")
            };
            pieces.push((tone, fitting));
        }
        // Trailing spaces only show when the text is pasted somewhere.
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

    /// A line that is not cut, however long: a command that is to be copied. It must be clean.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// An empty line, unless the page is still empty.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Prose, broken into lines that all begin at column `indent`.
    pub(crate) fn prose(&mut self, indent: usize, tone: Tone, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            self.push(Line::new().pad_to(indent).add(tone, line));
        }
    }

    /// A label and prose beside it.
    pub(crate) fn field(&mut self, label: &str, tone: Tone, text: &str) {
        for (index, line) in wrap(text, self.width - LABEL_WIDTH).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let start = Line::new()
                .add(Tone::Plain, "  ")
                .add(Tone::Quiet, label)
                .pad_to(LABEL_WIDTH);
            self.push(start.add(tone, line));
        }
    }

    /// A heading over a part, after an empty line.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.push(Line::new().add(Tone::Strong, text));
    }

    /// Lines that must not be missed, marked before the first unless they are quiet.
    pub(crate) fn note(&mut self, tone: Tone, lines: &[String]) {
        let mark = if tone == Tone::Quiet { "    " } else { "  ! " };
        for (index, line) in lines.iter().enumerate() {
            let start = if index == 0 { mark } else { "    " };
            self.push(Line::new().add(tone, start).add(tone, line.as_str()));
        }
    }

    /// Lines so far.
    pub(crate) fn lines(&self) -> usize {
        self.text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// The finished text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}
