//! A JSON record on disk that is whole after every run.
//!
//! A [`Frame`] is the record without the elements of its long list: what comes before them, and the
//! end that closes the document. Each element is written over the end of the file together with a
//! new end: whenever Fathom is killed, the file is a whole JSON document with all finished runs and
//! `"complete": false`. The final version takes its place by renaming.
//!
//! Linux looks for a deadly signal between two pages of a write, so that only a write within one
//! page is whole whatever happens. Two ways lead around that. The launcher, another process than
//! the one that people kill, writes the runs of `bench` (`record.rs` of the launcher); the file's
//! position, which both share, is where the next element goes. Where Fathom writes by itself and a
//! page doesn't hold what is to be written, a copy of the file with the new text takes the file's
//! place.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fathom_model::BenchRecord;
use serde::Serialize;
use serde_json::Value;

use crate::MeasureError;
use crate::beside::Beside;
use fathom_launcher::shared::OPEN_END;

/// Keys that stand before the list in [`Frame::around`]: what a reader asks first, and what never
/// changes.
const FIRST: [&str; 4] = ["schema_version", "kind", "fathom_version", "started_at"];

/// The smallest piece in which Linux writes a file.
const PAGE_BYTES: u64 = 4096;

/// A record without the elements of the list that grows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The document up to and with the `[` of the list.
    head: String,
    /// From behind the last element to the end of the document.
    end: String,
}

impl Frame {
    /// A bench record without its runs. The end is the one that the launcher writes.
    ///
    /// # Errors
    /// When the record can't be written as JSON.
    pub fn of_bench(record: &BenchRecord) -> io::Result<Frame> {
        Ok(Frame {
            head: head(record)?,
            end: OPEN_END.to_string(),
        })
    }

    /// Any record without the elements of the list `key`, which is put before everything that
    /// changes while it is measured.
    ///
    /// # Errors
    /// When the record can't be written as JSON, or has no list of that name.
    pub fn around(record: &impl Serialize, key: &str) -> io::Result<Frame> {
        let Value::Object(mut fields) = serde_json::to_value(record)? else {
            return Err(io::Error::other("the record is not a JSON object"));
        };
        if !matches!(fields.remove(key), Some(Value::Array(_))) {
            return Err(io::Error::other(format!("the record has no list {key:?}")));
        }
        let mut head = "{".to_string();
        for first in FIRST {
            if let Some(value) = fields.remove(first) {
                head.push_str(&format!("\"{first}\":{value},\n"));
            }
        }
        head.push_str(&format!("\"{key}\":["));
        let mut end = "\n]".to_string();
        for (name, value) in &fields {
            end.push_str(&format!(",\n{}:{value}", Value::from(name.as_str())));
        }
        end.push_str("}\n");
        Ok(Frame { head, end })
    }
}

/// What is to be written at one place: an element, or nothing, and a new end.
struct Text {
    at: u64,
    added: String,
    end: String,
}

impl Text {
    /// Whether the kernel writes it in one go.
    fn within_a_page(&self, over: usize) -> bool {
        let length = (self.added.len() + self.end.len()).max(over) as u64;
        self.at / PAGE_BYTES == (self.at + length.max(1) - 1) / PAGE_BYTES
    }
}

/// A record that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Where the first element goes.
    first: u64,
    end: String,
}

