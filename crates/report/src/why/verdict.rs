//! The kind of program, for an explanation without a more specific finding.

use fathom_model::{Explanation, OwnCode, ThreadAccount, TimeAccount, TimeCategory};

use super::account::in_kernel;
use super::own_code::{LEAST_SAMPLES, name};
use super::quote::{share_text, time};
use super::summary::whole_seconds;
use super::whereabouts;
use super::words::{self, Kind};

/// The share of the time from which on the answer is starting the process.
const SHORT: f64 = 0.25;
/// A function with this share of the command's own part does nearly all of the work.
const MOST: f64 = 0.6;
/// A function with this share of the command's own part of the time is named, with its share.
const NAMED: f64 = 0.2;

/// The input of a verdict.
#[derive(Clone, Copy)]
struct Facts<'a> {
    account: &'a TimeAccount,
    code: Option<&'a OwnCode>,
    /// Share and place of the largest row of own code.
    place: Option<&'a (f64, String)>,
    /// Wall time of the command and of the empty program, seconds.
    wall: f64,
    floor: Option<f64>,
    /// Whether the command listens for connections.
    listens: bool,
}

/// Returns a line about where the time goes: `Compute-bound: 87 % in deflate_slow`. Untrusted texts are not
/// escaped: the caller must do that.
pub(crate) fn verdict(explanation: &Explanation) -> String {
    let mut calls = explanation.calls.iter();
    let own_place = whereabouts::own_code(explanation);
    let facts = Facts {
        account: &explanation.account,
        code: explanation.own_code.as_ref(),
        place: own_place.as_ref(),
        wall: whole_seconds(explanation),
        floor: explanation.timed.floor.map(|floor| floor.value),
        listens: match &explanation.process {
            Some(process) => process.listens,
            None => calls.any(|row| row.name == "listen" && row.errors < row.calls),
        },
    };
    let says_more = short(facts).is_some() || awaits_connections(facts);
    let place = whereabouts::headline(explanation).filter(|_| !says_more);
    place.map_or_else(
        || in_a_line(facts),
        |place| format!("{place}{}", beside_others(&explanation.account)),
    )
}

/// Returns a caveat if one of the program's own functions takes most of the time: what the processor does in
/// it isn't observed.
pub(super) fn not_seen(explanation: &Explanation) -> Option<&'static str> {
    let own_part = words::own_part(&explanation.account);
    let mut rows = whereabouts::shown(explanation);
    let row = rows
        .next()
        .filter(|row| row.role.is_none() && row.group.is_none())?;
    let is_own = row.kind == TimeCategory::UserCode && row.place.source_file.is_some();
    (is_own && row.share >= MOST * own_part).then_some(match computes_at_once(explanation) {
        true => {
            "It is not known whether the threads compute there, wait for memory, or write to the same cache lines \
             (false sharing): Fathom doesn't read the processor's counters."
        }
        false => {
            "It is not known whether the program computes there or waits for memory: Fathom doesn't read the \
             processor's counters."
        }
    })
}

/// Returns whether at least two threads of a process compute all the time for most of the run.
fn computes_at_once(explanation: &Explanation) -> bool {
    let threads = explanation.threads.iter();
    let computing = |thread: &&ThreadAccount| {
        let is_long = 2 * (thread.to_ns - thread.from_ns) >= explanation.account.wall_ns;
        is_long && thread.account.share(TimeCategory::UserCode) >= MOST
    };
    let mut pids: Vec<u32> = threads.filter(computing).map(|thread| thread.pid).collect();
    pids.sort_unstable();
    pids.windows(2).any(|pair| pair[0] == pair[1])
}

