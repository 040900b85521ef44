//! `--require-quiet`: no measuring while the machine is busy.

use std::time::{Duration, Instant};

use fathom_measure::{MeasureError, interrupt};

use crate::cli::failure::Failure;
use crate::cli::screen;

/// Time of one look.
const LOOK: Duration = Duration::from_millis(500);

/// Waits until the machine is quiet, at most `patience`.
///
/// # Errors
/// [`Failure::Untrusted`], exit code 4, naming what still disturbs; interrupted.
pub fn wait_until_quiet(patience: Duration) -> Result<(), Failure> {
    let began = Instant::now();
    let draws = screen::can_draw();
    loop {
        let report = fathom_machine::check(LOOK, &std::env::temp_dir(), None);
        let problem = fathom_machine::disturbance(&report);
        screen::redraw(draws, "");
        if interrupt::received().is_some() {
            return Err(MeasureError::Interrupted.into());
        }
        let Some(problem) = problem else {
            return Ok(());
        };
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() {
            return Err(Failure::Untrusted(format!(
                "the machine is not quiet after {:.0} s: {problem}\n'fathom machine --check' says more; \
                 --require-quiet=TIME waits longer",
                began.elapsed().as_secs_f64()
            )));
        }
        let line = format!("waiting until the machine is quiet ({problem}) …");
        screen::redraw(draws, &fathom_report::escape(&line));
        std::thread::sleep(left.min(LOOK));
    }
}
