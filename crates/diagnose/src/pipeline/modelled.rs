//! Models how long the pipeline would take if a stage took no time of its own.
//!
//! Each stage has *own time*: the time during which it computes, sleeps or waits for a disk, without waiting
//! for its neighbours or for a CPU. For five events, the model knows how much own time had passed
//! ([`Phases`]): the first and last byte in, the end of the input, and the first and last byte out. It starts
//! all stages at once and lets each go through its own time, held up only by its input:
//!
//! - its first byte in comes when the stage before has written its first;
//! - its last byte in comes no sooner than the stage before has written its last;
//! - its input ends no sooner than the stage before, and it processes its last byte meanwhile;
//! - its output is written when as much of its own time has passed as in the observed round. A stage that
//!   reads everything before it writes (`sort`) therefore holds up the next one, as it did.
//!
//! No wall time is less than the CPU time of all stages divided by the number of CPUs, or than the time that
//! one of the remaining stages takes on its own. Waiting for a slow reader delays a writer's end, but not the
//! pipeline's, and is not modelled. Neither is the slowdown of stages that run concurrently (caches, clock
//! rates).

use fathom_model::{PipeModel, WhatIf};

/// A point in a stage's life, in seconds since its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moment {
    /// The own time that has passed so far.
    pub own: f64,
    /// All other time: waiting for a neighbour or for a CPU.
    pub waited: f64,
}

impl Moment {
    fn all(&self) -> f64 {
        self.own + self.waited
    }
}

/// How a stage's own time is distributed around its input and output.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Phases {
    /// When its first byte came in; `None` if it read nothing from the stage before.
    pub first_in: Option<Moment>,
    /// When its last byte came in.
    pub last_in: Option<Moment>,
    /// When the stage before ended, and the input with it; `None` if this stage didn't wait for that.
    pub input_end: Option<Moment>,
    /// When it first wrote to the next stage; `None` if it never did.
    pub first_out: Option<Moment>,
    /// When it wrote the last bytes that the next stage read.
    pub last_out: Option<Moment>,
    /// Total own time.
    pub whole: f64,
    /// CPU time of all its threads.
    pub cpu: f64,
    /// How long after the start of the pipeline the stage started, in seconds of wall time.
    pub start: f64,
}

impl Phases {
    /// Returns the same phases with own time multiplied by `factor`, either to correct for observation or to
    /// give the stage no time.
    pub fn scaled(&self, factor: f64) -> Phases {
        let by = |at: Option<Moment>| {
            at.map(|at| Moment {
                own: at.own * factor,
                ..at
            })
        };
        Phases {
            first_in: by(self.first_in),
            last_in: by(self.last_in),
            input_end: by(self.input_end),
            first_out: by(self.first_out),
            last_out: by(self.last_out),
            whole: self.whole * factor,
            cpu: self.cpu * factor,
            start: self.start,
        }
    }
}

/// A stage in the model.
struct Stage<'a> {
    at: &'a Phases,
    /// 0 if the stage is modelled without own time, otherwise 1. Its division into the time before and after
    /// the last byte in remains.
    factor: f64,
}

/// When a stage first and last writes and when it ends, in seconds of wall time.
#[derive(Clone, Copy)]
struct Output {
    first: f64,
    last: f64,
    end: f64,
}

fn wall(stages: &[Stage], cpus: usize) -> f64 {
    let mut before: Option<Output> = None;
    let mut end = 0.0f64;
    for stage in stages {
        let output = stage.run(before);
        end = end.max(output.end);
        before = Some(output);
    }
    let cpu: f64 = stages.iter().map(|stage| stage.at.cpu * stage.factor).sum();
    end.max(cpu / cpus.max(1) as f64)
}

