//! Keys that differ from those of the record: `[source]`, and `published` in a claim.

use fathom_model::{Published, Source};
use serde::{Deserialize, Deserializer};

use super::leaf::{Texts, UnitName, Year};
use super::problem::{Located, plain};
#[cfg(test)]
use super::schema::NoDefault as _;

/// Where the result was published.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "[source]")]
#[cfg_attr(test, schemars(rename = "Source"))]
pub(super) struct SourceKeys {
    /// Title of the page or paper.
    title: String,
    /// Author or site.
    by: Option<String>,
    /// Year.
    #[serde(default, with = "Year")]
    year: Option<i64>,
    /// URL.
    url: Option<String>,
    /// Ids of the published experiments covered here.
    #[serde(default, with = "Texts")]
    rows: Vec<Located<String>>,
}

impl SourceKeys {
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Source>, D::Error> {
        let keys: SourceKeys = Deserialize::deserialize(from)?;
        Ok(Some(Source {
            title: keys.title,
            by: keys.by,
            year: keys.year,
            url: keys.url,
            rows: plain(keys.rows),
        }))
    }
}

/// The published figure.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(expecting = "`published`")]
#[cfg_attr(test, schemars(rename = "Published"))]
pub(super) struct PublishedKeys {
    /// The number.
    value: Option<f64>,
    /// Its unit; a plain number if absent.
    #[serde(default, with = "UnitName")]
    unit: Option<String>,
    /// Whether the value is a limit that any better value satisfies, rather than the size that was found.
    #[serde(default)]
    limit: bool,
    /// The figures of the source that the value summarizes.
    figures: Option<String>,
    /// Where the figure was published, if not in the source of the file.
    source: Option<String>,
}

impl PublishedKeys {
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Published>, D::Error> {
        let keys: PublishedKeys = Deserialize::deserialize(from)?;
        Ok(Some(Published {
            value: keys.value,
            unit: keys.unit,
            limit: keys.limit,
            figures: keys.figures,
            source: keys.source,
        }))
    }
}