fn in_a_line(facts: Facts<'_>) -> String {
    let account = facts.account;
    if account.parts.is_empty() {
        return "The time can't be attributed: this tier measures no times".to_owned();
    }
    if let Some(short) = short(facts) {
        return short;
    }
    let of = |kind: Kind| -> f64 {
        let parts = TimeCategory::ALL.into_iter();
        let parts = parts.filter(|part| words::kind(*part) == kind);
        parts.map(|part| account.share(part)).sum()
    };
    let kinds = [Kind::Own, Kind::Kernel, Kind::Waiting, Kind::Unknown];
    let most = kinds.into_iter().max_by(|a, b| of(*a).total_cmp(&of(*b)));
    let most = most.unwrap_or(Kind::Unknown);
    let share = share_text(of(most));
    let line = match most {
        _ if of(Kind::Starved) > 0.0 && of(most) < words::LEAST_OWN_PART => {
            let share = share_text(of(Kind::Starved));
            return format!("Waiting for a CPU: {share}; other programs were using the CPUs");
        }
        Kind::Own => compute_bound(of(most), facts),
        Kind::Kernel => {
            let (part, ns) = largest(account, most);
            let part = in_kernel(part);
            match ns == account.ns(TimeCategory::Kernel) {
                true => format!("Kernel-bound: {share} in {part}"),
                false => format!(
                    "Kernel-bound: {share} in the kernel, the largest share for {part} ({})",
                    share_text(ns as f64 / account.wall_ns.max(1) as f64)
                ),
            }
        }
        Kind::Waiting if awaits_connections(facts) => {
            format!("Waiting for connections: {share}")
        }
        Kind::Waiting => {
            let (part, ns) = largest(account, most);
            let share = share_text(ns as f64 / account.wall_ns.max(1) as f64);
            format!("{}: {share}", capitalized(words::name(part)))
        }
        Kind::Unknown | Kind::Starved => {
            format!("The time can't be attributed: {share} is unaccounted")
        }
    };
    line + &beside_others(account)
}

/// Returns what to add to a line about the command's own part if other programs had more of the time.
fn beside_others(account: &TimeAccount) -> String {
    let others = 1.0 - words::own_part(account);
    match others > 0.5 {
        true => format!("; it waited for a CPU for another {}", share_text(others)),
        false => String::new(),
    }
}

/// Returns the verdict on a command that hardly does anything: `Short: 60 % of 1.2 ms is process start-up`.
fn short(facts: Facts<'_>) -> Option<String> {
    let (floor, wall) = (facts.floor?, facts.wall);
    (wall > 0.0 && floor >= SHORT * wall).then(|| {
        let share = share_text((floor / wall).min(1.0));
        format!("Short: {share} of {} is process start-up", time(wall))
    })
}

fn compute_bound(own: f64, facts: Facts<'_>) -> String {
    let known = facts.code.filter(|code| code.samples >= LEAST_SAMPLES);
    let function = || {
        let first = known.and_then(|code| code.functions.first())?;
        Some((own * first.share, name(first)))
    };
    let Some((of_first, name)) = facts.place.cloned().or_else(function) else {
        return format!("Compute-bound: {} in its own code", share_text(own));
    };
    match of_first >= NAMED * words::own_part(facts.account) {
        true => format!("Compute-bound: {} in {name}", share_text(of_first)),
        false => format!(
            "Compute-bound: {} in its own code, the largest share in {name} ({})",
            share_text(own),
            share_text(of_first)
        ),
    }
}

/// Returns whether the command listens for connections and mostly waits as a server does: for events, the
/// network or locks.
fn awaits_connections(facts: Facts<'_>) -> bool {
    let (part, _) = largest(facts.account, Kind::Waiting);
    let of_servers = [
        TimeCategory::WaitingForEvents,
        TimeCategory::Network,
        TimeCategory::Locks,
    ];
    facts.listens && of_servers.contains(&part)
}

