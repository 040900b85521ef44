//! The ways through the code for other viewers: folded stacks, the Firefox Profiler, Perfetto.
//!
//! What is written is what `why` says, in nanoseconds of an untraced run; a way's place in time is
//! made up, one after another, since a sum has none.

mod firefox;
mod folded;
mod perfetto;

use std::path::Path;

use fathom_model::{CodePath, CodePaths, Explanation, PathStep};

use super::{code_name, whereabouts, words};

/// A form of profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileForm {
    /// JSON of the Firefox Profiler.
    Firefox,
    /// A line for each way, for flame graphs.
    Folded,
    /// Protobuf of Perfetto.
    Perfetto,
}

impl ProfileForm {
    /// By the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Firefox),
            "folded" => Some(Self::Folded),
            "pftrace" => Some(Self::Perfetto),
            _ => None,
        }
    }
}

/// The profile of an explanation.
pub fn profile(explanation: &Explanation, form: ProfileForm) -> Vec<u8> {
    match form {
        ProfileForm::Firefox => firefox::write(explanation).into_bytes(),
        ProfileForm::Folded => folded::write(explanation).into_bytes(),
        ProfileForm::Perfetto => perfetto::write(explanation),
    }
}

/// What a tree is called.
pub(super) fn title(of: CodePath) -> &'static str {
    match of {
        CodePath::Cpu => "CPU time",
        CodePath::Waits => "waits",
    }
}

/// A step in a few words: the function, or what was called or waited for.
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

/// The ways of a tree that have time of their own, with that, ns.
fn ways(tree: &CodePaths) -> impl Iterator<Item = (usize, u64)> + '_ {
    let own = tree.own_ns().into_iter().enumerate();
    own.filter(|(_, ns)| *ns > 0)
}
