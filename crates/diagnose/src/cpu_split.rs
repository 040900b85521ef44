//! How is CPU time divided between a program's own code and the kernel's work for it?

use crate::thresholds as t;

/// CPU time in two parts: that of the program's own code, and the kernel's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuSplit {
    pub own: f64,
    pub kernel: f64,
}

/// How far a program's own code is from what it took in another run, as a standard deviation: the
/// CPU's clock, and caches that neighbours share.
const OWN_SCATTER: f64 = 0.06;
/// The same of the kernel's work for it. Of a program that touched memory, its faults took 4 to 18
/// % longer in the observed run, beyond what tracing them cost, and its own code 1 %.
const KERNEL_SCATTER: f64 = 0.1;

/// What makes CPU time in the kernel differ between runs that do the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uncertainty {
    /// What the tracer was measured to add: as unsure as it is long, ns.
    pub tracer_ns: f64,
    /// How often threads left their CPU to wait.
    pub waits: f64,
}

/// By what own code and kernel are to be multiplied beyond `factor`, by which the timed runs had
/// more CPU time than the observed one without the tracer's part: what that comes to is a part's by
/// how unsure the part is.
pub(crate) fn parts(observed: CpuSplit, unsure: Uncertainty, factor: f64) -> CpuSplit {
    let of_own = (OWN_SCATTER * observed.own).powi(2);
    let of_kernel = (KERNEL_SCATTER * observed.kernel).powi(2)
        + unsure.tracer_ns.powi(2)
        // On a virtual machine, where the hypervisor gives a CPU that was idle its timer back, 4400
        // reads from a disk took 190 ms of CPU time, and 115 while the profile's own timer was
        // running.
        + (t::SWITCH_NS * unsure.waits).powi(2);
    let all = observed.own + observed.kernel;
    // Where there is next to nothing in the kernel, no more of it can be missing.
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
        // 18 ms more than the timed runs, with faults whose tracing was measured to cost 59 ms.
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
