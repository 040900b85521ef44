//! Splits one observed run into parts that two commands can have in common.

use std::collections::BTreeMap;

use fathom_model::{CodePlace, DifferenceBy, Run, TimeAccount, TimeCategory};
use fathom_trace::Tier;

use crate::analysis::{Analysis, OnPath};
use crate::file_name::file_name;
use crate::observation::Observation;
use crate::whereabouts::{is_system_library, own_code_sites};

/// The owner of the time: the command's own process, or all children that run the same program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    Command,
    Child(String),
}

/// The call or function in which time was spent, if known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct What {
    pub by: DifferenceBy,
    pub name: String,
    /// The file of a function.
    pub file: Option<String>,
    /// The nearest own function that called a function.
    pub caller: Option<CodePlace>,
}

/// A key that two runs can have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub who: Who,
    pub spent: TimeCategory,
    pub what: Option<What>,
}

/// The parts of an observed run.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Nanoseconds of an untraced run. They add up to the account.
    pub ns: BTreeMap<Key, f64>,
    /// The files on which time in calls was spent.
    pub files: BTreeMap<(Key, String), f64>,
    /// The number of samples in each function.
    pub samples: BTreeMap<Key, u64>,
    /// The number of children by program.
    pub children: BTreeMap<String, u64>,
    /// The calls of all threads, by the process that made them; `None` if they aren't all counted.
    pub calls: Option<BTreeMap<(Who, String), u64>>,
    pub account: TimeAccount,
}

impl Parts {
    pub(super) fn of(observation: &Observation) -> Parts {
        let timed = middling(&observation.timed);
        let analysis = Analysis::of_runs(observation, &timed);
        let mut parts = Parts::default();
        let root = analysis.trace.processes.first().map(|root| root.pid);
        let who: BTreeMap<u32, Who> = analysis
            .trace
            .processes
            .iter()
            .map(|process| (process.pid, name(&analysis, process.pid, root)))
            .collect();
        for who in who.values() {
            if let Who::Child(program) = who {
                *parts.children.entry(program.clone()).or_default() += 1;
            }
        }
        let of = |pid: u32| who.get(&pid).cloned().unwrap_or(Who::Command);
        if analysis.trace.tier == Some(Tier::Kernel) && analysis.trace.lost.counts_are_whole() {
            let calls = parts.calls.insert(BTreeMap::new());
            for row in &analysis.trace.syscalls {
                let of_name = calls.entry((of(row.pid), row.name.clone()));
                *of_name.or_default() += row.calls + row.unfinished;
            }
        }
        let functions = Functions::of(observation, &analysis, of);
        for part in analysis.on_path() {
            let who = of(part.pid);
            match part.spent {
                TimeCategory::UserCode => functions.divide(&mut parts, who, part.ns),
                _ => parts.add_call(&analysis, who, part),
            }
        }
        parts.samples = functions.samples;
        parts.fit_to(&analysis.account);
        parts.account = analysis.account;
        parts
    }

    fn add(&mut self, key: Key, ns: f64) {
        *self.ns.entry(key).or_default() += ns;
    }

    fn add_call(&mut self, analysis: &Analysis<'_>, who: Who, part: OnPath<'_>) {
        let what = part.call.map(|call| What {
            by: DifferenceBy::Call,
            name: call.to_owned(),
            file: None,
            caller: None,
        });
        let key = Key {
            who,
            spent: part.spent,
            what,
        };
        if let (Some(fd), Some(_)) = (part.fd, &key.what)
            && let Some(file) = analysis.name_of(part.pid, fd)
        {
            *self.files.entry((key.clone(), file)).or_default() += part.ns;
        }
        self.add(key, part.ns);
    }

    /// Scales the parts of each category to the account. If the account has time for which there are no
    /// parts, because the path follows no single thread there, the rest goes to the command itself, without a
    /// named location.
    fn fit_to(&mut self, account: &TimeAccount) {
        for spent in TimeCategory::ALL {
            let whole = account.ns(spent) as f64;
            let own = self.ns.iter_mut().filter(|(key, _)| key.spent == spent);
            let mut own: Vec<&mut f64> = own.map(|(_, ns)| ns).collect();
            let total: f64 = own.iter().map(|ns| **ns).sum();
            let fit = (whole / total.max(1.0)).min(1.0);
            own.iter_mut().for_each(|ns| **ns *= fit);
            let files = self.files.iter_mut();
            let files = files.filter(|((key, _), _)| key.spent == spent);
            files.for_each(|(_, ns)| *ns *= fit);
            let rest = Key {
                who: Who::Command,
                spent,
                what: None,
            };
            let missing = whole - total * fit;
            if missing > 0.0 {
                self.add(rest, missing);
            }
        }
    }
}

/// Returns the middle third of the runs by length, which has the same median. Medians of CPU time, of waits
/// for a CPU and of wall time over all runs come from different runs and so don't add up. For programs of 1
/// to 3 ms on a busy machine, this alone left 2 to 5 % of the time in no part.
fn middling(runs: &[Run]) -> Vec<Run> {
    const FEWEST: usize = 3;
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by_key(|run| run.wall_ns);
    let kept = (runs.len() / 3).max(FEWEST);
    let beside = runs.len().saturating_sub(kept) / 2;
    let middle = &sorted[beside..runs.len() - beside];
    middle.iter().map(|run| (*run).clone()).collect()
}

