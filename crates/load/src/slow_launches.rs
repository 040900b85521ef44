//! Whether a slow launch waited for something or worked longer than the others.

/// A launch is slow if it takes at least this factor of the median: less is normal variation.
const SLOW_FROM: f64 = 1.2;
/// A cause explains a launch if it accounts for at least this fraction of the excess over the median.
const EXPLAINS: f64 = 0.5;

/// The duration of a launch and its costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LaunchCosts {
    /// From the launch to the answer, nanoseconds.
    pub took_ns: f64,
    /// CPU time of the server's tree.
    pub cpu_ns: f64,
    /// Time that its threads were ready to run but had no CPU.
    pub run_queue_wait_ns: f64,
    /// Bytes fetched from the storage device.
    pub read_bytes: f64,
}

/// The cause of a slow launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowBy {
    /// It waited for a CPU.
    WaitedForCpu,
    /// It read from the storage device and didn't work longer.
    WaitedForDisk,
    /// It used more CPU time.
    WorkedLonger,
    /// Another cause: it slept longer.
    Other,
}

/// Returns the cause for each slow launch; `None` for others.
pub fn why_slow(launches: &[LaunchCosts]) -> Vec<Option<SlowBy>> {
    let middle = LaunchCosts {
        took_ns: median(launches, |launch| launch.took_ns),
        cpu_ns: median(launches, |launch| launch.cpu_ns),
        run_queue_wait_ns: median(launches, |launch| launch.run_queue_wait_ns),
        read_bytes: median(launches, |launch| launch.read_bytes),
    };
    launches.iter().map(|launch| why(launch, &middle)).collect()
}

fn why(launch: &LaunchCosts, middle: &LaunchCosts) -> Option<SlowBy> {
    if launch.took_ns < SLOW_FROM * middle.took_ns {
        return None;
    }
    let excess = launch.took_ns - middle.took_ns;
    let explains = |more: f64| more >= EXPLAINS * excess;
    Some(
        if explains(launch.run_queue_wait_ns - middle.run_queue_wait_ns) {
            SlowBy::WaitedForCpu
        } else if explains(launch.cpu_ns - middle.cpu_ns) {
            SlowBy::WorkedLonger
        } else if launch.read_bytes > middle.read_bytes {
            SlowBy::WaitedForDisk
        } else {
            SlowBy::Other
        },
    )
}

fn median(launches: &[LaunchCosts], of: impl Fn(&LaunchCosts) -> f64) -> f64 {
    let mut values: Vec<f64> = launches.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_that_waited_are_kept_apart_from_those_that_worked() {
        let usual = LaunchCosts {
            took_ns: 50e6,
            cpu_ns: 45e6,
            run_queue_wait_ns: 0.1e6,
            read_bytes: 0.0,
        };
        let mut launches = vec![usual; 10];
        launches[0].took_ns = 54e6;
        launches[1].took_ns = 70e6;
        launches[1].run_queue_wait_ns = 18e6;
        launches[2].took_ns = 70e6;
        launches[2].cpu_ns = 60e6;
        launches[3].took_ns = 90e6;
        launches[3].read_bytes = 4096.0;
        launches[4].took_ns = 90e6;
        let why = why_slow(&launches);
        let expected = [
            None,
            Some(SlowBy::WaitedForCpu),
            Some(SlowBy::WorkedLonger),
            Some(SlowBy::WaitedForDisk),
            Some(SlowBy::Other),
            None,
        ];
        assert_eq!(why[..6], expected);
        assert!(why_slow(&[]).is_empty());
    }
}
