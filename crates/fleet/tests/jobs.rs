//! Jobs on an engine that loses them, starts them twice, forgets them and refuses them. The engine is a few
//! lines of shell that log the requests.

use std::fs;
use std::path::{Path, PathBuf};

use fathom_fleet::{Asked, Engine, Error, Group, Part, Progress, Step, Unfit, groups};
use tempfile::TempDir;

/// A fake engine. Its folder has `submitted`, with a line for each submission; `state`, the engine's
/// response; and `cancelled`.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> World {
        let world = World {
            folder: tempfile::tempdir().unwrap(),
        };
        world.says("");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Sets the engine's response from now on.
    fn says(&self, jobs: &str) {
        fs::write(self.path("state"), jobs).unwrap();
    }

    fn engine(&self) -> Engine {
        let quoted =
            |name: &str| shell_words::quote(self.path(name).to_str().unwrap()).into_owned();
        let (submitted, cancelled) = (quoted("submitted"), quoted("cancelled"));
        // The id is the number of the submission.
        let submit = format!(
            "[ ! -e {} ] || exit 1; echo \"$@\" >> {submitted}; wc -l < {submitted}",
            quoted("refuses")
        );
        let cancel = format!("echo \"$@\" >> {cancelled}");
        Engine {
            name: "made-up".to_owned(),
            submit: format!("sh -c {} sh {{script}}", shell_words::quote(&submit)),
            state: format!("cat {}", quoted("state")),
            cancel: format!("sh -c {} sh {{ids}}", shell_words::quote(&cancel)),
            ..Engine::slurm()
        }
    }

    fn submitted(&self, jobs: usize) -> Group {
        let asked = Asked {
            program: "/bin/true".into(),
            arguments: vec!["bench".to_owned(), "true".to_owned()],
            folder: self.folder.path().to_owned(),
            json: None,
            files: Vec::new(),
            saves: false,
            store: None,
            engine: self.engine(),
            partition: None,
            jobs: vec![Part::default(); jobs],
        };
        Group::submit(&self.group(), asked).unwrap()
    }

    fn group(&self) -> PathBuf {
        self.path("jobs/group")
    }

    fn step(&self, job: usize, token: u32) -> Option<Step> {
        Step::begin(&self.group(), job, token, "7", "n1").unwrap()
    }

    /// Opens the group. The lock of a dropped group may be held by a child that another test has just forked,
    /// until that child executes its program.
    fn opened(&self) -> Group {
        loop {
            match Group::open(&self.group()).unwrap() {
                Some(group) => return group,
                None => std::thread::yield_now(),
            }
        }
    }

    /// Simulates that the engine has not known the jobs for a long time.
    fn time_passes(&self) -> Group {
        let path = self.group().join("state.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut states: serde_json::Value = serde_json::from_str(&text).unwrap();
        for state in states.as_array_mut().unwrap() {
            for since in ["gone_since", "refused_since"] {
                if state[since].is_number() {
                    state[since] = 0.into();
                }
            }
        }
        fs::write(&path, states.to_string()).unwrap();
        self.opened()
    }
}

fn one(group: &mut Group) -> Progress {
    group.look().unwrap().remove(0)
}

fn is_again(progress: &Progress) -> bool {
    matches!(progress, Progress::Waiting(why) if why.starts_with("handed over again: "))
}

/// Makes the job lost: the engine doesn't know it, and it has no result.
fn lost(world: &World, mut group: Group) -> (Group, Progress) {
    let ending = one(&mut group);
    assert!(matches!(ending, Progress::Known(state, _) if state == "ending"));
    drop(group);
    let mut group = world.time_passes();
    let progress = one(&mut group);
    (group, progress)
}

