//! One after the other, or one of several CPUs.

pub(crate) mod children;
pub(crate) mod processes;
pub(crate) mod threads;
