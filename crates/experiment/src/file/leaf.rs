//! Values in the file that are more than text. Each is parsed to obtain its meaning, or reported as a
//! problem.

use std::fmt;
use std::time::Duration;

use fathom_model::Metric;
use jiff::civil::Date;
use regex_lite::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};

use super::marks::{DATE, UNTIL};
use super::problem::Located;
use super::shape::{AsText, Pairs, Scalar, Values, scalar, texts};
use super::tree::Said;
use crate::expression;
use crate::unit::{self, Unit};

/// An expression in the file.
#[derive(Debug, Clone)]
pub struct Formula {
    /// The text as written, with its position.
    pub text: Located<String>,
    /// The parsed expression.
    pub expression: expression::Expression,
}

/// Parameters, each restricted to some values.
pub type Only = Vec<(Located<String>, Vec<Located<String>>)>;

/// The meaning of a text, or the problem and what to write instead.
type Read<T> = Result<T, (String, &'static str)>;

/// Defines types for `#[serde(with = "…")]`: the target type, its schema, and the parser.
macro_rules! leaf {
    ($($(#[$doc:meta])* $name:ident -> $to:ty, $schema:tt, |$from:ident| $read:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;

        impl $name {
            pub(super) fn deserialize<'de, D: Deserializer<'de>>($from: D) -> Result<$to, D::Error> {
                $read
            }
        }

        #[cfg(test)]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    )*};
}

leaf! {
    /// One text, or a list.
    Texts -> Vec<Located<String>>,
    {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "number", "boolean"]}}]},
    |from| texts(from);

    /// A list of at least two texts.
    Several -> Vec<Located<String>>, {"type": "array", "items": {"type": "string"}, "minItems": 2},
    |from| texts(from);

    /// Texts by name.
    TextsByName -> Vec<(Located<String>, Located<String>)>,
    {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
    |from| {
        let pairs = Pairs::<Located<Scalar>>::deserialize(from)?.0.into_iter();
        Ok(pairs.map(|(name, value)| (name, value.into())).collect())
    };

    /// File paths by name.
    PathsByName -> Vec<(Located<String>, Located<String>)>,
    {"type": "object", "additionalProperties": {"type": "string"}},
    |from| TextsByName::deserialize(from);

    /// Lists by name.
    Lists -> Only,
    {"type": "object", "additionalProperties": {
        "type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1}},
    |from| Pairs::deserialize(from).map(lists);

    /// The values of parameters, and those of `quick`.
    Parameters -> Vec<(Located<String>, Given)>,
    {"type": "object", "additionalProperties": {
        "type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1},
     "properties": {"quick": {"description": "The values for --quick.", "type": "object",
        "additionalProperties": {
            "type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1}}}},
    |from| from.deserialize_map(Parameters);

    /// A duration, as text or in seconds.
    Time -> Option<Duration>, {"type": ["string", "number"], "examples": ["30s", "2min"]},
    |from| parsed(scalar(from)?, |text| {
        let wrong = || (
            format!("{:?} is not a time", text.value),
            "write a duration such as \"500ms\", \"30s\" or \"2min\"",
        );
        duration(text).ok_or_else(wrong).map(Some)
    });

    /// A number of bytes, as text or as an integer.
    Size -> Option<u64>, {"type": ["string", "integer"], "examples": ["11 MiB", 4096]},
    |from| parsed(scalar(from)?, |text| unit::bytes(text).map(Some).map_err(|message| (message, "")));

    /// A whole number.
    Whole -> u64, {"type": "integer", "minimum": 0},
    |from| from.deserialize_u64(From(0));

    /// A positive whole number.
    Positive -> u64, {"type": "integer", "minimum": 1},
    |from| from.deserialize_u64(From(1));

    /// A positive whole number, or absent.
    Quick -> Option<u64>, {"type": "integer", "minimum": 1},
    |from| Positive::deserialize(from).map(Some);

    /// A year.
    Year -> Option<i64>, {"type": "integer", "minimum": 1900},
    |from| Ok(from.deserialize_u64(From(1900))?.try_into().ok());

    /// The only version of the format.
    Version -> (), {"const": 1},
    |from| {
        let number = Located::<Number>::deserialize(from)?;
        let text = Located { value: number.value.0.to_string(), span: number.span };
        parsed(text, |text| match text.value.as_str() {
            "1" => Ok(()),
            other => Err((
                format!("schema_version = {other} is not supported"),
                "this Fathom reads version 1: write schema_version = 1",
            )),
        })
    };

    /// A unit, and its size in base units.
    UnitOf -> (Unit, f64), {"type": "string"},
    |from| parsed(Located::deserialize(from)?, |text| unit::parse(text).map_err(|message| (message, "")));

    /// The name of a unit.
    UnitName -> Option<String>, {"type": "string"},
    |from| parsed(Located::deserialize(from)?, |text| match unit::parse(text) {
        Ok(_) => Ok(Some(text.value.clone())),
        Err(message) => Err((message, "")),
    });

    /// Pairs of hexadecimal digits.
    Hex -> Option<Vec<u8>>, {"type": "string"},
    |from| parsed(Located::deserialize(from)?, |text| {
        let wrong = || (
            "`hex` must be pairs of hexadecimal digits".to_owned(),
            "write hex = \"00 01 ff\"",
        );
        hex(text).ok_or_else(wrong).map(Some)
    });

    /// A regular expression.
    Pattern -> Regex, {"type": "string"},
    |from| or_empty(parsed(Located::deserialize(from)?, |text| pattern(text).map(Some))?);

    /// A regular expression with one group, around a number.
    NumberPattern -> Regex, {"type": "string"},
    |from| or_empty(parsed(Located::deserialize(from)?, |text| {
        let pattern = pattern(text)?;
        match pattern.captures_len() {
            2 => Ok(Some(pattern)),
            _ if text.trim().is_empty() => Ok(None),
            groups => Err((
                format!("the pattern has {} capture groups, but must have exactly one", groups - 1),
                "put ( ) around the number, and (?: ) around everything else",
            )),
        }
    })?);

    /// An expression over the results.
    Expression -> Option<Formula>, {"type": "string"},
    |from| {
        let text = Located::<String>::deserialize(from)?;
        if text.span.is_empty() {
            return Ok(None);
        }
        match expression::parse(&text) {
            Ok(expression) => Ok(Some(Formula { text, expression })),
            Err(error) => Err(Said::error(&text, Some(error.span), error.message, error.advice)),
        }
    };

    /// `3%` as a share.
    Margin -> Option<f64>, {"type": "string"},
    |from| parsed(scalar(from)?, |text| match share_of(text) {
        Some(share) if share < 1.0 => Ok(Some(share)),
        _ => Err((format!("{:?} is not a margin", text.value), "write a share such as \"3%\"")),
    });

    /// Metrics, each optionally followed by its own margin.
    Metrics -> Vec<MetricOf>, {"type": "array", "items": {"type": "string"}, "examples": [["wall", "peak_memory=5%"]]},
    |from| {
        let each = texts(from)?.into_iter().map(|text| parsed(text, |text| metric(text).map(Some)));
        Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    };

    /// Margins by name.
    Margins -> Vec<(String, f64)>, {"type": "object", "additionalProperties": {"type": "string"}},
    |from| {
        let pairs = Pairs::<MarginOf>::deserialize(from)?.0.into_iter();
        Ok(pairs.filter_map(|(name, share)| Some((name.value, share.0?))).collect())
    };

    /// Parses `15%` as a share, which may exceed 100 %.
    Ceiling -> Option<f64>, {"type": "string"},
    |from| parsed(Located::deserialize(from)?, |text| {
        let wrong = || (
            format!("{:?} is not a change", text.value),
            "write a share such as \"15%\", the largest change that is allowed",
        );
        share_of(text).ok_or_else(wrong).map(Some)
    });

    /// A date in TOML, or as text.
    Day -> String, {"type": "string"},
    |from| {
        let day = Located::<DayText>::deserialize(from)?;
        let text = Located { value: day.value.0, span: day.span };
        parsed(text, |text| match is_date(text) {
            true => Ok(text.value.clone()),
            false => Err((format!("{:?} is not a date", text.value), UNTIL)),
        })
    };
}

/// A judged metric, and its own margin.
pub type MetricOf = (Metric, Option<f64>);

/// Parses `peak_memory` or `peak_memory=5%`.
fn metric(text: &str) -> Read<MetricOf> {
    let (name, margin) = match text.split_once('=') {
        Some((name, margin)) => (name.trim(), Some(margin)),
        None => (text.trim(), None),
    };
    let Some(metric) = Metric::ALL.into_iter().find(|known| known.name() == name) else {
        let names = Metric::ALL.map(Metric::name).join(", ");
        return Err((format!("no metric {name:?}; the metrics are {names}"), ""));
    };
    let share = margin.map(|margin| {
        let share = share_of(margin).filter(|share| *share < 1.0);
        let wrong = || {
            (
                format!("{margin:?} is not a margin"),
                "write one such as \"peak_memory=5%\"",
            )
        };
        share.ok_or_else(wrong)
    });
    Ok((metric, share.transpose()?))
}

/// Parses a text to obtain its meaning; an omitted value becomes the default.
fn parsed<T: Default, E: Error>(
    text: Located<String>,
    read: impl FnOnce(&Located<String>) -> Read<T>,
) -> Result<T, E> {
    if text.span.is_empty() {
        return Ok(T::default());
    }
    read(&text).map_err(|(message, advice)| Said::error(&text, None, message, advice))
}

fn lists(pairs: Pairs<Values>) -> Only {
    let pairs = pairs.0.into_iter();
    pairs.map(|(name, values)| (name, values.0)).collect()
}

/// The values of a parameter; those under `quick` are lists by name.
#[derive(Debug, Clone)]
pub enum Given {
    /// The values of one parameter.
    Values(Vec<Located<String>>),
    /// The values under `quick`.
    Lists(Only),
}

impl<'de> Visitor<'de> for Parameters {
    type Value = Vec<(Located<String>, Given)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = entries.next_key::<Located<String>>()? {
            let given = match name.value.as_str() {
                "quick" => Given::Lists(lists(entries.next_value()?)),
                _ => Given::Values(entries.next_value::<Values>()?.0),
            };
            all.push((name, given));
        }
        Ok(all)
    }
}

/// Parses `500ms`, `30s`, `2min`, `1h`; a bare number is seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, word) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let scale = match word.trim() {
        "" => 1.0,
        "m" => 60.0,
        word => match unit::parse(word) {
            Ok((unit, scale)) if unit == Unit::seconds() => scale,
            _ => return None,
        },
    };
    let seconds = number * scale;
    (seconds > 0.0 && seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
}

/// A whole number that is at least this large.
struct From(u64);

impl Visitor<'_> for From {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {}", self.0)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        match number >= self.0 {
            true => Ok(number),
            false => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }
}

struct Number(u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        Positive::deserialize(from).map(Number)
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.chars().filter(|c| !c.is_whitespace());
    let digits: Vec<u32> = digits.map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some((high << 4 | low) as u8),
        _ => None,
    });
    pairs.collect()
}

fn pattern(text: &str) -> Read<Regex> {
    let built = regex_lite::RegexBuilder::new(text)
        .multi_line(true)
        .size_limit(1 << 20)
        .build();
    built.map_err(|error| {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default().trim();
        (
            format!("the pattern is invalid: {last}"),
            "it is a regular expression; in TOML, '…' keeps backslashes as they are",
        )
    })
}

fn or_empty<E: Error>(pattern: Option<Regex>) -> Result<Regex, E> {
    pattern.map_or_else(|| Regex::new("").map_err(E::custom), Ok)
}

struct MarginOf(Option<f64>);

impl<'de> Deserialize<'de> for MarginOf {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MarginOf, D::Error> {
        Margin::deserialize(from).map(MarginOf)
    }
}

struct DayText(String);

impl<'de> Deserialize<'de> for DayText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DayText, D::Error> {
        from.deserialize_newtype_struct(DATE, AsText("a date"))
            .map(DayText)
    }
}

/// Parses `15%` as a share, which may exceed 100 %.
pub fn share_of(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()?;
    Some(number / 100.0).filter(|share| share.is_finite() && *share >= 0.0)
}

/// Returns whether the text is a calendar date such as `2027-01-31`; other forms of ISO 8601 can't be
/// compared as text.
pub fn is_date(text: &str) -> bool {
    text.parse::<Date>()
        .is_ok_and(|date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_one_of_the_calendar() {
        for date in ["2027-01-31", "2028-02-29", "2000-02-29", "2026-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for none in [
            "2027-02-29",
            "2100-02-29",
            "2026-02-30",
            "2026-04-31",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "26-01-01",
            "2026-1-1",
            "soon",
            "2026-01-01T00:00:00Z",
        ] {
            assert!(!is_date(none), "{none}");
        }
    }
}
