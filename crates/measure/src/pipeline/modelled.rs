//! What would the pipeline cost if a stage took no time of its own? A model. Pure.
//!
//! Each stage has *own time*: what it computes, sleeps or waits for a disk, without waiting for its
//! neighbours or for a CPU. Where the first and the last byte came in and the first went out is known
//! by how much own time had passed by then ([`Phases`]). The model starts all stages at once and lets
//! each go through its own time, held up only by its input:
//!
//! - its first byte in comes when the stage before has written its first;
//! - its last byte in comes no sooner than the end of the stage before;
//! - what it writes first goes out when as much of its own time has passed as in the observed round. A
//!   stage that reads all before it writes (`sort`) so holds up the next, as it did.
//!
//! No wall time is less than the CPU time of all stages divided by the CPUs. Waiting for a slow reader
//! moves a writer's end, not the pipeline's, and is not modelled; nor is that stages run slower beside
//! each other (caches, clock rates).

use fathom_model::{PipeModel, WhatIf};

/// A stage's own time, in seconds of own time since its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Phases {
    /// When its first byte came in; `None` if it read nothing from the stage before.
    pub first_in: Option<f64>,
    /// When its last byte came in.
    pub last_in: Option<f64>,
    /// When it first wrote to the next stage; `None` if it never did.
    pub first_out: Option<f64>,
    /// All of it.
    pub whole: f64,
    /// CPU time of all its threads.
    pub cpu: f64,
    /// Its start after the pipeline's, in seconds of wall time.
    pub start: f64,
}

impl Phases {
    /// The same with `factor` times the own time: observing made it longer.
    pub fn scaled(&self, factor: f64) -> Phases {
        let by = |time: Option<f64>| time.map(|time| time * factor);
        Phases {
            first_in: by(self.first_in),
            last_in: by(self.last_in),
            first_out: by(self.first_out),
            whole: self.whole * factor,
            cpu: self.cpu * factor,
            start: self.start,
        }
    }

    /// The same without any own time. What it does before its last byte comes in and what after stays.
    fn free(&self) -> Free {
        Free {
            at: Phases {
                first_in: self.first_in.map(|_| 0.0),
                last_in: self.last_in.map(|_| 0.0),
                first_out: self.first_out.map(|_| 0.0),
                whole: 0.0,
                cpu: 0.0,
                start: self.start,
            },
            writes_late: self.writes_late(),
        }
    }

    fn writes_late(&self) -> bool {
        match (self.last_in, self.first_out) {
            (Some(last_in), Some(first_out)) => first_out >= last_in,
            _ => false,
        }
    }

    fn as_it_is(&self) -> Free {
        Free {
            at: *self,
            writes_late: self.writes_late(),
        }
    }
}

/// A stage in the model.
struct Free {
    at: Phases,
    /// It writes only when it has read all.
    writes_late: bool,
}

/// When a stage writes first, and when it ends; seconds of wall time.
#[derive(Clone, Copy)]
struct Output {
    first: f64,
    end: f64,
}

fn wall(stages: &[Free], cpus: usize) -> f64 {
    let mut before: Option<Output> = None;
    let mut end = 0.0f64;
    for stage in stages {
        let output = run(stage, before);
        end = end.max(output.end);
        before = Some(output);
    }
    let cpu: f64 = stages.iter().map(|stage| stage.at.cpu).sum();
    end.max(cpu / cpus.max(1) as f64)
}

fn run(stage: &Free, before: Option<Output>) -> Output {
    let at = &stage.at;
    let (Some(before), Some(own_first), Some(own_last)) = (before, at.first_in, at.last_in) else {
        // It reads nothing that another stage wrote.
        return Output {
            first: at.start + at.first_out.unwrap_or(at.whole),
            end: at.start + at.whole,
        };
    };
    let first_in = (at.start + own_first).max(before.first);
    let consumed = (own_last - own_first).max(0.0);
    let last_in = (first_in + consumed).max(before.end);
    let end = last_in + (at.whole - own_last).max(0.0);
    let first = match at.first_out {
        None => end,
        Some(_) if stage.writes_late => last_in + (at.first_out.unwrap_or(0.0) - own_last).max(0.0),
        Some(own) if own <= own_first => (at.start + own).min(first_in),
        // As far into its input as it was when it wrote first.
        Some(own) => {
            let share = (own - own_first) / consumed.max(f64::MIN_POSITIVE);
            first_in + share.min(1.0) * (last_in - first_in)
        }
    };
    Output { first, end }
}

/// Modelled from observed phases. `measured` is the median wall time of the timed rounds, seconds.
pub fn by_phases(phases: &[Phases], cpus: usize, measured: f64) -> PipeModel {
    let all = |free: Option<usize>| {
        let stages = phases.iter().enumerate();
        let stages: Vec<Free> = stages
            .map(|(stage, phases)| match free {
                Some(free) if free == stage => phases.free(),
                _ => phases.as_it_is(),
            })
            .collect();
        wall(&stages, cpus)
    };
    model("phases", phases.len(), measured, all)
}

/// Modelled from the own times of the stages only: whether they overlap is not seen. They are taken to
/// run beside each other or one after the other, whichever comes nearer to what was measured.
pub fn by_own_times(own: &[f64], cpu: &[f64], cpus: usize, measured: f64) -> PipeModel {
    let without = |free: Option<usize>, values: &[f64]| -> Vec<f64> {
        let kept = values.iter().enumerate();
        kept.filter(|(stage, _)| Some(*stage) != free)
            .map(|(_, value)| *value)
            .collect()
    };
    let beside = |free| {
        let longest = without(free, own).into_iter().fold(0.0, f64::max);
        let cpu: f64 = without(free, cpu).iter().sum();
        longest.max(cpu / cpus.max(1) as f64)
    };
    let after = |free| without(free, own).iter().sum::<f64>();
    let nearer = (beside(None) - measured).abs() <= (after(None) - measured).abs();
    model("alone", own.len(), measured, |free| {
        if nearer { beside(free) } else { after(free) }
    })
}

