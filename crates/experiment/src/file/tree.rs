//! Deserializes the tree of a file. Serde stops at the first mistake, but the user wants to see all of them.
//! Therefore, a value that can't be read is reported and omitted, and the file is read again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{self, Expected, Unexpected};
use toml::Spanned;
use toml::de::DeValue;

use super::place::Place;
use super::problem::{Located, Problems, did_you_mean, inside};

/// Deserializes a tree as a type; returns `None` if that is impossible, with the reasons in `problems`.
pub(super) fn read<'t, T: Deserialize<'t>>(
    root: &'t Spanned<DeValue<'t>>,
    text: &'t str,
    problems: &'t Problems,
) -> Option<T> {
    let reading = Reading {
        text,
        problems,
        left_out: RefCell::default(),
    };
    loop {
        let place = Place {
            key: "",
            value: root,
            heading: 0..1,
            reading: &reading,
        };
        match T::deserialize(place) {
            Ok(read) => return Some(read),
            Err(Wrong::Again) => {}
            Err(_) => return None,
        }
    }
}

pub(super) struct Reading<'t> {
    text: &'t str,
    pub(super) problems: &'t Problems,
    /// The omitted values, each as the table or list and the key or position in it.
    left_out: RefCell<BTreeSet<(*const (), String)>>,
}

impl Reading<'_> {
    pub(super) fn is_left_out(&self, of: *const (), key: &str) -> bool {
        self.left_out.borrow().contains(&(of, key.to_owned()))
    }

    /// Reports a problem with a value, only once, and omits the value.
    pub(super) fn leave_out(
        &self,
        of: *const (),
        key: String,
        place: &Place<'_>,
        wrong: Wrong,
    ) -> Wrong {
        let (message, advice) = match wrong {
            Wrong::Again | Wrong::Stuck => return wrong,
            Wrong::Said(said) => {
                let span = match &said.part {
                    Some(part) => inside(self.text, &said.text(), part),
                    None => said.span.clone(),
                };
                self.problems.add(span, said.message, said.advice);
                return self.again(of, key);
            }
            Wrong::Kind { wanted } => place.wrong_kind(&wanted),
            Wrong::Word { word, what, known } => {
                let advice = match did_you_mean(&word, known.iter().copied()) {
                    Some(meant) => format!("did you mean {meant:?}?"),
                    None => format!("there is {}", known.join(", ")),
                };
                (format!("no {what} {word:?}"), advice)
            }
            Wrong::Missing(key) => (format!("`{key}` is missing"), String::new()),
            Wrong::Other(message) => (message, String::new()),
        };
        self.problems.add(place.value.span(), message, advice);
        self.again(of, key)
    }

    pub(super) fn again(&self, of: *const (), key: String) -> Wrong {
        match self.left_out.borrow_mut().insert((of, key)) {
            true => Wrong::Again,
            false => Wrong::Stuck,
        }
    }
}

/// A problem that a type of the file reports about a text. Because serde's errors are texts, the problem is
/// passed as JSON in the text of an error.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Said {
    value: String,
    span: Range<usize>,
    part: Option<Range<usize>>,
    message: String,
    advice: String,
}

impl Said {
    pub(super) fn error<E: de::Error>(
        text: &Located<String>,
        part: Option<Range<usize>>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> E {
        let said = Said {
            value: text.value.clone(),
            span: text.span.clone(),
            part,
            message: message.into(),
            advice: advice.into(),
        };
        E::custom(serde_json::to_string(&said).unwrap_or(said.message))
    }

    fn text(&self) -> Located<String> {
        Located {
            value: self.value.clone(),
            span: self.span.clone(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    /// The problem was reported, so the file is to be read again.
    #[error("to be read again")]
    Again,
    /// The value should be omitted, but can't be.
    #[error("can't be read")]
    Stuck,
    #[error("{}", .0.message)]
    Said(Said),
    /// The value is of another kind.
    #[error("not {wanted}")]
    Kind { wanted: String },
    #[error("{word}")]
    Word {
        word: String,
        what: String,
        known: &'static [&'static str],
    },
    #[error("{0}")]
    Missing(&'static str),
    #[error("{0}")]
    Other(String),
}

impl de::Error for Wrong {
    fn custom<T: Display>(message: T) -> Wrong {
        let text = message.to_string();
        serde_json::from_str(&text).map_or(Wrong::Other(text), Wrong::Said)
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Wrong {
        Wrong::Kind {
            wanted: wanted.to_string(),
        }
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Wrong {
        Wrong::invalid_type(found, wanted)
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Wrong {
        Wrong::Word {
            word: word.to_owned(),
            what: String::new(),
            known,
        }
    }

    fn missing_field(key: &'static str) -> Wrong {
        Wrong::Missing(key)
    }
}
