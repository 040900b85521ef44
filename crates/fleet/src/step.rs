//! One attempt of a job on its node, from the token to the result.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fathom_model::JobRun;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::files::{failed, made, now, read, write};
use crate::group::state;
use crate::plan::{Asked, Part};

/// The start of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Started {
    /// Token of the submission.
    pub(crate) token: u32,
    /// The engine's id of the job.
    pub(crate) id: String,
    /// The engine's name for the node.
    pub(crate) node: String,
    /// Start time, in milliseconds since 1970.
    pub(crate) at: u64,
    /// The part to do.
    pub(crate) part: Part,
    /// Number of jobs for the same kind of machine.
    pub(crate) parts: usize,
}

/// Name of the file with a [`Started`], in the folder of its attempt.
pub(crate) const STARTED: &str = "started.json";

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    /// Number of the attempt.
    pub(crate) attempt: u32,
    /// The node.
    pub(crate) node: String,
    /// The exit code of the verb.
    pub(crate) exit: i32,
    /// Why nothing was measured on this node.
    pub(crate) unfit: Option<String>,
}

/// The environment variable with the attempt's folder, for the program that a job runs.
pub const ATTEMPT: &str = "FATHOM_ATTEMPT";

/// Name of the record file in an attempt's folder.
pub const RECORD: &str = "record.json";

/// Returns the path, in an attempt's folder, of the requested file at this position of [`Asked::files`].
pub fn file(folder: &Path, place: usize) -> PathBuf {
    folder.join(format!("file-{place}"))
}

/// The attempt for which this process measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempted {
    /// The folder of the attempt.
    pub folder: PathBuf,
    job: PathBuf,
    /// The part of the request that this attempt does.
    pub part: Part,
    /// Number of jobs on the same kind of machine, including this one.
    pub parts: usize,
    /// Folders of earlier attempts on the same node, newest first: this attempt continues where they stopped.
    pub earlier: Vec<PathBuf>,
    /// The job, for the record.
    pub run: JobRun,
}

impl Attempted {
    /// Returns a folder for build products, shared only by attempts on the same node.
    pub fn work(&self) -> PathBuf {
        self.job.join(format!("work-{}", self.run.node))
    }
}

static WITHIN: OnceLock<Attempted> = OnceLock::new();

/// Notes that this process measures for an attempt. `folder` is the value of [`ATTEMPT`], which the caller
/// has removed from the environment so that no measured command believes it runs in a job.
///
/// # Errors
/// [`Error::File`]: the folder does not belong to an attempt.
pub fn within(folder: PathBuf) -> Result<(), Error> {
    let started: Started = read(&folder.join(STARTED))?;
    let job = folder.parent().unwrap_or(&folder).to_owned();
    let run = job_run(&folder)?;
    let earlier = (1..run.attempts)
        .rev()
        .map(|number| self::folder(&job, number));
    let is_here = |folder: &PathBuf| job_run(folder).is_ok_and(|other| other.node == run.node);
    let attempted = Attempted {
        earlier: earlier.filter(is_here).collect(),
        run,
        job,
        part: started.part,
        parts: started.parts,
        folder,
    };
    // A second call can only set the same value.
    let _ = WITHIN.set(attempted);
    Ok(())
}

/// Returns the attempt for which this process measures.
pub fn attempt() -> Option<&'static Attempted> {
    WITHIN.get()
}

/// Returns the job of this process, for its record; empty outside of a job.
pub fn of_this_process() -> Vec<JobRun> {
    attempt().map(|one| one.run.clone()).into_iter().collect()
}

/// Returns the number of jobs, including this one, that share the work on the same kind of machine; 1 outside
/// of a job.
pub fn parts_of_this_process() -> usize {
    attempt().map_or(1, |one| one.parts)
}

/// The reason why the node can't measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit(pub String);

/// A running attempt.
#[derive(Debug)]
pub struct Step {
    /// The requested command.
    pub asked: Asked,
    /// The job's folder.
    job: PathBuf,
    /// The attempt's own folder.
    pub folder: PathBuf,
    number: u32,
    started: Started,
}

impl Step {
    /// Begins an attempt; `None` if the job was given up or has a result. `id` and `node` come from the
    /// engine.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn begin(
        group: &Path,
        job: usize,
        token: u32,
        id: &str,
        node: &str,
    ) -> Result<Option<Step>, Error> {
        let at = now();
        let asked: Asked = read(&group.join("asked.json"))?;
        let folder = group.join(job.to_string());
        let counts = state(group, job)?.token == token;
        if !counts || folder.join(format!("result-{token}.json")).exists() {
            return Ok(None);
        }
        made(&folder)?;
        let mut number = 1;
        while !made(&self::folder(&folder, number))? {
            number += 1;
        }
        let part = asked.jobs.get(job).cloned().unwrap_or_default();
        let alike = |other: &&Part| other.constraint == part.constraint;
        let started = Started {
            parts: asked.jobs.iter().filter(alike).count(),
            part,
            token,
            id: id.to_owned(),
            node: node.to_owned(),
            at,
        };
        let step = Step {
            asked,
            folder: self::folder(&folder, number),
            job: folder,
            number,
            started,
        };
        write(&step.folder.join(STARTED), &step.started)?;
        Ok(Some(step))
    }

    /// Writes the outcome of the attempt. If another attempt of the same submission ended earlier, that one
    /// counts; returns whether this one does.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn end(&self, outcome: Result<i32, Unfit>) -> Result<bool, Error> {
        let (exit, unfit) = match outcome {
            Ok(exit) => (exit, None),
            Err(Unfit(why)) => (4, Some(why)),
        };
        let path = self.folder.join("end.json");
        let end = End {
            attempt: self.number,
            node: self.started.node.clone(),
            exit,
            unfit,
        };
        write(&path, &end)?;
        let result = self.job.join(format!("result-{}.json", self.started.token));
        match fs::hard_link(&path, &result) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed("write", &result)(error)),
        }
    }
}

/// Returns the folder of an attempt.
pub(crate) fn folder(job: &Path, number: u32) -> PathBuf {
    job.join(format!("attempt-{number}"))
}

fn number(folder: &Path) -> Option<u32> {
    let name = folder.file_name()?.to_str()?;
    name.strip_prefix("attempt-")?.parse().ok()
}

/// Returns the folder of the newest attempt of a job.
pub(crate) fn newest_attempt(job: &Path) -> Result<Option<PathBuf>, Error> {
    let entries = match fs::read_dir(job) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("read", job)(error)),
    };
    let all = entries.flatten().map(|entry| entry.path());
    Ok(all
        .max_by_key(|path| number(path))
        .filter(|path| number(path).is_some()))
}

/// Returns the job information for the record of an attempt.
pub(crate) fn job_run(folder: &Path) -> Result<JobRun, Error> {
    let started: Started = read(&folder.join(STARTED))?;
    Ok(JobRun {
        id: started.id,
        node: started.node,
        state: "completed".to_owned(),
        attempts: number(folder).unwrap_or(1),
    })
}
