//! The identity of a series.

use std::collections::BTreeMap;

use fathom_model::imported::{Direction, direction_of_unit};

/// The maximum length of a name; longer names are cut.
const LONGEST_NAME: usize = 4096;

/// The identity of a series, created with [`Measure::new`] and modified by the other methods.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) direction: Option<Direction>,
    pub(crate) exact: bool,
    pub(crate) threads: Option<u64>,
    /// Measurement conditions stated in the file; they become parameters if they differ between benchmarks.
    pub(crate) conditions: BTreeMap<String, String>,
}

impl Measure {
    pub(crate) fn new(
        name: impl Into<String>,
        metric: impl Into<String>,
        unit: impl Into<String>,
    ) -> Measure {
        let [name, metric, unit] = [name.into(), metric.into(), unit.into()].map(shortened);
        Measure {
            name: without_addresses(name),
            parameters: BTreeMap::new(),
            metric,
            direction: direction_of_unit(&unit),
            unit,
            exact: false,
            threads: None,
            conditions: BTreeMap::new(),
        }
    }

    pub(crate) fn lower(mut self) -> Measure {
        self.direction = Some(Direction::LowerIsBetter);
        self
    }

    pub(crate) fn higher(mut self) -> Measure {
        self.direction = Some(Direction::HigherIsBetter);
        self
    }

    /// Marks a count that is the same each time.
    pub(crate) fn exact(mut self) -> Measure {
        self.exact = true;
        self
    }

    pub(crate) fn under(mut self, conditions: &BTreeMap<String, String>) -> Measure {
        self.conditions.clone_from(conditions);
        self
    }

    pub(crate) fn threads(mut self, threads: Option<u64>) -> Measure {
        self.threads = threads;
        self
    }

    pub(crate) fn parameter(mut self, name: &str, value: &str) -> Measure {
        if !value.is_empty() {
            let value = without_addresses(shortened(value.to_owned()));
            self.parameters.insert(name.to_owned(), value);
        }
        self
    }

    pub(crate) fn with(mut self, parameters: &BTreeMap<String, String>) -> Measure {
        let each = parameters.iter();
        self.parameters = each
            .map(|(name, value)| (name.clone(), without_addresses(value.clone())))
            .collect();
        self
    }
}

/// Removes the memory address from texts such as `<Query object at 0x7f2a9c0d1e50>`. The address differs in
/// each run, so two files would have no series in common.
fn without_addresses(mut text: String) -> String {
    const MARK: &str = " at 0x";
    let mut from = 0;
    while let Some(at) = text[from..].find(MARK).map(|at| from + at) {
        let digits = &text[at + MARK.len()..];
        let end = digits.find(|char: char| !char.is_ascii_hexdigit());
        let end = end.filter(|end| *end > 0 && digits[*end..].starts_with(['>', ',']));
        match end.filter(|_| text[..at].contains('<')) {
            Some(end) => text.replace_range(at..at + MARK.len() + end, ""),
            None => from = at + MARK.len(),
        }
        from = from.min(text.len());
    }
    text
}

/// Cuts a text to the longest name allowed.
pub(crate) fn shortened(mut text: String) -> String {
    if text.len() > LONGEST_NAME {
        let end = (0..=LONGEST_NAME)
            .rev()
            .find(|&at| text.is_char_boundary(at));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}
