//! Compares the suite of a project in two trees, as far as they have benchmarks in common.

use std::fs::File;
use std::path::{Path, PathBuf};

use fathom_conduct::Target;
use fathom_conduct::gate::{Budget, GateTarget, MARGIN, asked};
use fathom_measure::IgnoreFailure;
use fathom_model::LeftOut;

use crate::file::experiment::{Experiment, GateSettings, How, Measure, MetricOf};
use crate::plan;
use crate::prepare::{Prepared, Preparer, StepKind};
use crate::resolve::{self, Scope};
use crate::run::verb;
use crate::select::Selection;
use crate::session::{folders, ready};

/// A source tree whose suite is measured.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The tree's `fathom.toml`.
    pub file: PathBuf,
    /// The folder for the tree's builds and inputs.
    pub work: PathBuf,
    /// Whether earlier builds can be reused, which is possible if the tree never changes.
    pub keep_builds: bool,
}

/// Why a suite can't be measured.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file, the selection or a folder is invalid.
    #[error("{0}")]
    Usage(String),
    /// The user interrupted it.
    #[error("interrupted while the suite was built")]
    Interrupted,
}

/// The benchmarks of a tree.
#[derive(Debug)]
pub struct Suite {
    /// The settings of its `[gate]`.
    pub settings: GateSettings,
    /// For each benchmark name, the command, or the reason why there isn't one.
    pub targets: Vec<(String, Result<Target, String>)>,
    /// For each benchmark name, the metrics that its measure selects, if it selects any.
    pub metrics: Vec<(String, Vec<MetricOf>)>,
    /// The failures that are ignored.
    pub ignore_failure: IgnoreFailure,
    /// The number of warm-up rounds, which is the largest number that any measure requests.
    pub warmup: u32,
    /// Time limit of a run.
    pub timeout: Option<std::time::Duration>,
    _lock: File,
}

impl Suite {
    fn target(&self, name: &str) -> Option<&Result<Target, String>> {
        let found = self.targets.iter().find(|(known, _)| known == name);
        found.map(|(_, target)| target)
    }

    /// Returns the judged metrics of a benchmark: those in `asked`, or else those of `[gate]`, or else those
    /// of its measure.
    fn judged<'s>(&'s self, name: &str, asked: &'s [MetricOf]) -> &'s [MetricOf] {
        let of_measure = self.metrics.iter().find(|(known, _)| known == name);
        let of_measure = of_measure.map_or(&[][..], |(_, metrics)| metrics);
        let all = [asked, &self.settings.metrics, of_measure];
        let first = all.into_iter().find(|metrics| !metrics.is_empty());
        first.unwrap_or_default()
    }
}

/// Returns the names of a suite's benchmarks, without building anything.
///
/// # Errors
/// [`SuiteError::Usage`].
pub fn benchmarks(file: &Path) -> Result<Vec<String>, SuiteError> {
    let experiment = crate::read(file).map_err(|error| SuiteError::Usage(error.to_string()))?;
    let work = file.with_file_name(".fathom").join("gate");
    let folders = folders(&experiment, &work);
    let folders = folders.map_err(|error| SuiteError::Usage(error.to_string()))?;
    let scope = Scope {
        experiment: &experiment,
        folders: &folders,
        quick: false,
    };
    let selection = Selection::of(&experiment, &[]).map_err(SuiteError::Usage)?;
    let all = targets(&scope, &selection)?;
    Ok(all.iter().map(|(_, target)| target.label()).collect())
}

/// Returns the selected benchmarks, each once, with its measure.
fn targets<'e>(
    scope: &Scope<'e>,
    selection: &Selection,
) -> Result<Vec<(&'e Measure, resolve::Target)>, SuiteError> {
    let wanted = |name: &str| selection.subjects.contains(name);
    let mut all: Vec<(&Measure, resolve::Target)> = Vec::new();
    for measure in &scope.experiment.measures {
        if measure.how != How::Bench || !selection.measures.contains(&measure.id.value) {
            continue;
        }
        for target in scope.targets(measure, &wanted).map_err(SuiteError::Usage)? {
            if !all.iter().any(|(_, known)| known.label() == target.label()) {
                all.push((measure, target));
            }
        }
    }
    Ok(all)
}

