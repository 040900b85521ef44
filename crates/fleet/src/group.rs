//! The folder of a submitted command: the plan, the current attempt of each job, and the results.
//!
//! `asked.json` never changes. `state.json` has a *token* for each job, which grows with each submission: a
//! result counts only if it was made under the current token, so an abandoned submission can't come back.
//! Below `N/`, for job N, each start of a script creates `attempt-K/`; the first attempt that ends links its
//! `end.json` to `result-TOKEN.json`, which the file system allows only once.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_model::JobRun;
use serde::{Deserialize, Serialize};

use crate::files::{failed, is_own, made, now, put, read, write};
use crate::plan::{Asked, Submission, log, submissions};
use crate::step::{End, Started, newest_attempt};
use crate::{Error, step};

/// Maximum number of submissions of a job: each lost or unfit node costs one.
const MOST: u32 = 4;
/// A job without a result that the engine doesn't know counts as lost after this many milliseconds: the files
/// of a shared disk and the engine's response may arrive in either order.
const LOST_AFTER: u64 = 5_000;
/// An engine that lists its jobs but rejects new ones is retried for this many milliseconds: a restarted
/// controller needs seconds.
const REFUSED_FOR: u64 = 20_000;

/// How long folders of jobs are kept after their results were saved.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The submission state of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Number of the submission, from 1; 0 before the first. A failed submission counts, because its job may
    /// exist.
    pub(crate) token: u32,
    /// The number of submissions that the engine accepted.
    handed_over: u32,
    /// The engine's id of the newest submission.
    id: Option<String>,
    /// Nodes that were unfit.
    exclude: Vec<String>,
    /// When the engine was first found not to know the job, in milliseconds since 1970.
    gone_since: Option<u64>,
    /// When the engine first rejected the job, in milliseconds since 1970, and why the job was being
    /// resubmitted.
    refused_since: Option<u64>,
    why_again: Option<String>,
    /// Why there is no result and there won't be one.
    given_up: Option<String>,
    /// The user cancelled the job.
    cancelled: bool,
}

/// The progress of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The engine has the job. Holds the engine's words for its state, and the node on which it was last
    /// started.
    Known(String, Option<String>),
    /// There is no news, or the job is being resubmitted. Holds the reason.
    Waiting(String),
    /// The job ended; its files are in the attempt's folder.
    Ended(Attempt),
    /// The job has no result after the maximum number of submissions. Holds the reason.
    GivenUp(String),
    /// The user cancelled the job.
    Cancelled,
}

impl Progress {
    /// Returns whether the job is finished and won't change any more.
    pub fn is_end(&self) -> bool {
        !matches!(self, Progress::Known(..) | Progress::Waiting(_))
    }
}

/// The attempt that produced the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The exit code of the verb.
    pub exit: i32,
    /// The attempt's folder, with `stdout`, `stderr`, `record.json` and `store.db`.
    pub folder: PathBuf,
    /// The engine, node and job that ran it.
    pub run: JobRun,
}

/// The jobs of one command.
#[derive(Debug)]
pub struct Group {
    folder: PathBuf,
    /// The request: the command and its working folder.
    pub asked: Asked,
    states: Vec<State>,
    /// Held while the states may change: only one process at a time submits and collects.
    _lock: File,
}

/// Returns the user's groups in a folder, oldest first, with their names. A group that another process is
/// following is `None`.
///
/// # Errors
/// [`Error::File`].
pub fn groups(all: &Path) -> Result<Vec<(String, Option<Group>)>, Error> {
    let entries = match fs::read_dir(all) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", all)(error)),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| is_own(&entry.path()) && entry.path().join("state.json").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let open = |name: String| Group::open(&all.join(&name)).map(|group| (name, group));
    names.into_iter().map(open).collect()
}

impl Group {
    /// Returns the folder of a new group. Names sort by time; the process number separates two groups of the
    /// same millisecond.
    pub fn place(all: &Path) -> PathBuf {
        all.join(format!("{}-{}", now(), std::process::id()))
    }

    /// Submits all jobs.
    ///
    /// # Errors
    /// [`Error`]. Jobs submitted before a failure are cancelled.
    pub fn submit(folder: &Path, asked: Asked) -> Result<Group, Error> {
        let all = submissions(&asked, folder)?;
        let parent = folder.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(failed("write", parent))?;
        made(folder)?;
        let lock = locked(folder)?
            .ok_or_else(|| failed("lock", folder)(io::Error::from(ErrorKind::WouldBlock)))?;
        let first = State {
            token: 1,
            ..State::default()
        };
        let mut group = Group {
            states: vec![first; asked.jobs.len()],
            folder: folder.to_owned(),
            asked,
            _lock: lock,
        };
        write(&folder.join("asked.json"), &group.asked)?;
        group.keep()?;
        let handed = all.iter().try_for_each(|one| group.hand_over(one));
        if let Err(error) = handed.and_then(|()| group.keep()) {
            let _ = group.cancel(|_, _| true);
            // A script that is still running finds nothing to do.
            let _ = fs::remove_dir_all(folder);
            return Err(error);
        }
        Ok(group)
    }

