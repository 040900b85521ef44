//! A short summary for pull requests.

use fathom_model::Explanation;

use super::WhyOptions;
use super::document::document;
use super::tables::Extent;
use crate::bench::code;
use crate::document::{Form, markdown};
use crate::{escape, shorten};

/// The longest command, name or sentence in columns.
const LONGEST: usize = 400;

/// Formats the explanation as GitHub Markdown: timed median, account, findings. Untrusted text can't become
/// markup, a mention or a link.
pub fn explain_markdown(explanation: &Explanation) -> String {
    let command = shorten(&escape(&explanation.command), LONGEST);
    let extent = Extent {
        form: Form::Markdown,
        rows: usize::MAX,
        asked: WhyOptions::default(),
    };
    let document = markdown(&document(explanation, extent), plain, 3);
    format!("**fathom why** {}\n{document}", code(&command))
}

/// Escapes prose with untrusted names so that Markdown shows exactly its characters: punctuation with a
/// meaning becomes a character reference. GitHub resolves references before it looks for mentions, issues and
/// addresses, so an empty comment splits those.
pub(crate) fn plain(text: &str) -> String {
    let text = shorten(&escape(text), LONGEST);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '@' => out.push_str("@<!-- -->"),
            '#' => out.push_str("#<!-- -->"),
            ':' if rest.peek() == Some(&'/') => out.push_str(":<!-- -->"),
            '.' if out.ends_with("www") || out.ends_with("WWW") => out.push_str("<!-- -->."),
            '<' | '>' | '&' | '*' | '_' | '`' | '[' | ']' | '|' | '\\' | '~' | '!' | '$' | '{'
            | '}' | '"' => out.push_str(&format!("&#{};", u32::from(character))),
            _ => out.push(character),
        }
    }
    out
}

/// Like [`plain`], but formats names that contain punctuation as code: `data=a_structure` instead of
/// `data=a&#95;structure`. Text between backticks is unchanged. Nothing in a code span is markup, a mention
/// or a link.
pub(crate) fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_code = |part: &&str| {
        !part.is_empty() && !part.contains(['|', '\\', '<', '>']) && **part == *escape(part)
    };
    if parts.len().is_multiple_of(2) || !parts.iter().skip(1).step_by(2).all(is_code) {
        return with_names(text);
    }
    let written = parts
        .iter()
        .enumerate()
        .map(|(index, part)| match index % 2 {
            0 => with_names(part),
            _ => format!("`{}`", shorten(part, LONGEST)),
        });
    written.collect()
}

fn with_names(text: &str) -> String {
    let mut out = String::new();
    let mut words = text.split(' ').enumerate();
    while let Some((index, word)) = words.next() {
        let mut word = word.to_owned();
        // Text in brackets belongs to the name before it.
        while is_open(&word)
            && let Some((_, next)) = words.next()
        {
            word.push(' ');
            word.push_str(next);
        }
        let mut name = word.trim_start_matches('(');
        loop {
            let shorter = name.trim_end_matches([',', '.', ';', ':']);
            let shorter = match count(shorter, ')') > count(shorter, '(') {
                true => shorter.trim_end_matches(')'),
                false => shorter,
            };
            if shorter.len() == name.len() {
                break;
            }
            name = shorter;
        }
        let named = name.contains(['_', '[', '@', '='])
            && !name.contains(['`', '|', '\\', '<', '>'])
            && !is_open(name);
        if index > 0 {
            out.push(' ');
        }
        match named.then(|| word.split_once(name)).flatten() {
            Some((before, after)) if name == escape(name) => {
                out.push_str(&format!("{before}`{}`{after}", shorten(name, LONGEST)));
            }
            _ => out.push_str(&plain(&word)),
        }
    }
    out
}

/// Returns whether a bracket, or the parenthesis of a function, is still open.
fn is_open(word: &str) -> bool {
    let calls = !word.starts_with('(') && count(word, '(') > count(word, ')');
    calls || count(word, '[') > count(word, ']')
}

fn count(text: &str, sign: char) -> usize {
    text.matches(sign).count()
}

#[cfg(test)]
mod tests {
    use super::{plain, with_code};

    #[test]
    fn names_are_code_and_nothing_ends_it() {
        assert_eq!(
            with_code("ppbert-0.8.3[data=a_structure, sink=null] was not measured (see x_y)."),
            "`ppbert-0.8.3[data=a_structure, sink=null]` was not measured (see `x_y`)."
        );
        assert_eq!(
            with_code("ratio(rate.a_b[c=d], rate.e_f): 3.3 (2.6 to 4.3)"),
            "`ratio(rate.a_b[c=d], rate.e_f)`: 3.3 (2.6 to 4.3)"
        );
        assert_eq!(with_code("a_`<b>"), plain("a_`<b>"));
        assert_eq!(
            with_code("a `zig build run` b_c"),
            "a `zig build run` `b_c`"
        );
        assert_eq!(with_code("a `<b>` ``"), plain("a `<b>` ``"));
        assert_eq!(with_code("a_\u{1b}"), plain("a_\u{1b}"));
        assert_eq!(with_code("[open bracket"), plain("[open bracket"));
    }

    #[test]
    fn markup_mentions_and_links_are_only_text() {
        assert_eq!(plain("<b>*x*"), "&#60;b&#62;&#42;x&#42;");
        assert_eq!(plain("@me #1"), "@<!-- -->me #<!-- -->1");
        assert_eq!(plain("http://a.b"), "http:<!-- -->//a.b");
        assert_eq!(plain("a\nb"), "a&#92;nb");
    }
}