impl Stage<'_> {
    fn run(&self, before: Option<Output>) -> Output {
        let Phases { start, whole, .. } = *self.at;
        let since = |from: Moment, to: Moment| (to.own - from.own).max(0.0) * self.factor;
        // The input events reached so far, in order, each with its own time and wall-clock time.
        let mut reached = vec![(Moment::default(), start)];
        if let Some(before) = before {
            let marks = [
                (self.at.first_in, before.first),
                (self.at.last_in, before.last),
                (self.at.input_end, before.end),
            ];
            for (mark, no_sooner) in marks {
                let (latest, wall) = reached[reached.len() - 1];
                if let Some(mark) = mark {
                    reached.push((mark, (wall + since(latest, mark)).max(no_sooner)));
                }
            }
        }
        let (latest, wall) = reached[reached.len() - 1];
        let end = wall + (whole - latest.own).max(0.0) * self.factor;
        let written = |at: Option<Moment>| at.map_or(end, |at| self.when(at, &reached));
        Output {
            first: written(self.at.first_out),
            last: written(self.at.last_out),
            end,
        }
    }

    /// Returns the wall-clock time of a moment, given the events reached so far.
    fn when(&self, at: Moment, reached: &[(Moment, f64)]) -> f64 {
        let passed = reached.iter().rposition(|(mark, _)| mark.all() <= at.all());
        let place = passed.unwrap_or(0);
        let (mark, wall) = reached[place];
        let own = (at.own - mark.own).max(0.0) * self.factor;
        let next = reached.get(place + 1);
        let between = self.at.first_in == Some(mark) && self.at.last_in.is_some();
        let (Some((next, until)), true) = (next, between) else {
            // The stage waits only after it has done everything that it can do without more input.
            return wall + own;
        };
        // In the middle of its input, the stage waits repeatedly. The same share of that wait precedes this
        // moment as in the observed round.
        let waits = next.waited - mark.waited;
        let share = match waits > 0.0 {
            true => (at.waited - mark.waited) / waits,
            false => (at.own - mark.own) / (next.own - mark.own).max(f64::MIN_POSITIVE),
        };
        let needed = (next.own - mark.own).max(0.0) * self.factor;
        wall + own + share.clamp(0.0, 1.0) * (until - wall - needed).max(0.0)
    }
}

/// The measurements against which the model is checked, in seconds.
pub struct Known<'a> {
    /// Median wall time of the timed rounds.
    pub measured: f64,
    /// CPUs that the stages may use.
    pub cpus: usize,
    /// For each stage, the minimum time that a pipeline with it can take.
    pub least: &'a [f64],
}

/// Models the pipeline from observed phases.
pub fn by_phases(phases: &[Phases], known: &Known) -> PipeModel {
    model("phases", phases.len(), known, |free| {
        let stages = phases.iter().enumerate();
        let stages: Vec<Stage> = stages
            .map(|(stage, at)| Stage {
                at,
                factor: if free == Some(stage) { 0.0 } else { 1.0 },
            })
            .collect();
        wall(&stages, known.cpus)
    })
}

/// Models the pipeline from the stages' own times only, without knowing whether they overlap. The stages are
/// assumed to run either concurrently or one after another, whichever is closer to the measurement.
pub fn by_own_times(own: &[f64], cpu: &[f64], known: &Known) -> PipeModel {
    let without = |free: Option<usize>, values: &[f64]| -> Vec<f64> {
        let kept = values.iter().enumerate();
        kept.filter(|(stage, _)| Some(*stage) != free)
            .map(|(_, value)| *value)
            .collect()
    };
    let beside = |free| {
        let longest = without(free, own).into_iter().fold(0.0, f64::max);
        let cpu: f64 = without(free, cpu).iter().sum();
        longest.max(cpu / known.cpus.max(1) as f64)
    };
    let after = |free| without(free, own).iter().sum::<f64>();
    let far = |modelled: f64| (modelled - known.measured).abs();
    let nearer = far(beside(None)) <= far(after(None));
    model("alone", own.len(), known, |free| {
        if nearer { beside(free) } else { after(free) }
    })
}

/// Corrects the model's results by its error for the unchanged pipeline. A result is never less than the time
/// that a remaining stage takes, and never more than what was measured.
fn model(
    method: &str,
    stages: usize,
    known: &Known,
    wall: impl Fn(Option<usize>) -> f64,
) -> PipeModel {
    let as_is = wall(None);
    let scale = if as_is > 0.0 {
        known.measured / as_is
    } else {
        1.0
    };
    let if_free = |stage: usize| {
        let least = known.least.iter().enumerate();
        let remaining = least.filter(|(other, _)| *other != stage);
        let least = remaining.fold(0.0, |longest: f64, (_, one)| longest.max(*one));
        WhatIf {
            stage,
            wall_seconds: (wall(Some(stage)) * scale).max(least).min(known.measured),
        }
    };
    PipeModel {
        method: method.to_string(),
        as_is_seconds: as_is,
        if_free: (0..stages).map(if_free).collect(),
    }
}

