//! What `fathom run` prints.

use fathom_model::{CatalogueRow, ClaimResult, ExperimentRecord, Layer};

use super::{pictures, words};
use crate::Screen;
use crate::line::{Line, Page, Tone};
use crate::quantity::{TimeUnit, counted, format_time};
use crate::text::{columns, wrap};
use crate::waits;

/// Columns of the verdict.
const VERDICT: usize = 17;
/// Spaces between columns.
const BETWEEN: usize = 2;

/// The claims of an experiment by layer, each with what was published, what was measured and the
/// verdict; then answers, what is missing, and where it was measured. No line is wider than
/// `width`.
pub fn experiment_terminal(record: &ExperimentRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    heading(&mut page, record);
    for layer in [Layer::Arithmetic, Layer::Mechanism, Layer::Size] {
        let claims: Vec<&ClaimResult> = record.claims.iter().filter(|c| c.layer == layer).collect();
        if !claims.is_empty() {
            table(&mut page, layer, &claims);
        }
    }
    pictures::terminal(&mut page, record);
    answers(&mut page, record);
    lacking(&mut page, record);
    footer(&mut page, record);
    page.finish()
}

fn heading(page: &mut Page, record: &ExperimentRecord) {
    let title = page.clean(&record.title);
    page.prose(0, Tone::Strong, &title);
    if let Some(question) = &record.question {
        let question = page.clean(question);
        page.prose(2, Tone::Plain, &question);
    }
    if let Some(source) = words::source(record) {
        let text = page.clean(&source);
        page.prose(2, Tone::Quiet, &format!("published: {text}"));
    }
    if !record.complete {
        page.prose(
            2,
            Tone::Bad,
            "Partial: not everything was measured; the notes at the end say what.",
        );
    }
    if let Some(waits) = waits::line(record.cpu_waits.as_ref()) {
        page.prose(2, Tone::Notice, &waits);
    }
}

/// Widths of claim, published and measured.
fn widths(width: usize) -> [usize; 3] {
    let room = width.saturating_sub(2 + VERDICT + 3 * BETWEEN);
    let published = (room / 4).max(9);
    let measured = (room * 3 / 8).max(9);
    [
        room.saturating_sub(published + measured).max(9),
        published,
        measured,
    ]
}

fn table(page: &mut Page, layer: Layer, claims: &[&ClaimResult]) {
    page.gap();
    let [claim, published, _] = widths(page.width());
    let place = [
        2,
        2 + claim + BETWEEN,
        2 + claim + published + 2 * BETWEEN,
        page.width() - VERDICT,
    ];
    let here = words::here(layer);
    page.push(
        Line::new()
            .add(Tone::Strong, words::layer(layer))
            .pad_to(place[1].max(columns(words::layer(layer)) + BETWEEN))
            .add(
                Tone::Quiet,
                if columns(words::layer(layer)) < place[1] {
                    "published"
                } else {
                    ""
                },
            )
            .pad_to(place[2])
            .add(Tone::Quiet, here)
            .pad_to(place[3])
            .add(Tone::Quiet, "verdict"),
    );
    for claim in claims {
        row(page, claim, place);
    }
}

/// Words that are wider than a cell, broken behind a sign within them where there is one:
/// `share_wait_input.` and `counter:` instead of `share_wait_input.cou` and `nter:`.
fn breakable(text: &str, width: usize) -> String {
    const SIGNS: [char; 7] = ['.', ',', '(', '[', '=', '/', '_'];
    let mut out: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        let mut word = word;
        while columns(word) > width {
            let fits = |end: &usize| columns(&word[..*end]) <= width;
            let ends = word.char_indices().filter(|(_, c)| SIGNS.contains(c));
            let Some(end) = ends.map(|(at, c)| at + c.len_utf8()).rfind(fits) else {
                break;
            };
            out.push(&word[..end]);
            word = &word[end..];
        }
        out.push(word);
    }
    out.join(" ")
}

fn row(page: &mut Page, claim: &ClaimResult, place: [usize; 4]) {
    let [text_width, published_width, measured_width] = widths(page.width());
    let cell = |page: &Page, text: &str, width| wrap(&breakable(&page.clean(text), width), width);
    let text = cell(page, &claim.text, text_width);
    let published = words::published(claim.published.as_ref());
    let published = cell(page, &published, published_width);
    let measured: Vec<String> = words::measured(claim)
        .iter()
        .flat_map(|one| cell(page, one, measured_width))
        .collect();
    let mut verdict = vec![words::verdict(claim).to_string()];
    if claim.budget {
        verdict.push("(budget)".to_string());
    }
    let height = [text.len(), published.len(), measured.len(), verdict.len()];
    let at = |cells: &[String], line: usize| cells.get(line).cloned().unwrap_or_default();
    for line in 0..height.into_iter().max().unwrap_or(0) {
        page.push(
            Line::new()
                .pad_to(place[0])
                .add(Tone::Plain, at(&text, line))
                .pad_to(place[1])
                .add(Tone::Plain, at(&published, line))
                .pad_to(place[2])
                .add(Tone::Plain, at(&measured, line))
                .pad_to(place[3])
                .add(words::tone(claim.judged.verdict), at(&verdict, line)),
        );
    }
    for remark in words::remarks(claim) {
        let remark = page.clean(&remark);
        page.prose(6, Tone::Quiet, &remark);
    }
}