    /// Opens an existing group; `None` if another process is following it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn open(folder: &Path) -> Result<Option<Group>, Error> {
        let Some(lock) = locked(folder)? else {
            return Ok(None);
        };
        Ok(Some(Group {
            asked: read(&folder.join("asked.json"))?,
            states: read(&folder.join("state.json"))?,
            folder: folder.to_owned(),
            _lock: lock,
        }))
    }

    /// Returns the name of the group: the name of its folder.
    pub fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Returns the engine's id of a job's newest submission.
    pub fn id(&self, job: usize) -> Option<&str> {
        self.states[job].id.as_deref()
    }

    /// Returns whether the group's results were shown and saved.
    pub fn is_collected(&self) -> bool {
        self.folder.join("collected").exists()
    }

    /// Records that the group's results were shown and saved.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn collected(&self) -> Result<(), Error> {
        put(&self.folder.join("collected"), 0o600, b"")
    }

    /// Removes the group's folder if its results were collected long ago.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn tidy(&self) -> Result<(), Error> {
        let collected = fs::metadata(self.folder.join("collected"));
        let age = collected.and_then(|about| about.modified());
        let age = age.ok().and_then(|at| at.elapsed().ok());
        match age.is_some_and(|age| age > KEPT) {
            true => fs::remove_dir_all(&self.folder).map_err(failed("remove", &self.folder)),
            false => Ok(()),
        }
    }

    /// Returns the progress of each job. Jobs on an unfit node, or lost by the engine, are resubmitted.
    ///
    /// # Errors
    /// [`Error::Template`]. Temporary errors are reported in the progress of the job.
    pub fn look(&mut self) -> Result<Vec<Progress>, Error> {
        // Ask the engine before reading the files: a job that has ended by this point has its result there.
        let answer = match self.asked.engine.jobs() {
            Err(error @ Error::Template { .. }) => return Err(error),
            other => other.map_err(|error| format!("no answer: {error}")),
        };
        let before = self.states.clone();
        let mut all = Vec::new();
        for job in 0..self.states.len() {
            all.push(match self.looked(job, &answer) {
                Err(error @ (Error::File { .. } | Error::Engine { .. })) => {
                    Progress::Waiting(error.to_string())
                }
                other => other?,
            });
        }
        if self.states != before {
            // State that can't be saved is determined again next time.
            let _ = self.keep();
        }
        Ok(all)
    }

    fn looked(
        &mut self,
        job: usize,
        answer: &Result<HashMap<String, String>, String>,
    ) -> Result<Progress, Error> {
        let folder = self.folder.join(job.to_string());
        let state = &mut self.states[job];
        if state.cancelled {
            return Ok(Progress::Cancelled);
        }
        if let Some(why) = &state.given_up {
            return Ok(Progress::GivenUp(why.clone()));
        }
        let result = folder.join(format!("result-{}.json", state.token));
        if result.exists() {
            let end: End = read(&result)?;
            let Some(why) = end.unfit else {
                return ended(&folder, &end).map(Progress::Ended);
            };
            if let Err(silent) = answer {
                return Ok(Progress::Waiting(silent.clone()));
            }
            if !state.exclude.contains(&end.node) {
                state.exclude.push(end.node.clone());
            }
            return self.again(
                job,
                format!("{} is not suitable for measuring: {why}", end.node),
            );
        }
        let jobs = match answer {
            Ok(jobs) => jobs,
            Err(why) => return Ok(Progress::Waiting(why.clone())),
        };
        let Some(id) = &state.id else {
            let why = state.why_again.clone();
            return self.again(
                job,
                why.unwrap_or_else(|| "it was not handed over".to_owned()),
            );
        };
        // The file may not be written yet.
        let newest = newest_attempt(&folder)?;
        let newest = newest.and_then(|folder| read::<Started>(&folder.join(step::STARTED)).ok());
        let node = newest.filter(|started| started.token == state.token);
        let node = node.map(|started| started.node);
        if let Some(words) = jobs.get(id) {
            state.gone_since = None;
            return Ok(Progress::Known(words.clone(), node));
        }
        if now().saturating_sub(*state.gone_since.get_or_insert_with(now)) < LOST_AFTER {
            return Ok(Progress::Known("ending".to_owned(), node));
        }
        // An array has a single log, that of its first job.
        let place = id
            .rsplit_once('_')
            .and_then(|(_, place)| place.parse().ok());
        let first = job.saturating_sub(place.unwrap_or(0));
        let said = fs::read_to_string(log(&self.folder, first)).unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let more = match (&node, last) {
            (_, Some(line)) => format!("; its log ends with: {line}"),
            (None, None) => {
                let folder = self.folder.display();
                format!(" and left nothing in {folder}, which must be visible on all nodes")
            }
            (Some(_), None) => String::new(),
        };
        let on = node.map(|node| format!(" on {node}")).unwrap_or_default();
        let why = format!("job {id} ended without a result{on}{more}");
        self.again(job, why)
    }

    /// Cancels the jobs that `meant` selects, unless they have ended. A job that was already cancelled is
    /// cancelled again, because the engine may not have received the first request.
    ///
    /// # Errors
    /// [`Error`]. The jobs are marked as cancelled in any case.
    pub fn cancel(&mut self, meant: impl Fn(usize, Option<&str>) -> bool) -> Result<(), Error> {
        let mut ids = Vec::new();
        for (job, state) in self.states.iter_mut().enumerate() {
            let result = format!("{job}/result-{}.json", state.token);
            if state.given_up.is_some()
                || self.folder.join(result).exists()
                || !meant(job, state.id.as_deref())
            {
                continue;
            }
            state.token += u32::from(!state.cancelled);
            state.cancelled = true;
            ids.extend(state.id.clone());
        }
        let kept = self.keep();
        self.asked.engine.cancel(&ids)?;
        kept
    }

    /// Resubmits a job. Results of earlier submissions no longer count.
    fn again(&mut self, job: usize, why: String) -> Result<Progress, Error> {
        let state = &mut self.states[job];
        let give_up = |state: &mut State, why: String| {
            state.given_up = Some(why.clone());
            Ok(Progress::GivenUp(why))
        };
        if state.handed_over >= MOST {
            return give_up(state, why);
        }
        state.token += 1;
        state.gone_since = None;
        state.why_again = Some(why.clone());
        let (old, token, exclude) = (state.id.take(), state.token, state.exclude.clone());
        // Save before submitting, so that a submission whose response is lost can't give a result.
        self.keep()?;
        if let Some(old) = old {
            // Usually there is nothing left to cancel.
            let _ = self.asked.engine.cancel(&[old]);
        }
        let one = self
            .asked
            .submission(&self.folder, (job, 1), token, &exclude)?;
        let handed = self.hand_over(&one);
        let state = &mut self.states[job];
        match handed {
            Ok(()) => {
                state.refused_since = None;
                Ok(Progress::Waiting(format!("handed over again: {why}")))
            }
            Err(error @ Error::Engine { .. }) => {
                // The script was not submitted, so it isn't needed.
                let _ = fs::remove_file(&one.path);
                let since = *state.refused_since.get_or_insert_with(now);
                let why = format!("{why}; no other node accepts it: {error}");
                match now().saturating_sub(since) < REFUSED_FOR {
                    true => Ok(Progress::Waiting(why)),
                    false => give_up(state, why),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn hand_over(&mut self, one: &Submission) -> Result<(), Error> {
        put(&one.path, 0o700, one.script.as_bytes())?;
        let id = self.asked.engine.submit(&one.words)?;
        let (first, count) = one.jobs;
        for (number, state) in self.states[first..first + count].iter_mut().enumerate() {
            state.handed_over += 1;
            state.id = Some(match count {
                1 => id.clone(),
                _ => format!("{id}_{number}"),
            });
        }
        match count {
            1 => self.keep(),
            _ => Ok(()),
        }
    }

    fn keep(&self) -> Result<(), Error> {
        write(&self.folder.join("state.json"), &self.states)
    }
}

fn ended(folder: &Path, end: &End) -> Result<Attempt, Error> {
    let folder = step::folder(folder, end.attempt);
    Ok(Attempt {
        exit: end.exit,
        run: step::job_run(&folder)?,
        folder,
    })
}

/// Returns the current state of one job.
pub(crate) fn state(folder: &Path, job: usize) -> Result<State, Error> {
    let path = folder.join("state.json");
    let mut states: Vec<State> = read(&path)?;
    match job < states.len() {
        true => Ok(states.swap_remove(job)),
        false => Err(failed("find job in", &path)(ErrorKind::NotFound.into())),
    }
}

fn locked(folder: &Path) -> Result<Option<File>, Error> {
    let path = folder.join("lock");
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(false);
    let file = options.open(&path).map_err(failed("write", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(failed("lock", &path)(error)),
    }
}
