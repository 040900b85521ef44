//! What a series is called.

use std::collections::BTreeMap;

use fathom_model::imported::{Direction, direction_of_unit};

/// A name that is longer is cut.
const LONGEST_NAME: usize = 4096;

/// What a series is called; made with [`Measure::new`] and the methods.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) direction: Option<Direction>,
    pub(crate) exact: bool,
    pub(crate) threads: Option<u64>,
    /// What the file says of how it was measured: it is a parameter where the file says different things.
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
            name,
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

    /// A count that is the same each time.
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
            self.parameters
                .insert(name.to_owned(), shortened(value.to_owned()));
        }
        self
    }

    pub(crate) fn with(mut self, parameters: &BTreeMap<String, String>) -> Measure {
        self.parameters.clone_from(parameters);
        self
    }
}

/// Cut where it is longer than a name may be.
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
