//! Variables of the environment that name a store or open it, and the key that secrets are hashed
//! under. They are Fathom's: no command that is measured, built or asked gets them.

use std::collections::HashMap;
use std::sync::OnceLock;

static TAKEN: OnceLock<HashMap<String, String>> = OnceLock::new();

/// Whether a variable is one of them: `FATHOM_STORE`, `FATHOM_REDACTION_KEY`,
/// `FATHOM_ATTEMPT` (the folder of a job), `FATHOM_SERVER` (the `fathom mcp` that runs this verb), or
/// one that PostgreSQL's clients read (`PG*`).
pub fn is_withheld(name: &str) -> bool {
    matches!(
        name,
        "FATHOM_STORE" | "FATHOM_REDACTION_KEY" | "FATHOM_ATTEMPT" | "FATHOM_SERVER"
    ) || name.starts_with("PG")
}

/// The value of a variable, whether it was taken out of the environment or not.
pub fn get(name: &str) -> Option<String> {
    match TAKEN.get() {
        Some(taken) if is_withheld(name) => taken.get(name).cloned(),
        _ => std::env::var(name).ok(),
    }
}

/// Those that were taken out of the environment, for a verb that runs as a process of its own.
pub fn taken() -> impl Iterator<Item = (&'static str, &'static str)> {
    let taken = TAKEN.get().into_iter().flatten();
    taken.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Takes them out of the environment of this process, and so of all that it starts. [`get`] still
/// knows them.
///
/// # Safety
/// No other thread may be running: it could read the environment meanwhile.
pub unsafe fn withhold() {
    let mut taken = HashMap::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| is_withheld(name)) else {
            continue;
        };
        // SAFETY: the caller says that no other thread runs.
        unsafe { std::env::remove_var(name) };
        // What is no text can't be used by anyone here.
        if let Ok(value) = value.into_string() {
            taken.insert(name.to_owned(), value);
        }
    }
    // A second call finds nothing more, and must not forget what the first one found.
    let _ = TAKEN.set(taken);
}
