//! Lists of experiments: a catalogue, and the summary after running all.

use fathom_model::{CatalogueRow, ClaimResult, ExperimentRecord};

use super::words;
use crate::Screen;
use crate::line::{Line, Page, Tone};
use crate::quantity::{TimeUnit, counted, format_time};
use crate::text::{columns, wrap};

/// Formats the catalogue: how many can run here, then one line each, runnable experiments first. Verbose
/// output also lists what each covers and lacks.
pub fn catalogue_terminal(rows: &[CatalogueRow], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (here, lacking): (Vec<&CatalogueRow>, Vec<&CatalogueRow>) =
        rows.iter().partition(|row| row.missing.is_empty());
    let experiments = counted(rows.len() as u64, "experiment", "experiments");
    let unchecked: usize = rows.iter().map(|row| row.unchecked.len()).sum();
    let (what, have) = match unchecked {
        0 => (
            "everything they need is available",
            "have everything they need",
        ),
        _ => (
            "their programs are available",
            "have their programs available",
        ),
    };
    let answer = match here.len() {
        all if all == rows.len() => format!("{experiments}: {what}."),
        some => format!("{some} of {experiments} {have}."),
    };
    page.prose(0, Tone::Strong, &answer);
    if unchecked > 0 {
        let checks = counted(unchecked as u64, "check was", "checks were");
        let text = format!(
            "{checks} not run, because a check runs a command from the experiment's file; --check runs them."
        );
        page.prose(0, Tone::Quiet, &text);
    }
    let widest = rows.iter().map(|row| columns(&page.clean(&row.name)));
    let widest = widest.max().unwrap_or(0).min(30);
    for row in &here {
        catalogue_row(&mut page, row, widest, screen.verbose);
    }
    if !lacking.is_empty() {
        page.gap();
        let title = "These experiments lack something, and run as far as possible without it:";
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
        false => "; -v shows what each experiment covers and lacks",
    };
    page.prose(
        0,
        Tone::Quiet,
        &format!("{run}{covered} published results covered{more}"),
    );
    page.finish()
}

/// Writes name and title in a line; with `verbose`, what it covers and lacks below.
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
        page.prose(widest + 4, Tone::Notice, missing);
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

/// Formats the end of `fathom run --all`: one line for each experiment, and the sum.
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
