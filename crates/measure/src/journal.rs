//! A JSON record on disk that is valid after every run.
//!
//! A [`Frame`] is the record without the elements of its long list: the part before them, and the end that
//! closes the document. Each element is written over the end of the file together with a new end. Whenever
//! Fathom is killed, the file is a complete JSON document with all finished runs and `"complete": false`. The
//! final version replaces it by renaming.
//!
//! Linux checks for a fatal signal between two pages of a write, so only a write within one page is always
//! complete. There are two ways around that. The launcher, a separate process that users don't kill, writes
//! the runs of `bench` (`record.rs` of the launcher); the next element goes to the file position, which both
//! processes share. If Fathom writes by itself and the text doesn't fit into one page, a copy of the file
//! with the new text replaces the file.

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

/// Keys written before the list in [`Frame::around`]: they are the first to be read, and never change.
const FIRST: [&str; 4] = ["schema_version", "kind", "fathom_version", "started_at"];

/// The smallest unit in which Linux writes a file, in bytes.
const PAGE_BYTES: u64 = 4096;

/// A record without the elements of its growing list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The document up to and including the `[` of the list.
    head: String,
    /// The document from after the last element to its end.
    end: String,
}

impl Frame {
    /// Returns a bench record without its runs. The end is the one that the launcher writes.
    ///
    /// # Errors
    /// If the record can't be written as JSON.
    pub fn of_bench(record: &BenchRecord) -> io::Result<Frame> {
        Ok(Frame {
            head: head(record)?,
            end: OPEN_END.to_string(),
        })
    }

    /// Returns any record without the elements of the list `key`. The list is placed before everything that
    /// changes during the measurement.
    ///
    /// # Errors
    /// If the record can't be written as JSON, or has no list with that name.
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

/// Text to write at one position: an element, or nothing, and a new end.
struct Text {
    at: u64,
    added: String,
    end: String,
}

impl Text {
    /// Reports whether the text and the `over` bytes that it replaces are within one page, which the kernel
    /// writes in one step.
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
    /// The position of the first element.
    first: u64,
    end: String,
}

impl Journal {
    /// Starts the file with everything but the elements. Existing content is replaced; a link stays a link.
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
            // A device has no length; other problems are reported when writing.
            let _ = journal.file.set_len(0);
            journal.write_over(text).map_err(failed)?;
        }
        Ok(journal)
    }

    /// Returns the file, at the position of the next element.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Adds an element. Once this returns, the element survives the death of Fathom.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn append(&mut self, element: &impl Serialize) -> Result<(), MeasureError> {
        let end = self.end.clone();
        self.text(Some(element), end)
            .and_then(|text| self.write_over(text))
            .map_err(|error| self.failed(error))
    }

    /// Adds an element, if there is one, followed by the end of this frame. Use this for records in which
    /// more than the list changes, and whose file no other process writes.
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

    /// Returns the text to write from the file position on.
    fn text(&mut self, element: Option<&impl Serialize>, end: String) -> io::Result<Text> {
        let at = self.file.stream_position()?;
        let mut added = String::new();
        if let Some(element) = element {
            added.push_str(if at == self.first { "\n" } else { ",\n" });
            added.push_str(&serde_json::to_string(element)?);
        }
        Ok(Text { at, added, end })
    }

    /// Overwrites the end of the file, in one write.
    fn write_over(&mut self, text: Text) -> io::Result<()> {
        let Text { at, added, end } = text;
        let next = at + added.len() as u64;
        // No part of a longer end may remain, and truncating the file would be a second step.
        let length = added.len() + end.len();
        let padding = " ".repeat(self.end.len().saturating_sub(length));
        let whole = format!("{added}{end}{padding}");
        self.file.write_all_at(whole.as_bytes(), at)?;
        self.file.seek(SeekFrom::Start(next))?;
        self.end = end + &padding;
        Ok(())
    }

    /// Replaces the file with a copy that has the text. After a failure, nothing has changed.
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

    /// Replaces the file with the complete record, which `write` writes.
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
        // After a failure, the journal itself is still valid.
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

/// Writes a complete bench record, in the format in which the journal started it.
///
/// # Errors
/// If `out` can't be written.
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

/// Returns the record up to and including the `[` of its runs.
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
