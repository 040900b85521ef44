//! Parses a record's JSON without its largest parts, and with a limit on the number of values.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Maximum number of values in a record without its runs; each takes about 100 bytes. A suite of 10,000
/// benchmarks has 4 million.
const MOST: usize = 6_000_000;

/// Parses a record without those members of the outermost object whose names are in `apart`.
pub(crate) fn parse(text: &str, apart: &[&str]) -> serde_json::Result<Value> {
    let left = Cell::new(MOST);
    let mut reader = serde_json::Deserializer::from_str(text);
    let outermost = Bounded { left: &left, apart };
    let value = outermost.deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// A value that is counted against the remaining number.
#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: &'a Cell<usize>,
    apart: &'a [&'a str],
}

impl<'a> Bounded<'a> {
    fn inner<E: Error>(self) -> Result<Bounded<'a>, E> {
        match self.left.get().checked_sub(1) {
            None => Err(E::custom("it has more values than a record can have")),
            Some(left) => {
                self.left.set(left);
                Ok(Bounded { apart: &[], ..self })
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut of: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = of.next_element_seed(self.inner()?)? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut of: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = of.next_key::<String>()? {
            if self.apart.contains(&name.as_str()) {
                of.next_value::<IgnoredAny>()?;
            } else {
                let value = of.next_value_seed(self.inner()?)?;
                object.insert(name, value);
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, parse};
    use serde_json::json;

    #[test]
    fn a_record_is_parsed_without_its_runs() {
        let record =
            json!({"a": [1, -2, 0.5, null, true, "x", {"runs": [3]}], "runs": [[1, 2], {"b": 1}]});
        let mut expected = record.clone();
        expected.as_object_mut().unwrap().remove("runs");
        assert_eq!(parse(&record.to_string(), &["runs"]).unwrap(), expected);
        assert_eq!(parse(&record.to_string(), &[]).unwrap(), record);
        assert!(parse("{} {}", &[]).is_err() && parse("{\"a\":", &[]).is_err());
    }

    #[test]
    fn values_are_counted_while_they_are_read() {
        let many = format!("[{}0]", "0,".repeat(MOST));
        let said = parse(&many, &[]).unwrap_err().to_string();
        assert!(
            said.contains("more values than a record can have"),
            "{said}"
        );
        // The number of runs is unlimited.
        let runs = format!("{{\"runs\":{many},\"a\":1}}");
        assert_eq!(parse(&runs, &["runs"]).unwrap(), json!({"a": 1}));
    }
}
