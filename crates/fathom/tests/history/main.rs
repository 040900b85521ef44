//! Measurements are kept: saving, `init`, `history`, `store`, `compare`.
#![cfg(target_os = "linux")]

mod browsed;
mod compared;
mod hostile;
mod judged;
mod live;
mod opened;
mod project;
mod read;
mod saved;
mod shown;
mod troubles;
mod world;
