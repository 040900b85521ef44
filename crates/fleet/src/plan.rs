//! The command to run, and the scripts and commands that submit it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::engine::{Engine, Place};

/// The requested command and its options. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Path of the program that runs the command; the same on all nodes.
    pub program: PathBuf,
    /// Its arguments, the verb first.
    pub arguments: Vec<String>,
    /// The working folder.
    pub folder: PathBuf,
    /// The file requested for the record; `-` is standard output.
    pub json: Option<PathBuf>,
    /// The other requested files. Each is in an attempt's folder as [`crate::file`] of its position here.
    #[serde(default)]
    pub files: Vec<Option<PathBuf>>,
    /// Whether the record is saved.
    pub saves: bool,
    /// The store, if not the one found from `folder`.
    pub store: Option<String>,
    /// The engine.
    pub engine: Engine,
    /// The engine's name for a group of machines.
    pub partition: Option<String>,
    /// The jobs, each independent of the others.
    pub jobs: Vec<Part>,
}

/// The part of one job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The part of the request, such as an experiment; `None` means all of it.
    pub part: Option<String>,
    /// The required machine features, in the engine's words.
    pub constraint: Option<String>,
}

/// A script and the command that submits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The index of its first job, and the number of jobs.
    pub jobs: (usize, usize),
    /// Path of the script.
    pub path: PathBuf,
    /// Text of the script.
    pub script: String,
    /// Words of the submit command.
    pub words: Vec<String>,
}

/// Returns the first submissions of all jobs: jobs for the same kind of machine form arrays, if the engine
/// has arrays. Nothing is written.
///
/// # Errors
/// [`Error::Template`].
pub fn submissions(asked: &Asked, group: &Path) -> Result<Vec<Submission>, Error> {
    let most = match asked.engine.array.is_empty() {
        true => 1,
        false => asked.engine.array_size.max(1),
    };
    let mut all = Vec::new();
    let mut first = 0;
    let alike = |one: &Part, other: &Part| one.constraint == other.constraint;
    for kind in asked.jobs.chunk_by(alike) {
        for chunk in kind.chunks(most) {
            all.push(asked.submission(group, (first, chunk.len()), 1, &[])?);
            first += chunk.len();
        }
    }
    Ok(all)
}

impl Asked {
    /// Returns the submission of these jobs under this token, excluding these nodes.
    pub(crate) fn submission(
        &self,
        group: &Path,
        jobs: (usize, usize),
        token: u32,
        exclude: &[String],
    ) -> Result<Submission, Error> {
        let (first, count) = jobs;
        let (number, last) = match count {
            1 => (first.to_string(), None),
            // In an array, Slurm and PBS set a variable to the job's index.
            _ => (
                format!("$(({first} + ${{SLURM_ARRAY_TASK_ID-$PBS_ARRAY_INDEX}}))"),
                Some(count - 1),
            ),
        };
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        // `fathom` does everything from here on, because a script can't handle errors well.
        let script = format!(
            "#!/bin/sh\nexec {} jobs step {} \"{number}\" {token}\n",
            quoted(&self.program),
            quoted(group)
        );
        let path = group.join(format!("job-{first}-{token}.sh"));
        let place = Place {
            partition: self.partition.as_deref(),
            constraint: self.jobs[first].constraint.as_deref(),
            exclude,
            last,
        };
        let words = self.engine.submission(&path, &log(group, first), &place)?;
        Ok(Submission {
            jobs,
            path,
            script,
            words,
        })
    }
}

/// Returns the file with the output of the engine and the script, for a job or for the array that begins with
/// it.
pub(crate) fn log(group: &Path, first: usize) -> PathBuf {
    group.join(format!("job-{first}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(jobs: usize) -> Asked {
        let part = |number| Part {
            part: Some(format!("experiment-{number}")),
            constraint: None,
        };
        Asked {
            program: "/opt/a b/fathom".into(),
            arguments: vec!["run".to_owned()],
            folder: "/tmp".into(),
            json: None,
            files: Vec::new(),
            saves: false,
            store: None,
            engine: Engine::slurm(),
            partition: None,
            jobs: (0..jobs).map(part).collect(),
        }
    }

    #[test]
    fn two_thousand_jobs_are_arrays_within_slurms_default_limit() {
        let all = submissions(&asked(2_000), Path::new("/tmp/group")).unwrap();
        let jobs: Vec<_> = all.iter().map(|one| one.jobs).collect();
        assert_eq!(jobs, [(0, 1_000), (1_000, 1_000)]);
        // MaxArraySize is 1001 by default, and an index must be smaller.
        assert!(all[1].words.contains(&"--array=0-999".to_owned()));
        assert_eq!(
            all[1].script,
            "#!/bin/sh\nexec '/opt/a b/fathom' jobs step /tmp/group \"$((1000 + ${SLURM_ARRAY_TASK_ID-$PBS_ARRAY_INDEX}))\" 1\n"
        );
    }

    #[test]
    fn each_kind_of_machine_has_jobs_of_its_own() {
        let mut asked = asked(4);
        for part in &mut asked.jobs[2..] {
            part.constraint = Some("arm".to_owned());
        }
        let all = submissions(&asked, Path::new("/tmp/group")).unwrap();
        assert_eq!(all.len(), 2);
        assert!(!all[0].words.contains(&"--constraint=arm".to_owned()));
        assert!(all[1].words.contains(&"--constraint=arm".to_owned()));
    }
}
