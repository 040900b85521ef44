//! `fathom mcp`: the verbs as tools for an agent.

use std::path::PathBuf;

use clap::Args;
use fathom_mcp::{Allowed, ServePlan};

use crate::cli::failure::{Failure, usage};

/// See the help texts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom mcp --allow ./target/release/app --allow 'python3 bench.py'
  fathom mcp --root /srv/project --allow '*'

An agent's host starts it, and speaks the Model Context Protocol over its standard input and output. Tools: bench, why, \
compare, history, machine_check, explain; docs/agents.md says what to call when. A command runs only if it begins with \
the words of an --allow; none goes through a shell. Whoever allows a program that starts others (python3, env, make) \
allows those, too.

Exit codes: 0 the client is gone, 2 wrong arguments, 4 what speaks is no such client.")]
pub(crate) struct Arguments {
    /// The folder in which commands run, and below which files may be named (default: this folder)
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// A command that may be run, with any further arguments; '*' is any program that is not a shell. May be
    /// repeated
    #[arg(long, value_name = "COMMAND")]
    pub allow: Vec<String>,
}

/// Serves until the client disconnects. Returns the exit code.
///
/// # Errors
/// A root that is not a folder, a command that can't be split, a client that speaks another protocol.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let root = arguments.root.clone().unwrap_or_else(|| PathBuf::from("."));
    let root = match root.canonicalize() {
        Ok(root) if root.is_dir() => root,
        _ => return usage(format!("--root: {} is not a folder", root.display())),
    };
    let fathom = std::env::current_exe().map_err(|error| {
        Failure::Untrusted(format!("can't find this program's own executable: {error}"))
    })?;
    fathom_mcp::serve(ServePlan {
        fathom,
        variables: fathom_store::variables::taken()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        root,
        allowed: Allowed::parse(&arguments.allow).map_err(Failure::Usage)?,
        version: env!("CARGO_PKG_VERSION"),
    })
    .map_err(Failure::Untrusted)?;
    Ok(0)
}
