//! Environment variables that name a store, grant access to it, or contain the key for hashes of secrets.
//! They are only for Fathom: measured, built and queried commands don't get them.

use std::collections::HashMap;
use std::sync::OnceLock;

static TAKEN: OnceLock<HashMap<String, String>> = OnceLock::new();

/// Returns whether a variable is withheld from commands: `FATHOM_STORE`, `FATHOM_REDACTION_KEY`,
/// `FATHOM_ATTEMPT` (the folder of a job), `FATHOM_SERVER` (the `fathom mcp` that runs this verb), or a
/// variable of PostgreSQL's clients (`PG*`).
pub fn is_withheld(name: &str) -> bool {
    matches!(
        name,
        "FATHOM_STORE" | "FATHOM_REDACTION_KEY" | "FATHOM_ATTEMPT" | "FATHOM_SERVER"
    ) || name.starts_with("PG")
}

/// Returns the value of a variable, even if it was removed from the environment.
pub fn get(name: &str) -> Option<String> {
    match TAKEN.get() {
        Some(taken) if is_withheld(name) => taken.get(name).cloned(),
        _ => std::env::var(name).ok(),
    }
}

/// Returns the variables removed from the environment, for a verb that runs as a separate process.
pub fn taken() -> impl Iterator<Item = (&'static str, &'static str)> {
    let taken = TAKEN.get().into_iter().flatten();
    taken.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// Removes these variables from the environment of this process, so its children don't get them. [`get`]
/// still returns their values.
///
/// # Safety
/// No other thread may be running, since it could read the environment at the same time.
pub unsafe fn withhold() {
    let mut taken = HashMap::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| is_withheld(name)) else {
            continue;
        };
        // SAFETY: the caller guarantees that no other thread is running.
        unsafe { std::env::remove_var(name) };
        // Values that aren't valid text have no use here.
        if let Ok(value) = value.into_string() {
            taken.insert(name.to_owned(), value);
        }
    }
    // A second call finds no variables, and must not discard the variables of the first call.
    let _ = TAKEN.set(taken);
}
