//! A deserializer for a value of the tree.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::marks::{DATE, SCALAR, TEXTS, UNTIL};
use super::problem::did_you_mean;
use super::tree::{Reading, Wrong};

/// A value of the tree.
#[derive(Clone)]
pub(super) struct Place<'t> {
    /// The key of the value.
    pub(super) key: &'t str,
    pub(super) value: &'t Spanned<DeValue<'t>>,
    /// Where the heading of a table is.
    pub(super) heading: Range<usize>,
    pub(super) reading: &'t Reading<'t>,
}

impl<'t> Place<'t> {
    fn of(&self, key: &'t str, value: &'t Spanned<DeValue<'t>>) -> Place<'t> {
        Place {
            key,
            value,
            heading: value.span(),
            reading: self.reading,
        }
    }

    pub(super) fn wrong_kind(&self, wanted: &str) -> (String, String) {
        let key = self.key;
        if let Some(least) = wanted.strip_prefix("a whole number from ") {
            let such_as = least.parse::<u64>().unwrap_or_default().max(10);
            let message = format!("`{key}` must be {wanted} upwards");
            return (message, format!("write one, such as {key} = {such_as}"));
        }
        let wanted = match wanted {
            "a string" => format!("{key} = \"…\""),
            "a boolean" => format!("{key} = true"),
            "f64" => format!("{key} = 1.5"),
            "a list" => format!("{key} = [\"a\", \"b\"]"),
            "tables" => format!("[[{key}]] above each"),
            other => other.to_owned(),
        };
        let found = match self.value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        (format!("`{key}` is {found}"), format!("write {wanted}"))
    }

    fn is_not(&self, wanted: &str) -> Wrong {
        Wrong::Kind {
            wanted: wanted.to_owned(),
        }
    }

    /// Deserializes a table whose keys are those of a struct.
    fn fields<'de, V: Visitor<'de>>(
        self,
        table: &'t DeTable<'t>,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let (of, title) = (std::ptr::from_ref(table).cast(), title(&visitor));
        let problems = self.reading.problems;
        let mut entries = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let advice = match did_you_mean(name, known.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("{title} has the keys {}", known.join(", ")),
                };
                problems.add(key.span(), format!("{title} has no key `{name}`"), advice);
                continue;
            }
            let blank = value
                .get_ref()
                .as_str()
                .is_some_and(|text| text.trim().is_empty());
            if let (true, Some(example)) = (blank, example(&title, name)) {
                problems.add(value.span(), format!("`{name}` is empty"), example);
            }
            let key = Plain {
                text: name.into(),
                span: key.span(),
            };
            let left_out = self.reading.is_left_out(of, name);
            entries.push((key, (!left_out).then(|| self.of(name, value))));
        }
        let absent = known.iter().filter(|key| !table.contains_key(**key));
        let absent = absent.filter(|key| self.reading.is_left_out(of, key));
        entries.extend(absent.map(|key| {
            let text = Cow::Borrowed(*key);
            (Plain { text, ..NOTHING }, None)
        }));
        let fields = Children::new(of, entries.into_iter(), self.reading);
        visitor.visit_map(fields).map_err(|wrong| {
            let Wrong::Missing(key) = wrong else {
                return wrong;
            };
            let heading = self.heading.start..self.heading.end.max(self.heading.start + 1);
            let advice = example(&title, key).unwrap_or_default();
            problems.add(heading, format!("{title} needs `{key}`"), advice);
            self.reading.again(of, key.to_owned())
        })
    }
}

/// Returns the name of a struct for messages, which is what its type gives as `expecting`.
fn title<'de, V: Visitor<'de>>(visitor: &V) -> String {
    let expected: &dyn Expected = visitor;
    expected.to_string()
}

/// Returns what to write for a required key.
fn example(title: &str, key: &str) -> Option<&'static str> {
    Some(match (title, key) {
        (_, "schema_version") => "write schema_version = 1",
        ("an experiment file", "title") => "write title = \"What it is about\"",
        ("a picture", "title") => "write title = \"Wall time over the releases\"",
        (_, "title") => "write title = \"…\"",
        (_, "check") => {
            "write check = \"program --version\", or another command that succeeds if the tool is installed"
        }
        ("a build", "command") => "write command = \"cc -O2 -o {work}/x src/x.c\"",
        ("a count", "command") => "write command = \"objdump -d {work}/x\"",
        (_, "command") => "write command = \"program argument\"",
        (_, "how") => "write how = \"bench\"",
        (_, "pattern") => "write pattern = \"took ([0-9.]+) us\"",
        ("a claim", "id") => "write id = \"a short name\"",
        (_, "layer") => "write layer = \"arithmetic\", \"mechanism\" or \"size\"",
        ("a claim", "text") => "write text = \"The claim in words\"",
        ("an answer", "question") => "write question = \"Why …?\"",
        ("a picture", "metric") => "write metric = \"wall\"",
        ("a picture", "over") => "over needs two subjects or more, such as over = [\"a\", \"b\"]",
        (_, "benchmark") => "write benchmark = \"NAME\"",
        (_, "reason") => "write reason = \"why it is accepted\"",
        (_, "until") => UNTIL,
        _ => return None,
    })
}