fn answers(page: &mut Page, record: &ExperimentRecord) {
    if record.answers.is_empty() {
        return;
    }
    page.gap();
    page.prose(0, Tone::Strong, "Open questions");
    for answer in &record.answers {
        let question = page.clean(&answer.question);
        page.prose(2, Tone::Plain, &question);
        let mut text = answer.status.clone();
        for part in [&answer.answer, &answer.tried].into_iter().flatten() {
            text.push_str(&format!(": {part}"));
        }
        if !answer.evidence.is_empty() {
            let evidence: Vec<String> = answer
                .evidence
                .iter()
                .map(|(id, verdict)| format!("{id}: {}", verdict.name()))
                .collect();
            text.push_str(&format!(" ({})", evidence.join("; ")));
        }
        let text = page.clean(&text);
        page.prose(6, Tone::Quiet, &text);
    }
}

fn lacking(page: &mut Page, record: &ExperimentRecord) {
    let missing: Vec<_> = record
        .tools
        .iter()
        .filter(|tool| tool.missing.is_some())
        .collect();
    if !missing.is_empty() || !record.warnings.is_empty() {
        page.gap();
    }
    for tool in missing {
        let mut text = format!("missing: {}", tool.missing.clone().unwrap_or_default());
        if let Some(without) = &tool.without {
            text.push_str(&format!("; {without}"));
        }
        let text = page.clean(&text);
        page.prose(0, Tone::Notice, &text);
    }
    for warning in &record.warnings {
        let warning = page.clean(warning);
        page.prose(0, Tone::Notice, &format!("warning: {warning}"));
    }
    for measure in &record.measures {
        for note in &measure.notes {
            let note = page.clean(note);
            page.prose(0, Tone::Quiet, &format!("{}: {note}", measure.id));
        }
    }
}

fn footer(page: &mut Page, record: &ExperimentRecord) {
    page.gap();
    page.prose(0, Tone::Strong, &words::tally(&record.claims));
    if record.measures.is_empty() {
        page.prose(0, Tone::Quiet, "Nothing had to be measured.");
        return;
    }
    let versions: Vec<String> = record
        .tools
        .iter()
        .filter_map(|tool| tool.version.clone())
        // A check that only says "there" names no version.
        .filter(|version| version.contains(|c: char| c.is_ascii_digit()))
        .collect();
    if !versions.is_empty() {
        let text = page.clean(&format!("tools: {}", versions.join("; ")));
        page.prose(0, Tone::Quiet, &text);
    }
    let machine = machine(record);
    let machine = page.clean(&machine);
    page.prose(0, Tone::Quiet, &machine);
    let set = if record.quick {
        "quick set"
    } else {
        "full set"
    };
    let text = format!(
        "{set}, {}; records: {}",
        words::seconds(record.seconds),
        record.work_folder
    );
    let text = page.clean(&text);
    page.prose(0, Tone::Quiet, &text);
}

/// One line about the machine and the day: the figures mean nothing elsewhere.
pub(super) fn machine(record: &ExperimentRecord) -> String {
    let environment = &record.environment;
    let mut parts = Vec::new();
    parts.extend(environment.cpu_model.clone());
    parts.push(match environment.cpus {
        1 => "1 CPU".to_string(),
        n => format!("{n} CPUs"),
    });
    if environment.virtual_machine == Some(true) {
        parts.push("virtual machine".to_string());
    }
    parts.push(environment.kernel.clone());
    format!("machine: {}; {}", parts.join(", "), record.started_at)
}

