//! From launch to first answer, rung by rung.

use fathom_model::{ColdStart, ListeningBy, ServeRecord, Spread};

use super::words::{self, ms};
use crate::line::{Page, Tone};
use crate::quantity::counted;
use crate::why::columns::{Column, write as write_columns};

/// A table for each server, or of several only the last rung unless all is asked for.
pub(super) fn write(page: &mut Page, record: &ServeRecord, verbose: bool) {
    let starts = starts(record);
    let Some(title) = title(record, &starts) else {
        return;
    };
    page.gap();
    page.prose(0, Tone::Strong, &title);
    let mut rows: Vec<(String, Spread)> = Vec::new();
    for (server, cold, state) in &starts {
        let number = words::number(record, *server);
        let rungs = rungs(cold);
        let shown = match verbose || record.servers.len() == 1 {
            true => &rungs[..],
            false => &rungs[rungs.len() - 2..],
        };
        for (name, spread) in shown {
            rows.push((format!("{number}{name}{state}"), *spread));
        }
    }
    let names: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let column = |title, expendable, of: &dyn Fn(&Spread) -> Option<f64>| {
        let cells = rows.iter().map(|(_, spread)| words::ms_or(of(spread)));
        Column::new(title, expendable, cells.collect())
    };
    let columns = vec![
        column("min", 1, &|spread| Some(spread.min)),
        column("p50", 0, &|spread| Some(spread.p50)),
        column("p90", 0, &|spread| Some(spread.p90)),
        column("p99", 0, &|spread| spread.p99),
        column("max", 0, &|spread| Some(spread.max)),
    ];
    write_columns(page, "", &names, columns);
    for (server, cold, state) in starts {
        if let Some(text) = slow(cold) {
            let number = words::number(record, server);
            page.prose(2, Tone::Notice, &format!("{number}{text}{state}"));
        }
    }
}

/// Index of a server, how it started, and with which files out of memory.
pub(super) type Start<'r> = (usize, &'r ColdStart, &'static str);

/// All that were measured.
pub(super) fn starts(record: &ServeRecord) -> Vec<Start<'_>> {
    let servers = record.servers.iter().enumerate();
    let of = servers.flat_map(|(index, server)| {
        let both = [(&server.cold, ""), (&server.cold_evicted, ", evicted")];
        both.into_iter()
            .filter_map(move |(cold, state)| Some((index, cold.as_ref()?, state)))
    });
    of.collect()
}

/// What stands above them; nothing if there are none.
pub(super) fn title(record: &ServeRecord, starts: &[Start<'_>]) -> Option<String> {
    let (_, first, _) = starts.first()?;
    let launches = counted(first.launches as u64, "launch", "launches");
    let several = match record.servers.len() {
        2.. => " each",
        _ => "",
    };
    Some(format!("From launch to first answer ({launches}{several})"))
}

/// In the order of a start; the last is no rung but what it cost.
pub(super) fn rungs(cold: &ColdStart) -> Vec<(&'static str, Spread)> {
    let listening = match cold.listening_by {
        Some(ListeningBy::Look) => "listening (polled)",
        _ => "listening",
    };
    let mut rungs = vec![("program loaded", cold.exec_ms)];
    rungs.extend(cold.listening_ms.map(|spread| (listening, spread)));
    rungs.push(("connection accepted", cold.accepted_ms));
    rungs.push(("first byte", cold.first_byte_ms));
    rungs.push(("whole answer", cold.ready_ms));
    rungs.push(("CPU time until then", cold.cpu_ms));
    rungs
}

/// What made the tail.
pub(super) fn slow(cold: &ColdStart) -> Option<String> {
    let causes = [
        (cold.waited_for_cpu, "waited for a CPU"),
        (cold.waited_for_disk, "read from the disk"),
        (cold.worked_longer, "worked longer"),
        (cold.slow_otherwise, "slept longer"),
    ];
    let slow: usize = causes.iter().map(|(count, _)| count).sum();
    if slow == 0 {
        return None;
    }
    let named = causes.iter().filter(|(count, _)| *count > 0);
    let named: Vec<String> = named
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let worst = cold.runs.iter().filter(|run| run.slow.is_some());
    let worst = worst.map(|run| run.ready_ms).fold(0.0, f64::max);
    Some(format!(
        "{slow} of {} took over 1.2 times the median, up to {}: {}",
        counted(cold.launches as u64, "launch", "launches"),
        ms(worst),
        named.join(", ")
    ))
}
