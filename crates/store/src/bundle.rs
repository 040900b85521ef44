//! A bundle is a file that moves records between stores. It has lines of JSON, compressed with gzip: a
//! header, the renamed benchmarks, the records, and their number to detect a truncated file.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chunk;
use crate::database::Database;
use crate::draft::Pruned;
use crate::read::{Since, points};
use crate::records::{Head, body};
use crate::rename::{alias, aliases, rename};
use crate::{Draft, Error, Input, NewPoint, Revision, SeriesFilter, Store};

const FORM: u32 = 1;
/// Maximum number of JSON values in a line, excluding those inside texts. 200,000 points of a pruned record
/// have about 3 million.
const MOST_VALUES: usize = 5_000_000;
/// Number of records saved in one transaction.
const TOGETHER: usize = 32;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    FathomBundle(u32),
    Renamed { old: String, new: String },
    Record(Box<Entry>),
    End { records: usize },
}

#[derive(Serialize, Deserialize)]
struct Entry {
    id: String,
    revision: Option<Revision>,
    labels: Vec<String>,
    command: String,
    inputs: Vec<Input>,
    /// The time by which the record is ordered ([`Head::order`]), if that is not its own time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    committed: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<i64>,
    /// The record, byte for byte.
    text: Option<String>,
    /// The remaining parts of a pruned record, instead of its text.
    left: Option<Left>,
}

#[derive(Serialize, Deserialize)]
struct Left {
    pruned: i64,
    kind: String,
    time: i64,
    environment: Value,
    seed: Option<u64>,
    fathom_version: String,
    points: Vec<NewPoint>,
}

/// Result of loading a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Number of records that were new to the store.
    pub new: usize,
    /// Number of records that the store already had; their labels were added.
    pub known: usize,
    /// Renames that could not be applied because this store has benchmarks with both names: old, new.
    pub not_renamed: Vec<(String, String)>,
}

/// Writes lines; `end` completes the file.
struct Writer<W: Write> {
    out: GzEncoder<W>,
    records: usize,
}

impl<W: Write> Writer<W> {
    fn new(out: W) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            out: GzEncoder::new(out, Compression::new(6)),
            records: 0,
        };
        writer.line(&Line::FathomBundle(FORM))?;
        Ok(writer)
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.records += usize::from(matches!(line, Line::Record(_)));
        serde_json::to_writer(&mut self.out, line)?;
        self.out.write_all(b"\n")
    }

    fn end(mut self) -> io::Result<W> {
        let records = self.records;
        self.line(&Line::End { records })?;
        let mut out = self.out.finish()?;
        out.flush()?;
        Ok(out)
    }
}

/// Writes a bundle with one record that is not in a store yet.
pub(crate) fn write_draft<W: Write>(draft: &Draft, out: W) -> io::Result<W> {
    let mut writer = Writer::new(out)?;
    let Draft {
        revision,
        committed,
        turn,
        labels,
        command,
        inputs,
        text,
        ..
    } = draft.clone();
    let entry = Entry {
        id: draft.id(),
        committed,
        turn,
        revision,
        labels,
        command,
        inputs,
        text: Some(text),
        left: None,
    };
    writer.line(&Line::Record(Box::new(entry)))?;
    writer.end()
}

