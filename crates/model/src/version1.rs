//! Words that records of version 1 used for identifiers in plain strings.

use serde::{Deserialize, Deserializer};

/// Values that were renamed in version 2.
const RENAMED: [(&str, &str); 5] = [
    ("stops", "ptrace"),
    ("undisturbed", "cpu_wait_free"),
    ("void_cold_runs", "not_cold_runs"),
    ("no_cpu", "waiting_for_cpu"),
    ("model_off", "model_inaccurate"),
];

/// Parts of an account that were renamed. The names of metrics of `run` contain them after `account_` and
/// `share_`.
const PARTS: [(&str, &str); 7] = [
    ("disk", "waiting_for_disk"),
    ("network", "waiting_for_network"),
    ("locks", "waiting_for_locks"),
    ("signals", "waiting_for_signal"),
    ("other_wait", "other_waits"),
    ("ready", "waiting_for_cpu"),
    ("stolen", "cpu_steal"),
];

/// Reads an identifier under its current name. No current identifier equals one of the old names.
///
/// # Errors
/// If it is not a string.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let new = |names: &[(&str, &'static str)], name: &str| {
        let found = names.iter().find(|(old, _)| *old == name);
        found.map(|(_, new)| *new)
    };
    if let Some(new) = new(&RENAMED, &text) {
        return Ok(new.to_owned());
    }
    for prefix in ["account_", "share_"] {
        if let Some(new) = text.strip_prefix(prefix).and_then(|part| new(&PARTS, part)) {
            return Ok(format!("{prefix}{new}"));
        }
    }
    Ok(text)
}
