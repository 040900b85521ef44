//! Lists every command that would be run, in order, without running anything.

mod by_hand;

use std::collections::BTreeSet;

use fathom_conduct::redaction;
use fathom_model::{Combination, PlanStep};

use crate::file::experiment::{Content, How, Measure};
use crate::prepare::install_jobs;
use crate::resolve::Scope;
use crate::select::Selection;
use crate::session::MOST_TIMES;
use crate::sweep;

/// Returns what is needed and under which parameters, in the order in which it is needed.
pub fn needs_of(
    scope: &Scope<'_>,
    selection: &Selection,
) -> Result<Vec<(String, Combination)>, String> {
    let mut all: Vec<(String, Combination)> = Vec::new();
    let mut add = |needs: BTreeSet<String>, combination: &Combination| {
        for need in needs {
            let one = (need, combination.clone());
            if !all.contains(&one) {
                all.push(one);
            }
        }
    };
    let experiment = scope.experiment;
    for measure in wanted(scope, selection) {
        for combination in scope.combinations() {
            if !sweep::allowed(&measure.only, &combination) {
                continue;
            }
            add(measure_needs(scope, measure), &combination);
            if !measure.how.has_subjects() {
                continue;
            }
            for name in crate::check::measured_subjects(experiment, measure) {
                let subject = experiment.subjects.iter().find(|s| s.name.value == name);
                let Some(subject) = subject.filter(|s| selection.subjects.contains(&s.name.value))
                else {
                    continue;
                };
                if sweep::allowed(&subject.only, &combination) {
                    add(scope.needs(subject, &combination), &combination);
                }
            }
        }
    }
    for claim in &experiment.claims {
        if selection.claims.contains(&claim.id.value) {
            let needs = claim.needs.iter().map(|need| need.value.clone()).collect();
            add(
                needs,
                &scope.combinations().into_iter().next().unwrap_or_default(),
            );
        }
    }
    Ok(all)
}

/// Returns what a measure itself needs for the stages of a pipeline, for files and for counts.
pub fn measure_needs(scope: &Scope<'_>, measure: &Measure) -> BTreeSet<String> {
    let stages = measure.stages.iter().map(|stage| stage.value.as_str());
    let files = measure.files.iter().map(|(_, path)| path.value.as_str());
    let commands = measure
        .counts
        .iter()
        .map(|count| count.command.value.as_str());
    let mut needs = scope.mentioned(stages.chain(files).chain(commands));
    needs.extend(
        measure
            .counts
            .iter()
            .flat_map(|count| count.needs.iter().map(|need| need.value.clone())),
    );
    needs.extend(measure.needs.iter().map(|need| need.value.clone()));
    if matches!(measure.how, How::Pipe | How::Static) && measure.needs.is_empty() {
        // Files in the work folder were built, but their path doesn't show by which build.
        let texts = (measure.stages.iter())
            .chain(measure.files.iter().map(|(_, path)| path))
            .chain(measure.counts.iter().map(|count| &count.command));
        if texts.into_iter().any(|text| text.value.contains("{work}")) {
            needs.extend(scope.experiment.builds.iter().map(|b| b.name.value.clone()));
        }
    }
    needs
}

fn wanted<'e>(scope: &Scope<'e>, selection: &Selection) -> Vec<&'e Measure> {
    let quick = scope.quick;
    (scope.experiment.measures.iter())
        .filter(|measure| selection.measures.contains(&measure.id.value))
        .filter(|measure| !quick || measure.quick)
        .collect()
}

/// Returns the number of rounds of a measure in this run.
pub fn rounds(measure: &Measure, quick: bool) -> u64 {
    match quick {
        true => measure.quick_rounds.unwrap_or(measure.rounds.min(10)),
        false => measure.rounds,
    }
}

/// Lists every command.
///
/// # Errors
/// A message; this doesn't happen for a checked file.
pub fn plan(
    scope: &Scope<'_>,
    selection: &Selection,
    install: bool,
) -> Result<Vec<PlanStep>, String> {
    let mut steps = Vec::new();
    let mut done = BTreeSet::new();
    for (need, combination) in needs_of(scope, selection)? {
        preparing(scope, &need, &combination, install, &mut done, &mut steps)?;
    }
    for measure in wanted(scope, selection) {
        steps.push(measuring(scope, selection, measure)?);
    }
    Ok(steps)
}

