//! Is this machine quiet enough to measure on? Reads only; changes nothing.

mod kernel;
mod load;
mod place;
mod processor;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::affinity::{self, Pinned};
use crate::probes::core_shared;
use crate::probes::noise::{self, Gaps};

/// What one check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Ok,
    /// The system does not tell: never taken for `ok`.
    Unknown,
    /// Results may be wider or differ from those elsewhere.
    Warning,
    /// Results would be wrong or worthless.
    Bad,
}

impl State {
    /// The word that is printed.
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Unknown => "unknown",
            State::Warning => "warning",
            State::Bad => "bad",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckItem {
    /// Stable name, such as `governor`.
    pub id: String,
    /// How it stands.
    pub state: State,
    /// What was found, in a few words.
    pub found: String,
    /// What it does to results; absent if nothing.
    pub effect: Option<String>,
    /// The command that mends it, or what to do; absent if there is nothing to mend.
    pub remedy: Option<String>,
}

impl CheckItem {
    fn new(id: &str, state: State, found: impl Into<String>) -> CheckItem {
        CheckItem {
            id: id.to_owned(),
            state,
            found: found.into(),
            effect: None,
            remedy: None,
        }
    }

    fn unknown(id: &str) -> CheckItem {
        CheckItem::new(id, State::Unknown, "the system does not tell")
    }

    fn because(mut self, effect: &str) -> CheckItem {
        self.effect = Some(effect.to_owned());
        self
    }

    fn mend(mut self, remedy: impl Into<String>) -> CheckItem {
        self.remedy = Some(remedy.into());
        self
    }
}

/// What the machine is fit for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fitness {
    /// Less than 1 % of a core is lost and nothing is bad.
    Quiet,
    /// Short chunks and low quantiles give right figures; medians of wall time are wide.
    Usable,
    /// A tenth of a core or more is lost, or something is bad: wall times are worthless.
    Unfit,
}

/// The smallest difference that can be told here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// Gaps of a core that only spins.
    pub gaps: Gaps,
    /// Smallest relative difference that `bench` would tell, from runs of one program against
    /// itself (0.01 = 1 %); absent if no such runs were offered, or none would be told.
    pub smallest_difference: Option<f64>,
    /// What `smallest_difference` rests on; absent if no such runs were offered or made.
    #[serde(default)]
    pub told_by: Option<ToldBy>,
}

/// The runs of one program against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToldBy {
    /// Rounds of two runs.
    pub rounds: usize,
    /// The clock by which `bench` would judge here: `undisturbed` or `wall`.
    pub clock: String,
    /// Median time of a run on that clock, in seconds. Of longer programs smaller differences can be told.
    pub program_seconds: f64,
}

/// All checks with the noise floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The checks, in a fixed order.
    pub items: Vec<CheckItem>,
    /// What is lost on a spinning core.
    pub noise: NoiseFloor,
    /// The sum of it.
    pub fitness: Fitness,
}

/// Runs a program of some milliseconds against itself and returns the smallest relative
/// difference that can be told, if any, and what that rests on; or `None` if it could not run.
pub type AgainstItself<'a> = &'a mut dyn FnMut() -> Option<(Option<f64>, ToldBy)>;

/// From this share of a spinning core on, lost to others, medians are wide.
pub(crate) const BUSY_FROM: f64 = 0.01;