impl Store {
    /// Writes these records and the names of renamed benchmarks to one file.
    ///
    /// # Errors
    /// Database errors; [`Error::File`] with `file` as its name.
    pub fn bundle(&mut self, records: &[Head], file: &str, out: impl Write) -> Result<(), Error> {
        let failed = |source| Error::File {
            path: file.into(),
            source,
        };
        let environments = self.environments()?;
        self.reading(|database| {
            let mut writer = Writer::new(out).map_err(failed)?;
            let mut renamed: Vec<(String, String)> = aliases(database)?.into_iter().collect();
            renamed.sort();
            for (old, new) in renamed {
                writer.line(&Line::Renamed { old, new }).map_err(failed)?;
            }
            let mut left = points_of(database, records)?;
            // Write records in the order in which they were saved: loading them keeps the order of equal
            // ones.
            let mut records: Vec<&Head> = records.iter().collect();
            records.sort_by_key(|head| head.number);
            for head in records {
                let Head {
                    id,
                    revision,
                    labels,
                    command,
                    inputs,
                    place,
                    turn,
                    ..
                } = head.clone();
                let left = head.pruned.map(|pruned| Left {
                    pruned,
                    kind: head.kind.clone(),
                    time: head.time,
                    environment: environments
                        .get(&head.environment)
                        .cloned()
                        .unwrap_or_default(),
                    seed: head.seed,
                    fathom_version: head.fathom_version.clone(),
                    points: left.remove(&head.number).unwrap_or_default(),
                });
                let text = if left.is_none() {
                    Some(body(database, head)?)
                } else {
                    None
                };
                let entry = Entry {
                    committed: Some(place).filter(|place| *place != turn),
                    turn: Some(turn).filter(|turn| *turn != head.time),
                    id,
                    revision,
                    labels,
                    command,
                    inputs,
                    text,
                    left,
                };
                writer
                    .line(&Line::Record(Box::new(entry)))
                    .map_err(failed)?;
            }
            writer.end().map(drop).map_err(failed)
        })
    }

    /// Loads the records of a bundle. Existing records don't change, so a bundle can be loaded twice. After
    /// an error, the records that were already saved stay, and the bundle can be loaded again.
    ///
    /// # Errors
    /// [`Error::NotABundle`] with `file` as its name; database errors.
    pub fn load(&mut self, file: &str, bundle: impl Read) -> Result<Loaded, Error> {
        let wrong = |why: String| Error::NotABundle {
            file: file.to_owned(),
            why,
        };
        let counted = Counted {
            input: bundle,
            bytes: 0,
        };
        let mut lines = Lines(BufReader::new(MultiGzDecoder::new(counted)));
        match lines.next().map_err(|error| wrong(error.to_string()))? {
            Line::FathomBundle(FORM) => {}
            Line::FathomBundle(newer) => {
                return Err(wrong(format!(
                    "its format is {newer}, but this Fathom reads {FORM}: update Fathom"
                )));
            }
            _ => return Err(wrong("its first line is not a header".to_owned())),
        }
        let mut loaded = Loaded::default();
        let mut drafts = Vec::new();
        let mut count = 0;
        loop {
            match lines.next().map_err(|error| wrong(error.to_string()))? {
                Line::FathomBundle(_) => return Err(wrong("it has two headers".to_owned())),
                Line::Renamed { old, new } => self.take_over_name(old, new, &mut loaded)?,
                Line::Record(entry) => {
                    drafts.push(draft(*entry).map_err(wrong)?);
                    count += 1;
                    if drafts.len() == TOGETHER {
                        self.load_some(&mut drafts, &mut loaded)?;
                    }
                }
                Line::End { records } if records == count => break,
                Line::End { records } => {
                    return Err(wrong(format!(
                        "it should have {records} records but has {count}"
                    )));
                }
            }
        }
        // The checksum comes last.
        let more = io::copy(&mut lines.0.take(1), &mut io::sink())
            .map_err(|error| wrong(error.to_string()))?;
        if more > 0 {
            return Err(wrong("it has data after its end".to_owned()));
        }
        self.load_some(&mut drafts, &mut loaded)?;
        Ok(loaded)
    }

    fn load_some(&mut self, drafts: &mut Vec<Draft>, loaded: &mut Loaded) -> Result<(), Error> {
        let saved = self.save_all(drafts)?;
        loaded.new += saved.iter().filter(|saved| saved.new).count();
        loaded.known += saved.iter().filter(|saved| !saved.new).count();
        drafts.clear();
        Ok(())
    }

