//! The segment of a point in its series: the part of the environment that affects figures.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Facts that begin a new segment when they change. They exclude the load, which changes all the time, and
/// the name of the machine, which differs for each run in a container.
const DECIDES: [&str; 7] = [
    "kernel",
    "architecture",
    "cpu_model",
    "cpus",
    "memory_bytes",
    "governor",
    "virtual_machine",
];

/// An environment with comparable figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// A short key. The same facts have the same key on every machine.
    pub key: String,
    /// The facts, in the format of a record's `environment`.
    pub facts: Value,
}

impl Segment {
    /// Returns the segment of a record's `environment`. Memory is rounded to whole GiB, since kernels reserve
    /// slightly different amounts.
    pub fn of(environment: &Value) -> Segment {
        let fact = |name: &&str| {
            let value = match (*name, environment[*name].as_u64()) {
                ("memory_bytes", Some(bytes)) => json!(((bytes + (1 << 29)) >> 30) << 30),
                _ => environment[*name].clone(),
            };
            ((*name).to_owned(), value)
        };
        let facts = Value::Object(DECIDES.iter().map(fact).collect::<Map<_, _>>());
        let key = hex(&Sha256::digest(facts.to_string())[..8]);
        Segment { key, facts }
    }
}

/// Formats bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_and_name_do_not_matter_kernel_and_processor_do() {
        let here = json!({"kernel": "Linux 6.18", "cpu_model": "EPYC", "cpus": 2, "host": "a",
            "memory_bytes": 25_276_510_208u64, "load_average": 0.5});
        let changed = |name: &str, value: Value| {
            let mut other = here.clone();
            other[name] = value;
            Segment::of(&other).key != Segment::of(&here).key
        };
        assert!(!changed("host", json!("b")) && !changed("load_average", json!(3.0)));
        assert!(!changed("memory_bytes", json!(25_276_000_000u64)));
        assert!(changed("kernel", json!("Linux 6.19")) && changed("governor", json!("powersave")));
        assert!(changed("cpus", json!(4)) && changed("memory_bytes", json!(16u64 << 30)));
    }
}
