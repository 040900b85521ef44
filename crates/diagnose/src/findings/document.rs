//! Generates parts of `docs/findings.md` from the declarations.
//!
//! `FATHOM_WRITE_DOCS=1 cargo test -p fathom-diagnose findings` writes them. Without the variable, the test
//! fails if the page differs.

use std::fmt::Write;

use fathom_model::{FindingId, TimeCategory as Part};

use super::declaration::{Cause, Declaration, EffectOf, Mechanism};
use super::{GROUPS, declarations};
use crate::claim::Least;

/// The mark that begins generated text, followed by the name of one of the two parts.
const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end of what is generated -->";

/// Returns the table of all findings by group.
fn table() -> String {
    let mut text = "| about | findings |\n|---|---|\n".to_owned();
    for (heading, group) in GROUPS {
        let links = group.iter().map(|declared| link(declared.id));
        let links: Vec<String> = links.collect();
        writeln!(text, "| {heading} | {} |", links.join(", ")).unwrap();
    }
    text
}

fn link(id: FindingId) -> String {
    format!("[{id}](#{id})")
}

fn sections() -> String {
    let all: Vec<String> = declarations().map(section).collect();
    all.join("\n\n")
}

fn section(declared: &Declaration) -> String {
    let id = declared.id;
    let path = format!("{}/src/findings/texts/{id}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the finding has a text");
    let (sentence, text) = (wrapped(id.sentence()), text.trim_end());
    format!(
        "### `{id}`\n\n{sentence}\n\n{text}\n{}",
        wrapped(&facts(declared))
    )
}

/// Returns the facts of the declaration other than its text: the mechanism, the categories, and what takes
/// precedence.
fn facts(declared: &Declaration) -> String {
    let mut text = format!("- **Mechanism.** {}", in_words(declared.mechanism));
    text.push_str(match declared.least {
        least if least.share == Least::OF_WAITING.share => {
            "; the smallest share of the wall time that is reported is the same as for waits."
        }
        _ => ".",
    });
    if !declared.id.lies_in().is_empty() {
        let names: Vec<String> = declared.id.lies_in().iter().map(code).collect();
        let mut names = names.join(", ");
        if declared.id.lies_in() == Part::IN_KERNEL {
            "any of the kernel's".clone_into(&mut names);
        }
        let _ = write!(text, " Part of the account: {names}.");
    }
    if let EffectOf::Causes(causes) = declared.effect_of {
        text.push_str(&gives_way(declared.named_for.iter().chain(causes)));
    }
    text
}

fn gives_way<'a>(causes: impl Iterator<Item = &'a Cause>) -> String {
    let causes: Vec<String> = causes.map(|cause| format!("`{}`", cause.id)).collect();
    match causes.as_slice() {
        [] => String::new(),
        causes => format!(
            " Not reported when it is an effect of {}.",
            causes.join(", ")
        ),
    }
}

fn code(part: &Part) -> String {
    format!("`{}`", part.key())
}

/// Returns `Per item` for `PerItem`.
fn in_words(mechanism: Mechanism) -> String {
    let mut words = String::new();
    for letter in format!("{mechanism:?}").chars() {
        match letter.is_uppercase() && !words.is_empty() {
            true => words.extend([' ', letter.to_ascii_lowercase()]),
            false => words.push(letter),
        }
    }
    words
}

/// Wraps text at 100 columns, indenting the continuation lines of list items.
fn wrapped(text: &str) -> String {
    let indent = if text.starts_with("- ") { "  " } else { "" };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Returns the page with the text between the marks replaced.
fn with(page: &str, name: &str, text: &str) -> String {
    let begin = format!("{BEGIN}{name} -->\n");
    let (before, rest) = page.split_once(&begin).expect("the page has the mark");
    let (_, after) = rest.split_once(END).expect("and its end");
    format!("{before}{begin}{}\n{END}{after}", text.trim_end())
}

/// Returns `docs/findings.md` with the current declarations: the table of all findings and a section for
/// each.
fn findings_page(page: &str) -> String {
    let page = with(page, "table", &table());
    with(&page, "sections", &sections())
}

#[test]
fn the_page_of_findings_is_what_is_declared() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md");
    let page = std::fs::read_to_string(path).expect("there is a page");
    let now = findings_page(&page);
    if std::env::var_os("FATHOM_WRITE_DOCS").is_some() {
        std::fs::write(path, now).expect("it can be written");
    } else {
        assert!(
            page == now,
            "docs/findings.md differs: edit crates/diagnose/src/findings/, then \
             FATHOM_WRITE_DOCS=1 cargo test -p fathom-diagnose findings"
        );
    }
}
