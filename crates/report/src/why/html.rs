//! The page: one file that needs no network and runs no script but its own.

use fathom_model::Explanation;
use sha2::{Digest, Sha256};

use super::page_data::{Limits, PageData};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(
    include_str!("page/text.js"),
    include_str!("page/summary.js"),
    include_str!("page/timeline.js"),
    include_str!("page/paint.js"),
    include_str!("page/pointer.js"),
    include_str!("page/tables.js"),
);

/// The page is smaller than this, in bytes.
const LARGEST: usize = 1_000_000;

/// The explanation as one page: the account as a bar, the findings, a timeline of all threads that
/// zooms, and the tables. Smaller than 1,000,000 bytes whatever the program did; what was left out for
/// that is said on the page.
///
/// Texts from outside stand only in a data block, escaped so that they can't end it, and are put on
/// the page as text. The content security policy allows only the page's own script and style, by
/// their hashes.
pub fn explain_html(explanation: &Explanation) -> String {
    let mut limits = Limits {
        stretches: 24_000,
        lanes: 600,
        details: 4_000,
        rows: 400,
        text: 240,
    };
    loop {
        let page = page(&PageData::of(explanation, &limits));
        if page.len() < LARGEST || limits.rows <= 1 {
            return page;
        }
        limits = Limits {
            stretches: limits.stretches / 2,
            lanes: limits.lanes / 2,
            details: limits.details / 2,
            rows: limits.rows / 2,
            text: (limits.text / 2).max(60),
        };
    }
}

/// Fills the template. It is walked once, so that a name can't be taken for a place in it.
fn page(data: &PageData) -> String {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    let mut out = String::with_capacity(TEMPLATE.len() + STYLE.len() + SCRIPT.len());
    let mut rest = TEMPLATE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "policy" => out.push_str(&policy),
            "style" => out.push_str(STYLE),
            "script" => out.push_str(SCRIPT),
            "data" => out.push_str(&inert_json(data)),
            _ => {}
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// JSON in which nothing can end a script element, begin a comment or break a line: these characters
/// only occur inside of strings, where they may be written as escapes.
fn inert_json(data: &PageData) -> String {
    // Strings, numbers and lists always have a JSON form.
    let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    let mut out = String::with_capacity(json.len() + json.len() / 50);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    out
}

/// The hash of an inline element as a content security policy names it.
pub(crate) fn hash(content: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(content.as_bytes())))
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for place in 0..4 {
            if place > chunk.len() {
                out.push('=');
            } else {
                let digit = bits >> (18 - 6 * place) & 63;
                out.push(char::from(DIGITS[digit as usize]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_as_in_the_vectors_of_its_rfc() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