#[test]
fn a_late_result_of_a_job_that_was_given_up_is_refused() {
    let world = World::new();
    let group = world.submitted(1);
    let late = world.step(0, 1).unwrap();
    drop(group);
    let mut group = world.opened();
    assert_eq!(
        one(&mut group),
        Progress::Known("ending".to_owned(), Some("n1".to_owned()))
    );
    drop(group);
    let mut group = world.time_passes();
    assert!(is_again(&one(&mut group)));
    assert_eq!(world.lines("cancelled"), ["1"]);
    // The node comes back and finishes its attempt.
    assert!(late.end(Ok(0)).unwrap());
    world.says("2 RUNNING\n");
    assert_eq!(one(&mut group), Progress::Known("running".to_owned(), None));
    assert!(world.step(0, 1).is_none(), "its script is not started anew");

    let second = world.step(0, 2).unwrap();
    second.end(Ok(3)).unwrap();
    let Progress::Ended(attempt) = one(&mut group) else {
        panic!("it has a result")
    };
    assert_eq!((attempt.exit, attempt.run.attempts), (3, 2));
    assert_eq!(attempt.folder, second.folder);
}

#[test]
fn a_job_that_the_engine_starts_twice_has_one_result() {
    let world = World::new();
    let mut group = world.submitted(1);
    let (first, second) = (world.step(0, 1).unwrap(), world.step(0, 1).unwrap());
    assert_ne!(first.folder, second.folder);
    assert!(second.end(Ok(0)).unwrap());
    assert!(!first.end(Ok(1)).unwrap());
    let Progress::Ended(attempt) = one(&mut group) else {
        panic!("it has a result")
    };
    assert_eq!((attempt.exit, attempt.folder), (0, second.folder));
    assert!(world.step(0, 1).is_none());
}

#[test]
fn an_unfit_node_gives_its_job_back() {
    let world = World::new();
    let mut group = world.submitted(1);
    let step = world.step(0, 1).unwrap();
    step.end(Err(Unfit("steal 7.0 %".to_owned()))).unwrap();
    let again = one(&mut group);
    let why = "handed over again: n1 is not suitable for measuring: steal 7.0 %";
    assert_eq!(again, Progress::Waiting(why.to_owned()));
    let submitted = world.lines("submitted");
    assert!(!submitted[0].contains("--exclude"));
    assert!(submitted[1].starts_with("--exclude=n1 "), "{submitted:?}");
}

#[test]
fn a_job_is_handed_over_four_times_at_most() {
    let world = World::new();
    let mut group = world.submitted(1);
    for _ in 1..4 {
        let (next, progress) = lost(&world, group);
        assert!(is_again(&progress));
        group = next;
    }
    fs::write(world.group().join("job-0.log"), "slurmstepd: killed\n\n").unwrap();
    let (mut group, progress) = lost(&world, group);
    let why = "job 4 ended without a result; its log ends with: slurmstepd: killed";
    assert_eq!(progress, Progress::GivenUp(why.to_owned()));
    assert_eq!(one(&mut group), progress, "it stays so");
    assert_eq!(world.lines("submitted").len(), 4);
}

#[test]
fn an_engine_that_does_not_answer_loses_nothing() {
    let world = World::new();
    let mut group = world.submitted(1);
    fs::remove_file(world.path("state")).unwrap();
    assert!(matches!(one(&mut group), Progress::Waiting(why) if why.starts_with("no answer: ")));
    drop(group);
    let mut group = world.time_passes();
    assert!(matches!(one(&mut group), Progress::Waiting(_)));
    world.says("1 PENDING (Resources)\n");
    assert_eq!(
        one(&mut group),
        Progress::Known("pending (resources)".to_owned(), None)
    );
    assert_eq!(world.lines("submitted").len(), 1);
}

#[test]
fn an_engine_that_refuses_a_job_that_was_lost_is_asked_again_for_a_while() {
    let world = World::new();
    let group = world.submitted(1);
    fs::write(world.path("refuses"), "").unwrap();
    let (mut group, progress) = lost(&world, group);
    assert!(matches!(progress, Progress::Waiting(_)));
    assert!(matches!(one(&mut group), Progress::Waiting(_)));
    fs::remove_file(world.path("refuses")).unwrap();
    assert!(is_again(&one(&mut group)));
    // If the engine accepted a job although it reported a refusal, that job has an older token.
    assert!(world.step(0, 2).is_none());
    assert!(world.step(0, 4).is_some());

    fs::write(world.path("refuses"), "").unwrap();
    let (group, progress) = lost(&world, group);
    assert!(matches!(progress, Progress::Waiting(_)));
    drop(group);
    assert!(matches!(
        one(&mut world.time_passes()),
        Progress::GivenUp(_)
    ));
}

