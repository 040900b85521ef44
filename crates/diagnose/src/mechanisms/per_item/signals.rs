//! Detects frequent signals that interrupt what the program does.

use crate::kernel_outside::MOST_OF_A_SIGNAL_NS;
use crate::mechanisms::prelude::*;

/// Finds handlers that are called so often that delivering their signals takes a significant part of the
/// time.
pub(crate) fn signals(analysis: &Analysis<'_>) -> Option<Claim> {
    let returns = |row: &SyscallRow| calls::ends_signal(&row.name);
    let handled = analysis.tally(returns);
    if handled.calls < t::LEAST_SMALL_CALLS {
        return None;
    }
    let outside = analysis.spent_ns(TimeCategory::KernelOutside);
    let outside = outside.min(handled.calls as f64 * MOST_OF_A_SIGNAL_NS);
    let cost = CallCost::with(&handled, analysis, returns);
    let cost = cost.plus(CallCost::of_part(TimeCategory::KernelOutside, outside));
    let signals = count(analysis.shown_calls(handled.calls as f64));
    let statement = match analysis.repeats_signals() {
        true => format!("At least {signals} signals were handled (no more were counted); that"),
        false => format!("{signals} signals were handled; that"),
    };
    Some(
        cost.finding(FindingId::KernelBound, analysis, &statement)
            .weighing(cost.in_kernel_ns)
            .evidence("signals", handled.calls, "calls")
            .evidence("cost outside of calls", outside, "ns")
            .advice("Request signals less often (a longer interval of `setitimer` or `timer_settime`, or a lower rate \
                 in the profiler that requests them), or read them at a convenient time (`signalfd`, `timerfd`) \
                 instead of in a handler.")
            .pid(handled.pid)
            .likely(),
    )
}

#[cfg(test)]
mod tests {
    use fathom_model::FindingId;

    use crate::fake::{Fake, MS, ROOT, hold_words};

    /// Returns a second, of which samples saw `sampled_ms` in own code.
    fn handled(signals: u64, sampled_ms: u64) -> Fake {
        let mut fake = Fake::new(1000);
        fake.calls("rt_sigreturn", None, signals, 0, 700);
        fake.in_function(ROOT, "/bin/program", "main", sampled_ms);
        let profile = fake.trace.profile.as_mut().expect("made by in_function");
        profile.period_ns = MS;
        fake
    }

    fn found(fake: &Fake) -> Vec<fathom_model::Finding> {
        let mut fake_run = fake.run();
        let mut observation = fake.observation(&[]);
        observation.trace.accounts.user_ns = 450 * MS;
        observation.trace.accounts.system_ns = 550 * MS;
        (fake_run.user_ns, fake_run.system_ns) = (450 * MS, 550 * MS);
        observation.timed = vec![fake_run];
        crate::diagnose(&observation).findings
    }

    #[test]
    fn signals_that_take_the_time_are_found_with_what_it_takes_to_bring_them() {
        let found = found(&handled(40_000, 450));
        assert_eq!(found[0].id, FindingId::KernelBound, "{found:?}");
        hold_words("signals", &found[0]);
        let saved = found[0].could_win_ns / MS;
        assert!((450..=550).contains(&saved), "{saved} ms");
    }

    #[test]
    fn a_few_signals_are_not() {
        assert!(found(&handled(900, 450)).is_empty());
        assert!(found(&handled(40_000, 950)).is_empty(), "they cost little");
    }
}