/// Reads the file of a tree, builds what its benchmarks need, and finds their programs.
///
/// # Errors
/// [`SuiteError`]; failed builds are not errors, but part of the suite.
pub fn suite(tree: &Tree, observer: &mut dyn FnMut(StepKind, &str)) -> Result<Suite, SuiteError> {
    let usage = |text: String| SuiteError::Usage(text);
    let experiment = crate::read(&tree.file).map_err(|error| usage(error.to_string()))?;
    let folders = folders(&experiment, &tree.work).map_err(|error| usage(error.to_string()))?;
    let lock = ready(&folders, true).map_err(|error| usage(error.to_string()))?;
    let scope = Scope {
        experiment: &experiment,
        folders: &folders,
        quick: false,
    };
    let mut selection = Selection::of(&experiment, &[]).map_err(usage)?;
    let bench: Vec<_> = experiment
        .measures
        .iter()
        .filter(|measure| {
            measure.how == How::Bench && selection.measures.contains(&measure.id.value)
        })
        .collect();
    selection.measures = bench
        .iter()
        .map(|measure| measure.id.value.clone())
        .collect();
    selection.claims.clear();
    let mut preparer = Preparer {
        scope,
        logs: folders.work.join("logs"),
        install: false,
        keep_builds: tree.keep_builds,
        deadline: None,
        prepared: Prepared::default(),
    };
    for (need, combination) in plan::needs_of(&scope, &selection).map_err(usage)? {
        let prepared = preparer.prepare(&need, &combination, observer);
        prepared.map_err(|_| SuiteError::Interrupted)?;
    }
    let mut targets: Vec<(String, Result<Target, String>)> = Vec::new();
    let (mut ignored, mut timeout, mut metrics) = (Vec::new(), None, Vec::new());
    for (measure, target) in self::targets(&scope, &selection)? {
        let name = target.label();
        timeout = timeout.max(target.job.timeout);
        let lack = lack(&scope, &experiment, &preparer.prepared, &target);
        let found = match lack {
            Some(reason) => Err(reason),
            None => verb::find(&target.job).map_err(|error| error.to_string()),
        };
        let named = found.map(|mut found| {
            found.benchmark.name.clone_from(&name);
            found.benchmark.parameters.clone_from(&target.parameters);
            found
        });
        if !measure.metrics.is_empty() {
            metrics.push((name.clone(), measure.metrics.clone()));
        }
        targets.push((name, named));
        ignored.push(target);
    }
    Ok(Suite {
        settings: experiment.gate.clone(),
        targets,
        metrics,
        ignore_failure: verb::ignored(&ignored),
        warmup: bench
            .iter()
            .map(|measure| verb::count(measure.warmup))
            .max()
            .unwrap_or(1),
        timeout,
        _lock: lock,
    })
}

fn lack(
    scope: &Scope<'_>,
    experiment: &Experiment,
    prepared: &Prepared,
    target: &crate::resolve::Target,
) -> Option<String> {
    let subject = experiment
        .subjects
        .iter()
        .find(|subject| subject.name.value == target.subject)?;
    let needs = scope.needs(subject, &target.parameters);
    prepared
        .lack(scope, &needs, &target.parameters)
        .map(|lack| lack.reason.clone())
}

/// Returns the benchmarks that both trees have, with the settings of base, and those that are skipped.
pub fn pairs(
    base: &Suite,
    twin: &Suite,
    head: &Suite,
    margin: Option<f64>,
    metrics: &[MetricOf],
) -> (Vec<GateTarget>, Vec<LeftOut>) {
    let settings = &base.settings;
    let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
    let mut leave = |name: &str, reason: String| {
        left_out.push(LeftOut {
            name: name.to_owned(),
            reason,
        });
    };
    for (name, at_head) in &head.targets {
        match (base.target(name), twin.target(name), at_head) {
            (None, ..) | (_, None, _) => leave(name, "base doesn't have it yet".to_owned()),
            (Some(Err(reason)), ..) | (_, Some(Err(reason)), _) => {
                leave(name, format!("at base, {reason}"));
            }
            (.., Err(reason)) => leave(name, format!("at head, {reason}")),
            (Some(Ok(at_base)), Some(Ok(twin)), Ok(at_head)) => {
                let judged = base.judged(name, metrics);
                let (judged, usual) = asked(judged, margin_of(settings, name, margin));
                let own = settings.budgets.iter().filter(|(of, _)| of == name);
                let mut budgets: Vec<Budget> = own.map(|(_, budget)| budget.clone()).collect();
                for budget in usual {
                    // The benchmark's own budget takes precedence.
                    if !budgets.iter().any(|own| own.metric == budget.metric) {
                        budgets.push(budget);
                    }
                }
                pairs.push(GateTarget {
                    name: name.clone(),
                    base: at_base.clone(),
                    twin: twin.clone(),
                    head: at_head.clone(),
                    judged,
                    budgets,
                });
            }
        }
    }
    for (name, _) in &base.targets {
        if !head.targets.iter().any(|(known, _)| known == name) {
            leave(name, "head no longer has it".to_owned());
        }
    }
    (pairs, left_out)
}