fn preparing(
    scope: &Scope<'_>,
    need: &str,
    combination: &Combination,
    install: bool,
    done: &mut BTreeSet<(String, Combination)>,
    steps: &mut Vec<PlanStep>,
) -> Result<(), String> {
    let experiment = scope.experiment;
    for tool in experiment.tools.iter().filter(|t| t.name.value == need) {
        if !done.insert((format!("tool {need}"), Vec::new())) {
            continue;
        }
        steps.push(PlanStep {
            title: format!("is {need} there?"),
            commands: vec![scope.check(&tool.check)?.shown()],
        });
        let jobs = install_jobs(scope, tool);
        if !jobs.is_empty() {
            steps.push(PlanStep {
                title: match install {
                    true => format!("if it is missing, install {need}"),
                    false => format!("if it is missing, install {need} (only with --install)"),
                },
                commands: jobs.iter().map(crate::resolve::Job::shown).collect(),
            });
        }
    }
    for build in experiment.builds.iter().filter(|b| b.name.value == need) {
        let part = scope.build_part(build, combination);
        if !done.insert((format!("build {need}"), part.clone())) {
            continue;
        }
        let mut needs: BTreeSet<String> = build.needs.iter().map(|n| n.value.clone()).collect();
        needs.extend(scope.mentioned(sweep::build_texts(build)));
        for inner in needs {
            preparing(scope, &inner, combination, install, done, steps)?;
        }
        steps.push(PlanStep {
            title: titled(&format!("build {need}"), &part),
            commands: vec![scope.build(build, combination)?.shown()],
        });
    }
    for input in experiment.inputs.iter().filter(|i| i.name.value == need) {
        let part = scope.input_part(input, combination);
        if !done.insert((format!("input {need}"), part.clone())) {
            continue;
        }
        for inner in input.needs.iter().map(|n| n.value.clone()) {
            preparing(scope, &inner, combination, install, done, steps)?;
        }
        let path = scope.staged(input, combination).display().to_string();
        let command = scope.generator(input, combination)?;
        steps.push(match (&input.content, command) {
            (_, Some(job)) => PlanStep {
                title: titled(&format!("generate input {need}"), &part),
                commands: vec![job.shown()],
            },
            (Content::File(text), None) => PlanStep {
                title: format!("copy {} to {path}", scope.fill(text, combination)?),
                commands: Vec::new(),
            },
            _ => PlanStep {
                title: format!("write input {need} to {path}"),
                commands: Vec::new(),
            },
        });
    }
    Ok(())
}

fn titled(what: &str, part: &Combination) -> String {
    match part.is_empty() {
        true => what.to_string(),
        false => format!("{what} ({})", sweep::label(part)),
    }
}

/// Returns the commands of one measure, and how often each is run.
fn measuring(
    scope: &Scope<'_>,
    selection: &Selection,
    measure: &Measure,
) -> Result<PlanStep, String> {
    let rounds = rounds(measure, scope.quick);
    let targets = match measure.how.has_subjects() {
        true => scope.targets(measure, &|name| selection.subjects.contains(name))?,
        false => Vec::new(),
    };
    let shown = || {
        targets
            .iter()
            .map(|target| target.job.shown())
            .collect::<Vec<_>>()
    };
    let verb = |words: Vec<String>| format!("fathom {}", redaction::line(words));
    let id = &measure.id.value;
    let grown = match measure.grows() && !scope.quick {
        true => format!(", up to {} while a claim is undecided", rounds * MOST_TIMES),
        false => String::new(),
    };
    let title = match measure.how {
        How::Bench => format!("measure {id}: one trial run of each, then {rounds} rounds{grown}"),
        How::Value | How::Startup => format!("measure {id}: {rounds} rounds{grown}"),
        _ => format!("measure {id}"),
    };
    let commands = match measure.how {
        How::Bench => {
            let record = scope.folders.records().join(format!("{id}.json"));
            let mut commands = shown();
            let words = by_hand::bench(&targets, rounds, measure.warmup, &record);
            commands.push(verb(words));
            commands
        }
        How::Value => shown(),
        How::Why => (targets.iter())
            .map(|target| {
                let name = format!("{id}.{}", target.file_part());
                verb(by_hand::why(target, rounds, scope.folders, &name))
            })
            .collect(),
        How::Startup => {
            let words = by_hand::startup(measure, &targets, rounds, scope.folders);
            vec![verb(words)]
        }
        How::Serve => {
            let words = by_hand::serve(measure, &targets, rounds, scope.folders);
            vec![verb(words)]
        }
        How::Pipe => scope
            .pipelines(measure)?
            .iter()
            .map(|(part, stages)| {
                let name = format!("{id}{}", sweep::file_part(part));
                verb(by_hand::pipe(measure, stages, rounds, scope, &name))
            })
            .collect(),
        How::Machine => vec![verb(by_hand::machine(measure, scope.folders))],
        How::Static => {
            let first = scope.combinations().into_iter().next().unwrap_or_default();
            let mut commands = Vec::new();
            for (_, path) in &measure.files {
                commands.push(format!("(size of) {}", scope.fill(path, &first)?));
            }
            for count in &measure.counts {
                commands.push(scope.count(count, &first)?.shown());
            }
            commands
        }
    };
    Ok(PlanStep { title, commands })
}
