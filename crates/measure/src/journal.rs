//! The JSON record on disk, whole after every run.
//!
//! The list of runs is the last long thing in the file. Each run is written over the short end of the
//! file together with a new end, in one write: whenever Fathom is killed, the file is a whole JSON
//! document with all finished runs and `"complete": false`. The final version takes its place by
//! renaming.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fathom_model::{BenchRecord, Outcome, Run};

use crate::MeasureError;

/// Closes the list of runs while there may be more.
const OPEN_END: &str = "\n],\n\"complete\":false,\n\"outcome\":null}\n";

/// A record that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Where the next run goes.
    end: u64,
    runs: u64,
}

impl Journal {
    /// Starts the file with everything but the runs. What was there is replaced.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn create(path: &Path, record: &BenchRecord) -> Result<Journal, MeasureError> {
        let failed = |error| MeasureError::Journal {
            path: path.to_path_buf(),
            error,
        };
        let head = head(record).map_err(failed)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)
            .map_err(failed)?;
        let whole = format!("{head}{OPEN_END}");
        file.write_all_at(whole.as_bytes(), 0).map_err(failed)?;
        Ok(Journal {
            path: path.to_path_buf(),
            file,
            end: head.len() as u64,
            runs: 0,
        })
    }

    /// Adds a run; it is durable against the death of Fathom when this returns.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn append(&mut self, run: &Run) -> Result<(), MeasureError> {
        let failed = |error| MeasureError::Journal {
            path: self.path.clone(),
            error,
        };
        let separator = if self.runs == 0 { "\n" } else { ",\n" };
        let mut text = separator.to_string();
        text.push_str(&serde_json::to_string(run).map_err(|e| failed(e.into()))?);
        let next = self.end + text.len() as u64;
        text.push_str(OPEN_END);
        self.file
            .write_all_at(text.as_bytes(), self.end)
            .map_err(failed)?;
        self.end = next;
        self.runs += 1;
        Ok(())
    }

    /// Puts the complete record in the file's place.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn finish(mut self, complete: bool, outcome: &Outcome) -> Result<(), MeasureError> {
        let path = self.path.clone();
        let failed = |error| MeasureError::Journal {
            path: path.clone(),
            error,
        };
        let outcome = serde_json::to_string(outcome).map_err(|e| failed(e.into()))?;
        let end = format!("\n],\n\"complete\":{complete},\n\"outcome\":{outcome}}}\n");
        let is_regular = self.file.metadata().map_err(failed)?.is_file();
        let replacement = path.with_file_name(format!(
            ".{}.{}",
            path.file_name()
                .map(|n| n.to_string_lossy())
                .unwrap_or_default(),
            std::process::id()
        ));
        let write = |file: &mut File, journal: &mut File| -> io::Result<()> {
            journal.seek(SeekFrom::Start(0))?;
            io::copy(&mut io::Read::take(journal, self.end), file)?;
            file.write_all(end.as_bytes())?;
            file.sync_all()
        };
        if !is_regular {
            return Ok(());
        }
        let done = File::create(&replacement)
            .and_then(|mut file| write(&mut file, &mut self.file))
            .and_then(|()| std::fs::rename(&replacement, &path));
        done.map_err(|error| {
            // Nothing half-written stays; the journal itself is whole as it is.
            let _ = std::fs::remove_file(&replacement);
            failed(error)
        })
    }
}

/// The record up to and with the `[` of its runs.
fn head(record: &BenchRecord) -> io::Result<String> {
    let part = |value: serde_json::Result<String>| value.map_err(io::Error::from);
    Ok(format!(
        "{{\"schema_version\":{},\n\"kind\":{},\n\"fathom_version\":{},\n\"started_at\":{},\n\"environment\":{},\n\"conditions\":{},\n\"benchmarks\":{},\n\"runs\":[",
        record.schema_version,
        part(serde_json::to_string(&record.kind))?,
        part(serde_json::to_string(&record.fathom_version))?,
        part(serde_json::to_string(&record.started_at))?,
        part(serde_json::to_string(&record.environment))?,
        part(serde_json::to_string(&record.conditions))?,
        part(serde_json::to_string(&record.benchmarks))?,
    ))
}
