//! The program's own code: the functions in which its threads were sampled.

use fathom_model::{Explanation, FunctionShare, OwnCode, TimeCategory};

use super::code_name::{file_name, has_file, shortened};
use super::quote::share_text;
use super::words;
use crate::columns;
use crate::line::{Line, Page, Tone};
use crate::text::JOIN;

/// The share of the command's own part of the wall time below which own code is not split.
const LEAST_SHARE: f64 = 0.2;
/// The minimum number of samples.
pub(super) const LEAST_SAMPLES: u64 = 40;
/// The share of the own code below which a function is not named in a sentence.
const LEAST_OF_CODE: f64 = 0.05;
/// The maximum number of functions named in a sentence.
const NAMED: usize = 4;

/// Returns the functions of the own code, for the line below its share: `40 % parse, 23 % malloc and 8 % mawk
/// (no symbols)`. `None` if they don't matter or too little is known.
pub(super) fn in_a_sentence(explanation: &Explanation) -> Option<String> {
    let own = explanation.own_code.as_ref()?;
    let part = explanation.account.share(TimeCategory::UserCode);
    (part >= LEAST_SHARE * words::own_part(&explanation.account)).then(|| named(own, part))?
}

/// Returns the functions with the largest shares of own code; own code has the share `part` of the whole.
/// `None` if too little is known.
pub(super) fn named(own: &OwnCode, part: f64) -> Option<String> {
    if own.samples < LEAST_SAMPLES {
        return None;
    }
    let named = own.functions.iter();
    // Keep a share on the same line as its function.
    let named: Vec<String> = named
        .filter(|row| row.share >= LEAST_OF_CODE)
        .take(NAMED)
        .map(|row| {
            let share = share_text(part * row.share);
            format!("{share} {}", name(row)).replace(' ', &JOIN.to_string())
        })
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// Returns the short name of the function, or its origin if it has none.
pub(super) fn name(row: &FunctionShare) -> String {
    match &row.function {
        Some(function) if !has_file(&row.file) => function.clone(),
        Some(function) => shortened(function),
        None => unnamed(row),
    }
}

/// Returns the origin of code without a name.
fn unnamed(row: &FunctionShare) -> String {
    match row.file.as_str() {
        "" => "unknown code".to_owned(),
        "[vdso]" => "clocks (vDSO)".to_owned(),
        file if !has_file(file) => "code generated at run time".to_owned(),
        file => format!("{} (no symbols)", file_name(file)),
    }
}

/// Writes one line next to the account.
pub(super) fn line(page: &mut Page, explanation: &Explanation) {
    if let Some(sentence) = in_a_sentence(explanation) {
        let text = page.own(&format!("own code: {}", sentence.replace(JOIN, " ")));
        // Show as many names as fit, without cutting any.
        let ends = text
            .match_indices(", ")
            .map(|(at, _)| at)
            .chain([text.len()]);
        let fitting = ends.filter(|end| columns(&text[..*end]) <= page.width() - 2);
        let text = fitting.last().map_or("", |end| &text[..end]);
        page.push(Line::new().pad_to(2).add(Tone::Quiet, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(function: Option<&str>, file: &str) -> FunctionShare {
        FunctionShare {
            function: function.map(str::to_owned),
            file: file.to_owned(),
            samples: 1,
            share: 0.5,
        }
    }

    #[test]
    fn code_without_a_name_says_where_it_is_from() {
        let named = |file| name(&row(None, file));
        assert_eq!(named("/usr/bin/mawk"), "mawk (no symbols)");
        assert_eq!(named("[vdso]"), "clocks (vDSO)");
        assert_eq!(named("//anon"), "code generated at run time");
        assert_eq!(named(""), "unknown code");
    }
}
