//! The options of `fathom store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The parsed options. The comment on each field is its help text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom store info
  fathom store list                            records: id, time, revision, labels, benchmarks
  fathom store tag @-1 v1.2                    a label for what was saved last
  fathom store rename 'parse big' parse-large  a benchmark with a new name keeps its history
  fathom store prune --before 90d              lists; --yes does it
  fathom store bundle all.bundle               every record, for another machine or store
  fathom store load all.bundle --store postgres://perf@db.example/perf

RECORD is @-1 (saved last), @-2, a label, the beginning of a record's id or of a revision, or what git calls \
a revision. docs/history.md says what is kept and where.

Exit codes: 0 done, 2 wrong arguments, or the store can't be used.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub verb: Verb,

    /// Use this store: a file, or postgres://USER@HOST/DATABASE (default: FATHOM_STORE, else the project's
    /// .fathom/, else your personal store)
    #[arg(long, value_name = "PATH|URL", global = true)]
    pub store: Option<String>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the contents and the size of the store
    Info {
        /// Write it as JSON; '-' is standard output
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// List the records with their times, revisions, labels and benchmarks, the newest commit first
    List {
        /// List only the records with this label
        #[arg(long, value_name = "LABEL")]
        label: Option<String>,
    },
    /// Give records a name, such as a version
    Tag {
        /// @-1, a label, the beginning of an id or of a revision
        #[arg(value_name = "RECORD")]
        record: String,
        /// The name
        #[arg(value_name = "LABEL")]
        label: String,
        /// Remove the label
        #[arg(long)]
        remove: bool,
    },
    /// Rename a benchmark: its history continues under the new name
    Rename {
        /// The current name
        #[arg(value_name = "OLD")]
        old: String,
        /// The new name
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// Remove the individual runs of old records; their figures stay. Without --yes, only list the records
    Prune {
        /// Records measured before this: a date, or an age (90d, 12w, 1y)
        #[arg(long, value_name = "DATE|AGE", required_unless_present = "keep")]
        before: Option<String>,
        /// All but the newest N records of the same commands
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
        /// Include records with a label
        #[arg(long)]
        labelled: bool,
        /// Remove the runs
        #[arg(long)]
        yes: bool,
    },
    /// Write records into one file, to move them to another machine or store
    Bundle {
        /// The file to create
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The records (default: all)
        #[arg(value_name = "RECORD")]
        records: Vec<String>,
    },
    /// Load records from bundles; creates the store if it doesn't exist
    Load {
        /// The bundles
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}