/// What the model says is scaled by how far it is off for the pipeline as it is, and never more than
/// was measured.
fn model(
    method: &str,
    stages: usize,
    measured: f64,
    wall: impl Fn(Option<usize>) -> f64,
) -> PipeModel {
    let as_is = wall(None);
    let scale = if as_is > 0.0 { measured / as_is } else { 1.0 };
    let if_free = (0..stages)
        .map(|stage| WhatIf {
            stage,
            wall_seconds: (wall(Some(stage)) * scale).clamp(0.0, measured),
        })
        .collect();
    PipeModel {
        method: method.to_string(),
        as_is_seconds: as_is,
        if_free,
    }
}

/// The stage without which the pipeline would gain most; of equals the one with more own time.
pub fn bottleneck(model: &PipeModel, own: &[f64]) -> Option<usize> {
    let own_of = |stage: usize| own.get(stage).copied().unwrap_or(0.0);
    let best = model.if_free.iter().min_by(|a, b| {
        let by_gain = a.wall_seconds.total_cmp(&b.wall_seconds);
        by_gain.then(own_of(b.stage).total_cmp(&own_of(a.stage)))
    })?;
    // Gains within 2 % of each other are the same: then more own time tells.
    let same = model
        .if_free
        .iter()
        .filter(|one| one.wall_seconds <= best.wall_seconds * 1.02);
    same.max_by(|a, b| own_of(a.stage).total_cmp(&own_of(b.stage)))
        .map(|one| one.stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads and writes bit by bit.
    fn streams(own: f64) -> Phases {
        Phases {
            first_in: Some(0.0),
            last_in: Some(own),
            first_out: Some(0.0),
            whole: own,
            cpu: own,
            start: 0.0,
        }
    }

    /// The first stage: nothing comes in.
    fn source(own: f64) -> Phases {
        Phases {
            first_in: None,
            last_in: None,
            ..streams(own)
        }
    }

    /// Reads all, works, then writes.
    fn sorts(reading: f64, working: f64) -> Phases {
        Phases {
            last_in: Some(reading),
            first_out: Some(reading + working),
            whole: reading + working,
            cpu: reading + working,
            ..streams(0.0)
        }
    }

    fn free(phases: &[Phases], cpus: usize, stage: usize) -> f64 {
        let as_is = by_phases(phases, cpus, 1.0).as_is_seconds;
        by_phases(phases, cpus, as_is).if_free[stage].wall_seconds
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_longest_of_streaming_stages_sets_the_time() {
        let stages = [source(1.0), streams(3.0), streams(2.0)];
        let model = by_phases(&stages, 8, 3.0);
        assert!(near(model.as_is_seconds, 3.0));
        assert!(near(free(&stages, 8, 0), 3.0));
        assert!(near(free(&stages, 8, 1), 2.0));
        assert!(near(free(&stages, 8, 2), 3.0));
        assert_eq!(bottleneck(&model, &[1.0, 3.0, 2.0]), Some(1));
    }

    #[test]
    fn a_stage_that_reads_all_first_makes_the_others_take_turns() {
        let stages = [source(1.0), sorts(0.5, 2.0), streams(0.4)];
        let model = by_phases(&stages, 8, 3.4);
        assert!(near(model.as_is_seconds, 3.0 + 0.4));
        assert!(near(free(&stages, 8, 0), 0.5 + 2.0 + 0.4));
        assert!(near(free(&stages, 8, 1), 1.0 + 0.4));
        assert!(near(free(&stages, 8, 2), 3.0));
        assert_eq!(bottleneck(&model, &[1.0, 2.5, 0.4]), Some(1));
    }

    #[test]
    fn with_one_cpu_every_stage_counts() {
        let stages = [source(1.0), streams(3.0)];
        assert!(near(by_phases(&stages, 1, 4.0).as_is_seconds, 4.0));
        assert!(near(free(&stages, 1, 0), 3.0));
    }

    #[test]
    fn a_stage_that_sleeps_before_it_writes_holds_up_the_next() {
        let slow = Phases {
            first_out: Some(0.15),
            whole: 0.15,
            cpu: 0.001,
            ..source(0.0)
        };
        let stages = [slow, streams(0.002)];
        assert!(near(by_phases(&stages, 2, 0.152).as_is_seconds, 0.152));
        assert!(near(free(&stages, 2, 0), 0.002));
    }

    #[test]
    fn what_reads_nothing_waits_for_nobody() {
        let stages = [source(2.0), source(0.5)];
        assert!(near(by_phases(&stages, 2, 2.0).as_is_seconds, 2.0));
    }

    #[test]
    fn without_phases_the_nearer_of_beside_and_after_is_taken() {
        let beside = by_own_times(&[1.0, 3.0], &[1.0, 3.0], 2, 3.1);
        assert!(near(beside.as_is_seconds, 3.0));
        assert!(near(beside.if_free[1].wall_seconds, 3.1 / 3.0));
        let after = by_own_times(&[1.0, 3.0], &[1.0, 3.0], 2, 3.9);
        assert!(near(after.as_is_seconds, 4.0));
    }

    #[test]
    fn a_free_stage_never_makes_it_slower() {
        let stages = [source(1.0), sorts(0.5, 2.0), streams(0.4)];
        let model = by_phases(&stages, 2, 3.4);
        assert!(model.if_free.iter().all(|one| one.wall_seconds <= 3.4));
    }
}