/// Returns the margin of a benchmark: the requested one, or else its own, the suite's, or the default.
fn margin_of(settings: &GateSettings, name: &str, asked: Option<f64>) -> f64 {
    let own = settings
        .margins
        .iter()
        .find(|(of, _)| of == name)
        .map(|(_, margin)| *margin);
    asked.or(own).or(settings.margin).unwrap_or(MARGIN)
}

/// Describes in sentences what head changes in the settings, although base's settings apply.
pub fn settings_changed(base: &GateSettings, head: &GateSettings) -> Vec<String> {
    let mut changed = Vec::new();
    let percent = |share: &f64| {
        format!("{:.4}", 100.0 * share)
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
            + "%"
    };
    let mut differs = |what: String, base: Option<String>, head: Option<String>| {
        if base != head {
            let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
            changed.push(format!(
                "{what}: {} at base, {} at head",
                shown(base),
                shown(head)
            ));
        }
    };
    differs(
        "margin".to_owned(),
        base.margin.as_ref().map(percent),
        head.margin.as_ref().map(percent),
    );
    let metrics = |settings: &GateSettings| {
        let one = |(metric, margin): &MetricOf| match margin {
            Some(margin) => format!("{}={}", metric.name(), percent(margin)),
            None => metric.name().to_owned(),
        };
        let all: Vec<String> = settings.metrics.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    };
    differs("metrics".to_owned(), metrics(base), metrics(head));
    let word = |passes: bool| if passes { "pass" } else { "fail" }.to_owned();
    differs(
        "undecided".to_owned(),
        base.undecided_passes.map(word),
        head.undecided_passes.map(word),
    );
    let margin = |settings: &GateSettings, name: &str| {
        settings
            .margins
            .iter()
            .find(|(of, _)| of == name)
            .map(|(_, margin)| percent(margin))
    };
    for name in names(
        base.margins
            .iter()
            .chain(&head.margins)
            .map(|(name, _)| name.clone()),
    ) {
        differs(
            format!("margin of {name}"),
            margin(base, &name),
            margin(head, &name),
        );
    }
    let key = |(name, budget): &(String, fathom_conduct::gate::Budget)| {
        format!("{name}.{}", budget.metric)
    };
    let budget = |settings: &GateSettings, wanted: &str| {
        let found = settings.budgets.iter().find(|budget| key(budget) == wanted);
        found.map(|(_, budget)| budget.text.clone())
    };
    for name in names(base.budgets.iter().chain(&head.budgets).map(key)) {
        differs(
            format!("budget of {name}"),
            budget(base, &name),
            budget(head, &name),
        );
    }
    let waiver = |waiver: &fathom_model::Waiver| format!("{} {}", waiver.benchmark, waiver.metric);
    let until = |settings: &GateSettings, wanted: &str| {
        let found = settings.waivers.iter().find(|one| waiver(one) == wanted);
        found.map(|waiver| match &waiver.at_most {
            Some(share) => format!("until {}, at most {}", waiver.until, percent(share)),
            None => format!("until {}", waiver.until),
        })
    };
    for name in names(base.waivers.iter().chain(&head.waivers).map(waiver)) {
        differs(
            format!("waiver of {name}"),
            until(base, &name),
            until(head, &name),
        );
    }
    changed
}

/// Returns each name once, in order.
fn names(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the project's file: `fathom.toml` in this folder or in one above, up to `root`.
pub fn project_file(here: &Path, root: &Path) -> Option<PathBuf> {
    here.ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(|folder| folder.join("fathom.toml"))
        .find(|file| file.is_file())
}

/// Returns the first of these names that isn't a benchmark of the suite.
pub fn unknown<'n>(suite: &Suite, names: &'n [String]) -> Option<&'n String> {
    names
        .iter()
        .find(|name| !suite.targets.iter().any(|(known, _)| known == *name))
}
