//! Fathom as tools of an agent, by the Model Context Protocol over standard input and output.
//!
//! Each tool is one verb. It runs as a separate process, with the same command that a user would type: no
//! part of this server is between the clock and a program, a cancelled measurement ends with everything it
//! started, and only the protocol reaches standard output. The verb writes a record, from which `answers`
//! makes a short text and a bounded structure.

mod allowed;
mod answers;
mod bounded;
mod protocol;
mod questions;
mod server;
mod tools;
mod verb;

use std::path::PathBuf;

pub use allowed::Allowed;
pub use server::serve;
pub use verb::{SERVER, end_with};

/// Settings chosen by the user who starts the server.
#[derive(Debug)]
pub struct ServePlan {
    /// Path of this program, which provides the verbs.
    pub fathom: PathBuf,
    /// Variables that are passed to the verbs and not to any command, such as the store to use.
    pub variables: Vec<(String, String)>,
    /// The folder in which commands run, and below which files may be named.
    pub root: PathBuf,
    /// The commands that may be run.
    pub allowed: Allowed,
    /// Version of Fathom.
    pub version: &'static str,
}