#[test]
fn an_engine_that_refuses_at_once_is_an_error() {
    let world = World::new();
    fs::write(world.path("refuses"), "").unwrap();
    let asked = {
        fs::create_dir_all(world.path("other")).unwrap();
        let other = World::new();
        other.submitted(1).asked.clone()
    };
    let asked = Asked {
        engine: world.engine(),
        ..asked
    };
    let error = Group::submit(&world.group(), asked).unwrap_err();
    assert!(matches!(error, Error::Engine { .. }), "{error}");
    assert!(groups(&world.path("jobs")).unwrap().is_empty());
}

#[test]
fn a_job_that_was_cancelled_gives_no_result_and_the_others_go_on() {
    let world = World::new();
    let mut group = world.submitted(3);
    assert_eq!(world.lines("submitted").len(), 1, "one array");
    assert!(world.lines("submitted")[0].contains("--array=0-2"));
    assert_eq!(group.id(2), Some("1_2"));
    let begun = world.step(1, 1).unwrap();
    group.cancel(|_, id| id == Some("1_1")).unwrap();
    assert_eq!(world.lines("cancelled"), ["1_1"]);
    begun.end(Ok(0)).unwrap();
    world.step(2, 1).unwrap().end(Ok(0)).unwrap();
    world.says("1_0 PENDING\n");
    let all = group.look().unwrap();
    assert_eq!(all[0], Progress::Known("pending".to_owned(), None));
    assert_eq!(all[1], Progress::Cancelled);
    assert!(matches!(all[2], Progress::Ended(_)));
}

#[test]
fn a_job_that_the_engine_could_not_end_is_ended_again() {
    let world = World::new();
    let mut group = world.submitted(1);
    fs::create_dir(world.path("cancelled")).unwrap();
    assert!(group.cancel(|_, id| id == Some("1")).is_err());
    assert_eq!(one(&mut group), Progress::Cancelled);
    fs::remove_dir(world.path("cancelled")).unwrap();
    group.cancel(|_, id| id == Some("1")).unwrap();
    assert_eq!(world.lines("cancelled"), ["1"]);
}

#[test]
fn what_others_put_there_is_not_read_for_it_names_commands() {
    let world = World::new();
    drop(world.submitted(1));
    let all = world.path("jobs");
    assert_eq!(groups(&all).unwrap().len(), 1);
    let copy = |from: &str, to: &str| fs::copy(world.group().join(from), all.join(to)).unwrap();
    // A folder as it would come with a clone.
    fs::create_dir(all.join("clone")).unwrap();
    copy("state.json", "clone/state.json");
    copy("asked.json", "clone/asked.json");
    let names: Vec<_> = groups(&all).unwrap().into_iter().map(|one| one.0).collect();
    assert_eq!(names, ["group"]);
}

#[test]
fn a_job_that_left_nothing_names_the_folder() {
    let world = World::new();
    let group = world.submitted(3);
    let (_, progress) = lost(&world, group);
    let folder = world.group().display().to_string();
    assert!(
        matches!(&progress, Progress::Waiting(why) if why.contains(&folder)),
        "{progress:?}"
    );
}

#[test]
fn two_processes_do_not_follow_the_same_jobs() {
    let world = World::new();
    let group = world.submitted(1);
    assert!(Group::open(&world.group()).unwrap().is_none());
    let all = groups(&world.path("jobs")).unwrap();
    assert!(matches!(&all[..], [(name, None)] if name == "group"));
    drop(group);
    drop(world.opened());
    assert!(groups(Path::new("/no/such/folder")).unwrap().is_empty());
}
