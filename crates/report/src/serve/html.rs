//! The page: one file that needs no network.

use fathom_model::ServeRecord;

use super::answer::answer;
use super::{calls, cold, loads, pictures, tables, terminal, websocket, words};
use crate::line::Tone;
use crate::page::{Head, Origin, page, saved, section};
use crate::quantity::counted;
use crate::text::{bounded, html, name, words as own};

/// Longest answer and longest note, in columns.
const LONGEST: usize = 1200;
/// Servers that a report names.
const MOST_NAMES: usize = 12;

/// The record as one page: the answer; what stands in the way of trust; how soon the servers answer,
/// rung by rung; what they do under load, by percentile and second by second; the verdicts; and the
/// record itself, to be saved.
///
/// Texts from outside are put in as text only, escaped.
pub fn serve_html(record: &ServeRecord) -> String {
    let starts = cold::starts(record);
    let mut out = notes(record);
    out.push_str(&section("Budget", &tables::budget(record)));
    if let Some(title) = cold::title(record, &starts) {
        let content = pictures::start(record, &starts)
            + &tables::start::start(record, &starts)
            + &section("Each launch", &pictures::launches(record, &starts))
            + &folded("Every launch", &tables::start::launches(record, &starts));
        out.push_str(&section(&title, &content));
    }
    out.push_str(&under_load(record));
    out.push_str(&messages(record));
    out.push_str(&highest_rates(record));
    out.push_str(&section("Against server 1", &tables::comparisons(record)));
    out.push_str(&section("The record", &saved("fathom-serve.json", record)));
    page(&head(record), &out)
}

/// What a report shows of it: the answer, the start and the load; not each launch, round and second.
pub(crate) fn parts(record: &ServeRecord) -> String {
    let starts = cold::starts(record);
    let (tone, answer) = answer(record);
    let class = match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        _ => "",
    };
    let names = record.servers.iter().take(MOST_NAMES);
    let names: String = names
        .map(|one| format!("<li><code>{}</code></li>", name(&bounded(&one.name, 300))))
        .collect();
    let mut out = format!(
        "<p class=\"strip {class}\"><strong>{}</strong></p>\n<ol class=\"commands\">{names}</ol>\n",
        own(&bounded(&answer, LONGEST)).replace('/', "/<wbr>")
    );
    out.push_str(&notes(record));
    if let Some(title) = cold::title(record, &starts) {
        let content = pictures::start(record, &starts) + &tables::start::start(record, &starts);
        out.push_str(&section(&title, &content));
    }
    let table = tables::load::load(record);
    if !table.is_empty() {
        let curves = section("Latency by percentile", &pictures::percentiles(record));
        out.push_str(&section(&loads::title(record), &(table + &curves)));
    }
    out
}

fn head(record: &ServeRecord) -> Head<'_> {
    let (tone, answer) = answer(record);
    let conditions = &record.conditions;
    Head {
        verb: "serve",
        of: record.servers.first().map_or("", |one| one.name.as_str()),
        answer: bounded(&answer, LONGEST),
        tone,
        basis: format!(
            "{}, {} of load in random order (seed {}). {}{}.",
            counted(u64::from(conditions.launches), "launch", "launches"),
            counted(u64::from(conditions.rounds), "round", "rounds"),
            conditions.seed,
            terminal::cpus(conditions),
            words::spoken(conditions)
        ),
        commands: record.servers.iter().map(|one| one.name.as_str()).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    }
}

/// What must be known to trust the numbers.
fn notes(record: &ServeRecord) -> String {
    let mut out = String::new();
    let others = [
        loads::neighbours(&loads::all(record)),
        websocket::neighbours(&websocket::all(record)),
    ];
    for text in others.into_iter().flatten() {
        out.push_str(&format!("<p class=\"strip bad\">{}</p>\n", own(&text)));
    }
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map_or(String::new(), |server| words::number(record, server));
        let text = html(&bounded(&warning.message, LONGEST));
        out.push_str(&format!("<p class=\"strip warn\">{who}{text}</p>\n"));
    }
    out
}

fn under_load(record: &ServeRecord) -> String {
    let table = tables::load::load(record);
    if table.is_empty() {
        return String::new();
    }
    let has_closed = loads::all(record)
        .iter()
        .any(|(_, load)| load.rate_per_second.is_none());
    let closed = match has_closed {
        true => format!("<p class=\"small soft\">{}</p>\n", own(loads::CLOSED)),
        false => String::new(),
    };
    let content = table
        + &closed
        + &section("Latency by percentile", &pictures::percentiles(record))
        + &section("Latency over time", &pictures::over_time(record))
        + &section("How the requests were sent", &tables::load::sent(record))
        + &section(
            "What both sides spent",
            &(tables::load::spent(record) + &calls(record)),
        )
        + &folded("Every round", &tables::load::rounds(record))
        + &folded("Every second", &tables::load::seconds(record));
    section(&loads::title(record), &content)
}

fn calls(record: &ServeRecord) -> String {
    let lines = calls::lines(record).into_iter();
    let lines = lines.map(|line| {
        format!(
            "<p class=\"small soft\">{}</p>\n",
            html(&bounded(&line, LONGEST))
        )
    });
    lines.collect()
}

fn messages(record: &ServeRecord) -> String {
    let all = websocket::all(record);
    let Some(title) = websocket::title(record, &all) else {
        return String::new();
    };
    let mut content = tables::messages(record);
    let mut said = Vec::new();
    for (server, one) in &all {
        let number = words::number(record, *server);
        let link = websocket::link(one, |text| bounded(text, 200));
        let text = format!("{number}{link}");
        // Both kinds of clients have the same server.
        if !said.contains(&text) {
            content.push_str(&format!("<p class=\"small soft\">{}</p>\n", own(&text)));
            said.push(text);
        }
    }
    section(&title, &content)
}

fn highest_rates(record: &ServeRecord) -> String {
    let mut content = String::new();
    for (index, server) in record.servers.iter().enumerate() {
        if let Some(highest) = &server.highest_rate {
            let number = words::number(record, index);
            let text = bounded(&terminal::highest_rate(highest), LONGEST);
            content.push_str(&format!("<p>{number}{}</p>\n", own(&text)));
        }
    }
    match content.is_empty() {
        true => content,
        false => section("Highest rate", &(content + &tables::rates(record))),
    }
}

/// Behind its title, as it is long.
fn folded(title: &str, content: &str) -> String {
    match content {
        "" => String::new(),
        content => format!("<details><summary>{title}</summary>\n{content}</details>\n"),
    }
}
