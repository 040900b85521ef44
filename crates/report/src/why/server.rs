//! Where the time of a server under load goes; shown below its figures.

use fathom_model::{ServerWhy, TimeCategory};

use super::account;
use super::bar;
use super::own_code;
use super::summary::explained_by;
use crate::line::{Page, Tone};
use crate::quantity::{fixed, format_count};

/// The maximum number of calls that are named.
const CALLS: usize = 5;

/// Writes the bar, the calls and the functions. `who` is `2: ` if there are several servers, and `under` is
/// the load.
pub(crate) fn of_server(page: &mut Page, who: &str, under: &str, why: &ServerWhy) {
    page.gap();
    let title = format!("{who}The server's time by part ({under})");
    page.prose(0, Tone::Strong, &title);
    let entries = account::entries(&why.account);
    bar::write(page, &entries);
    bar::legend(page, &entries);
    if !why.calls.is_empty() {
        let named = why.calls.iter().take(CALLS);
        let named: Vec<String> = named
            .map(|row| each(page, why, &row.name, row.calls))
            .collect();
        let calls = format!("calls for each request: {}", named.join(", "));
        page.prose(2, Tone::Plain, &calls);
    }
    let code = why.own_code.as_ref();
    let own = why.account.share(TimeCategory::UserCode);
    if let Some(functions) = code.and_then(|code| own_code::named(code, own)) {
        page.prose(2, Tone::Plain, &format!("own code: {functions}"));
    }
    let observed = explained_by(&page.clean(&why.tier));
    let text = format!(
        "observed {observed} for {} s in a separate step, at {} requests/s",
        fixed(why.seconds, 1),
        format_count(why.requests_per_second.round())
    );
    page.prose(2, Tone::Quiet, &text);
}

/// Formats a call with its number per request: `recvfrom 1.0`.
fn each(page: &Page, why: &ServerWhy, name: &str, calls: u64) -> String {
    let requests = (why.requests_per_second * why.seconds).max(1.0);
    let each = calls as f64 / requests;
    let decimals = if each < 0.095 { 2 } else { 1 };
    format!("{}\u{a0}{}", page.clean(name), fixed(each, decimals))
}
