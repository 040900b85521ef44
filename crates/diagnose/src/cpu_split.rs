//! Divides CPU time between a program's own code and the kernel's work for it.

use crate::thresholds as t;

/// CPU time in two parts: the program's own code, and the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuSplit {
    pub own: f64,
    pub kernel: f64,
}

/// The standard deviation, between runs, of the time of a program's own code. It is due to the CPU's clock
/// and to caches shared with other programs.
const OWN_SCATTER: f64 = 0.06;
/// The same standard deviation for the kernel's work. For a program that accessed memory, page faults took 4
/// to 18 % longer in the observed run, beyond the cost of tracing, and its own code took 1 % longer.
const KERNEL_SCATTER: f64 = 0.1;

/// Why CPU time in the kernel differs between identical runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uncertainty {
    /// The measured overhead of the tracer in ns; its uncertainty is as large as the overhead itself.
    pub tracer_ns: f64,
    /// How often threads left their CPU to wait.
    pub waits: f64,
}

/// Returns one factor for own code and one for the kernel. They apply in addition to `factor`, which is the
/// ratio of the timed runs' CPU time to that of the observed run without the tracer's part. The difference is
/// distributed according to how uncertain each part is.
pub(crate) fn parts(observed: CpuSplit, unsure: Uncertainty, factor: f64) -> CpuSplit {
    let of_own = (OWN_SCATTER * observed.own).powi(2);
    let of_kernel = (KERNEL_SCATTER * observed.kernel).powi(2)
        + unsure.tracer_ns.powi(2)
        // On a virtual machine, where the hypervisor must restore the timer of a CPU that was idle, 4400 disk
        // reads took 190 ms of CPU time, but only 115 ms while the profile's own timer was running.
        + (t::SWITCH_NS * unsure.waits).powi(2);
    let all = observed.own + observed.kernel;
    // If the kernel has next to no time, little of it can be missing.
    let of_kernel = of_kernel.min(observed.kernel.powi(2));
    let missing = (factor - 1.0) * all / (of_own + of_kernel).max(1.0);
    let part = |ns: f64, share: f64| match ns * factor {
        alike if alike >= 1.0 => ((ns + missing * share) / alike).max(0.0),
        _ => 1.0,
    };
    CpuSplit {
        own: part(observed.own, of_own),
        kernel: part(observed.kernel, of_kernel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsure(tracer_ns: f64, waits: f64) -> Uncertainty {
        Uncertainty { tracer_ns, waits }
    }

    #[test]
    fn what_waits_took_less_when_traced_is_the_kernels() {
        let observed = CpuSplit {
            own: 300e6,
            kernel: 115e6,
        };
        let factor = 490.0 / 415.0;
        let parts = parts(observed, unsure(0.0, 4400.0), factor);
        let own = observed.own * factor * parts.own;
        assert!((300e6..304e6).contains(&own), "{own}");
    }

    #[test]
    fn what_the_observed_run_took_longer_is_rather_the_kernels() {
        let observed = CpuSplit {
            own: 210e6,
            kernel: 414e6,
        };
        // This is 18 ms more than the timed runs took, with faults whose tracing was measured at 59 ms.
        let factor = 606.0 / 624.0;
        let parts = parts(observed, unsure(59e6, 0.0), factor);
        let own = observed.own * factor * parts.own;
        assert!((208.5e6..210e6).contains(&own), "{own}");
        let kernel = observed.kernel * factor * parts.kernel;
        assert!((own + kernel - 606e6).abs() < 1e3, "{kernel}");
    }

    #[test]
    fn computing_that_took_longer_is_the_programs() {
        let observed = CpuSplit {
            own: 400e6,
            kernel: 1e6,
        };
        let parts = parts(observed, unsure(5e6, 0.0), 0.9);
        assert!((parts.own - 1.0).abs() < 0.003, "{parts:?}");
        let nothing = CpuSplit {
            own: 0.0,
            kernel: 0.0,
        };
        assert_eq!(self::parts(nothing, unsure(0.0, 0.0), 0.9).own, 1.0);
    }
}