/// Returns the stage whose removal would save most; among stages that save about the same, the one with the
/// most own time.
pub fn bottleneck(model: &PipeModel, own: &[f64], measured: f64) -> Option<usize> {
    let own_of = |stage: &usize| own.get(*stage).copied().unwrap_or(0.0);
    let best = model.best(measured).into_iter();
    best.max_by(|a, b| own_of(a).total_cmp(&own_of(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the moment after this much own time, without waits.
    fn after(own: f64) -> Option<Moment> {
        Some(Moment { own, waited: 0.0 })
    }

    /// Returns a stage that reads and writes piece by piece.
    fn streams(own: f64) -> Phases {
        Phases {
            first_in: after(0.0),
            last_in: after(own),
            input_end: after(own),
            first_out: after(0.0),
            last_out: after(own),
            whole: own,
            cpu: own,
            start: 0.0,
        }
    }

    /// Returns a first stage, which has no input.
    fn source(own: f64) -> Phases {
        Phases {
            first_in: None,
            last_in: None,
            input_end: None,
            ..streams(own)
        }
    }

    /// Returns a stage that first reads everything, then works, then writes.
    fn sorts(reading: f64, working: f64) -> Phases {
        Phases {
            last_in: after(reading),
            input_end: after(reading),
            first_out: after(reading + working),
            last_out: after(reading + working),
            whole: reading + working,
            cpu: reading + working,
            ..streams(0.0)
        }
    }

    /// Returns two stages. The first writes, sleeps 0.5 s, writes again, and sleeps 0.3 s; the second sleeps
    /// 0.2 s after each read, and 0.4 s at the end.
    fn takes_turns() -> [Phases; 2] {
        let writer = Phases {
            last_out: after(0.5),
            whole: 0.8,
            cpu: 0.0,
            ..source(0.0)
        };
        let at = |own: f64, waited: f64| Some(Moment { own, waited });
        let reader = Phases {
            first_in: at(0.0, 0.0),
            last_in: at(0.2, 0.3),
            input_end: at(0.4, 0.4),
            first_out: at(0.2, 0.0),
            last_out: at(0.4, 0.3),
            whole: 0.8,
            cpu: 0.0,
            start: 0.0,
        };
        [writer, reader]
    }

    fn modelled(phases: &[Phases], cpus: usize, measured: f64) -> PipeModel {
        let known = Known {
            measured,
            cpus,
            least: &[],
        };
        by_phases(phases, &known)
    }

    fn free(phases: &[Phases], cpus: usize, stage: usize) -> f64 {
        let as_is = modelled(phases, cpus, 1.0).as_is_seconds;
        modelled(phases, cpus, as_is).if_free[stage].wall_seconds
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_longest_of_streaming_stages_sets_the_time() {
        let stages = [source(1.0), streams(3.0), streams(2.0)];
        let model = modelled(&stages, 8, 3.0);
        assert!(near(model.as_is_seconds, 3.0));
        assert!(near(free(&stages, 8, 0), 3.0));
        assert!(near(free(&stages, 8, 1), 2.0));
        assert!(near(free(&stages, 8, 2), 3.0));
        assert_eq!(bottleneck(&model, &[1.0, 3.0, 2.0], 3.0), Some(1));
    }

    #[test]
    fn a_stage_that_reads_all_first_makes_the_others_take_turns() {
        let stages = [source(1.0), sorts(0.5, 2.0), streams(0.4)];
        let model = modelled(&stages, 8, 3.4);
        assert!(near(model.as_is_seconds, 3.0 + 0.4));
        assert!(near(free(&stages, 8, 0), 0.5 + 2.0 + 0.4));
        assert!(near(free(&stages, 8, 1), 1.0 + 0.4));
        assert!(near(free(&stages, 8, 2), 3.0));
        assert_eq!(bottleneck(&model, &[1.0, 2.5, 0.4], 3.4), Some(1));
    }

    #[test]
    fn what_is_done_with_the_last_byte_is_done_while_the_writer_ends() {
        let stages = takes_turns();
        // It takes 0.8 s until the writer ends, and then 0.4 s; the second sleep of 0.2 s is over before
        // that.
        assert!(near(modelled(&stages, 2, 1.2).as_is_seconds, 1.2));
        assert!(near(free(&stages, 2, 0), 0.8));
        assert!(near(free(&stages, 2, 1), 0.8));
    }

    #[test]
    fn stages_that_would_save_about_the_same_are_named_together() {
        let model = modelled(&takes_turns(), 2, 1.25);
        assert_eq!(model.best(1.25), [0, 1]);
        let mut model = modelled(&[source(1.0), sorts(0.0, 1.2)], 2, 2.2);
        assert_eq!(model.best(2.2), [1]);
        // The difference is smaller than the model's error.
        model.as_is_seconds = 1.9;
        assert_eq!(model.best(2.2), [0, 1]);
    }

    #[test]
    fn a_stage_that_gains_far_less_is_not_among_the_best_however_far_the_model_is_off() {
        let mut model = modelled(&[source(1.0), streams(3.0)], 8, 3.0);
        model.as_is_seconds = 2.3;
        assert_eq!(model.best(3.0), [1]);
    }

    #[test]
    fn nothing_predicted_is_less_than_a_stage_that_remains_takes() {
        let known = Known {
            measured: 1.0,
            cpus: 2,
            least: &[0.7, 0.6],
        };
        // Scaling by a half would give 0.4 s and 0.5 s.
        let model = by_phases(&[source(1.0), sorts(0.0, 0.8)], &known);
        assert!(near(model.if_free[0].wall_seconds, 0.6));
        assert!(near(model.if_free[1].wall_seconds, 0.7));
        let model = by_own_times(&[1.0, 0.8], &[0.0, 0.0], &known);
        assert!(near(model.if_free[0].wall_seconds, 0.8));
        let more = Known {
            least: &[1.5, 1.5],
            ..known
        };
        let model = by_own_times(&[1.0, 0.8], &[0.0, 0.0], &more);
        assert!(near(model.if_free[0].wall_seconds, 1.0));
    }

    #[test]
    fn a_stage_that_only_waits_for_the_end_of_its_input_waits_for_it() {
        let reader = Phases {
            input_end: after(0.0),
            whole: 0.4,
            ..Phases::default()
        };
        let silent = Phases {
            first_out: None,
            last_out: None,
            ..source(0.2)
        };
        let stages = [silent, reader];
        assert!(near(modelled(&stages, 2, 0.6).as_is_seconds, 0.6));
        assert!(near(free(&stages, 2, 0), 0.4));
        assert!(near(free(&stages, 2, 1), 0.2));
    }

    #[test]
    fn a_free_stage_writes_nothing_before_something_came_in() {
        let slow = Phases {
            first_out: after(1.0),
            last_out: after(1.0),
            ..source(1.0)
        };
        let stages = [slow, streams(0.1), sorts(0.0, 0.5)];
        assert!(near(free(&stages, 8, 1), 1.5));
    }

    #[test]
    fn with_one_cpu_every_stage_counts() {
        let stages = [source(1.0), streams(3.0)];
        assert!(near(modelled(&stages, 1, 4.0).as_is_seconds, 4.0));
        assert!(near(free(&stages, 1, 0), 3.0));
    }

    #[test]
    fn a_stage_that_sleeps_before_it_writes_holds_up_the_next() {
        let slow = Phases {
            first_out: after(0.15),
            last_out: after(0.15),
            whole: 0.15,
            cpu: 0.001,
            ..source(0.0)
        };
        let stages = [slow, streams(0.002)];
        assert!(near(modelled(&stages, 2, 0.152).as_is_seconds, 0.152));
        assert!(near(free(&stages, 2, 0), 0.002));
    }

    #[test]
    fn what_reads_nothing_waits_for_nobody() {
        let stages = [source(2.0), source(0.5)];
        assert!(near(modelled(&stages, 2, 2.0).as_is_seconds, 2.0));
    }

    #[test]
    fn without_phases_the_nearer_of_beside_and_after_is_taken() {
        let known = |measured: f64| Known {
            measured,
            cpus: 2,
            least: &[],
        };
        let beside = by_own_times(&[1.0, 3.0], &[1.0, 3.0], &known(3.1));
        assert!(near(beside.as_is_seconds, 3.0));
        assert!(near(beside.if_free[1].wall_seconds, 3.1 / 3.0));
        let after = by_own_times(&[1.0, 3.0], &[1.0, 3.0], &known(3.9));
        assert!(near(after.as_is_seconds, 4.0));
    }

    #[test]
    fn a_free_stage_never_makes_it_slower() {
        let stages = [source(1.0), sorts(0.5, 2.0), streams(0.4)];
        let model = modelled(&stages, 2, 3.4);
        assert!(model.if_free.iter().all(|one| one.wall_seconds <= 3.4));
    }
}