/// The catalogue: how many can run here, then a line each, those that can first. Verbose: what
/// each covers and lacks, too.
pub fn catalogue_terminal(rows: &[CatalogueRow], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (here, lacking): (Vec<&CatalogueRow>, Vec<&CatalogueRow>) =
        rows.iter().partition(|row| row.missing.is_empty());
    let experiments = counted(rows.len() as u64, "experiment", "experiments");
    let unchecked: usize = rows.iter().map(|row| row.unchecked.len()).sum();
    let (what, have) = match unchecked {
        0 => ("all that they need is here", "have all that they need here"),
        _ => ("their programs are here", "have their programs here"),
    };
    let answer = match here.len() {
        all if all == rows.len() => format!("{experiments}: {what}."),
        some => format!("{some} of {experiments} {have}."),
    };
    page.prose(0, Tone::Strong, &answer);
    if unchecked > 0 {
        let checks = counted(unchecked as u64, "check was", "checks were");
        let text = format!("{checks} not run (--check): a check is a command of the file.");
        page.prose(0, Tone::Quiet, &text);
    }
    let widest = rows.iter().map(|row| columns(&page.clean(&row.name)));
    let widest = widest.max().unwrap_or(0).min(30);
    for row in &here {
        catalogue_row(&mut page, row, widest, screen.verbose);
    }
    if !lacking.is_empty() {
        page.gap();
        let title = "These lack something, and are run without it as far as they can:";
        page.prose(0, Tone::Strong, title);
    }
    for row in &lacking {
        catalogue_row(&mut page, row, widest, screen.verbose);
    }
    page.gap();
    let covered: usize = rows.iter().map(|row| row.rows.len()).sum();
    let first = here.first().or(lacking.first());
    let run = first.map_or(String::new(), |row| {
        let file = row.file.strip_suffix("/experiment.toml");
        let file = page.clean(file.unwrap_or(&row.file));
        format!("run one: fathom run --quick {file}; ")
    });
    let more = match screen.verbose {
        true => "",
        false => "; what they cover and lack: -v",
    };
    page.prose(
        0,
        Tone::Quiet,
        &format!("{run}{covered} published results{more}"),
    );
    page.finish()
}

/// Name and title in a line; below, if wanted, what it covers and lacks.
fn catalogue_row(page: &mut Page, row: &CatalogueRow, widest: usize, verbose: bool) {
    let name = page.fit(&row.name, widest);
    let room = page.width().saturating_sub(widest + 4);
    let title = page.fit(&row.title, room);
    let line = Line::new().pad_to(2).add(Tone::Strong, name);
    page.push(line.pad_to(widest + 4).add(Tone::Plain, title));
    if !verbose {
        return;
    }
    if !row.rows.is_empty() {
        let covered = page.clean(&row.rows.join(", "));
        page.prose(widest + 4, Tone::Quiet, &format!("covers {covered}"));
    }
    for missing in &row.missing {
        let missing = page.clean(missing);
        page.prose(widest + 4, Tone::Notice, &missing);
    }
    if !row.unchecked.is_empty() {
        let unchecked = page.clean(&row.unchecked.join(", "));
        page.prose(
            widest + 4,
            Tone::Quiet,
            &format!("not checked: {unchecked}"),
        );
    }
}

/// The end of `fathom run --all`: one line for each experiment and the sum.
pub fn summary_terminal(records: &[(String, ExperimentRecord)], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let names: Vec<String> = records.iter().map(|(name, _)| page.clean(name)).collect();
    let widest = names
        .iter()
        .map(|name| columns(name))
        .max()
        .unwrap_or(0)
        .min(30);
    for ((_, record), name) in records.iter().zip(&names) {
        let name = page.fit(name, widest);
        let time = words::seconds(record.seconds);
        let tally = words::tally(&record.claims);
        let mut lines = wrap(&tally, page.width().saturating_sub(widest + 12)).into_iter();
        page.push(
            Line::new()
                .add(Tone::Strong, name)
                .pad_to(widest + 2)
                .add(Tone::Quiet, format!("{time:>8}"))
                .pad_to(widest + 12)
                .add(Tone::Plain, lines.next().unwrap_or_default()),
        );
        for line in lines {
            page.push(Line::new().pad_to(widest + 12).add(Tone::Plain, line));
        }
    }
    let all: Vec<ClaimResult> = records
        .iter()
        .flat_map(|(_, record)| record.claims.clone())
        .collect();
    let seconds: f64 = records.iter().map(|(_, record)| record.seconds).sum();
    page.gap();
    let text = format!(
        "{} experiments, {} claims in {}: {}",
        records.len(),
        all.len(),
        format_time(seconds, Some(TimeUnit::Second), 0),
        words::tally(&all)
    );
    page.prose(0, Tone::Strong, &text);
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_broken_at_its_signs() {
        let lines = |text: &str| wrap(&breakable(text, 20), 20);
        assert_eq!(
            lines("share_wait_input.counter: 0.98"),
            ["share_wait_input.", "counter: 0.98"]
        );
        assert_eq!(
            lines("ratio(wall.a_long_name, wall.another_name[size=large]): 2"),
            [
                "ratio(wall.a_long_",
                "name,",
                "wall.another_name[",
                "size=large]): 2"
            ]
        );
        assert_eq!(
            lines("nosignatallinthislongword"),
            ["nosignatallinthislon", "gword"]
        );
        assert_eq!(lines("short  words"), ["short words"]);
    }
}