/// Returns the identity of a process for a comparison; process numbers can't be used because they differ from
/// run to run.
fn name(analysis: &Analysis<'_>, pid: u32, root: Option<u32>) -> Who {
    if Some(pid) == root {
        return Who::Command;
    }
    let program = analysis.program_of(pid).unwrap_or("?");
    let program = file_name(program);
    let is_copy = analysis
        .process(pid)
        .is_none_or(|process| process.execs.is_empty());
    Who::Child(match is_copy {
        true => format!("{program} (forked)"),
        false => program.to_owned(),
    })
}

/// Makes a place independent of its folder, because two revisions have different folders. This applies to
/// functions of the program itself, of a script, and of libraries that aren't the system's.
fn anywhere(analysis: &Analysis<'_>, pid: u32, place: CodePlace) -> CodePlace {
    let is_own = place.binary.as_deref() == analysis.program_of(pid);
    let file = |path: String| match is_system_library(&path) {
        true => path,
        false => file_name(&path).to_owned(),
    };
    CodePlace {
        binary: match place.function {
            Some(_) => place.binary.filter(|_| !is_own).map(file),
            None => place.binary,
        },
        ..place
    }
}

/// The label of code without symbols, grouped by file.
const NO_NAME: &str = "code without a name";

/// The breakdown of own code by samples.
struct Functions {
    /// The parts of each process's own code, 0 to 1.
    shares: BTreeMap<Who, Vec<(What, f64)>>,
    samples: BTreeMap<Key, u64>,
}

impl Functions {
    fn of(observation: &Observation, analysis: &Analysis<'_>, of: impl Fn(u32) -> Who) -> Self {
        let mut weights: BTreeMap<Who, BTreeMap<What, f64>> = BTreeMap::new();
        let mut samples: BTreeMap<Key, u64> = BTreeMap::new();
        let mut add = |who: Who, what: What, weight: f64, count: u64| {
            let key = Key {
                who: who.clone(),
                spent: TimeCategory::UserCode,
                what: Some(what.clone()),
            };
            *samples.entry(key).or_default() += count;
            let of_who = weights.entry(who).or_default();
            *of_who.entry(what).or_default() += weight * count as f64;
        };
        let sites = own_code_sites(analysis);
        for (row, place, caller) in &sites {
            let place = anywhere(analysis, row.pid, place.clone());
            let what = What {
                by: DifferenceBy::Function,
                name: place.function.unwrap_or_else(|| match place.after {
                    Some(after) => format!("code after {after}"),
                    None => NO_NAME.to_owned(),
                }),
                file: place.binary,
                caller: caller
                    .clone()
                    .map(|caller| anywhere(analysis, row.pid, caller)),
            };
            add(of(row.pid), what, analysis.weight(row.tid), row.samples);
        }
        // The threads of another run are unknown here, so its samples are attributed to the command itself.
        let more = observation.more_samples.as_ref();
        let profile = more.or(observation.trace.profile.as_ref());
        let profile = profile.filter(|_| sites.is_empty());
        for row in profile.iter().flat_map(|profile| &profile.functions) {
            let (who, weight) = match more {
                Some(_) => (Who::Command, 1.0),
                None => (of(row.pid), analysis.weight(row.tid)),
            };
            let name = row.function.clone();
            let what = What {
                by: DifferenceBy::Function,
                name: name.unwrap_or_else(|| NO_NAME.to_owned()),
                file: Some(row.file.clone()),
                caller: None,
            };
            add(who, what, weight, row.samples);
        }
        let shares = weights.into_iter().map(|(who, functions)| {
            let all: f64 = functions.values().sum();
            let share = |(what, weight): (What, f64)| (what, weight / all.max(f64::MIN_POSITIVE));
            (who, functions.into_iter().map(share).collect())
        });
        Functions {
            shares: shares.collect(),
            samples,
        }
    }

    fn divide(&self, parts: &mut Parts, who: Who, ns: f64) {
        let key = |what: Option<What>| Key {
            who: who.clone(),
            spent: TimeCategory::UserCode,
            what,
        };
        match self.shares.get(&who) {
            Some(shares) => shares
                .iter()
                .for_each(|(what, share)| parts.add(key(Some(what.clone())), ns * share)),
            None => parts.add(key(None), ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_third_has_the_median_of_all() {
        let run = |ms: u64| crate::fake::run(ms * 1_000_000, 0);
        let median = |runs: &[Run]| {
            let walls: Vec<f64> = runs.iter().map(|run| run.wall_ns as f64).collect();
            fathom_stats::median_interval(&walls, 0.5).map(|median| median.value)
        };
        for count in 0..40u64 {
            let runs: Vec<Run> = (0..count).map(|at| run(at * 7 % 41)).collect();
            let middle = middling(&runs);
            assert_eq!(median(&middle), median(&runs), "{count}");
            assert!(middle.len() >= runs.len().min(3) && middle.len() <= 4.max(runs.len() / 3 + 1));
        }
    }
}
