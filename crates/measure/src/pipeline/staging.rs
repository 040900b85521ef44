//! One round in which Fathom is between the stages and keeps what each one writes.
//!
//! This round is never timed. Stages that depend on each other (one closes its input, and the other gets
//! SIGPIPE) behave as in the live pipeline, so the kept data is what the next stage really gets.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_model::StagedInput;

use super::runner::{From, Prepared, Ran, RunOptions, Runner, Step, To};
use crate::MeasureError;
use crate::launcher::{MOST_STAGES, fd};

/// Descriptor numbers in the launcher for the stages' outputs and inputs.
const WRITES: i32 = fd::EXTRA + MOST_STAGES as i32;
const READS: i32 = WRITES + MOST_STAGES as i32 - 1;
/// The default capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;

/// What to keep, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staging {
    /// The maximum number of bytes of all inputs together; a stage with a larger input isn't run alone.
    pub limit_bytes: u64,
    /// A folder in which to keep the inputs as files; if absent, they are in memory and disappear with
    /// Fathom.
    pub keep: Option<PathBuf>,
}

/// The kept input of a stage.
#[derive(Debug)]
pub(super) struct Kept {
    pub input: StagedInput,
    /// The file with the input; absent if it isn't kept.
    pub file: Option<File>,
}

/// The result of a pump.
struct Pumped {
    written: u64,
    taken: u64,
    kept: Result<File, String>,
}

/// Runs the pipeline once, and keeps the data passed between stages.
pub(super) fn stage(
    prepared: &[Prepared],
    names: &[String],
    staging: &Staging,
    options: &RunOptions,
) -> Result<(Ran, Vec<Kept>), MeasureError> {
    let failed = |error| MeasureError::Launcher {
        what: "could not be connected to its pipes",
        error,
    };
    let links = prepared.len() - 1;
    let mut extra = Vec::new();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for link in 0..links {
        let (from_writer, write) = super::pipe().map_err(failed)?;
        let (read, to_reader) = super::pipe().map_err(failed)?;
        extra.push((write.as_raw_fd(), WRITES + link as i32));
        extra.push((read.as_raw_fd(), READS + link as i32));
        ours.push((from_writer, to_reader));
        theirs.extend([write, read]);
    }
    let mut runner = Runner::start(prepared.len(), &extra, options.clone())?;
    // The launcher has its own copies; ours would keep the pipes open forever.
    drop(theirs);
    let left = Arc::new(AtomicU64::new(staging.limit_bytes));
    let mut pumps = Vec::new();
    for (link, (from, to)) in ours.into_iter().enumerate() {
        let path = staging
            .keep
            .as_ref()
            .map(|folder| folder.join(file_name(link + 1, &names[link + 1])));
        let file = create(path.as_deref())?;
        pumps.push((path, pump(from, to, file, Arc::clone(&left))?));
    }
    let steps: Vec<Step> = (0..prepared.len())
        .map(|stage| Step {
            stage,
            from: match stage {
                0 => From::Command,
                _ => From::Descriptor(READS + stage as i32 - 1),
            },
            to: match stage {
                last if last == links => To::Command,
                _ => To::Descriptor(WRITES + stage as i32),
            },
            delay: Duration::ZERO,
        })
        .collect();
    let ran = runner.run(prepared, &steps, options.timeout);
    // Processes that the stages left behind may still hold a pipe, and the pumps would wait for it.
    runner.sweep();
    drop(runner);
    let mut kept = Vec::new();
    for (link, (path, pump)) in pumps.into_iter().enumerate() {
        let pumped = pump.join().unwrap_or_else(|_| Pumped {
            written: 0,
            taken: 0,
            kept: Err("the thread that stored it failed".to_string()),
        });
        kept.push(keep(link + 1, path, pumped));
    }
    Ok((ran?, kept))
}

fn keep(stage: usize, path: Option<PathBuf>, pumped: Pumped) -> Kept {
    let (file, not_kept) = match pumped.kept {
        Ok(file) => (Some(file), None),
        Err(why) => (None, Some(why)),
    };
    if let (Some(path), None) = (&path, &file) {
        // A partial input would only mislead; its absence is reported.
        let _ = std::fs::remove_file(path);
    }
    Kept {
        input: StagedInput {
            stage,
            bytes_written: pumped.written,
            bytes_taken: pumped.taken,
            file: path
                .filter(|_| file.is_some())
                .map(|path| path.display().to_string()),
            not_kept,
        },
        file,
    }
}

/// Returns `2-gzip.input` for the second stage.
fn file_name(stage: usize, name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    format!("{}-{safe}.input", stage + 1)
}

fn create(path: Option<&Path>) -> Result<File, MeasureError> {
    let Some(path) = path else {
        let made = crate::launcher::anonymous_file(c"fathom-staged-input", 0);
        return made
            .map(File::from)
            .map_err(|error| MeasureError::Launcher {
                what: "could not allocate memory for staged input",
                error,
            });
    };
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    options.open(path).map_err(|error| MeasureError::Journal {
        path: path.to_path_buf(),
        error,
    })
}

/// Moves bytes from one stage to the next, and into the file while the limit permits.
fn pump(
    from: OwnedFd,
    to: OwnedFd,
    file: File,
    left: Arc<AtomicU64>,
) -> Result<JoinHandle<Pumped>, MeasureError> {
    let run = move || {
        let (mut from, mut to) = (File::from(from), File::from(to));
        let mut done = Pumped {
            written: 0,
            taken: 0,
            kept: Ok(file),
        };
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let got = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            done.written += got as u64;
            keep_piece(&mut done.kept, &buffer[..got], &left);
            // The reader has closed its input, and the writer must notice that as it would without Fathom.
            if to.write_all(&buffer[..got]).is_err() {
                break;
            }
            done.taken += got as u64;
        }
        done
    };
    std::thread::Builder::new()
        .name("pump".into())
        .spawn(run)
        .map_err(|error| MeasureError::Launcher {
            what: "could not start a thread to stage input",
            error,
        })
}

fn keep_piece(kept: &mut Result<File, String>, piece: &[u8], left: &AtomicU64) {
    let Ok(file) = kept else {
        return;
    };
    let length = piece.len() as u64;
    let enough = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(length)
    });
    let why = match enough {
        Err(_) => "it is larger than --stage-limit allows".to_string(),
        Ok(_) => match file.write_all(piece) {
            Ok(()) => return,
            Err(error) => format!("it can't be stored: {error}"),
        },
    };
    // Frees the memory.
    let _ = file.set_len(0);
    *kept = Err(why);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_number_and_program() {
        assert_eq!(file_name(1, "gzip"), "2-gzip.input");
        assert_eq!(file_name(2, "a/b c"), "3-a_b_c.input");
    }

    #[test]
    fn what_is_over_the_limit_is_not_kept_and_takes_no_room() {
        let mut kept = Ok(create(None).unwrap());
        let left = AtomicU64::new(10);
        keep_piece(&mut kept, b"12345678", &left);
        assert_eq!(kept.as_ref().unwrap().metadata().unwrap().len(), 8);
        keep_piece(&mut kept, b"123", &left);
        assert!(kept.unwrap_err().contains("--stage-limit"));
    }
}
