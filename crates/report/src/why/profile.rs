//! The routes through the code for other viewers: folded stacks, the Firefox Profiler, Perfetto.
//!
//! The data is that of `why`, in nanoseconds scaled to an untraced run. Sums have no position in time, so the
//! routes are placed one after another.

mod firefox;
mod folded;
mod perfetto;

use std::path::Path;

use fathom_model::{CodePath, CodePaths, Explanation, PathStep};

use super::{code_name, whereabouts, words};

/// A profile format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileForm {
    /// The Firefox Profiler's JSON.
    Firefox,
    /// One line for each route, for flame graphs.
    Folded,
    /// Perfetto's protobuf.
    Perfetto,
}

impl ProfileForm {
    /// Returns the format for a file name's extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Firefox),
            "folded" => Some(Self::Folded),
            "pftrace" => Some(Self::Perfetto),
            _ => None,
        }
    }
}

/// Formats the profile of an explanation.
pub fn profile(explanation: &Explanation, form: ProfileForm) -> Vec<u8> {
    match form {
        ProfileForm::Firefox => firefox::write(explanation).into_bytes(),
        ProfileForm::Folded => folded::write(explanation).into_bytes(),
        ProfileForm::Perfetto => perfetto::write(explanation),
    }
}

/// Returns the title of a tree.
pub(super) fn title(of: CodePath) -> &'static str {
    match of {
        CodePath::Cpu => "CPU time",
        CodePath::Waits => "waits",
    }
}

/// Returns the short name of a step: the function, or what was called or waited for.
pub(super) fn name(step: &PathStep) -> String {
    let Some(kind) = step.kind else {
        let place = code_name::place(&step.place);
        return place.unwrap_or_else(|| "unknown code".to_owned());
    };
    let what = step.call.as_deref().unwrap_or(words::short(kind));
    let what = match step.role {
        Some(role) => format!("{} ({what})", whereabouts::in_a_role(role)),
        None => what.to_owned(),
    };
    match &step.object {
        Some(object) => format!("{what} {object}"),
        None => what,
    }
}

/// Returns the routes of a tree that have time outside their callees, with that time in nanoseconds.
fn ways(tree: &CodePaths) -> impl Iterator<Item = (usize, u64)> + '_ {
    let own = tree.own_ns().into_iter().enumerate();
    own.filter(|(_, ns)| *ns > 0)
}