/// Returns the part of this kind with the most time.
fn largest(account: &TimeAccount, kind: Kind) -> (TimeCategory, u64) {
    let parts = account.parts.iter();
    let parts = parts.filter(|part| words::kind(part.spent) == kind);
    let most = parts.max_by_key(|part| part.ns);
    most.map_or((TimeCategory::Unaccounted, 0), |part| (part.spent, part.ns))
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeCategory as Part;
    use fathom_model::{AccountPart, FunctionShare};

    const SECOND: u64 = 1_000_000_000;

    /// Returns the verdict on an account of one second.
    fn of<'a>(parts: &[(Part, f64)], change: impl FnOnce(&mut Facts<'a>)) -> String {
        let parts = parts.iter().map(|&(spent, share)| AccountPart {
            spent,
            ns: (share * SECOND as f64) as u64,
        });
        let account: &'a TimeAccount = Box::leak(Box::new(TimeAccount {
            wall_ns: SECOND,
            parts: parts.collect(),
        }));
        let mut facts = Facts {
            account,
            code: None,
            place: None,
            wall: 1.0,
            floor: Some(0.0005),
            listens: false,
        };
        change(&mut facts);
        in_a_line(facts)
    }

    fn code(samples: u64, shares: &[f64]) -> OwnCode {
        let functions = shares
            .iter()
            .enumerate()
            .map(|(index, share)| FunctionShare {
                function: Some(["deflate_slow", "longest_match"][index].to_owned()),
                file: "/usr/bin/gzip".to_owned(),
                samples: (samples as f64 * share) as u64,
                share: *share,
            });
        OwnCode {
            period_ns: 1,
            samples,
            functions: functions.collect(),
        }
    }

    #[test]
    fn a_program_that_computes_is_named_for_its_function_where_one_is_known() {
        let parts = [(Part::UserCode, 0.9), (Part::PageFaults, 0.1)];
        let codes = [
            (500, &[0.8][..]),
            (500, &[0.1, 0.08]),
            (9, &[0.8]),
            (500, &[0.2]),
        ];
        let codes = codes.map(|(samples, shares)| code(samples, shares));
        let with = |index: usize| of(&parts, |facts| facts.code = Some(&codes[index]));
        assert_eq!(with(0), "Compute-bound: 72 % in deflate_slow");
        let spread =
            "Compute-bound: 90 % in its own code, the largest share in deflate_slow (9.0 %)";
        assert_eq!(with(1), spread);
        assert_eq!(with(2), "Compute-bound: 90 % in its own code");
        assert_eq!(of(&parts, |_| ()), "Compute-bound: 90 % in its own code");
        let row = (0.3, "mean (stats.py:28) <- report (stats.py:40)".to_owned());
        assert_eq!(
            of(&parts, |facts| {
                (facts.code, facts.place) = (Some(&codes[3]), Some(&row));
            }),
            "Compute-bound: 30 % in mean (stats.py:28) <- report (stats.py:40)",
            "a place in the program's code says more than a function of its interpreter"
        );
    }

    #[test]
    fn who_listens_waits_for_connections() {
        let waits = |part, listens| of(&[(part, 0.98)], |facts| facts.listens = listens);
        assert_eq!(
            waits(Part::WaitingForEvents, true),
            "Waiting for connections: 98 %"
        );
        assert_eq!(
            waits(Part::WaitingForEvents, false),
            "Waiting for events: 98 %"
        );
        assert_eq!(waits(Part::Sleeping, true), "Sleeping: 98 %");
    }

    #[test]
    fn a_short_program_is_its_start() {
        let text = of(&[(Part::UserCode, 0.9)], |facts| {
            (facts.wall, facts.floor) = (0.0012, Some(0.00072));
        });
        assert_eq!(text, "Short: 60 % of 1.20 ms is process start-up");
    }

    #[test]
    fn the_kind_with_most_time_decides_not_the_largest_part() {
        let text = of(
            &[
                (Part::UserCode, 0.4),
                (Part::KernelIo, 0.35),
                (Part::KernelFiles, 0.2),
            ],
            |_| (),
        );
        assert_eq!(
            text,
            "Kernel-bound: 55 % in the kernel, the largest share for reading and writing (35 %)"
        );
        let waits = [(Part::WaitingForInput, 0.5), (Part::Ready, 0.3)];
        assert_eq!(of(&waits, |_| ()), "Waiting for input: 50 %");
        let beside_others = [(Part::Ready, 0.8), (Part::UserCode, 0.15)];
        assert_eq!(
            of(&beside_others, |_| ()),
            "Compute-bound: 15 % in its own code; it waited for a CPU for another 80 %"
        );
        let starved = "Waiting for a CPU: 70 %; other programs were using the CPUs";
        assert_eq!(of(&[(Part::Ready, 0.7)], |_| ()), starved);
        assert_eq!(
            of(&[(Part::Unaccounted, 0.7)], |_| ()),
            "The time can't be attributed: 70 % is unaccounted"
        );
        assert_eq!(
            of(&[], |_| ()),
            "The time can't be attributed: this tier measures no times"
        );
    }
}
