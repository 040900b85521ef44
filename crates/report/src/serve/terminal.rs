//! The screen of text, and the rest with `-v`.

use fathom_model::{HighestRate, ServeBudget, ServeConditions, ServeRecord};

use super::answer::{answer, budget_value};
use super::{calls, cold, compared, loads, websocket, words};
use crate::Screen;
use crate::line::{Page, Tone};
use crate::quantity::{counted, format_count};
use crate::why::of_server;

/// The record as text: first how soon the servers answer and how much they can do; then the
/// distributions, and what must be known to trust them. No line is wider than `screen.width` and
/// no text from outside can act on the terminal. Ends with a line end.
pub fn serve_terminal(record: &ServeRecord, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let (tone, text) = answer(record);
    let text = page.clean(&text);
    page.prose(0, tone, &text);
    if record.servers.len() > 1 {
        page.gap();
        for (index, server) in record.servers.iter().enumerate() {
            let name = page.fit(&server.name, screen.width.max(32) - 6);
            page.prose(2, Tone::Plain, &format!("{}: {name}", index + 1));
        }
    }
    cold::write(&mut page, record, screen.verbose);
    loads::write(&mut page, record, screen.verbose);
    if screen.verbose {
        calls::write(&mut page, record);
    }
    websocket::write(&mut page, record);
    for (index, server) in record.servers.iter().enumerate() {
        if let Some(highest) = &server.highest_rate {
            page.gap();
            let text = format!("{}{}", words::number(record, index), highest_rate(highest));
            let text = page.clean(&text);
            page.prose(0, Tone::Strong, &text);
        }
    }
    for (index, server) in record.servers.iter().enumerate() {
        if let Some(why) = &server.why {
            let (who, under) = (
                words::number(record, index),
                words::load_of(why.connections, why.rate_per_second),
            );
            of_server(&mut page, &who, &under, why);
        }
    }
    if screen.verbose {
        compared::write(&mut page, record);
    }
    budget(&mut page, record);
    notes(&mut page, record);
    page.gap();
    page.prose(0, Tone::Quiet, &made(record, screen.verbose));
    page.finish()
}

/// The highest rate that keeps a limit; the limit is from outside.
pub(super) fn highest_rate(highest: &HighestRate) -> String {
    let tried = counted(highest.tried.len() as u64, "rate was", "rates were");
    match highest.rate_per_second {
        Some(rate) => format!(
            "{} holds up to {} requests/s ({tried} tried)",
            highest.limit,
            format_count(rate)
        ),
        None => format!("{} holds at no rate ({tried} tried)", highest.limit),
    }
}

fn budget(page: &mut Page, record: &ServeRecord) {
    if record.budget.is_empty() {
        return;
    }
    page.gap();
    for budget in &record.budget {
        let limit = page.clean(&budget.limit);
        let found = found(budget);
        let tone = match budget.met {
            true => Tone::Good,
            false => Tone::Bad,
        };
        let number = words::number(record, budget.server);
        page.field(
            "budget",
            tone,
            &format!("{number}{limit} {}: {found}", held(budget)),
        );
    }
}

pub(super) fn held(budget: &ServeBudget) -> &'static str {
    match (budget.met, budget.value) {
        (true, _) => "holds",
        (false, Some(_)) => "is OVER",
        (false, None) => "can't be judged",
    }
}

/// What was found where a limit was asked for.
pub(super) fn found(budget: &ServeBudget) -> String {
    match budget.value {
        None => "too few values".to_string(),
        Some(value) => format!("it is {}", budget_value(&budget.limit, value)),
    }
}

fn notes(page: &mut Page, record: &ServeRecord) {
    if record.warnings.is_empty() {
        return;
    }
    page.gap();
    for warning in &record.warnings {
        let who = warning
            .benchmark
            .map_or(String::new(), |server| words::number(record, server));
        let text = page.clean(&warning.message);
        page.field("note", Tone::Notice, &format!("{who}{text}"));
    }
}

fn made(record: &ServeRecord, verbose: bool) -> String {
    let conditions = &record.conditions;
    let more = match verbose {
        true => String::new(),
        false => "; lag, memory, intervals: -v".to_string(),
    };
    format!(
        "{}{}; seed {}{more}",
        cpus(conditions),
        words::spoken(conditions),
        conditions.seed
    )
}

/// Who ran where.
pub(super) fn cpus(conditions: &ServeConditions) -> String {
    match (&conditions.server_cpus[..], conditions.generator_cpu) {
        ([], _) => "Servers and generator share their CPUs".to_string(),
        (servers, Some(generator)) => {
            let list: Vec<String> = servers.iter().map(ToString::to_string).collect();
            format!(
                "Under load servers on CPU {}, generator on {generator}",
                list.join(",")
            )
        }
        (servers, None) => {
            let list: Vec<String> = servers.iter().map(ToString::to_string).collect();
            format!("Servers on CPU {}, the generator too", list.join(","))
        }
    }
}