    fn take_over_name(
        &mut self,
        old: String,
        new: String,
        loaded: &mut Loaded,
    ) -> Result<(), Error> {
        let done = self.writing(|database| match aliases(database)?.contains_key(&old) {
            true => Ok(()), // keep the decision of this store
            false => match rename(database, &old, &new) {
                Err(Error::NotFound { .. }) => alias(database, &old, &new),
                done => done.map(drop),
            },
        });
        match done {
            Err(Error::Rename { .. }) => loaded.not_renamed.push((old, new)),
            done => done?,
        }
        Ok(())
    }
}

/// Counts the compressed bytes read from a file.
struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

struct Lines<R>(BufReader<MultiGzDecoder<Counted<R>>>);

impl<R: Read> Lines<R> {
    fn next(&mut self) -> io::Result<Line> {
        let mut line = Vec::new();
        loop {
            let some = self.0.fill_buf()?;
            let end = some.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(some.len(), |end| end + 1);
            line.extend_from_slice(&some[..taken]);
            self.0.consume(taken);
            if end.is_some() || taken == 0 {
                break;
            }
            let most = chunk::largest(self.0.get_ref().get_ref().bytes);
            if line.len() as u64 > most {
                let most = most >> 20;
                return Err(io::Error::other(format!(
                    "it contains a record of more than {most} MB, which is too large for such a small file"
                )));
            }
        }
        if values(&line) > MOST_VALUES {
            return Err(io::Error::other("one of its records has too many values"));
        }
        match line.is_empty() {
            true => Err(io::Error::other("it is truncated")),
            false => Ok(serde_json::from_slice(&line)?),
        }
    }
}

/// Counts the values of a JSON text that are parts of a list or an object.
fn values(text: &[u8]) -> usize {
    let (mut inside, mut escaped, mut values) = (false, false, 0);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b'[' | b'{' if !inside => values += 1,
            _ => {}
        }
    }
    values
}

/// Returns the points of the pruned records, by record.
fn points_of(
    database: &mut dyn Database,
    records: &[Head],
) -> Result<HashMap<i64, Vec<NewPoint>>, Error> {
    let pruned = records.iter().filter(|head| head.pruned.is_some());
    let mut found: HashMap<i64, Vec<NewPoint>> =
        pruned.map(|head| (head.number, Vec::new())).collect();
    if found.is_empty() {
        return Ok(found);
    }
    for series in crate::read::list(database, &SeriesFilter::default())? {
        for point in points(database, series.number, &Since::Start)? {
            if let Some(points) = found.get_mut(&point.record) {
                points.push(NewPoint {
                    benchmark: series.benchmark.clone(),
                    parameters: series.parameters.clone(),
                    metric: series.metric.clone(),
                    unit: series.unit.clone(),
                    direction: series.direction.clone(),
                    meaning: series.meaning.clone(),
                    value: point.value,
                    low: point.low,
                    high: point.high,
                    runs: point.runs,
                });
            }
        }
    }
    Ok(found)
}

/// Converts a record of a bundle to a draft. The error describes the reason.
fn draft(entry: Entry) -> Result<Draft, String> {
    let Entry {
        id,
        revision,
        labels,
        command,
        inputs,
        committed,
        turn,
        text,
        left,
    } = entry;
    if id.len() != 64 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("{id:?} is not the id of a record"));
    }
    let draft = match (text, left) {
        (Some(text), None) => Draft::of(text).map_err(|error| error.to_string())?,
        (None, Some(left)) => Draft {
            text: String::new(),
            kind: left.kind,
            time: left.time,
            segment: crate::Segment::of(&left.environment),
            seed: left.seed,
            fathom_version: left.fathom_version,
            points: left.points,
            pruned: Some(Pruned {
                id: id.clone(),
                at: left.pruned,
            }),
            revision: None,
            committed: None,
            is_new: false,
            turn: None,
            labels: Vec::new(),
            command: String::new(),
            inputs: Vec::new(),
        },
        _ => {
            return Err(format!(
                "record {id} has both its text and what pruning left, or neither"
            ));
        }
    };
    match draft.id() == id {
        true => Ok(Draft {
            revision,
            committed,
            turn,
            labels,
            command,
            inputs,
            ..draft
        }),
        false => Err(format!("record {id} was changed")),
    }
}
