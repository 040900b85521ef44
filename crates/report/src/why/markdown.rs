//! A short summary for pull requests.

use fathom_model::{Confidence, Explanation, Finding};

use super::quote::{Quote, could_save, share_text};
use super::summary::{
    counted_runs, estimate, explained_by, process_title, slowdown, whole, whole_seconds,
};
use super::verdict::verdict;
use super::{account, code_name, processes, whereabouts};
use crate::bench::code;
use crate::text::JOIN;
use crate::{escape, shorten};

/// Findings in the summary.
const FINDINGS: usize = 5;
/// Columns of a command, name or sentence.
const LONGEST: usize = 400;

/// The explanation as GitHub Markdown: timed median, account, findings. Text from outside can't
/// become markup, a mention or a link.
pub fn explain_markdown(explanation: &Explanation) -> String {
    let quote = Quote::of(explanation);
    let explaining = &explanation.explaining;
    let command = shorten(&escape(&explanation.command), LONGEST);
    let mut out = format!("**fathom why** {}\n\n", code(&command));
    let by = plain(&explained_by(&explaining.tier));
    let slowdown = slowdown(explanation);
    out.push_str(&match &explanation.process {
        Some(process) => {
            let title = plain(&process_title(explanation, process));
            format!("{title}. Observed {by}; {slowdown}.\n")
        }
        None => format!(
            "Wall time {}, median of {}. Observed in another run, {by}; {slowdown}.\n",
            estimate(&explanation.timed.wall).replace(JOIN, " "),
            counted_runs(&explanation.timed),
        ),
    });
    if !explanation.end.is_empty() {
        out.push_str(&format!("\nThe run ended: {}.\n", plain(&explanation.end)));
    }
    for lost in &explaining.lost {
        out.push_str(&format!("\nLost: {}\n", plain(lost)));
    }
    let entries = account::entries(&explanation.account);
    if !entries.is_empty() {
        let whole = whole(explanation);
        out.push_str(&if quote.times {
            format!("\n| Where the {whole} goes | Time | Share |\n|:---|---:|---:|\n")
        } else {
            format!("\n| Where the {whole} goes, predicted | Share |\n|:---|---:|\n")
        });
    }
    for entry in &entries {
        let time = match quote.times {
            true => format!(" {} |", quote.show(entry.ns)),
            false => String::new(),
        };
        out.push_str(&format!(
            "| {} |{time} {} |\n",
            entry.name,
            share_text(entry.share)
        ));
    }
    out.push_str(&places(explanation));
    out.push('\n');
    if explanation.findings.is_empty() {
        out.push_str(&format!("{}.\n", plain(&verdict(explanation))));
        if let Some(child) = processes::busiest_child(explanation) {
            out.push_str(&format!("{}\n", plain(&child)));
        }
    }
    for (index, finding) in explanation.findings.iter().take(FINDINGS).enumerate() {
        out.push_str(&one(index, finding, whole_seconds(explanation)));
    }
    if explanation.findings.len() > FINDINGS {
        out.push_str(&format!(
            "\nand {} more findings\n",
            explanation.findings.len() - FINDINGS
        ));
    }
    for warning in &explanation.warnings {
        out.push_str(&format!("\nWarning: {}\n", plain(warning)));
    }
    out
}

/// The largest pieces of the time.
fn places(explanation: &Explanation) -> String {
    let rows = whereabouts::shown(explanation).map(|row| {
        let what = plain(&whereabouts::what(row));
        let pieces: Vec<String> = whereabouts::pieces(row)
            .iter()
            .map(|one| plain(one))
            .collect();
        format!(
            "| {} | {what} | {} |\n",
            share_text(row.share),
            pieces.join("; ")
        )
    });
    let rows: String = rows.collect();
    match rows.is_empty() {
        true => rows,
        false => format!("\n| Share | What | Where |\n|---:|:---|:---|\n{rows}"),
    }
}

fn one(index: usize, finding: &Finding, whole: f64) -> String {
    let mut facts = vec![format!("{} of the wall time", share_text(finding.share))];
    facts.extend(could_save(finding, whole));
    if finding.confidence == Confidence::Likely {
        facts.push("likely".to_owned());
    }
    let place = code_name::pieces(&finding.code, &finding.callers).join(" ");
    let place = match place.is_empty() {
        true => place,
        false => format!(" At {}.", plain(&place)),
    };
    format!(
        "{}. **{}**: {}. {}{place} Change: {}\n",
        index + 1,
        plain(finding.id.as_str()),
        facts.join(", "),
        plain(&finding.statement),
        plain(&finding.advice)
    )
}

/// Prose with names from outside in it, as Markdown that shows just its characters: punctuation
/// that means something becomes a character reference. GitHub looks for mentions, issues and
/// addresses after it has resolved references, so an empty comment parts those.
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

/// As [`plain`], with names that hold punctuation as code: `data=a_structure` in place of
/// `data=a&#95;structure`, and what stands between backticks as it is. Nothing in a code span is markup, a
/// mention or a link.
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
        // What stands in brackets belongs to the name before them.
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

/// Whether a bracket, or the parenthesis of a function, is still to be closed.
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
