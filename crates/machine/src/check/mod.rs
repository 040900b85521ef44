//! Checks whether this machine is quiet enough to measure on. Reads only; changes nothing.

mod figures;
mod kernel;
mod load;
mod place;
mod processor;

use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_model::quantity::Ratio;
use fathom_model::{CheckItem, CheckReport, CheckState, Fitness, Gaps, NoiseFloor, SelfComparison};

pub use figures::as_remembered;

use crate::affinity::{self, Pinned};
use crate::probes::core_shared;
use crate::probes::noise;

/// Runs a program of a few milliseconds against itself and returns the smallest relative difference that can
/// be detected, if any, and its basis; or `None` if it could not run.
pub type AgainstItself<'a> = &'a mut dyn FnMut() -> Option<(Option<f64>, SelfComparison)>;

/// The finding about limits if this program has no control group.
const NO_GROUP: &str = "the control group of this program is not visible";

fn unknown(id: &str) -> CheckItem {
    CheckItem::new(id, CheckState::Unknown, "the system does not report it")
}

/// The root of the system files to read.
#[derive(Debug, Clone)]
pub(crate) struct System {
    root: PathBuf,
}

impl System {
    pub(crate) fn at(root: impl Into<PathBuf>) -> System {
        System { root: root.into() }
    }

    /// Returns the folder that contains all its files.
    fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the file's text without the last newline; `None` if it can't be read.
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path))
            .ok()
            .map(|text| text.trim_end().to_owned())
    }

    fn number(&self, path: &str) -> Option<i64> {
        self.read(path)?.trim().parse().ok()
    }

    /// Returns the names in a directory, sorted; empty if it doesn't exist.
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

/// Checks the machine; spins for `time` (1 s is appropriate) on the quietest CPU during the check, then runs
/// `against_itself` if given. `directory` is the place for results and scratch files.
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
        (gaps, core_shared::spin(time / 4).part)
    };
    let after = load::Snapshot::take(&system);
    let mut items = settings(&system, shared);
    items.extend(place::items(&system, &cpus, directory));
    items.extend(load::items(&system, &before, &after, cpus.len()));
    let (smallest_difference, against_itself) = against_itself.and_then(|run| run()).unzip();
    let floor = NoiseFloor {
        gaps,
        smallest_difference: smallest_difference.flatten(),
        against_itself,
    };
    let fitness = fitness(&items, floor.gaps.lost);
    CheckReport {
        items,
        noise: floor,
        fitness,
    }
}

/// Returns the checks of processor and kernel; `shared` is the fraction of the time in which the core was
/// shared.
fn settings(system: &System, shared: f64) -> Vec<CheckItem> {
    let mut items = processor::items(system);
    items.push(processor::shared_core(shared));
    items.extend(kernel::items(system));
    items
}

/// Items whose state may pass within seconds.
const PASSING: [&str; 5] = [
    "other_programs",
    "steal",
    "swapping",
    "thermal_throttling",
    "quota_halts",
];

/// Returns the current disturbance that may pass: a bad item whose state may pass within seconds, or a loss
/// of 1 % or more of the spinning core's time. `None` if the machine is quiet. Settings and the load average,
/// which lags behind by a minute, don't count.
pub fn disturbance(report: &CheckReport) -> Option<String> {
    let passing = |item: &&CheckItem| PASSING.contains(&item.id.as_str());
    let bad = report.items.iter().filter(passing);
    if let Some(item) = bad.clone().find(|item| item.state == CheckState::Bad) {
        return Some(format!("{}: {}", item.id.replace('_', " "), item.found));
    }
    (report.noise.gaps.lost >= Gaps::BUSY_FROM).then(|| {
        format!(
            "other programs took {:.1} % of a spinning core's time",
            report.noise.gaps.lost.percent()
        )
    })
}

/// If at least this share of a spinning core's time is lost to others, wall times are worthless.
const UNFIT_FROM: Ratio = Ratio(0.1);

fn fitness(items: &[CheckItem], lost: Ratio) -> Fitness {
    let bad = items.iter().any(|item| item.state == CheckState::Bad);
    match lost {
        _ if bad => Fitness::Unfit,
        lost if lost >= UNFIT_FROM => Fitness::Unfit,
        lost if lost >= Gaps::BUSY_FROM => Fitness::Usable,
        _ => Fitness::Quiet,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a system with these `files`.
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

    /// Returns all items read from `system`.
    pub(crate) fn read(system: &System, directory: &Path) -> Vec<CheckItem> {
        let cpus = [0, 1];
        let snapshot = load::Snapshot::take(system);
        let mut items = settings(system, 0.0);
        items.extend(place::items(system, &cpus, directory));
        items.extend(load::items(system, &snapshot, &snapshot, cpus.len()));
        items
    }

    /// Returns the item with this id.
    pub(crate) fn item(items: &[CheckItem], id: &str) -> CheckItem {
        items
            .iter()
            .find(|item| item.id == id)
            .unwrap_or_else(|| panic!("no {id}"))
            .clone()
    }

    #[test]
    fn something_bad_or_a_tenth_lost_is_unfit() {
        let bad = CheckItem::new("x", CheckState::Bad, "y");
        let warning = CheckItem::new("x", CheckState::Warning, "y");
        assert_eq!(fitness(&[bad], Ratio(0.0)), Fitness::Unfit);
        assert_eq!(
            fitness(std::slice::from_ref(&warning), Ratio(0.001)),
            Fitness::Quiet
        );
        assert_eq!(
            fitness(std::slice::from_ref(&warning), Ratio(0.05)),
            Fitness::Usable
        );
        assert_eq!(fitness(&[], Ratio(0.5)), Fitness::Unfit);
    }

    #[test]
    fn only_what_may_pass_is_waited_for() {
        let report = |item: CheckItem, lost: f64| CheckReport {
            items: vec![item],
            noise: NoiseFloor {
                gaps: Gaps {
                    lost: Ratio(lost),
                    ..Gaps::default()
                },
                smallest_difference: None,
                against_itself: None,
            },
            fitness: Fitness::Usable,
        };
        let battery = CheckItem::new("battery", CheckState::Bad, "on battery");
        assert_eq!(disturbance(&report(battery.clone(), 0.001)), None);
        let lost = disturbance(&report(battery, 0.02)).unwrap();
        assert!(
            lost.ends_with("took 2.0 % of a spinning core's time"),
            "{lost}"
        );
        let others = CheckItem::new("other_programs", CheckState::Bad, "cc 80 %");
        let named = disturbance(&report(others, 0.0)).unwrap();
        assert_eq!(named, "other programs: cc 80 %");
    }

    #[test]
    fn what_an_empty_system_does_not_say_is_never_ok() {
        let (_root, system) = system(&[]);
        let mut items = processor::items(&system);
        items.extend(kernel::items(&system));
        assert!(items.len() >= 12, "{}", items.len());
        for item in items {
            assert_ne!(item.state, CheckState::Ok, "{}", item.id);
        }
    }

    #[test]
    fn a_report_is_complete_and_survives_its_json() {
        let runs = SelfComparison {
            rounds: 50,
            clock: "wall".into(),
            program_seconds: 0.005,
        };
        let mut against_itself = || Some((Some(0.02), runs.clone()));
        let here = std::env::temp_dir();
        let report = check(Duration::from_millis(2), &here, Some(&mut against_itself));
        assert_eq!(report.noise.smallest_difference, Some(0.02));
        assert_eq!(report.noise.against_itself, Some(runs.clone()));
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
