//! Problems in a file: what is wrong, where, and what to write instead.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

pub use fathom_conduct::did_you_mean;

/// A value with its byte range in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its byte range in the file.
    pub span: Range<usize>,
}

impl<T> std::ops::Deref for Located<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Collects problems.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    /// Adds a problem, unless it was already added.
    pub fn add(&self, span: Range<usize>, message: impl Into<String>, advice: impl Into<String>) {
        let problem = Problem {
            span,
            message: message.into(),
            advice: advice.into(),
        };
        let mut all = self.0.borrow_mut();
        if !all.contains(&problem) {
            all.push(problem);
        }
    }

    /// Reports that a table needs a key.
    pub(super) fn missing(&self, table: Range<usize>, title: &str, key: &str, advice: &str) {
        let span = table.start..table.end.max(table.start + 1);
        self.add(span, format!("{title} needs `{key}`"), advice);
    }

    /// Reports a name that doesn't exist.
    pub fn unknown(&self, word: &Located<String>, what: &str, known: &[&str]) {
        let advice = match did_you_mean(word, known.iter().copied()) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None if known.is_empty() => format!("the file has no {what}"),
            None => format!("there is {}", known.join(", ")),
        };
        let message = format!("no {what} {:?}", word.value);
        self.add(word.span.clone(), message, advice);
    }

    /// Returns all problems, in the order of the file.
    pub fn into_sorted(self) -> Vec<Problem> {
        let mut all = self.0.into_inner();
        all.sort_by_key(|problem| (problem.span.start, problem.span.end));
        all
    }
}

/// One problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte range in the file.
    pub span: Range<usize>,
    /// The problem.
    pub message: String,
    /// What to write instead; empty if the message already says it.
    pub advice: String,
}

/// A file that can't be used, with all its problems, in the order of the file.
#[derive(Debug, Clone)]
pub struct FileError {
    /// Path of the file.
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// The problems, at least one.
    pub problems: Vec<Problem>,
}

impl FileError {
    /// Returns the line and column of a byte, counted from 1; a column is a character.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let at = floor_boundary(&self.text, at);
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, self.text[start..at].chars().count() + 1)
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let (line, column) = self.position(problem.span.start);
            writeln!(
                f,
                "{}:{line}:{column}: {}",
                self.path.display(),
                problem.message
            )?;
            if let Some(text) = self.text.lines().nth(line - 1) {
                let number = line.to_string();
                let indent = " ".repeat(number.len());
                writeln!(f, "{number} | {}", text.replace('\t', " "))?;
                let rest = text.chars().count().saturating_sub(column - 1);
                let width = self.width(problem).clamp(1, rest.max(1));
                write!(
                    f,
                    "{indent} | {}{}",
                    " ".repeat(column - 1),
                    "^".repeat(width)
                )?;
            }
            if !problem.advice.is_empty() {
                write!(f, "\n  {}", problem.advice)?;
            }
        }
        Ok(())
    }
}

impl FileError {
    /// Returns the number of characters in the problem's span.
    fn width(&self, problem: &Problem) -> usize {
        let start = floor_boundary(&self.text, problem.span.start);
        let end = floor_boundary(&self.text, problem.span.end).max(start);
        self.text[start..end].chars().count()
    }
}

/// Returns the byte range in the file of a part of a text. It is exact if the file contains the text
/// verbatim; otherwise, it is that of the whole text.
pub fn inside(
    file: &str,
    text: &Located<String>,
    part: &std::ops::Range<usize>,
) -> std::ops::Range<usize> {
    let written = file.get(text.span.clone()).unwrap_or_default();
    match written.find(text.value.as_str()) {
        Some(start) => {
            let start = text.span.start + start;
            let end = (start + part.end).min(text.span.end);
            (start + part.start).min(end)..end
        }
        None => text.span.clone(),
    }
}

/// Returns the texts without their positions.
pub(super) fn plain(list: Vec<Located<String>>) -> Vec<String> {
    list.into_iter().map(|text| text.value).collect()
}
