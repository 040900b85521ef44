//! Does the command want more CPUs than there are?

use fathom_model::Spent;
use fathom_trace::Trace;

use super::View;
use crate::account::Life;
use crate::thresholds as t;
use crate::untraced;

/// Whether the command itself has more busy threads than there are CPUs.
pub(super) fn crowded(lives: &[Life], cpus: usize, trace: &Trace) -> bool {
    busy_threads(lives, trace) > t::CROWD_PER_CPU * cpus.max(1) as f64
}

/// Threads that want a CPU, as many as there are on average.
pub(crate) fn busy_threads(lives: &[Life], trace: &Trace) -> f64 {
    let busy = lives.iter().filter(|life| hungry(life, trace));
    busy.map(Life::ns).sum::<f64>() / trace.duration_ns.max(1) as f64
}

/// A thread that wanted a CPU for half of its life, and lived long enough to count.
pub(crate) fn hungry(life: &Life, trace: &Trace) -> bool {
    let wants = life.on_cpu_ns + life.sums.get(Spent::Ready);
    wants >= 0.5 * life.ns() && life.ns() >= 0.2 * trace.duration_ns as f64
}

/// Part of their lives that threads were ready, each by its part of the CPU time. Where a runtime moves work between
/// its threads, what all of them waited for a CPU adds up to more than neighbours took.
pub(super) fn ready_share(lives: &[Life]) -> f64 {
    let cpu_ns: f64 = lives.iter().map(|life| life.on_cpu_ns).sum();
    let part = |life: &Life| life.on_cpu_ns * life.sums.get(Spent::Ready) / life.ns().max(1.0);
    lives.iter().map(part).sum::<f64>() / cpu_ns.max(1.0)
}

impl View<'_> {
    /// See [`crowded`].
    pub(crate) fn is_crowded(&self) -> bool {
        crowded(&self.lives, self.subject.cpus, self.trace)
    }

    /// Whether the untraced runs had all CPUs nearly all the time.
    pub(crate) fn had_all_cpus(&self) -> bool {
        self.cpu_ns >= t::BUSY_THREAD * self.timed_ns * self.subject.cpus.max(1) as f64
    }

    /// What a cost on the critical path comes to where more threads of the command are busy than there are CPUs: while
    /// the path waits for one, the others burn as much.
    pub(crate) fn in_crowd(&self, on_path_ns: f64) -> f64 {
        if !self.is_crowded() {
            return on_path_ns;
        }
        let of_each_cpu = self.cpu_ns / self.subject.cpus.max(1) as f64;
        on_path_ns * (of_each_cpu / untraced::on_cpu_ns(&self.account).max(1.0)).max(1.0)
    }
}
