//! The JSON record on disk, whole after every run.
//!
//! The list of runs is the last long thing in the file. Each run is written over the short end of the
//! file together with a new end, in one write: whenever Fathom is killed, the file is a whole JSON
//! document with all finished runs and `"complete": false`. The launcher writes runs in the same way
//! (`launcher/record.rs`); the file's position, which both share, is where the next run goes. The final
//! version takes its place by renaming.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fathom_model::{BenchRecord, Run};

use crate::MeasureError;
use crate::shared::OPEN_END;

/// A record that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
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
        (&file)
            .seek(SeekFrom::Start(head.len() as u64))
            .map_err(failed)?;
        Ok(Journal {
            path: path.to_path_buf(),
            file,
        })
    }

    /// The file, at the position where the next run goes.
    pub fn file(&self) -> &File {
        &self.file
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
        let end = self.file.stream_position().map_err(failed)?;
        let mut text = separator(run.position).to_string();
        text.push_str(&serde_json::to_string(run).map_err(|e| failed(e.into()))?);
        let next = end + text.len() as u64;
        text.push_str(OPEN_END);
        self.file
            .write_all_at(text.as_bytes(), end)
            .and_then(|()| self.file.seek(SeekFrom::Start(next)))
            .map_err(failed)?;
        Ok(())
    }

    /// Puts the complete record in the file's place.
    ///
    /// # Errors
    /// [`MeasureError::Journal`].
    pub fn finish(self, record: &BenchRecord) -> Result<(), MeasureError> {
        let path = self.path;
        let failed = |error| MeasureError::Journal {
            path: path.clone(),
            error,
        };
        if !self.file.metadata().map_err(failed)?.is_file() {
            return Ok(());
        }
        let replacement = path.with_file_name(format!(
            ".{}.{}",
            path.file_name()
                .map(|n| n.to_string_lossy())
                .unwrap_or_default(),
            std::process::id()
        ));
        let done = File::create(&replacement)
            .and_then(|file| write_whole(record, file))
            .and_then(|()| std::fs::rename(&replacement, &path));
        done.map_err(|error| {
            // Nothing half-written stays; the journal itself is whole as it is.
            let _ = std::fs::remove_file(&replacement);
            failed(error)
        })
    }
}

fn separator(position: u32) -> &'static str {
    if position == 0 { "\n" } else { ",\n" }
}

fn write_whole(record: &BenchRecord, file: File) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, file);
    file.write_all(head(record)?.as_bytes())?;
    for run in &record.runs {
        file.write_all(separator(run.position).as_bytes())?;
        serde_json::to_writer(&mut file, run)?;
    }
    let outcome = serde_json::to_string(&record.outcome)?;
    write!(
        file,
        "\n],\n\"complete\":{},\n\"outcome\":{outcome}}}\n",
        record.complete
    )?;
    file.flush()?;
    file.get_ref().sync_all()
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
