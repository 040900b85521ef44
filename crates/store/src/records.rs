//! Finds records by id, position, revision or label.

use std::collections::HashMap;

use fathom_model::escape;

use crate::chunk;
use crate::database::{Cell, Database, Row, insert, select_numbers};
use crate::{Error, Input, Revision, Store};

/// Metadata of a record, available without opening it.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// The number of the record in this store; records saved later have higher numbers.
    pub number: i64,
    /// The id of the record, which is the same in every store. The first twelve digits are enough for
    /// display.
    pub id: String,
    /// The verb that made the record: `bench`, `startup`, ...
    pub kind: String,
    /// Start of the measurement, milliseconds since 1970, UTC.
    pub time: i64,
    /// Time of the commit, if known ([`crate::git::places`]), otherwise the record's `turn`.
    pub place: i64,
    /// The time of the record, or the time of the previous record if the clock was set back.
    pub turn: i64,
    /// Number of the record's segment.
    pub environment: i64,
    /// The measured source, if it was in a repository.
    pub revision: Option<Revision>,
    /// The command line.
    pub command: String,
    /// Files read by the commands.
    pub inputs: Vec<Input>,
    /// Seed of the order of runs.
    pub seed: Option<u64>,
    /// Version of Fathom that made the measurement.
    pub fathom_version: String,
    /// The time at which the record's runs were pruned, if they were.
    pub pruned: Option<i64>,
    /// The record's labels.
    pub labels: Vec<String>,
}

impl Head {
    /// Returns the position of the record among all records, which is the same in every store. Records are
    /// ordered by the time of the commit if it is known, then by the time of the measurement, then in the
    /// order of saving.
    pub fn order(&self) -> (i64, i64, i64) {
        (self.place, self.turn, self.number)
    }

    /// Returns the first twelve digits of the id, which are enough for display.
    pub fn short_id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// Selects records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// All records.
    All,
    /// The n-th last record saved, from 1: `@-1`, `@-2`.
    Last(u64),
    /// Prefix of an id.
    Id(String),
    /// Prefix of a revision.
    Revision(String),
    /// A label.
    Label(String),
    /// The newest records with any label, at most this number.
    Labelled(u32),
}

const COLUMNS: &str =
    "SELECT id, hash, kind, time, environment, revision, branch, dirty, command, inputs, seed,
    fathom_version, pruned, COALESCE(place, turn, time), COALESCE(turn, time) FROM record";

/// SQL that sorts records, newest first.
pub(crate) const NEWEST_FIRST: &str =
    "COALESCE(place, turn, time) DESC, COALESCE(turn, time) DESC, id DESC";

impl Store {
    /// Returns matching records in reverse order ([`Head::order`]); empty if none match.
    ///
    /// # Errors
    /// Database errors.
    pub fn records(&mut self, which: &Selector) -> Result<Vec<Head>, Error> {
        self.reading(|database| select(database, which))
    }

    /// Finds the records for `asked`: `@-1`, a label, or a prefix of an id or of a revision, tried in this
    /// order. A label and a revision may match several records.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], database errors.
    pub fn find(&mut self, asked: &str) -> Result<Vec<Head>, Error> {
        self.reading(|database| {
            let mut found = Vec::new();
            for which in meanings(asked) {
                found = select(database, &which)?;
                if !found.is_empty() {
                    let candidates = candidates(&found, &which);
                    if candidates.len() > 1 {
                        return Err(Error::Ambiguous {
                            asked: asked.to_owned(),
                            candidates,
                        });
                    }
                    break;
                }
            }
            match found.is_empty() {
                true => Err(Error::NotFound {
                    store: database.name().to_owned(),
                    what: format!("record, label or revision {asked:?}"),
                }),
                false => Ok(found),
            }
        })
    }

    /// Returns the whole record, byte for byte as saved.
    ///
    /// # Errors
    /// [`Error::Pruned`], [`Error::Damaged`], database errors.
    pub fn record(&mut self, head: &Head) -> Result<String, Error> {
        self.reading(|database| body(database, head))
    }

    /// Adds a label to records, or removes it. Returns the number of changed records.
    ///
    /// # Errors
    /// Database errors.
    pub fn tag(&mut self, records: &[Head], name: &str, remove: bool) -> Result<usize, Error> {
        let is = |head: &&Head| head.labels.iter().any(|label| label == name) == remove;
        let changed: Vec<&Head> = records.iter().filter(is).collect();
        self.writing(|database| {
            for head in &changed {
                match remove {
                    true => {
                        let cells = [name.into(), head.number.into()];
                        database
                            .query("DELETE FROM label WHERE name = $1 AND record = $2", &cells)?;
                    }
                    false => label(database, head.number, &[name.to_owned()])?,
                }
            }
            Ok(changed.len())
        })
    }
}

/// Returns the possible meanings of a word, the most likely first.
fn meanings(asked: &str) -> Vec<Selector> {
    if let Some(place) = asked
        .strip_prefix("@-")
        .and_then(|place| place.parse().ok())
    {
        return vec![Selector::Last(place)];
    }
    let mut all = vec![Selector::Label(asked.to_owned())];
    if asked.len() >= 4 && asked.bytes().all(|b| b.is_ascii_hexdigit()) {
        let digits = asked.to_ascii_lowercase();
        all.extend([Selector::Id(digits.clone()), Selector::Revision(digits)]);
    }
    all
}

