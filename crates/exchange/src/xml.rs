//! Reads XML of other tools, whose size is bounded before it is parsed. The parser takes linear time for what
//! is passed to it here, but it is cubic in namespaces and quadratic in the attributes of an element.

use roxmltree::{Document, ParsingOptions};

use crate::error::{Error, malformed};
use crate::lines::find;

/// The limit for a parsed document's memory, in bytes; together with the text (64 MB) and the results, this
/// stays below 400 MB.
const MOST_MEMORY: usize = 220 << 20;
/// The number of bytes that the parser allocates for each `<`; for each `=`, it allocates [`ATTRIBUTE`].
const NODE: usize = 72;
const ATTRIBUTE: usize = 48;
/// The maximum nesting depth of elements; test runners use about ten levels.
const DEEPEST: usize = 200;
/// The maximum number of attributes of one element.
const MOST_ATTRIBUTES: usize = 200;
/// The maximum number of namespaces that are in scope at one place.
const MOST_NAMESPACES: usize = 32;
/// The maximum number of namespaces in scope, summed over all elements that declare one; each of them repeats
/// those around it.
const ALL_NAMESPACES: usize = 2_000_000;

/// Parses XML. A document type declaration is refused, so that no entity can expand.
pub(crate) fn document(text: &str) -> Result<Document<'_>, Error> {
    survey(text.as_bytes())?;
    let options = ParsingOptions {
        allow_dtd: false,
        ..Default::default()
    };
    Document::parse_with_options(text, options).map_err(|error| malformed(format!("XML: {error}")))
}

/// Refuses documents that would take too much memory or time. If this mistakes something for a tag, the
/// parser reports an error there.
fn survey(text: &[u8]) -> Result<(), Error> {
    let refused = |what: String| Err(Error::TooLarge(format!("this XML has {what}")));
    let count = |byte: u8| memchr::memchr_iter(byte, text).count();
    if count(b'<') * NODE + count(b'=') * ATTRIBUTE > MOST_MEMORY {
        return refused("more elements and attributes than fit into 220 MB of memory".to_owned());
    }
    let mut rest = text;
    let mut all_namespaces = 0;
    // Namespaces in scope, one entry for each open element.
    let mut open: Vec<usize> = Vec::new();
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        let past = |end: &[u8]| find(rest, end).map_or(rest.len(), |at| at + end.len());
        let skipped = match rest {
            [b'!', b'-', b'-', ..] => past(b"-->"),
            [b'!', b'[', ..] => past(b"]]>"),
            [b'?', ..] => past(b"?>"),
            [b'!', ..] => past(b">"),
            [b'/', ..] => {
                open.pop();
                past(b">")
            }
            _ => {
                let tag = Tag::of(rest);
                if tag.attributes > MOST_ATTRIBUTES {
                    return refused(format!("more than {MOST_ATTRIBUTES} attributes in a tag"));
                }
                let namespaces = open.last().copied().unwrap_or(0) + tag.namespaces;
                if tag.namespaces > 0 {
                    all_namespaces += namespaces;
                }
                if namespaces > MOST_NAMESPACES || all_namespaces > ALL_NAMESPACES {
                    return refused(format!(
                        "namespaces nested deeper than {MOST_NAMESPACES}, or too many"
                    ));
                }
                if !tag.is_whole {
                    open.push(namespaces);
                }
                if open.len() > DEEPEST {
                    return refused(format!("elements nested deeper than {DEEPEST}"));
                }
                tag.length
            }
        };
        rest = &rest[skipped..];
    }
    Ok(())
}

/// A tag that opens an element.
#[derive(Default)]
struct Tag {
    length: usize,
    attributes: usize,
    namespaces: usize,
    /// Whether the tag is self-closing: `<a/>`.
    is_whole: bool,
}

impl Tag {
    fn of(text: &[u8]) -> Tag {
        let mut tag = Tag::default();
        let (mut quote, mut word, mut within) = (None, 0, false);
        for (at, &byte) in text.iter().enumerate() {
            tag.length = at + 1;
            let is_name =
                quote.is_none() && !byte.is_ascii_whitespace() && !b"'\"=>".contains(&byte);
            if is_name && !within {
                word = at;
            }
            within = is_name;
            match (quote, byte) {
                (Some(open), byte) if open == byte => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'=') => {
                    tag.attributes += 1;
                    tag.namespaces += usize::from(text[word..at].starts_with(b"xmlns"));
                }
                (None, b'>') => {
                    tag.is_whole = at > 0 && text[at - 1] == b'/';
                    break;
                }
                _ => {}
            }
        }
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        match document(text) {
            Err(Error::TooLarge(why)) => why,
            other => panic!("{:?}", other.map(|document| document.descendants().count())),
        }
    }

    #[test]
    fn namespaces_within_namespaces_are_bounded() {
        // 256 kB of this took 112 s to parse.
        let deep: String = (0..199).map(|n| format!("<a xmlns:n{n}='u{n}'>")).collect();
        assert!(refused(&deep).contains("namespaces nested deeper than 32"));
        let inside: String = (0..40).map(|n| format!("  xmlns:n{n} = 'u{n}'")).collect();
        assert!(refused(&format!("<a{inside}/>")).contains("namespaces"));
        let unspaced: String = (0..40).map(|n| format!("xmlns:n{n}='u{n}'")).collect();
        assert!(refused(&format!("<a {unspaced}/>")).contains("namespaces"));
        let around: String = (0..32).map(|n| format!(" xmlns:n{n}='u'")).collect();
        let many = format!(
            "<a{}>{}",
            around.replacen(" xmlns:n0='u'", "", 1),
            "<b xmlns:z='v'/>".repeat(70_000)
        );
        assert!(refused(&many).contains("too many"));
        // A realistic document has a declaration in each suite.
        let usual = format!(
            "<a xmlns='u'>{}</a>",
            "<b xmlns:x='v'><c/></b>".repeat(10_000)
        );
        assert_eq!(document(&usual).unwrap().descendants().count(), 20_002);
    }

    #[test]
    fn depth_attributes_and_nodes_are_bounded() {
        assert!(refused(&"<a>".repeat(201)).contains("elements nested deeper than 200"));
        let attributes: String = (0..201).map(|n| format!(" a{n}=''")).collect();
        assert!(refused(&format!("<a{attributes}/>")).contains("200 attributes"));
        assert!(refused(&format!("<a>{}", "<b/>".repeat(4_000_000))).contains("220 MB"));
        assert!(refused(&format!("<a>{}", "<b c=''/>".repeat(2_500_000))).contains("220 MB"));
        assert!(refused(&format!("<a>{}", "==".repeat(3_000_000))).contains("220 MB"));
        let right = format!("{}{}", "<a>".repeat(200), "</a>".repeat(200));
        assert_eq!(document(&right).unwrap().descendants().count(), 201);
    }

    #[test]
    fn what_only_looks_like_a_tag_is_none() {
        let odd = format!(
            "<?xml version='1.0'?><!-- {0} --><a b='{1}' c=\"'>\"><![CDATA[{0}]]>{1}</a>",
            "<a xmlns:x='u'>".repeat(300),
            "x>/ xmlns:y".repeat(300)
        );
        let document = document(&odd).unwrap();
        assert_eq!(document.root_element().attributes().len(), 2);
        assert_eq!(document.root_element().attribute("c"), Some("'>"));
    }
}
