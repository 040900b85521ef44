//! From the call of `execve` to the first byte of output, and to the exit.
//!
//! [`measure`] makes the rounds, warm and cold; [`observe`](observe::observe) traces further runs for
//! phases and files; [`summaries`] and [`comparisons`] say what follows. `docs/startup.md` says
//! where the stamps are taken.

mod cold;
mod session;
mod summary;
pub mod watch;

pub use cold::Chill;
pub use session::{Rounds, StartupSession, Subject, measure};
pub use summary::{budget, comparisons, judged_metric, summaries};
