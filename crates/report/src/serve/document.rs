//! The description of a record, independent of its medium.

use fathom_model::{HighestRate, ServeBudget, ServeConditions, ServeRecord};

use super::answer::{answer, budget_value};
use super::{calls, cold, compared, loads, pictures, ramp, tables, websocket, words};
use crate::Screen;
use crate::document::{Document, Form, class, html, write};
use crate::line::{Page, Tone};
use crate::page::{Head, Origin, page, saved};
use crate::quantity::{counted, format_count};
use crate::text::{bounded, name, words as own};
use crate::why::of_server;

/// The maximum length of the answer, in columns.
const LONGEST: usize = 1200;
/// The maximum number of servers named in a report.
const MOST_NAMES: usize = 12;

/// Formats the record as text. It begins with how soon the servers answer and with their capacity; the
/// distributions, and notes on how far to trust them, follow. No line is wider than the screen, and untrusted
/// text can't affect the terminal. Ends with a newline.
pub fn serve_terminal(record: &ServeRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    page.prose(0, tone, &text);
    write(&mut page, &document(record, Form::on(screen)));
    page.finish()
}

/// Formats the record as one page: the answer; reasons for doubt; how soon the servers answer, step by step;
/// their behaviour under load, by percentile and second by second; the verdicts; and the record itself, for
/// saving.
///
/// Untrusted texts are only inserted as escaped text.
pub fn serve_html(record: &ServeRecord) -> String {
    let (tone, answer) = answer(record);
    let conditions = &record.conditions;
    let head = Head {
        verb: "serve",
        of: record.servers.first().map_or("", |one| one.name.as_str()),
        answer: bounded(&answer, LONGEST),
        tone,
        basis: format!(
            "{}, {} of load in random order (seed {}). {}{}.",
            counted(u64::from(conditions.launches), "launch", "launches"),
            counted(u64::from(conditions.rounds), "round", "rounds"),
            conditions.seed,
            cpus(conditions),
            words::spoken(conditions)
        ),
        commands: record.servers.iter().map(|one| one.name.as_str()).collect(),
        origin: Origin {
            environment: &record.environment,
            started_at: &record.started_at,
            fathom_version: &record.fathom_version,
        },
    };
    page(&head, &html(&document(record, Form::Page)))
}

/// Formats the parts for a report: the answer, the start and the load, without each launch, round and second.
pub(crate) fn parts(record: &ServeRecord) -> String {
    let (tone, answer) = answer(record);
    let names = record.servers.iter().take(MOST_NAMES);
    let names: String = names
        .map(|one| format!("<li><code>{}</code></li>", name(&bounded(&one.name, 300))))
        .collect();
    let mut out = Document::default();
    out.picture(format!(
        "<p class=\"strip {}\"><strong>{}</strong></p>\n<ol class=\"commands\">{names}</ol>\n",
        class(tone),
        own(&bounded(&answer, LONGEST)).replace('/', "/<wbr>")
    ));
    let mut rest = Document::default();
    notes(&mut rest, record, Form::Excerpt);
    start(&mut rest, record, Form::Excerpt);
    under_load(&mut rest, record, Form::Excerpt);
    html(&out) + &html(&rest)
}

fn document(record: &ServeRecord, form: Form) -> Document<'_> {
    let mut out = Document::default();
    if form != Form::Page && record.servers.len() > 1 {
        out.gap();
        for (index, server) in record.servers.iter().enumerate() {
            out.prose(2, Tone::Plain, format!("{}: {}", index + 1, server.name));
        }
    }
    start(&mut out, record, form);
    under_load(&mut out, record, form);
    if form != Form::Brief {
        for line in calls::lines(record) {
            out.prose(2, Tone::Quiet, line);
        }
    }
    ramp::add(&mut out, record, form);
    messages(&mut out, record, form);
    highest_rates(&mut out, record, form);
    if form != Form::Page {
        out.drawn(|page| causes(page, record));
    }
    if form != Form::Brief {
        let heading = "Against server 1, round by round";
        out.section(heading, |part| part.table(compared::table(record)));
    }
    out.headed(form, "Budget", |part| {
        for budget in &record.budget {
            let tone = if budget.met { Tone::Good } else { Tone::Bad };
            let number = words::number(record, budget.server);
            let (held, found) = (held(budget), found(budget));
            let text = format!("{number}{} {held}: {found}", budget.limit);
            part.fact("budget", tone, text);
        }
    });
    notes(&mut out, record, form);
    out.gap();
    match form {
        Form::Page => out.section("The record", |part| {
            part.picture(saved("fathom-serve.json", record));
        }),
        _ => out.prose(0, Tone::Quiet, made(record, form)),
    }
    out
}

fn start(out: &mut Document, record: &ServeRecord, form: Form) {
    let starts = cold::starts(record);
    let Some(title) = cold::title(record, &starts) else {
        return;
    };
    out.section(title, |part| {
        if form.has_pictures() {
            part.picture(pictures::start(record, &starts));
        }
        part.table(tables::start(record, &starts, form));
        if form == Form::Page {
            part.section("Each launch", |part| {
                part.picture(pictures::launches(record, &starts));
            });
            part.folded("Every launch", tables::launches(record, &starts));
        }
        if !form.has_pictures() {
            for (server, cold, state) in &starts {
                if let Some(text) = cold::slow(cold) {
                    let number = words::number(record, *server);
                    part.prose(2, Tone::Notice, format!("{number}{text}{state}"));
                }
            }
        }
    });
}

