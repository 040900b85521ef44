//! Detects that another process or a device sets the pace.

mod acknowledgements;
mod disk;
mod ends;
mod fetching;
mod grace;
mod looks;
mod network;
mod peer;
mod syncs;
mod timers;
mod tries;

pub(crate) use acknowledgements::acknowledgements;
pub(crate) use disk::{cold_files, disk};
pub(crate) use ends::{input, output};
pub(crate) use grace::find as grace;
pub(crate) use network::network;
pub(crate) use syncs::{ON_DISK, syncs};
pub(crate) use timers::timers;
pub(crate) use tries::for_locks;
