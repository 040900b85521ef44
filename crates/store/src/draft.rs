//! The data of a record to save: its JSON and additional information.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::segment::hex;
use crate::{Error, NewPoint, Revision, Segment, date, extract, imported_points, light};

/// A file read by the measured command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Path as given by the user.
    pub path: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

impl Input {
    /// Reads the file once to compute its hash.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn of(path: &Path) -> io::Result<Input> {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        let mut hash = Sha256::new();
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            let taken = bytes.len();
            file.consume(taken);
        }
        let sha256 = hex(&hash.finalize());
        Ok(Input {
            path: path.display().to_string(),
            sha256,
        })
    }
}

/// A record to save. Create it with [`Draft::of`], then add the information that is not in its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The JSON, stored byte for byte.
    pub text: String,
    /// The verb that made the record: `bench`, `startup`, ...
    pub kind: String,
    /// Start of the measurement, milliseconds since 1970, UTC.
    pub time: i64,
    /// The environment.
    pub segment: Segment,
    /// Seed of the order of runs, if there is one.
    pub seed: Option<u64>,
    /// Version of Fathom that made the measurement.
    pub fathom_version: String,
    /// Points for series.
    pub points: Vec<NewPoint>,
    /// The source; `None` outside a repository.
    pub revision: Option<Revision>,
    /// Time of the source's commit, if known: [`crate::git::places`].
    pub committed: Option<i64>,
    /// Whether the record was just measured. If so, it comes after everything saved before it, even if the
    /// clock was set back.
    pub is_new: bool,
    /// The time by which the record is ordered among others, if that is not its own time. Only in bundles.
    pub(crate) turn: Option<i64>,
    /// Labels, such as a version.
    pub labels: Vec<String>,
    /// The command line.
    pub command: String,
    /// Files read by the commands.
    pub inputs: Vec<Input>,
    /// Set for a record without its text. Only used in bundles.
    pub(crate) pruned: Option<Pruned>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pruned {
    pub id: String,
    /// Time of pruning, in milliseconds since 1970.
    pub at: i64,
}

impl Draft {
    /// Creates a draft from a record's JSON of any kind; the kinds supported by [`extract`] have points.
    ///
    /// # Errors
    /// [`Error::NotARecord`] if the text is not a record.
    pub fn of(text: String) -> Result<Draft, Error> {
        let no_record = |error: serde_json::Error| Error::NotARecord(error.to_string());
        #[derive(Deserialize)]
        struct Kind {
            #[serde(default)]
            kind: String,
        }
        // Benchmarks of an import are deserialized to their types: as JSON values they take ten times the
        // memory.
        let kind = serde_json::from_str::<Kind>(&text);
        let is_import = kind.is_ok_and(|of| of.kind == "imported");
        let apart = match is_import {
            true => &["benchmarks", "left_out"][..],
            false => &["runs"],
        };
        let record = light::parse(&text, apart).map_err(no_record)?;
        let word = |key: &str| {
            let missing = || Error::NotARecord(format!("it has no {key:?}"));
            record[key].as_str().map(str::to_owned).ok_or_else(missing)
        };
        let started =
            word("started_at").or_else(|missing| word("written_at").map_err(|_| missing))?;
        let time = date::parse(&started)
            .ok_or_else(|| Error::NotARecord(format!("{started:?} is not a point in time")))?;
        let points = match is_import {
            true => imported_points(&serde_json::from_str(&text).map_err(no_record)?),
            false => extract(&record),
        };
        Ok(Draft {
            kind: word("kind")?,
            time,
            segment: Segment::of(&record["environment"]),
            seed: record["conditions"]["seed"].as_u64(),
            fathom_version: word("fathom_version")?,
            // Only an import has a revision, if its file does.
            revision: serde_json::from_value(record["revision"].clone()).ok(),
            committed: None,
            is_new: false,
            turn: None,
            labels: Vec::new(),
            command: command(&points),
            inputs: Vec::new(),
            pruned: None,
            points,
            text,
        })
    }

    /// Creates a draft from a record that was just measured. Reads the input files that the record names to
    /// hash them. A missing file has no hash.
    ///
    /// # Errors
    /// The errors of [`Draft::of`].
    pub fn measured(text: String) -> Result<Draft, Error> {
        let mut draft = Draft::of(text)?;
        // Only the required fields are deserialized, since a text may have about 100,000 runs.
        #[derive(Deserialize, Default)]
        struct Fed {
            #[serde(default)]
            input: Value,
        }
        #[derive(Deserialize)]
        struct Record {
            #[serde(default)]
            benchmarks: Vec<Fed>,
            #[serde(default)]
            conditions: Fed,
            #[serde(default)]
            time_from_file: bool,
        }
        let record: Option<Record> = serde_json::from_str(&draft.text).ok();
        draft.is_new = !record.as_ref().is_some_and(|record| record.time_from_file);
        let fed = record.into_iter().flat_map(|record| {
            let mut all = record.benchmarks;
            all.push(record.conditions);
            all
        });
        let mut files: Vec<String> = Vec::new();
        for one in fed {
            if let Some(file) = one.input["file"].as_str()
                && !files.iter().any(|known| known == file)
            {
                files.push(file.to_owned());
            }
        }
        let inputs = files.iter().map(|file| Input::of(Path::new(file)));
        draft.inputs = inputs.filter_map(Result::ok).collect();
        Ok(draft)
    }

    /// Returns the record's id. The same text has the same id in every store, so no record is saved twice.
    pub fn id(&self) -> String {
        match &self.pruned {
            Some(pruned) => pruned.id.clone(),
            None => id_of(&self.text),
        }
    }
}

/// Maximum length of the command line that is made of the benchmark names, in bytes.
const LONGEST_COMMAND: usize = 4096;

/// Returns the benchmark names, each once. If there are very many, returns the first ones and a hash of all,
/// so records of the same benchmarks have the same command line.
fn command(points: &[NewPoint]) -> String {
    let mut seen = HashSet::new();
    let names = points.iter().map(|point| point.benchmark.as_str());
    let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    let all = names.join("; ");
    if all.len() <= LONGEST_COMMAND {
        return all;
    }
    let end = (0..LONGEST_COMMAND)
        .rev()
        .find(|at| all.is_char_boundary(*at));
    let mark = hex(&Sha256::digest(&all)[..4]);
    format!(
        "{}... ({} benchmarks, {mark})",
        &all[..end.unwrap_or(0)],
        names.len()
    )
}

pub(crate) fn id_of(text: &str) -> String {
    hex(&Sha256::digest(text))
}
