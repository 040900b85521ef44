//! Reads JSON of other tools. Its size is bounded before it is parsed; `NaN` and `Infinity`, which some tools
//! write, are accepted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::{Error, malformed};

/// The limit for a parsed document's memory, in bytes; together with the text (64 MB), this stays below 400
/// MB.
const MOST_MEMORY: usize = 300 << 20;

/// Parses a document. `NaN` and infinities become `null`.
pub(crate) fn document(bytes: &[u8]) -> Result<Value, Error> {
    let (memory, odd) = survey(bytes);
    if memory > MOST_MEMORY {
        return Err(Error::TooLarge(
            "this JSON contains more values than fit into 300 MB of memory".to_owned(),
        ));
    }
    let text = if odd {
        Cow::Owned(without_odd_numbers(bytes))
    } else {
        Cow::Borrowed(bytes)
    };
    serde_json::from_slice(&text).map_err(|error| malformed(format!("not JSON: {error}")))
}

/// Returns the maximum memory that the parsed document can take, and whether it contains numbers that aren't
/// JSON. The smallest node of a map takes 632 bytes, and the first allocation of an array takes 128.
fn survey(bytes: &[u8]) -> (usize, bool) {
    let (mut memory, mut odd) = (0, false);
    outside_strings(bytes, |at, byte| match byte {
        b'{' => memory += 640,
        b'[' => memory += 160,
        b',' => memory += 96,
        b'N' | b'I' | b'i' => odd = odd || odd_number(&bytes[at..]).is_some(),
        b'n' => odd = odd || bytes[at..].starts_with(b"nan"),
        _ => {}
    });
    (memory, odd)
}

fn odd_number(bytes: &[u8]) -> Option<usize> {
    let words: [&[u8]; 5] = [b"Infinity", b"infinity", b"NaN", b"nan", b"inf"];
    words
        .iter()
        .find(|word| bytes.starts_with(word))
        .map(|word| word.len())
}

fn without_odd_numbers(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    let mut found = Vec::new();
    outside_strings(bytes, |at, _| {
        if let Some(length) = odd_number(&bytes[at..]) {
            let sign = at > 0 && bytes[at - 1] == b'-';
            found.push((at - usize::from(sign), at + length));
        }
    });
    let mut filled = 0;
    for (start, end) in found.into_iter().filter(|(start, end)| end - start >= 3) {
        if start < filled {
            continue;
        }
        // `nan` and `inf` are one byte shorter than `null`. A single digit would fit, but would have a
        // meaning.
        let null: &[u8] = if end - start >= 4 { b"null" } else { b"[]" };
        text[start..end].fill(b' ');
        text[start..start + null.len()].copy_from_slice(null);
        filled = end;
    }
    text
}

fn outside_strings(bytes: &[u8], mut each: impl FnMut(usize, u8)) {
    let (mut inside, mut escaped) = (false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if escaped {
            escaped = false;
        } else if inside {
            escaped = byte == b'\\';
            inside = byte != b'"';
        } else if byte == b'"' {
            inside = true;
        } else {
            each(at, byte);
        }
    }
}

pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

pub(crate) fn entries<'a>(
    value: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value[key].as_object().into_iter().flatten()
}

pub(crate) fn word<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value[key].as_str()
}

pub(crate) fn number(value: &Value, key: &str) -> Option<f64> {
    value[key].as_f64()
}

/// Returns a required name; an entry without one is invalid.
pub(crate) fn name<'a>(value: &'a Value, key: &str) -> Result<&'a str, Error> {
    word(value, key).ok_or_else(|| malformed(format!("an entry has no '{key}'")))
}

/// Returns the numbers of a list; other values become `NaN`, which the collector counts.
pub(crate) fn numbers(list: &[Value]) -> impl Iterator<Item = f64> {
    list.iter().map(|value| value.as_f64().unwrap_or(f64::NAN))
}

/// Returns a count, even if it is written as `1.0`.
pub(crate) fn count(value: &Value, key: &str) -> Option<u64> {
    whole(&value[key])
}

pub(crate) fn whole(value: &Value) -> Option<u64> {
    let float = || {
        value
            .as_f64()
            .filter(|float| *float >= 0.0 && *float < 9e15 && float.fract() == 0.0)
    };
    value.as_u64().or_else(|| float().map(|float| float as u64))
}

/// Returns the figures of an object, each under the name that `name` derives from its key.
pub(crate) fn figures(
    value: &Value,
    name: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, f64> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .filter_map(|(key, value)| Some((name(key)?, value.as_f64()?)))
        .collect()
}

/// Returns the figures under these keys, each under its own name.
pub(crate) fn chosen(value: &Value, keys: &[(&str, &str)]) -> BTreeMap<String, f64> {
    keys.iter()
        .filter_map(|(name, key)| Some(((*name).to_owned(), number(value, key)?)))
        .collect()
}

/// Returns quantiles under keys such as `p99`, `p99.9`, `p99_9` and `p999`.
pub(crate) fn quantiles(value: &Value) -> BTreeMap<String, f64> {
    figures(value, |key| {
        let digits = key.strip_prefix('p')?.replace('_', ".");
        let numeric = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let nines = digits.len() > 2 && digits.starts_with("99") && !digits.contains('.');
        let percent = match nines {
            true => format!("99.{}", &digits[2..]),
            false => digits,
        };
        (numeric && !percent.is_empty()).then_some(percent)
    })
}

/// Returns a value as the text of a parameter.
pub(crate) fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned)
}

pub(crate) fn parameters(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(key, value)| (key.clone(), text(value)))
        .collect()
}

/// Returns whether the head begins as JSON with one of these opening bytes.
pub(crate) fn opens(head: &[u8], with: &[u8]) -> bool {
    head.trim_ascii_start()
        .first()
        .is_some_and(|first| with.contains(first))
}

/// Returns whether the head contains all these words.
pub(crate) fn holds(head: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .all(|word| crate::lines::find(head, word.as_bytes()).is_some())
}
