//! `--require-quiet`: measures only while the machine is quiet.

use std::time::{Duration, Instant};

use fathom_measure::{MeasureError, interrupt};

use crate::{ConductError, Event, Observer};

/// The duration of one check.
const CHECK: Duration = Duration::from_millis(500);

/// Waits until the machine is quiet, for at most `patience`.
///
/// # Errors
/// [`ConductError::Untrusted`], naming what still disturbs the machine; or an interrupt.
pub(crate) fn wait_until_quiet(
    patience: Duration,
    observer: &mut dyn Observer,
) -> Result<(), ConductError> {
    let began = Instant::now();
    loop {
        let report = fathom_machine::check(CHECK, &std::env::temp_dir(), None);
        let problem = fathom_machine::disturbance(&report);
        observer.on(Event::WaitsForQuiet(None));
        if interrupt::stopped() {
            return Err(MeasureError::Interrupted.into());
        }
        let Some(problem) = problem else {
            return Ok(());
        };
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(ConductError::Untrusted(format!(
                "the machine is still not quiet after {:.0} s: {problem}\n'fathom machine --check' shows more; \
                 --require-quiet=TIME waits longer",
                began.elapsed().as_secs_f64()
            )));
        }
        observer.on(Event::WaitsForQuiet(Some(&problem)));
        std::thread::sleep(left.min(CHECK));
    }
}
