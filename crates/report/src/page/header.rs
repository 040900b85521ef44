//! The top of every page: the answer, then what was measured, when and where.

use fathom_model::Environment;

use crate::document::class;
use crate::format_bytes;
use crate::line::Tone;
use crate::quantity::counted;
use crate::text::{bounded, html, name, words};

/// The maximum width in columns of a command shown at the top, and the maximum number of such commands.
const LONGEST_COMMAND: usize = 300;
const MOST_COMMANDS: usize = 12;

/// Where and when something was measured, and by which version of Fathom.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// The start time in RFC 3339 format, UTC.
    pub started_at: &'a str,
    /// The version of Fathom.
    pub fathom_version: &'a str,
}

/// The top of a page.
pub(crate) struct Head<'a> {
    /// The verb, which selects the style of the page.
    pub(crate) verb: &'static str,
    /// The subject, for the window's title; untrusted.
    pub(crate) of: &'a str,
    /// The first sentence, with untrusted text already escaped, and its tone.
    pub(crate) answer: String,
    pub(crate) tone: Tone,
    /// The basis of the answer; may be empty.
    pub(crate) basis: String,
    /// Command lines; untrusted.
    pub(crate) commands: Vec<&'a str>,
    pub(crate) origin: Origin<'a>,
}

impl Head<'_> {
    pub(super) fn window_title(&self) -> String {
        match self.of {
            "" => format!("fathom {}", self.verb),
            of => format!("{} – fathom {}", html(&bounded(of, 80)), self.verb),
        }
    }

    pub(super) fn html(&self) -> String {
        let class = class(self.tone);
        let mut out = format!(
            "<header>\n<p class=\"above\">fathom {}</p>\n<h1 class=\"{class}\">{}</h1>\n",
            self.verb,
            words(&self.answer)
        );
        if !self.basis.is_empty() {
            out.push_str(&format!("<p class=\"basis\">{}</p>\n", words(&self.basis)));
        }
        out.push_str(&self.commands());
        let facts: Vec<String> = facts(&self.origin)
            .iter()
            .map(|fact| format!("<li>{}</li>", html(fact)))
            .collect();
        out.push_str(&format!(
            "<ul class=\"facts\">{}</ul>\n</header>\n",
            facts.concat()
        ));
        out
    }

    /// Formats the command lines; several are numbered, as in the rest of the page.
    fn commands(&self) -> String {
        let shown = self.commands.iter().take(MOST_COMMANDS).map(|command| {
            format!(
                "<li><code>{}</code></li>",
                name(&bounded(command, LONGEST_COMMAND))
            )
        });
        let shown: String = shown.collect();
        let more = self.commands.len().saturating_sub(MOST_COMMANDS);
        let more = match more {
            0 => String::new(),
            more => format!("<p class=\"soft small\">and {more} more</p>\n"),
        };
        match self.commands.len() {
            0 => String::new(),
            1 => format!("<ul class=\"commands\">{shown}</ul>\n"),
            _ => format!("<ol class=\"commands\">{shown}</ol>\n{more}"),
        }
    }
}

/// Returns machine, kernel, date and version.
fn facts(origin: &Origin) -> Vec<String> {
    let environment = origin.environment;
    let mut facts = Vec::new();
    facts.extend(
        environment
            .cpu_model
            .as_ref()
            .map(|model| bounded(model, 60)),
    );
    // An environment without CPUs is unknown, so the number is omitted.
    let cpus = (environment.cpus > 0).then_some(environment.cpus as u64);
    facts.extend(cpus.map(|cpus| counted(cpus, "CPU", "CPUs")));
    facts.extend(
        environment
            .memory_bytes
            .map(|bytes| format_bytes(bytes as f64)),
    );
    if environment.virtual_machine == Some(true) {
        facts.push("virtual machine".to_owned());
    }
    let texts = [
        bounded(&environment.kernel, 60),
        date(&bounded(origin.started_at, 40)),
    ];
    facts.extend(texts.into_iter().filter(|text| !text.is_empty()));
    facts.push(format!("Fathom {}", bounded(origin.fathom_version, 40)));
    facts
}

/// Returns `2026-11-21 06:00 UTC` for `2026-11-21T06:00:00Z`; any other text is returned unchanged.
fn date(rfc3339: &str) -> String {
    match (rfc3339.split_once('T'), rfc3339.ends_with('Z')) {
        (Some((day, time)), true) if time.is_char_boundary(5) && time.len() > 5 => {
            format!("{day} {} UTC", &time[..5])
        }
        _ => rfc3339.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_date_is_written_for_people() {
        assert_eq!(date("2026-11-21T06:25:46Z"), "2026-11-21 06:25 UTC");
        assert_eq!(date("long ago"), "long ago");
        assert_eq!(
            date("aT\u{fe0f}\u{fe0f}\u{fe0f}Z"),
            "aT\u{fe0f}\u{fe0f}\u{fe0f}Z"
        );
    }
}