impl IntoDeserializer<'_, Wrong> for Place<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Place<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(flag) => visitor.visit_bool(*flag),
            DeValue::Float(number) => {
                visitor.visit_f64(number.as_str().replace('_', "").parse().unwrap_or(f64::NAN))
            }
            value @ DeValue::Integer(_) => match integer(value).map(u64::try_from) {
                Some(Ok(number)) => visitor.visit_u64(number),
                number => visitor.visit_i64(
                    number
                        .and_then(|_| integer(value)?.try_into().ok())
                        .unwrap_or(i64::MIN),
                ),
            },
            DeValue::Datetime(_) => Err(self.is_not(&title(&visitor))),
            DeValue::Array(items) => {
                let of = std::ptr::from_ref(items).cast();
                let items = items.iter().enumerate().map(|(index, value)| {
                    let text = index.to_string().into();
                    (Plain { text, ..NOTHING }, self.of(self.key, value))
                });
                visitor.visit_seq(Children::kept(of, items, self.reading))
            }
            DeValue::Table(table) => {
                let of = std::ptr::from_ref(table).cast();
                let entries = table.iter().map(|(key, value)| {
                    let text: &str = key.get_ref();
                    let (key, heading) = (text, key.span());
                    let span = heading.clone();
                    let place = Place {
                        heading,
                        ..self.of(key, value)
                    };
                    (
                        Plain {
                            text: key.into(),
                            span,
                        },
                        place,
                    )
                });
                visitor.visit_map(Children::kept(of, entries, self.reading))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let text = match (name, self.value.get_ref()) {
            (DATE, DeValue::Datetime(date)) => Some(date.to_string()),
            (SCALAR | DATE, value) => scalar(value),
            (TEXTS, DeValue::String(_)) => {
                return visitor.visit_seq(SeqDeserializer::new(std::iter::once(self)));
            }
            (TEXTS, _) => return self.deserialize_any(visitor),
            _ => return visitor.visit_newtype_struct(self),
        };
        match text {
            Some(text) => visitor.visit_string(text),
            None => Err(self.is_not(&title(&visitor))),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        if is_spanned(name) {
            let span = self.value.span();
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        match self.value.get_ref() {
            DeValue::Table(table) => self.fields(table, fields, visitor),
            _ => Err(self.is_not("a table")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let DeValue::String(word) = self.value.get_ref() else {
            return Err(self.is_not("a string"));
        };
        let name = title(&visitor);
        let word: &str = word;
        visitor
            .visit_enum(word.into_deserializer())
            .map_err(|wrong| match wrong {
                Wrong::Word { word, known, .. } => Wrong::Word {
                    word,
                    what: name.trim_start_matches("enum ").to_lowercase(),
                    known,
                },
                other => other,
            })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// The values of a table or a list. If a value of a struct was omitted, [`NOTHING`] takes its place.
struct Children<'t> {
    of: *const (),
    all: std::vec::IntoIter<(Plain<'t>, Option<Place<'t>>)>,
    next: Option<(Plain<'t>, Option<Place<'t>>)>,
    reading: &'t Reading<'t>,
}

impl<'t> Children<'t> {
    fn new(
        of: *const (),
        all: impl Iterator<Item = (Plain<'t>, Option<Place<'t>>)>,
        reading: &'t Reading<'t>,
    ) -> Children<'t> {
        let all: Vec<_> = all.collect();
        Children {
            of,
            all: all.into_iter(),
            next: None,
            reading,
        }
    }

    /// Creates the values without the omitted ones.
    fn kept(
        of: *const (),
        all: impl Iterator<Item = (Plain<'t>, Place<'t>)>,
        reading: &'t Reading<'t>,
    ) -> Children<'t> {
        let kept = all.filter(|(key, _)| !reading.is_left_out(of, &key.text));
        Children::new(of, kept.map(|(key, place)| (key, Some(place))), reading)
    }
}

impl<'de> MapAccess<'de> for Children<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        self.next = self.all.next();
        let key = self.next.as_ref().map(|(key, _)| key.clone());
        key.map(|key| seed.deserialize(key)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        match self.next.take() {
            Some((key, Some(place))) => {
                let read = seed.deserialize(place.clone());
                read.map_err(|wrong| {
                    let key = key.text.into_owned();
                    self.reading.leave_out(self.of, key, &place, wrong)
                })
            }
            _ => seed.deserialize(NOTHING),
        }
    }
}

impl<'de> SeqAccess<'de> for Children<'_> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        self.next = self.all.next();
        let next = self.next.is_some();
        next.then(|| self.next_value_seed(seed)).transpose()
    }
}

/// A key with its position.
#[derive(Clone)]
struct Plain<'t> {
    text: Cow<'t, str>,
    span: Range<usize>,
}

/// Takes the place of an omitted value: it is empty, a number that is large enough, or the first of several
/// words.
const NOTHING: Plain<'static> = Plain {
    text: Cow::Borrowed(""),
    span: 0..0,
};

impl IntoDeserializer<'_, Wrong> for Plain<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Plain<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(&self.text)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bool(false)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_f64(0.0)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_u64(u64::MAX)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match name {
            TEXTS => self.deserialize_seq(visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_none()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<Plain<'_>>()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let none = std::iter::empty::<(Plain<'_>, Plain<'_>)>();
        visitor.visit_map(MapDeserializer::new(none))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        if is_spanned(name) {
            let span = self.span.clone();
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        let all = fields.iter().map(|key| (*key, NOTHING));
        visitor.visit_map(MapDeserializer::new(all))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let first = words.first().copied().unwrap_or_default();
        visitor.visit_enum(first.into_deserializer())
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// Returns text, numbers and flags as text.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(_) => integer(value).map(|number| number.to_string()),
        DeValue::Float(number) => Some(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn integer(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
}
