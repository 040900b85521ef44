//! Shapes of values: values with a position, one value or several, and values by name.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use toml::Spanned;

use super::marks::{SCALAR, TEXTS};
use super::problem::Located;

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Located<T>, D::Error> {
        let spanned = Spanned::<T>::deserialize(from)?;
        Ok(Located {
            span: spanned.span(),
            value: spanned.into_inner(),
        })
    }
}

/// A part of the file that has a name, or is an item of a list without names.
pub(super) trait Part {
    fn placed(&mut self, _place: Located<String>) {}
}

/// The tables of `[key.NAME]`, in the order of the file.
pub(super) struct Named<T>(PhantomData<T>);

impl<'de, T: Part + Deserialize<'de>> Named<T> {
    pub(super) fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        let named = Pairs::<T>::deserialize(from)?.0.into_iter();
        Ok(named.map(|(name, part)| placed(name, part)).collect())
    }
}

/// The tables of `[[key]]`.
pub(super) struct Listed<T>(PhantomData<T>);

impl<'de, T: Part + Deserialize<'de>> Listed<T> {
    pub(super) fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        let items = from.deserialize_seq(List::<Located<T>>("tables", PhantomData))?;
        let at = |item: Located<T>| {
            let place = Located {
                value: String::new(),
                span: item.span,
            };
            placed(place, item.value)
        };
        Ok(items.into_iter().map(at).collect())
    }
}

fn placed<T: Part>(place: Located<String>, mut part: T) -> T {
    part.placed(place);
    part
}

/// A list, with a description of what is expected for the error message.
struct List<T>(&'static str, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        std::iter::from_fn(|| items.next_element().transpose()).collect()
    }
}

/// A table with arbitrary keys.
#[derive(Debug, Clone)]
pub(super) struct Pairs<T>(pub(super) Vec<(Located<String>, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Pairs<T> {
        Pairs(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Pairs<T> {
    pub(super) fn read<A: MapAccess<'de>>(mut entries: A) -> Result<Pairs<T>, A::Error> {
        let all = std::iter::from_fn(|| entries.next_entry().transpose());
        all.collect::<Result<_, _>>().map(Pairs)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Pairs<T>, D::Error> {
        from.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Pairs<T>, A::Error> {
        Pairs::read(entries)
    }
}

/// A value read as text: any scalar, or the kind that a type of the file requests from its place.
pub(super) struct AsText(pub(super) &'static str);

impl Visitor<'_> for AsText {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Any scalar.
#[derive(Debug, Clone)]
pub(super) struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Scalar, D::Error> {
        let text = from.deserialize_newtype_struct(SCALAR, AsText("text or a number"));
        text.map(Scalar)
    }
}

impl From<Located<Scalar>> for Located<String> {
    fn from(scalar: Located<Scalar>) -> Located<String> {
        Located {
            value: scalar.value.0,
            span: scalar.span,
        }
    }
}

/// Reads any scalar, with its position.
pub(super) fn scalar<'de, D: Deserializer<'de>>(from: D) -> Result<Located<String>, D::Error> {
    Located::<Scalar>::deserialize(from).map(Located::from)
}

/// Reads one text, or a list of scalars.
pub(super) fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Located<String>>, D::Error> {
    let list = List::<Located<Scalar>>("a list", PhantomData);
    let texts = from.deserialize_newtype_struct(TEXTS, list)?.into_iter();
    Ok(texts.map(Located::from).collect())
}

/// A list of at least one scalar.
pub(super) struct Values(pub(super) Vec<Located<String>>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
        let list = from.deserialize_seq(List::<Located<Scalar>>("a list", PhantomData))?;
        match list.is_empty() {
            true => Err(D::Error::invalid_type(
                Unexpected::Seq,
                &"at least one value",
            )),
            false => Ok(Values(list.into_iter().map(Located::from).collect())),
        }
    }
}