/// Returns the distinct matches of a prefix.
fn candidates(found: &[Head], which: &Selector) -> Vec<String> {
    let name = |head: &Head| match which {
        Selector::Id(_) => Some(head.short_id().to_owned()),
        Selector::Revision(_) => head.revision.as_ref().map(|revision| escape(&revision.id)),
        _ => None,
    };
    let mut names: Vec<String> = found.iter().filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}

fn select(database: &mut dyn Database, which: &Selector) -> Result<Vec<Head>, Error> {
    // Selects the prefix as a range: this uses an index and needs no pattern characters.
    let range = |digits: &str| vec![digits.into(), Cell::Text(format!("{digits}g"))];
    let newest_labelled =
        format!("WHERE id IN (SELECT record FROM label) ORDER BY {NEWEST_FIRST} LIMIT $1");
    let (condition, cells) = match which {
        Selector::All => ("", vec![]),
        Selector::Last(0) => return Ok(Vec::new()),
        Selector::Last(place) => {
            let before = i64::try_from(place - 1).unwrap_or(i64::MAX);
            ("ORDER BY id DESC LIMIT 1 OFFSET $1", vec![before.into()])
        }
        Selector::Id(digits) => ("WHERE hash >= $1 AND hash < $2", range(digits)),
        Selector::Revision(digits) => ("WHERE revision >= $1 AND revision < $2", range(digits)),
        Selector::Label(name) => (
            "WHERE id IN (SELECT record FROM label WHERE name = $1)",
            vec![name.as_str().into()],
        ),
        Selector::Labelled(most) => (newest_labelled.as_str(), vec![i64::from(*most).into()]),
    };
    let rows = database.query(&format!("{COLUMNS} {condition}"), &cells)?;
    let mut found: Vec<Head> = rows.into_iter().map(head).collect();
    let numbers: Vec<i64> = found.iter().map(|head| head.number).collect();
    let mut labels = labels(database, &numbers)?;
    for head in &mut found {
        head.labels = labels.remove(&head.number).unwrap_or_default();
    }
    found.sort_by_key(|head| std::cmp::Reverse(head.order()));
    Ok(found)
}

/// Returns heads by number.
pub(crate) fn heads(
    database: &mut dyn Database,
    numbers: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, Head>, Error> {
    let mut numbers: Vec<i64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    let rows = select_numbers(database, &format!("{COLUMNS} WHERE id"), &numbers, "")?;
    let mut heads: HashMap<i64, Head> = rows
        .into_iter()
        .map(head)
        .filter(|head| numbers.binary_search(&head.number).is_ok())
        .map(|head| (head.number, head))
        .collect();
    for (number, labels) in labels(database, &numbers)? {
        if let Some(head) = heads.get_mut(&number) {
            head.labels = labels;
        }
    }
    Ok(heads)
}

fn labels(
    database: &mut dyn Database,
    numbers: &[i64],
) -> Result<HashMap<i64, Vec<String>>, Error> {
    let mut labels: HashMap<i64, Vec<String>> = HashMap::new();
    let head = "SELECT record, name FROM label WHERE record";
    for mut row in select_numbers(database, head, numbers, "ORDER BY name")? {
        labels.entry(row.int()).or_default().push(row.text());
    }
    Ok(labels)
}

fn head(mut row: Row) -> Head {
    let (number, id, kind, time, environment) =
        (row.int(), row.text(), row.text(), row.int(), row.int());
    let (revision, branch, dirty) = (row.maybe_text(), row.maybe_text(), row.int() != 0);
    Head {
        number,
        id,
        kind,
        time,
        environment,
        revision: revision.map(|id| Revision { id, branch, dirty }),
        command: row.text(),
        inputs: serde_json::from_str(&row.text()).unwrap_or_default(),
        seed: row.maybe_text().and_then(|seed| seed.parse().ok()),
        fathom_version: row.text(),
        pruned: row.maybe_int(),
        place: row.int(),
        turn: row.int(),
        labels: Vec::new(),
    }
}

/// Returns the text of a record, and checks that it is unchanged.
pub(crate) fn body(database: &mut dyn Database, head: &Head) -> Result<String, Error> {
    let rows = database.query(
        "SELECT packed FROM body WHERE record = $1",
        &[head.number.into()],
    )?;
    let Some(mut row) = rows.into_iter().next() else {
        return Err(Error::Pruned {
            id: head.id.clone(),
        });
    };
    let text = chunk::unpack(&row.blob()).and_then(|bytes| String::from_utf8(bytes).ok());
    text.filter(|text| crate::draft::id_of(text) == head.id)
        .ok_or_else(|| Error::Damaged {
            store: database.name().to_owned(),
            what: format!("record {}", head.id),
        })
}

/// Adds labels to a record and keeps existing ones.
pub(crate) fn label(
    database: &mut dyn Database,
    record: i64,
    labels: &[String],
) -> Result<(), Error> {
    let cells: Vec<Cell> = labels
        .iter()
        .flat_map(|name| [name.as_str().into(), record.into()])
        .collect();
    insert(
        database,
        "INSERT INTO label (name, record)",
        2,
        &cells,
        "ON CONFLICT DO NOTHING",
    )
}
