//! Removes secrets from values that the user passes with Fathom's own options: `--env`, headers, addresses,
//! and paths with queries. The values are used as given and redacted here before a record is made, so that no
//! output can contain them. [`fathom_model::secret`] decides which values are secrets.
//!
//! A secret is replaced by `redacted-` with its hash under a key that is not in the store (see `key`):
//! measurements that differ only by a secret stay distinct, and the secret can't be found by guessing.
//! Without a key, the replacement is only `redacted`.

mod key;
mod typed;

use fathom_model::secret;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
pub use typed::{assignment, line, typed_word, typed_words};

/// The number of hash digits: 48 bits keep a thousand secrets distinct.
const DIGITS: usize = 12;

/// Redacts the value of a variable or header.
pub fn value(name: &str, value: &str) -> String {
    secret::value(name, value, &|_, secret| mark(secret, key::own()))
}

/// Redacts an address, or a path with a query.
pub fn text(text: &str) -> String {
    secret::text(text, &|_, secret| mark(secret, key::own()))
}

/// Redacts the values of name-value pairs.
pub fn pairs(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let one = |(name, given): &(String, String)| (name.clone(), value(name, given));
    pairs.iter().map(one).collect()
}

/// Redacts the whole text, whatever its name.
pub(crate) fn whole(secret: &str) -> String {
    mark(secret, key::own())
}

fn mark(secret: &str, key: Option<&[u8]>) -> String {
    let hash = key.and_then(|key| Hmac::<Sha256>::new_from_slice(key).ok());
    let Some(mut hash) = hash else {
        return "redacted".to_owned();
    };
    hash.update(secret.as_bytes());
    let bytes = hash.finalize().into_bytes();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("redacted-{}", &digits[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_the_hash_under_the_key() {
        // RFC 4231, test case 2.
        let known = mark("what do ya want for nothing?", Some(b"Jefe"));
        assert_eq!(known, "redacted-5bdcc146bf60");
        assert_ne!(mark("a", Some(b"key")), mark("b", Some(b"key")));
        assert_ne!(mark("a", Some(b"key")), mark("a", Some(b"other")));
        assert_eq!(mark("a", None), "redacted");
    }
}