impl Journal {
    /// Starts the file with everything but the elements. What was there is replaced; a link stays
    /// one.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn create(path: &Path, frame: io::Result<Frame>) -> Result<Journal, MeasureError> {
        let failed = |error| MeasureError::Journal {
            path: path.to_path_buf(),
            error,
        };
        let Frame { head, end } = frame.map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut journal = Journal {
            path: path.canonicalize().unwrap_or_else(|_| path.to_path_buf()),
            file,
            first: head.len() as u64,
            end: String::new(),
        };
        let text = Text {
            at: 0,
            added: head,
            end,
        };
        if journal.write_beside(&text).is_err() {
            // A device has no length; what can't be written says so.
            let _ = journal.file.set_len(0);
            journal.write_over(text).map_err(failed)?;
        }
        Ok(journal)
    }

    /// The file, at the position where the next element goes.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Adds an element; it is durable against the death of Fathom when this returns.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn append(&mut self, element: &impl Serialize) -> Result<(), MeasureError> {
        let end = self.end.clone();
        self.text(Some(element), end)
            .and_then(|text| self.write_over(text))
            .map_err(|error| self.failed(error))
    }

    /// Adds an element, if there is one, and puts the end of this frame behind it: for records of
    /// which more changes than the list, and whose file nobody else writes.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn update(
        &mut self,
        element: Option<&impl Serialize>,
        frame: io::Result<Frame>,
    ) -> Result<(), MeasureError> {
        frame
            .and_then(|frame| self.text(element, frame.end))
            .and_then(|text| {
                if text.within_a_page(self.end.len()) || self.write_beside(&text).is_err() {
                    self.write_over(text)?;
                }
                Ok(())
            })
            .map_err(|error| self.failed(error))
    }

    /// What is to be written from the file's position on.
    fn text(&mut self, element: Option<&impl Serialize>, end: String) -> io::Result<Text> {
        let at = self.file.stream_position()?;
        let mut added = String::new();
        if let Some(element) = element {
            added.push_str(if at == self.first { "\n" } else { ",\n" });
            added.push_str(&serde_json::to_string(element)?);
        }
        Ok(Text { at, added, end })
    }

    /// Writes over the end of the file, in one write.
    fn write_over(&mut self, text: Text) -> io::Result<()> {
        let Text { at, added, end } = text;
        let next = at + added.len() as u64;
        // Nothing of a longer end may stay behind; cutting the file would be a second step.
        let length = added.len() + end.len();
        let padding = " ".repeat(self.end.len().saturating_sub(length));
        let whole = format!("{added}{end}{padding}");
        self.file.write_all_at(whole.as_bytes(), at)?;
        self.file.seek(SeekFrom::Start(next))?;
        self.end = end + &padding;
        Ok(())
    }

    /// Puts a copy of the file with the text in the file's place. After a failure all is as it was.
    fn write_beside(&mut self, text: &Text) -> io::Result<()> {
        let about = self.file.metadata()?;
        if !about.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let beside = Beside::create(&self.path)?;
        let mut copy = beside.file.try_clone()?;
        let filled = (|| {
            (&self.file).seek(SeekFrom::Start(0))?;
            io::copy(&mut (&self.file).take(text.at), &mut copy)?;
            copy.write_all(text.added.as_bytes())?;
            let next = copy.stream_position()?;
            copy.write_all(text.end.as_bytes())?;
            copy.seek(SeekFrom::Start(next))?;
            beside.take_place()
        })();
        if filled.is_err() {
            self.file.seek(SeekFrom::Start(text.at))?;
            return filled;
        }
        self.file = copy;
        self.end.clone_from(&text.end);
        Ok(())
    }

    /// Puts the complete record, which `write` writes, in the file's place.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn finish(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), MeasureError> {
        let about = self.file.metadata().map_err(|error| self.failed(error))?;
        if !about.is_file() {
            return Ok(());
        }
        // After a failure the journal itself is whole as it is.
        let done = Beside::create(&self.path).and_then(|beside| {
            let mut file = BufWriter::with_capacity(1 << 16, &beside.file);
            write(&mut file)?;
            file.flush()?;
            drop(file);
            beside.file.sync_all()?;
            beside.take_place()
        });
        done.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> MeasureError {
        MeasureError::Journal {
            path: self.path.clone(),
            error,
        }
    }
}

/// Writes a complete bench record, in the form in which the journal began it.
///
/// # Errors
/// When `out` can't be written.
pub fn write_bench(record: &BenchRecord, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(head(record)?.as_bytes())?;
    for run in &record.runs {
        out.write_all(if run.position == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, run)?;
    }
    let outcome = serde_json::to_string(&record.outcome)?;
    write!(
        out,
        "\n],\n\"complete\":{},\n\"outcome\":{outcome}}}\n",
        record.complete
    )
}

/// The record up to and with the `[` of its runs.
fn head(record: &BenchRecord) -> io::Result<String> {
    let part = |value: serde_json::Result<String>| value.map_err(io::Error::from);
    let jobs = match record.jobs.is_empty() {
        true => String::new(),
        false => format!("\"jobs\":{},\n", part(serde_json::to_string(&record.jobs))?),
    };
    Ok(format!(
        "{{\"schema_version\":{},\n\"kind\":{},\n\"fathom_version\":{},\n\"started_at\":{},\n\"environment\":{},\n{jobs}\"conditions\":{},\n\"benchmarks\":{},\n\"runs\":[",
        record.schema_version,
        part(serde_json::to_string(&record.kind))?,
        part(serde_json::to_string(&record.fathom_version))?,
        part(serde_json::to_string(&record.started_at))?,
        part(serde_json::to_string(&record.environment))?,
        part(serde_json::to_string(&record.conditions))?,
        part(serde_json::to_string(&record.benchmarks))?,
    ))
}
