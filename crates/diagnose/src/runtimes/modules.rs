//! How is a program's code loaded from files?

/// What code files are known by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Modules {
    /// Nothing is known but that libraries are code.
    None,
    /// Compiled forms, and sources of which the compiled form was looked for in vain.
    Compiled {
        compiled: &'static str,
        source: &'static str,
        /// The folder of the compiled forms beside the sources.
        cache: &'static str,
    },
    /// Scripts whose ending is tried last, in folders that are asked for a description.
    Packages {
        ends: &'static [&'static str],
        description: &'static str,
    },
    /// Files with these endings, unless they are what the program works on.
    Files {
        ends: &'static [&'static str],
        /// Parts of the paths of the runtime's own; `None` where the program's aren't told apart.
        of_runtime: Option<&'static [&'static str]>,
        /// Options whose value says from where code is loaded.
        path_options: &'static [&'static str],
    },
}

/// What the first file of a start that the program chose is known by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Begins {
    Unknown,
    /// The first one that is code without these parts in its path.
    First(&'static [&'static str]),
    /// The script that is given with this ending.
    Script(&'static str),
}

impl Modules {
    /// What came before is the runtime's own start.
    pub(crate) fn begins(&self) -> Begins {
        match self {
            Self::None => Begins::Unknown,
            Self::Compiled { source, .. } => Begins::Script(source),
            Self::Packages { .. } => Begins::First(&[]),
            Self::Files { of_runtime, .. } => match of_runtime {
                Some(parts) => Begins::First(parts),
                None => Begins::Unknown,
            },
        }
    }

    /// Options whose value says from where code is loaded.
    pub(crate) fn path_options(&self) -> &'static [&'static str] {
        match self {
            Self::Files { path_options, .. } => path_options,
            _ => &[],
        }
    }
}
