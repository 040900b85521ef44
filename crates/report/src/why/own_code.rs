//! What the program's own code does: the functions in which its threads were seen.

use fathom_model::{Explanation, FunctionShare, OwnCode, TimeCategory};

use super::code_name::{file_name, has_file, shortened};
use super::columns::{self, Column};
use super::quote::share_text;
use crate::line::{Line, Page, Tone};
use crate::{columns, format_count};

/// Own code below this share of the wall time is not split.
const LEAST_SHARE: f64 = 0.2;
/// Fewer samples say nothing.
pub(super) const LEAST_SAMPLES: u64 = 40;
/// Functions below this share of the own code are not named in a sentence.
const LEAST_OF_CODE: f64 = 0.05;
/// That many are named there.
const NAMED: usize = 4;

/// `40 % parse, 23 % malloc and 8 % mawk (no symbols)`, for the line below the own code's; `None`
/// where it doesn't matter or too little is known.
fn in_a_sentence(page: &Page, explanation: &Explanation) -> Option<String> {
    let own = explanation.own_code.as_ref()?;
    let part = explanation.account.share(TimeCategory::UserCode);
    (part >= LEAST_SHARE).then(|| named(page, own, part))?
}

/// The functions with the largest shares of own code, which is this part of the whole; `None` where
/// too little is known.
pub(super) fn named(page: &Page, own: &OwnCode, part: f64) -> Option<String> {
    if own.samples < LEAST_SAMPLES {
        return None;
    }
    let named = own.functions.iter();
    // A share stays on the line of its function.
    let named: Vec<String> = named
        .filter(|row| row.share >= LEAST_OF_CODE)
        .take(NAMED)
        .map(|row| {
            let share = share_text(part * row.share).replace(' ', "\u{a0}");
            format!("{share}\u{a0}{}", page.clean(&name(row)))
        })
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// The function in a few words, or where it is from if it has no name.
pub(super) fn name(row: &FunctionShare) -> String {
    match &row.function {
        Some(function) if !has_file(&row.file) => function.clone(),
        Some(function) => shortened(function),
        None => unnamed(row),
    }
}

/// Where code is from that has no name.
fn unnamed(row: &FunctionShare) -> String {
    match row.file.as_str() {
        "" => "unknown code".to_owned(),
        "[vdso]" => "clocks (vDSO)".to_owned(),
        file if !has_file(file) => "code generated at run time".to_owned(),
        file => format!("{} (no symbols)", file_name(file)),
    }
}

/// The table of `--functions`.
pub(super) fn table(page: &mut Page, explanation: &Explanation) {
    page.gap();
    let Some(OwnCode {
        functions, samples, ..
    }) = &explanation.own_code
    else {
        let text = "This tier doesn't see in which functions the program's own code is.";
        page.prose(0, Tone::Quiet, text);
        return;
    };
    let column = |title, expendable, cell: &dyn Fn(&FunctionShare) -> String| {
        Column::new(title, expendable, functions.iter().map(cell).collect())
    };
    let names: Vec<String> = functions
        .iter()
        .map(|row| row.function.clone().unwrap_or_else(|| unnamed(row)))
        .collect();
    let title = format!("own code, {samples} samples");
    let numbers = vec![
        column("of it", 0, &|row| share_text(row.share)),
        column("samples", 2, &|row| format_count(row.samples as f64)),
        column("file", 1, &|row| match row.function {
            Some(_) => page.clean(file_name(&row.file)),
            None => String::new(),
        }),
    ];
    columns::write(page, &title, &names, numbers);
}

/// Below the own code's part in the table of the account.
pub(super) fn below_its_part(page: &mut Page, explanation: &Explanation) {
    if let Some(sentence) = in_a_sentence(page, explanation) {
        page.prose(6, Tone::Quiet, &sentence);
    }
}

/// Beside the account, in one line.
pub(super) fn line(page: &mut Page, explanation: &Explanation) {
    if let Some(sentence) = in_a_sentence(page, explanation) {
        let text = format!("own code: {}", sentence.replace('\u{a0}', " "));
        // As many names as there is room for, each whole.
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
