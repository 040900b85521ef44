//! A table of the file, read key by key; what is wrong is collected with its place.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::Section;
use super::problem::{Problem, did_you_mean};

/// A value with the bytes of the file that it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Range<usize>,
}

impl<T> std::ops::Deref for Located<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Where problems are put.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    /// Adds one.
    pub fn add(&self, span: Range<usize>, message: impl Into<String>, advice: impl Into<String>) {
        self.0.borrow_mut().push(Problem {
            span,
            message: message.into(),
            advice: advice.into(),
        });
    }

    /// All, in the order of the file.
    pub fn into_sorted(self) -> Vec<Problem> {
        let mut all = self.0.into_inner();
        all.sort_by_key(|problem| (problem.span.start, problem.span.end));
        all.dedup();
        all
    }
}

/// One table.
pub struct Table<'a> {
    entries: &'a DeTable<'a>,
    /// Where the table begins.
    pub span: Range<usize>,
    problems: &'a Problems,
    section: Section,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl<'a> Table<'a> {
    /// Says at once which keys are unknown.
    pub fn new(
        entries: &'a DeTable<'a>,
        span: Range<usize>,
        section: Section,
        problems: &'a Problems,
    ) -> Table<'a> {
        for (key, _) in entries {
            let name = key.get_ref().as_ref();
            if section.keys().contains(&name) {
                continue;
            }
            let advice = match did_you_mean(name, section.keys().iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!(
                    "{} has the keys {}",
                    section.title(),
                    section.keys().join(", ")
                ),
            };
            problems.add(
                key.span(),
                format!("{} has no key `{name}`", section.title()),
                advice,
            );
        }
        Table {
            entries,
            span,
            problems,
            section,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'a Value<'a>> {
        debug_assert!(self.section.keys().contains(&key), "{key} is not in keys()");
        self.entries.get(key)
    }

    fn wrong(&self, key: &str, value: &Value<'_>, wanted: &str) {
        self.problems.add(
            value.span(),
            format!("`{key}` is {}", kind(value.get_ref())),
            format!("write {wanted}"),
        );
    }

    /// Says that a key is missing.
    pub fn missing(&self, key: &str, advice: &str) {
        let end = self.span.end.max(self.span.start + 1);
        self.problems.add(
            self.span.start..end,
            format!("{} needs `{key}`", self.section.title()),
            advice,
        );
    }

    /// A string.
    pub fn text(&self, key: &str) -> Option<Located<String>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Located {
                value: text.to_string(),
                span: value.span(),
            }),
            _ => {
                self.wrong(key, value, &format!("{key} = \"…\""));
                None
            }
        }
    }

    /// A string that must be there and must not be empty.
    pub fn required(&self, key: &str, example: &str) -> Located<String> {
        let text = self.text(key);
        match text {
            Some(text) if !text.trim().is_empty() => return text,
            Some(text) => self
                .problems
                .add(text.span, format!("`{key}` is empty"), example),
            None if self.get(key).is_none() => self.missing(key, example),
            None => {}
        }
        Located {
            value: String::new(),
            span: self.span.clone(),
        }
    }

    /// True or false.
    pub fn flag(&self, key: &str) -> Option<bool> {
        let value = self.get(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong(key, value, &format!("{key} = true"));
        }
        flag
    }

    /// A whole number from `least` on.
    pub fn whole(&self, key: &str, least: u64) -> Option<u64> {
        let value = self.get(key)?;
        let number = integer(value.get_ref()).and_then(|number| u64::try_from(number).ok());
        match number {
            Some(number) if number >= least => Some(number),
            _ => {
                self.problems.add(
                    value.span(),
                    format!("`{key}` is no whole number from {least} on"),
                    format!("write one, such as {key} = {}", least.max(10)),
                );
                None
            }
        }
    }

    /// A number, whole or not.
    pub fn number(&self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
            other => integer(other).map(|number| number as f64),
        };
        if number.is_none() {
            self.wrong(key, value, &format!("{key} = 1.5"));
        }
        number
    }

    /// A list of strings, or one string.
    pub fn texts(&self, key: &str) -> Vec<Located<String>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        if let DeValue::String(text) = value.get_ref() {
            return vec![Located {
                value: text.to_string(),
                span: value.span(),
            }];
        }
        let Some(list) = value.get_ref().as_array() else {
            self.wrong(key, value, &format!("{key} = [\"a\", \"b\"]"));
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in list {
            match scalar(item.get_ref()) {
                Some(value) => all.push(Located {
                    value,
                    span: item.span(),
                }),
                None => self.wrong(key, item, "text"),
            }
        }
        all
    }

    /// A table in it with fixed keys.
    pub fn table(&self, key: &str, section: Section) -> Option<Table<'a>> {
        let value = self.get(key)?;
        match value.get_ref().as_table() {
            Some(entries) => Some(Table::new(entries, value.span(), section, self.problems)),
            None => {
                self.wrong(key, value, "a table");
                None
            }
        }
    }

    /// The tables of `[key.NAME]`, in the order of the file.
    pub fn named(&self, key: &str, section: Section) -> Vec<(Located<String>, Table<'a>)> {
        let mut all = Vec::new();
        for (name, value) in self.entries_of(key) {
            match value.get_ref().as_table() {
                Some(entries) => {
                    let table = Table::new(entries, name.span.clone(), section, self.problems);
                    all.push((name, table));
                }
                None => self.wrong(&format!("{key}.{}", name.value), value, "a table"),
            }
        }
        all
    }

    /// The tables of `[[key]]`.
    pub fn list(&self, key: &str, section: Section) -> Vec<Table<'a>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, &format!("[[{key}]] above each"));
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items {
            match item.get_ref().as_table() {
                Some(entries) => {
                    all.push(Table::new(entries, item.span(), section, self.problems));
                }
                None => self.wrong(key, item, "a table"),
            }
        }
        all
    }

    /// The names and values of a table whose keys are free.
    pub fn entries_of(&self, key: &str) -> Vec<(Located<String>, &'a Value<'a>)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let Some(entries) = value.get_ref().as_table() else {
            self.wrong(key, value, "a table");
            return Vec::new();
        };
        entries
            .iter()
            .map(|(name, value)| {
                let name = Located {
                    value: name.get_ref().to_string(),
                    span: name.span(),
                };
                (name, value)
            })
            .collect()
    }

    /// Names and texts of a table whose keys are free.
    pub fn pairs(&self, key: &str) -> Vec<(Located<String>, Located<String>)> {
        let mut all = Vec::new();
        for (name, value) in self.entries_of(key) {
            match scalar(value.get_ref()) {
                Some(text) => {
                    let text = Located {
                        value: text,
                        span: value.span(),
                    };
                    all.push((name, text));
                }
                None => self.wrong(&name.value, value, "text"),
            }
        }
        all
    }

    /// Names and lists of a table whose keys are free.
    pub fn lists(&self, key: &str) -> Vec<(Located<String>, Vec<Located<String>>)> {
        self.entries_of(key)
            .into_iter()
            .filter_map(|(name, value)| {
                let list = self.values_of(&name.value, value)?;
                Some((name, list))
            })
            .collect()
    }

    /// The texts and numbers of a list.
    pub fn values_of(&self, name: &str, value: &Value<'_>) -> Option<Vec<Located<String>>> {
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(name, value, &format!("{name} = [\"a\", \"b\"]"));
            return None;
        };
        let mut list = Vec::new();
        for item in items {
            match scalar(item.get_ref()) {
                Some(value) => list.push(Located {
                    value,
                    span: item.span(),
                }),
                None => self.wrong(name, item, "text or a number"),
            }
        }
        if list.is_empty() {
            self.wrong(name, value, "at least one value");
            return None;
        }
        Some(list)
    }
}

/// Text, numbers and flags as text.
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

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl Table<'_> {
    /// Text or a number, as text.
    pub fn texts_or_number(&self, key: &str) -> Option<Located<String>> {
        let value = self.get(key)?;
        match scalar(value.get_ref()) {
            Some(text) => Some(Located {
                value: text,
                span: value.span(),
            }),
            None => {
                self.wrong(key, value, &format!("{key} = \"…\""));
                None
            }
        }
    }
}
