//! How a program's code is loaded from files.

use serde::Deserialize;

/// How to recognise code files.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Modules {
    /// Only libraries are known to be code.
    #[default]
    None,
    /// Compiled forms, and sources whose compiled form was looked up but not found.
    Compiled {
        compiled: String,
        source: String,
        /// The folder for compiled forms next to the sources.
        cache: String,
    },
    /// Scripts for which the extension is tried last, in folders where a description is looked up.
    Packages {
        ends: Vec<String>,
        description: String,
    },
    /// Files with these extensions, unless they are the program's input.
    Files {
        ends: Vec<String>,
        /// Parts of the paths of the runtime's own files; `None` if they can't be distinguished from the
        /// program's files.
        of_runtime: Option<Vec<String>>,
        /// Options whose value is a code search path.
        #[serde(default)]
        path_options: Vec<String>,
    },
}

impl Modules {
    /// Options whose value is a code search path.
    pub(crate) fn path_options(&self) -> &[String] {
        match self {
            Self::Files { path_options, .. } => path_options,
            _ => &[],
        }
    }
}
