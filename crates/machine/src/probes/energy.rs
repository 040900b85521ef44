//! The power of a spinning core, if the processor counts energy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::kernels;
use crate::result::{Estimator, Heading, ProbeResult, ProbeVerdict};

const HEADING: Heading = Heading {
    id: "energy_spinning",
    title: "power, one core spinning",
    unit: "W",
    method: "what the package's energy counter (RAPL, through powercap) counts in 0.3 s of additions on one core, minus \
         what it counts in the same time asleep.",
};

/// The figures measured here.
pub(crate) const HEADINGS: &[Heading] = &[HEADING];

/// Why the counter can't be used.
#[derive(Debug, PartialEq, Eq)]
enum Missing {
    /// The system has no counter.
    Absent,
    /// The counter is for root only.
    Forbidden(PathBuf),
}

/// Runs the probe.
pub(crate) fn run() -> ProbeResult {
    let counter = match counter(Path::new("/")) {
        Ok(counter) => counter,
        Err(Missing::Absent) => {
            return HEADING.not_measurable("no energy counter on this machine");
        }
        Err(Missing::Forbidden(path)) => {
            let why = format!("only root can read {}", path.display());
            return HEADING.not_measurable(why);
        }
    };
    let time = Duration::from_millis(300);
    let idle = watts(&counter, || std::thread::sleep(time));
    let busy = watts(&counter, || {
        let start = Instant::now();
        while start.elapsed() < time {
            kernels::dependent_adds(400);
        }
    });
    match idle.zip(busy) {
        Some((idle, busy)) => {
            let mut result = HEADING.blank(Estimator::Derived, ProbeVerdict::Ok);
            result.value = Some((busy - idle).max(0.0));
            result.n = 2;
            result.add_note(format!(
                "the package uses {busy:.1} W with the core spinning, {idle:.1} W without"
            ));
            result
        }
        None => HEADING.no_answer("the counter wrapped or could not be read"),
    }
}

/// Returns the first package's counter.
fn counter(root: &Path) -> Result<PathBuf, Missing> {
    let Ok(zones) = std::fs::read_dir(root.join("sys/class/powercap")) else {
        return Err(Missing::Absent);
    };
    let mut zones: Vec<PathBuf> = zones
        .filter_map(|zone| Some(zone.ok()?.path().join("energy_uj")))
        .filter(|path| path.exists())
        .collect();
    zones.sort();
    let first = zones.into_iter().next().ok_or(Missing::Absent)?;
    match std::fs::read_to_string(&first) {
        Ok(_) => Ok(first),
        Err(_) => Err(Missing::Forbidden(first)),
    }
}

/// Returns the power in watts while `work` runs; `None` if the counter wrapped.
fn watts(counter: &Path, work: impl FnOnce()) -> Option<f64> {
    let read = || {
        std::fs::read_to_string(counter)
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let (before, start) = (read()?, Instant::now());
    work();
    let seconds = start.elapsed().as_secs_f64();
    Some(read()?.checked_sub(before)? as f64 / 1e6 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_counter_is_absent_and_not_zero() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(counter(root.path()), Err(Missing::Absent));
        std::fs::create_dir_all(root.path().join("sys/class/powercap/intel-rapl")).unwrap();
        assert_eq!(counter(root.path()), Err(Missing::Absent));
    }

    #[test]
    fn power_is_energy_over_time() {
        let root = tempfile::tempdir().unwrap();
        let zone = root.path().join("sys/class/powercap/intel-rapl:0");
        std::fs::create_dir_all(&zone).unwrap();
        std::fs::write(zone.join("energy_uj"), "1000\n").unwrap();
        let path = counter(root.path()).unwrap();
        let drawn = watts(&path, || std::fs::write(&path, "2001000\n").unwrap());
        assert!(drawn.unwrap() > 0.0);
        let wrapped = watts(&path, || std::fs::write(&path, "5\n").unwrap());
        assert_eq!(wrapped, None);
    }
}
