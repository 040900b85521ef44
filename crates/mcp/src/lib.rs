//! Fathom as tools of an agent, by the Model Context Protocol over standard input and output.
//!
//! Each tool is one verb. It runs as a process of its own, the same command as a user would type: nothing
//! of this server is between the clock and a program, a measurement that is cancelled ends with all that
//! it started, and nothing but the protocol reaches standard output. What comes back is a record, from
//! which `answers` makes a short text and a bounded structure.

mod allowed;
mod answers;
mod bounded;
mod measuring;
mod questions;
mod server;
mod stdin;
mod tools;

use std::path::PathBuf;

pub use allowed::Allowed;
pub use measuring::{SERVER, end_with};

/// What whoever starts the server decides.
#[derive(Debug)]
pub struct ServePlan {
    /// This program: the verbs are its own.
    pub fathom: PathBuf,
    /// Variables that the verbs get and no command does: which store is meant.
    pub variables: Vec<(String, String)>,
    /// Where commands run, and below which files may be named.
    pub root: PathBuf,
    /// What may be run.
    pub allowed: Allowed,
    /// Version of Fathom.
    pub version: &'static str,
}

/// Answers until the client goes away. Call it on the thread that lives longest: what it starts ends with
/// that thread.
///
/// # Errors
/// When the client speaks something else, in words.
pub fn serve(plan: ServePlan) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("can't start the server: {error}"))?;
    let ended = runtime.block_on(server::serve(plan));
    // A read of standard input can't be cancelled; nobody waits for it.
    runtime.shutdown_background();
    ended
}
