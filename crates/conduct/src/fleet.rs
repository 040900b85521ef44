//! `--on` and `jobs`: where jobs have their folders, how they are monitored, and where their records go.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_fleet::{Attempt, Attempted, Engine, Error, Group, Progress};
use fathom_machine::remembered;
use fathom_measure::interrupt;
use fathom_store::location;
use fathom_store::{Loaded, Location, Options, Selector, Store};

use crate::ConductError;

/// The interval at which the engine and the files of the jobs are polled.
const INTERVAL: Duration = Duration::from_secs(1);
/// The longest delay until a wait notices an interrupt.
const NAP: Duration = Duration::from_millis(50);
/// How long to keep trying to reach a store: a server needs seconds to restart.
const STORE_AWAY: Duration = Duration::from_secs(120);
/// The file name of an attempt's store, in its folder.
const STORE: &str = "store.db";

impl From<Error> for ConductError {
    fn from(error: Error) -> ConductError {
        match error {
            Error::Template { .. } => ConductError::Refused(error.to_string()),
            Error::File { .. } | Error::Engine { .. } => ConductError::Failed(error.to_string()),
        }
    }
}

/// Returns the folder for jobs started in `here`: the project's `.fathom/jobs`, or otherwise one in the
/// user's state folder.
///
/// # Errors
/// [`ConductError::Refused`] if there is no home directory.
pub fn folder(here: &Path) -> Result<PathBuf, ConductError> {
    if let Some(project) = location::project(here, location::look) {
        return Ok(project.join("jobs"));
    }
    let state = remembered::user_folder("XDG_STATE_HOME", ".local/state");
    let state = state.ok_or_else(|| {
        ConductError::Refused(
            "the folder for jobs is unknown: set HOME or XDG_STATE_HOME".to_owned(),
        )
    })?;
    Ok(state.join("jobs"))
}

/// Parses `NAME[:PARTITION]`, where NAME is Slurm or an engine from the suite's `[fleet]` table.
///
/// # Errors
/// [`ConductError::Refused`], with the available names.
pub fn engine(
    named: &str,
    of_suite: Option<Engine>,
) -> Result<(Engine, Option<String>), ConductError> {
    let (name, partition) = match named.split_once(':') {
        Some((name, partition)) => (name, Some(partition.to_owned())),
        None => (named, None),
    };
    if partition.as_deref() == Some("") {
        return Err(ConductError::Refused(format!(
            "--on {named}: the partition after the colon is missing"
        )));
    }
    let own = of_suite.as_ref().map(|engine| engine.name.clone());
    let slurm = || (name == "slurm").then(Engine::slurm);
    let engine = of_suite.filter(|engine| engine.name == name).or_else(slurm);
    let engine = engine.ok_or_else(|| {
        let own = own.map(|own| format!("{own} or ")).unwrap_or_default();
        ConductError::Refused(format!(
            "unknown engine {name:?}; the engines are {own}slurm; [fleet] in fathom.toml defines others \
             (docs/fleet.md)"
        ))
    })?;
    Ok((engine, partition))
}

/// Monitors jobs until each has ended, and reports their progress to `said`. An interrupt cancels the
/// remaining jobs.
///
/// # Errors
/// A template that can't be used.
pub fn follow(
    group: &mut Group,
    mut said: impl FnMut(&Group, &[Progress]),
) -> Result<Vec<Progress>, ConductError> {
    loop {
        let now = group.look()?;
        if now.iter().all(Progress::is_end) {
            return Ok(now);
        }
        said(group, &now);
        if !paused(INTERVAL) {
            group.cancel(|_, _| true)?;
            return Ok(group.look()?);
        }
    }
}

/// Waits for `time`; returns false if an interrupt arrived.
fn paused(time: Duration) -> bool {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if interrupt::received().is_some() {
            return false;
        }
        std::thread::sleep(NAP);
    }
    interrupt::received().is_none()
}

/// Returns the store in which this attempt saves.
pub fn store_of(attempt: &Attempted) -> PathBuf {
    attempt.folder.join(STORE)
}

/// Moves what an attempt saved into a store; returns `None` if it saved nothing. A record that is already in
/// the store is not saved twice. If the store doesn't respond, saving is retried for two minutes, and the
/// reason is reported to `waits`.
///
/// # Errors
/// Errors of the stores.
pub fn save(
    attempt: &Attempt,
    location: &Location,
    mut waits: impl FnMut(&str),
) -> Result<Option<Loaded>, ConductError> {
    let path = attempt.folder.join(STORE);
    if !path.exists() {
        return Ok(None);
    }
    let mut from = Store::open(&Location::File(path))?;
    let records = from.records(&Selector::All)?;
    let mut bundle = Vec::new();
    from.bundle(&records, "a job's records", &mut bundle)?;
    let until = Instant::now() + STORE_AWAY;
    loop {
        let loaded = Store::open_with(location, Options::default())
            .and_then(|mut into| into.load("a job's records", bundle.as_slice()));
        match loaded {
            Ok(loaded) => return Ok(Some(loaded)),
            Err(error) if Instant::now() < until && paused(INTERVAL) => waits(&error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
}
