//! The data for the page. All untrusted text is escaped and shortened here.

use fathom_model::{Confidence, Explanation, Finding, TimeCategory};
use serde::Serialize;

use super::account;
use super::findings;
use super::flames::{self, Flame};
use super::lanes::{self, Timeline};
use super::quote::{Quote, could_save, run_ns, share_text, time};
use super::summary::{
    cpu_seconds, estimate, explained_by, floor_that_matters, process_title, slowdown, whole,
    whole_seconds,
};
use super::verdict::verdict;
use super::{processes, proof, startup, words};
use crate::quantity::counted;
use crate::text::JOIN;
use crate::text::bounded as safe;
use crate::{format_bytes, format_count};

/// The maximum number of findings on the page; users don't read more.
const CARDS: usize = 40;

/// Limits for the content of the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) stretches: usize,
    pub(super) lanes: usize,
    pub(super) details: usize,
    /// The maximum number of rows of a table, of findings, and of sentences.
    pub(super) rows: usize,
    /// The longest text in columns.
    pub(super) text: usize,
}

#[derive(Serialize)]
pub(super) struct PageData {
    /// The observed process, if it was already running.
    process: Option<String>,
    end: String,
    wall: String,
    runs: String,
    cpu: String,
    memory: String,
    floor: Option<String>,
    explained: String,
    slowdown: String,
    /// In words, the whole to which the shares refer.
    whole: &'static str,
    /// Whether times of the explaining run may be shown.
    times: bool,
    run_ns: u64,
    /// The untraced runs' median, to which all shares refer.
    whole_ns: u64,
    parts: Vec<Part>,
    account: Vec<Share>,
    findings: Vec<Card>,
    /// The verdict on the time if there are no findings.
    verdict: String,
    /// A sentence about the child with most of the CPU time.
    child: Option<String>,
    pub(super) timeline: Timeline,
    flames: Vec<Flame>,
    phases: Vec<Mark>,
    not_visible: Vec<String>,
    lost: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Part {
    name: &'static str,
    short: &'static str,
    kind: &'static str,
}

#[derive(Serialize)]
struct Share {
    part: Option<usize>,
    name: String,
    ns: u64,
    share: f64,
}

#[derive(Serialize)]
struct Card {
    id: String,
    statement: String,
    share: f64,
    saving: Option<String>,
    proof: Option<String>,
    advice: String,
    limit: Option<String>,
    likely: bool,
    evidence: Vec<[String; 2]>,
    place: Vec<String>,
    pid: Option<u32>,
    tid: Option<u32>,
    path: Option<String>,
    parts: Vec<usize>,
}

#[derive(Serialize)]
struct Mark {
    name: String,
    at: u64,
}

impl PageData {
    pub(super) fn of(explanation: &Explanation, limits: &Limits) -> PageData {
        let timed = &explanation.timed;
        let explaining = &explanation.explaining;
        let list = |texts: &[String]| -> Vec<String> {
            let shown = texts.iter().take(limits.rows);
            shown.map(|text| safe(text, limits.text)).collect()
        };
        PageData {
            process: explanation
                .process
                .as_ref()
                .map(|process| safe(&process_title(explanation, process), limits.text)),
            end: safe(&explanation.end, limits.text),
            wall: match explanation.process {
                Some(_) => time(explanation.account.wall_ns as f64 / 1e9),
                None => estimate(&timed.wall).replace(JOIN, " "),
            },
            runs: counted(timed.runs as u64, "untraced run", "untraced runs"),
            cpu: time(match explanation.process {
                Some(_) => cpu_seconds(explanation),
                None => timed.cpu.value,
            }),
            memory: format_bytes(timed.peak_memory.value),
            floor: floor_that_matters(explanation).map(|floor| time(floor.value)),
            explained: explained_by(&safe(&explaining.tier, 40)),
            slowdown: slowdown(explanation),
            whole: whole(explanation),
            times: explaining.times_are_quoted,
            run_ns: run_ns(explanation),
            whole_ns: explanation.account.wall_ns.max(1),
            parts: TimeCategory::ALL
                .into_iter()
                .map(|spent| Part {
                    name: words::name(spent),
                    short: words::short(spent),
                    kind: words::kind(spent).name(),
                })
                .collect(),
            account: shares(explanation),
            verdict: safe(&verdict(explanation), limits.text),
            child: processes::busiest_child(explanation),
            findings: explanation
                .findings
                .iter()
                .take(limits.rows.min(CARDS))
                .map(|finding| card(finding, explanation, limits))
                .collect(),
            timeline: lanes::timeline(explanation, limits),
            flames: flames::of(explanation, limits),
            phases: explanation
                .phases
                .iter()
                .take(20)
                .map(|phase| Mark {
                    name: startup::words(&safe(&phase.name, 30)) + startup::source(phase),
                    at: phase.at_ns,
                })
                .collect(),
            not_visible: list(&explaining.not_visible),
            lost: list(&explaining.lost),
            warnings: list(&explanation.warnings),
        }
    }
}

fn shares(explanation: &Explanation) -> Vec<Share> {
    account::entries(&explanation.account)
        .into_iter()
        .map(|entry| Share {
            part: entry.spent.map(|spent| spent as usize),
            name: entry.name,
            ns: entry.ns,
            share: entry.share,
        })
        .collect()
}

fn card(finding: &Finding, explanation: &Explanation, limits: &Limits) -> Card {
    let whole = whole_seconds(explanation);
    let quote = Quote::of(explanation);
    let place = &finding.place;
    let path = place.path.as_ref().map(|path| safe(path, limits.text));
    let mut words = Vec::new();
    words.extend(findings::place(finding).map(|place| safe(&place, limits.text.max(200))));
    words.extend(place.pid.map(|pid| format!("process {pid}")));
    let thread = place.tid.filter(|tid| Some(*tid) != place.pid);
    words.extend(thread.map(|tid| format!("thread {tid}")));
    words.extend(place.fd.map(|fd| format!("descriptor {fd}")));
    words.extend(path.clone());
    Card {
        id: finding.id.to_string(),
        statement: safe(&finding.statement, limits.text.max(200) * 2),
        share: finding.share,
        saving: could_save(finding, whole),
        proof: proof::line(finding).map(|(_, line)| safe(&line, limits.text.max(200))),
        advice: safe(&finding.advice, limits.text.max(200) * 3),
        limit: finding.limit.as_ref().map(|limit| safe(limit, limits.text)),
        likely: finding.confidence == Confidence::Likely,
        evidence: finding
            .evidence
            .iter()
            .take(12)
            .map(|one| [safe(&one.name, 80), number(one.value, &one.unit, quote)])
            .collect(),
        place: words,
        pid: place.pid,
        tid: place.tid,
        path,
        parts: finding
            .id
            .lies_in()
            .iter()
            .map(|spent| *spent as usize)
            .collect(),
    }
}

/// Formats a number of the evidence with its unit.
fn number(value: f64, unit: &str, quote: Quote) -> String {
    match unit {
        "ns" if value >= 0.0 => quote.show(value as u64),
        "bytes" => format_bytes(value),
        "bytes/call" => format!("{} per call", format_bytes(value)),
        "1" if value.abs() <= 1.0 => share_text(value),
        "1" => format_count(value),
        other => format!("{} {}", format_count(value), safe(other, 30)),
    }
}

/// Returns what was omitted to keep the page small.
pub(super) fn notes(explanation: &Explanation, limits: &Limits) -> Vec<String> {
    let mut out = Vec::new();
    for (name, count, most) in [
        ("descriptors and paths", explanation.io.len(), limits.rows),
        ("system calls", explanation.calls.len(), limits.rows),
        (
            "findings",
            explanation.findings.len(),
            limits.rows.min(CARDS),
        ),
        ("warnings", explanation.warnings.len(), limits.rows),
    ] {
        if count > most {
            let more = count - most;
            out.push(format!(
                "{more} more {name} are omitted to keep the page small."
            ));
        }
    }
    out
}