fn under_load(out: &mut Document, record: &ServeRecord, form: Form) {
    let loads = loads::all(record);
    if loads.is_empty() {
        return;
    }
    out.section(loads::title(record), |part| {
        part.table(tables::load(record));
        let is_closed =
            |(_, load): &(usize, &fathom_model::LoadResult)| load.rate_per_second.is_none();
        if form != Form::Excerpt && loads.iter().any(is_closed) {
            part.prose(2, Tone::Quiet, loads::CLOSED);
        }
        if !form.has_pictures() {
            if let Some(text) = loads::neighbours(&loads) {
                part.prose(2, Tone::Bad, text);
            }
            for (server, load) in &loads {
                let said = loads::doubts(load);
                if !said.is_empty() {
                    let who = format!("{}{}", words::number(record, *server), words::load(load));
                    part.prose(2, Tone::Notice, format!("{who}: {}", said.join("; ")));
                }
            }
        }
        if form.has_pictures() {
            part.section("Latency by percentile", |part| {
                part.picture(pictures::percentiles(record));
            });
        }
        if form == Form::Page {
            part.section("Latency over time", |part| {
                part.picture(pictures::over_time(record));
            });
        }
        if matches!(form, Form::Page | Form::Full) {
            part.section("How the requests were sent", |part| {
                part.table(tables::sent(record));
            });
            part.section("Costs of server and generator", |part| {
                part.table(tables::spent(record));
            });
        }
        if form == Form::Page {
            part.folded("Every round", tables::rounds(record));
            part.folded("Every second", tables::seconds(record));
        }
    });
}

fn messages(out: &mut Document, record: &ServeRecord, form: Form) {
    let all = websocket::all(record);
    let Some(title) = websocket::title(record, &all) else {
        return;
    };
    out.section(title, |part| {
        part.table(tables::messages(record));
        let mut said = Vec::new();
        for (server, one) in &all {
            let text = format!("{}{}", words::number(record, *server), websocket::link(one));
            // Both kinds of clients use the same server, so the text is written once.
            if !said.contains(&text) {
                part.prose(2, Tone::Quiet, text.clone());
                said.push(text);
            }
        }
        if !form.has_pictures()
            && let Some(text) = websocket::neighbours(&all)
        {
            part.prose(2, Tone::Bad, text);
        }
    });
}

fn highest_rates(out: &mut Document, record: &ServeRecord, form: Form) {
    let found = record.servers.iter().enumerate();
    let found = found.filter_map(|(index, server)| Some((index, server.highest_rate.as_ref()?)));
    out.headed(form, "Highest rate", |part| {
        for (index, highest) in found {
            let number = words::number(record, index);
            part.gap();
            part.prose(
                0,
                Tone::Strong,
                format!("{number}{}", highest_rate(highest)),
            );
        }
        if form == Form::Page {
            part.table(tables::rates(record));
        }
    });
}

/// Formats the highest rate that satisfies a limit; the limit is untrusted.
fn highest_rate(highest: &HighestRate) -> String {
    let tried = counted(highest.tried.len() as u64, "rate was", "rates were");
    match highest.rate_per_second {
        Some(rate) => format!(
            "{} holds up to {} requests/s ({tried} tried)",
            highest.limit,
            format_count(rate)
        ),
        None => format!(
            "{} does not hold at any rate ({tried} tried)",
            highest.limit
        ),
    }
}

/// Writes where the time of the servers goes.
fn causes(page: &mut Page, record: &ServeRecord) {
    for (index, server) in record.servers.iter().enumerate() {
        if let Some(why) = &server.why {
            let who = words::number(record, index);
            let under = words::load_of(why.connections, why.rate_per_second);
            of_server(page, &who, &under, why);
        }
    }
}

fn held(budget: &ServeBudget) -> &'static str {
    match (budget.met, budget.value) {
        (true, _) => "holds",
        (false, Some(_)) => "is OVER",
        (false, None) => "can't be judged",
    }
}

/// Formats the value found for a requested limit.
fn found(budget: &ServeBudget) -> String {
    match budget.value {
        None => "too few values".to_string(),
        Some(value) => format!("it is {}", budget_value(&budget.limit, value)),
    }
}

/// Adds notes on how far to trust the numbers; on a terminal some of them come below the numbers.
fn notes(out: &mut Document, record: &ServeRecord, form: Form) {
    if form.has_pictures() {
        let others = [
            loads::neighbours(&loads::all(record)),
            websocket::neighbours(&websocket::all(record)),
        ];
        for text in others.into_iter().flatten() {
            out.note("note", Tone::Bad, text);
        }
    }
    out.gap();
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map(|server| words::number(record, server));
        let text = who.unwrap_or_default() + &warning.message;
        out.note("note", Tone::Notice, text);
    }
}

fn made(record: &ServeRecord, form: Form) -> String {
    let conditions = &record.conditions;
    let more = match form {
        Form::Full => "",
        _ => "; lag, memory, intervals: -v",
    };
    format!(
        "{}{}; seed {}{more}",
        cpus(conditions),
        words::spoken(conditions),
        conditions.seed
    )
}

/// Describes which process ran on which CPUs.
fn cpus(conditions: &ServeConditions) -> String {
    let list: Vec<String> = conditions
        .server_cpus
        .iter()
        .map(ToString::to_string)
        .collect();
    let list = list.join(",");
    match (list.as_str(), conditions.generator_cpu) {
        ("", _) => "Servers and generator share their CPUs".to_string(),
        (list, Some(generator)) => {
            format!("Under load, servers use CPU {list}, the generator CPU {generator}")
        }
        (list, None) => format!("Servers and generator use CPU {list}"),
    }
}
