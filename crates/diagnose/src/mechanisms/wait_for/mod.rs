//! Detects that another process or a device sets the pace.

pub(crate) mod acknowledgements;
pub(crate) mod disk;
pub(crate) mod ends;
mod fetching;
pub(crate) mod grace;
mod looks;
pub(crate) mod network;
mod peer;
mod requests;
pub(crate) mod syncs;
pub(crate) mod timers;
pub(crate) mod tries;
