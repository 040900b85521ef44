//! Detects short-lived processes and threads.

pub(crate) mod children;
pub(crate) mod processes;
pub(crate) mod threads;