/// Where the files of the system are read.
#[derive(Debug, Clone)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    pub(crate) fn at(root: impl Into<PathBuf>) -> System {
        System { root: root.into() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The file's text without the last newline; `None` if it can't be read.
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path))
            .ok()
            .map(|text| text.trim_end().to_owned())
    }

    fn number(&self, path: &str) -> Option<i64> {
        self.read(path)?.trim().parse().ok()
    }

    /// Names in a directory, sorted; empty if there is none.
    fn names(&self, path: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

/// Checks the machine; spins for `time` (1 s is right) on the quietest CPU meanwhile, then runs
/// `against_itself` if there is one. `directory` is where results and scratch files would lie.
pub fn check(
    time: Duration,
    directory: &Path,
    against_itself: Option<AgainstItself<'_>>,
) -> CheckReport {
    let system = System::at("/");
    let cpus = affinity::allowed_cpus();
    let before = load::Snapshot::take(&system);
    let (gaps, shared) = {
        let cpu = affinity::quietest(&cpus);
        let _pinned = cpu.map(Pinned::to);
        let gaps = noise::spin(time, cpu.unwrap_or(0));
        (gaps, core_shared::spin(time / 4).map(|shared| shared.part))
    };
    let after = load::Snapshot::take(&system);
    let mut items = processor::items(&system);
    items.push(processor::shared_core(shared));
    items.extend(kernel::items(&system));
    items.extend(place::items(&system, &cpus, directory));
    items.extend(load::items(&system, &before, &after, cpus.len()));
    let (smallest_difference, told_by) = against_itself.and_then(|run| run()).unzip();
    let floor = NoiseFloor {
        gaps,
        smallest_difference: smallest_difference.flatten(),
        told_by,
    };
    let fitness = fitness(&items, floor.gaps.lost);
    CheckReport {
        items,
        noise: floor,
        fitness,
    }
}

/// Items that come and go while one waits.
const PASSING: [&str; 5] = [
    "other_programs",
    "steal",
    "swapping",
    "thermal_throttling",
    "quota_halts",
];

/// What disturbs just now and may pass: a bad item of those that come and go, else a lost share of
/// the spinning core of 1 % and more. `None` if the machine is quiet. Settings and the load average, which
/// lags behind by a minute, do not count.
pub fn disturbance(report: &CheckReport) -> Option<String> {
    let passing = |item: &&CheckItem| PASSING.contains(&item.id.as_str());
    let bad = report.items.iter().filter(passing);
    if let Some(item) = bad.clone().find(|item| item.state == State::Bad) {
        return Some(format!("{}: {}", item.id.replace('_', " "), item.found));
    }
    (report.noise.gaps.lost >= BUSY_FROM).then(|| {
        format!(
            "{:.1} % of a spinning core went to others",
            report.noise.gaps.lost * 100.0
        )
    })
}

fn fitness(items: &[CheckItem], lost: f64) -> Fitness {
    let bad = items.iter().any(|item| item.state == State::Bad);
    match lost {
        _ if bad => Fitness::Unfit,
        lost if lost >= 0.1 => Fitness::Unfit,
        lost if lost >= BUSY_FROM => Fitness::Usable,
        _ => Fitness::Quiet,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A system whose files are `files`.
    pub(crate) fn system(files: &[(&str, &str)]) -> (tempfile::TempDir, System) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let system = System::at(root.path());
        (root, system)
    }

    /// The item with this id.
    pub(crate) fn item(items: &[CheckItem], id: &str) -> CheckItem {
        items
            .iter()
            .find(|item| item.id == id)
            .unwrap_or_else(|| panic!("no {id}"))
            .clone()
    }

    #[test]
    fn something_bad_or_a_tenth_lost_is_unfit() {
        let bad = CheckItem::new("x", State::Bad, "y");
        let warning = CheckItem::new("x", State::Warning, "y");
        assert_eq!(fitness(&[bad], 0.0), Fitness::Unfit);
        assert_eq!(
            fitness(std::slice::from_ref(&warning), 0.001),
            Fitness::Quiet
        );
        assert_eq!(
            fitness(std::slice::from_ref(&warning), 0.05),
            Fitness::Usable
        );
        assert_eq!(fitness(&[], 0.5), Fitness::Unfit);
    }

    #[test]
    fn only_what_may_pass_is_waited_for() {
        let report = |item: CheckItem, lost: f64| CheckReport {
            items: vec![item],
            noise: NoiseFloor {
                gaps: Gaps {
                    lost,
                    ..Gaps::default()
                },
                smallest_difference: None,
                told_by: None,
            },
            fitness: Fitness::Usable,
        };
        let battery = CheckItem::new("battery", State::Bad, "on battery");
        assert_eq!(disturbance(&report(battery.clone(), 0.001)), None);
        let lost = disturbance(&report(battery, 0.02)).unwrap();
        assert!(lost.starts_with("2.0 %"), "{lost}");
        let others = CheckItem::new("other_programs", State::Bad, "cc 80 %");
        let named = disturbance(&report(others, 0.0)).unwrap();
        assert_eq!(named, "other programs: cc 80 %");
    }

    #[test]
    fn what_an_empty_system_does_not_tell_is_never_ok() {
        let (_root, system) = system(&[]);
        let mut items = processor::items(&system);
        items.extend(kernel::items(&system));
        assert!(items.len() >= 12, "{}", items.len());
        for item in items {
            assert_ne!(item.state, State::Ok, "{}", item.id);
        }
    }

    #[test]
    fn a_report_is_complete_and_survives_its_json() {
        let told_by = ToldBy {
            rounds: 50,
            clock: "wall".into(),
            program_seconds: 0.005,
        };
        let mut told = || Some((Some(0.02), told_by.clone()));
        let here = std::env::temp_dir();
        let report = check(Duration::from_millis(2), &here, Some(&mut told));
        assert_eq!(report.noise.smallest_difference, Some(0.02));
        assert_eq!(report.noise.told_by, Some(told_by.clone()));
        let mut ids: Vec<_> = report.items.iter().map(|item| item.id.clone()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), report.items.len(), "ids are unique");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            serde_json::from_str::<CheckReport>(&text).unwrap().items,
            report.items
        );
    }
}
