//! Words, numbers and signs of an expression.

use std::ops::Range;

use super::tree::SyntaxError;
use crate::unit::{self, Unit};

/// A sign, word or number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A number in base units, with half a unit of its last digit, and its unit.
    Number(f64, f64, Unit),
    /// A name, including dots and inner hyphens.
    Word(String),
    /// Text in double quotes.
    Text(String),
    /// The content of brackets.
    Brackets(String),
    /// An operator such as `(` or `>=`.
    Sign(&'static str),
}

/// Longest signs first.
const SIGNS: [&str; 13] = [
    ">=", "<=", "==", ">", "<", "+", "-", "*", "/", "(", ")", ",", ":",
];

/// Splits the text into tokens.
///
/// # Errors
/// If a character can't begin a token.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, Range<usize>)>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let start = at;
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let token = match character {
            '0'..='9' | '.' => number(text, &mut at)?,
            '"' | '[' => enclosed(text, &mut at, character)?,
            c if c.is_alphabetic() || c == '_' => {
                at += word_length(&text[at..]);
                Token::Word(text[start..at].to_string())
            }
            _ => match SIGNS.iter().find(|sign| text[at..].starts_with(**sign)) {
                Some(sign) => {
                    at += sign.len();
                    Token::Sign(sign)
                }
                None => {
                    let advice = match character {
                        '=' => "write == to compare",
                        '&' => "write and",
                        '|' => "write or",
                        '!' => "write not",
                        '\'' => "texts stand in double quotes",
                        _ => "see \"Claims\" in docs/experiments.md",
                    };
                    return Err(SyntaxError {
                        span: at..at + character.len_utf8(),
                        message: format!("{character:?} has no meaning in an expression"),
                        advice: advice.to_string(),
                    });
                }
            },
        };
        tokens.push((token, start..at));
    }
    Ok(tokens)
}

/// Returns the length of a word. A hyphen or dot belongs to the word if there are letters or digits on both
/// sides of it.
fn word_length(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let joins = |next: Option<&(usize, char)>| {
            next.is_some_and(|(_, n)| n.is_alphanumeric() || *n == '_')
        };
        match c {
            c if c.is_alphanumeric() || c == '_' => end = at + c.len_utf8(),
            '-' | '.' if at > 0 && joins(characters.peek()) => {}
            _ => break,
        }
    }
    end
}

fn enclosed(text: &str, at: &mut usize, opening: char) -> Result<Token, SyntaxError> {
    let closing = if opening == '[' { ']' } else { '"' };
    let inner = &text[*at + 1..];
    let Some(length) = inner.find(closing) else {
        return Err(SyntaxError {
            span: *at..text.len(),
            message: format!("`{opening}` is not closed"),
            advice: format!("add `{closing}`"),
        });
    };
    *at += length + 2;
    let content = inner[..length].to_string();
    Ok(match opening {
        '[' => Token::Brackets(content),
        _ => Token::Text(content),
    })
}

/// Parses a number such as `2`, `1_000`, `2.5e-3`, `2ms`, `64KiB`, `5%`, `10GB/s`.
fn number(text: &str, at: &mut usize) -> Result<Token, SyntaxError> {
    let start = *at;
    let rest = &text[start..];
    let mantissa = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(rest.len());
    let mut end = mantissa;
    let exponent = &rest[mantissa..];
    if let Some(after) = exponent.strip_prefix(['e', 'E']) {
        let signed = after.strip_prefix(['+', '-']).unwrap_or(after);
        let digits = signed
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(signed.len());
        if digits > 0 {
            end += 1 + (after.len() - signed.len()) + digits;
        }
    }
    let digits = rest[..end].replace('_', "");
    let failed = |end: usize, message: String| SyntaxError {
        span: start..start + end.max(1),
        message,
        advice: "write a number such as 10, 0.5, 2ms, 64KiB or 5%".to_string(),
    };
    let value: f64 = digits
        .parse()
        .map_err(|_| failed(end, format!("{digits:?} is not a number")))?;
    let mut after = unit_length(&rest[end..]);
    // A space before the unit is allowed if the word can only be a unit.
    let spaced = rest[end..].strip_prefix(' ').unwrap_or("");
    let word = unit_length(spaced);
    if after == 0 && word > 0 && is_unit_word(&spaced[..word]) {
        after = word + 1;
    }
    let word = rest[end..end + after].trim();
    let (unit, scale) = unit::parse(word).map_err(|message| failed(end + after, message))?;
    *at += end + after;
    Ok(Token::Number(
        value * scale,
        half_digit(&digits) * scale,
        unit,
    ))
}

fn is_unit_word(word: &str) -> bool {
    word.split('/').all(unit::is_known)
}

/// Returns the length of a unit: letters and `%` directly after a number, optionally followed by `/unit`.
fn unit_length(text: &str) -> usize {
    let letters = |text: &str| {
        text.find(|c: char| !c.is_alphabetic() && c != '%')
            .unwrap_or(text.len())
    };
    let mut length = letters(text);
    while length > 0 && text[length..].starts_with('/') {
        let more = letters(&text[length + 1..]);
        let next = &text[length + 1 + more..];
        // The name of a result has a dot or a bracket, so this is a division.
        if more == 0 || next.starts_with(['.', '[', '_', '(', '-']) {
            break;
        }
        length += 1 + more;
    }
    length
}

/// Returns half of one unit of the last written digit.
fn half_digit(digits: &str) -> f64 {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse().unwrap_or(0)),
        None => (digits, 0),
    };
    let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len() as i32);
    0.5 * 10f64.powi(exponent - decimals)
}
