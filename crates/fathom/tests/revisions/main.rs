//! `fathom versions` and `fathom bisect` as their users see them, on small repositories made here. They
//! compare bytes written, which are exact, so nothing depends on speed.
#![cfg(target_os = "linux")]

mod builds;
mod found;
mod refused;
mod untouched;
mod versions;
mod world;
