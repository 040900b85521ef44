//! The steps from launch to first answer.

use fathom_model::{ColdStart, ListeningBy, ServeRecord, Spread};

use super::words::ms;
use crate::quantity::counted;

/// Index of a server, its start, and which files were evicted from memory.
pub(super) type Start<'r> = (usize, &'r ColdStart, &'static str);

/// Returns all measured starts.
pub(super) fn starts(record: &ServeRecord) -> Vec<Start<'_>> {
    let servers = record.servers.iter().enumerate();
    let of = servers.flat_map(|(index, server)| {
        let both = [(&server.cold, ""), (&server.cold_evicted, ", evicted")];
        both.into_iter()
            .filter_map(move |(cold, state)| Some((index, cold.as_ref()?, state)))
    });
    of.collect()
}

/// Returns the title above the starts; `None` if there are no starts.
pub(super) fn title(record: &ServeRecord, starts: &[Start<'_>]) -> Option<String> {
    let (_, first, _) = starts.first()?;
    let launches = counted(first.launches as u64, "launch", "launches");
    let several = match record.servers.len() {
        2.. => " each",
        _ => "",
    };
    Some(format!("From launch to first answer ({launches}{several})"))
}

/// Returns the steps in the order of a start; the last entry is not a step but the CPU time.
pub(super) fn rungs(cold: &ColdStart) -> Vec<(&'static str, Spread)> {
    let listening = match cold.listening_by {
        Some(ListeningBy::Look) => "listening (polled)",
        _ => "listening",
    };
    let mut rungs = vec![("program loaded", cold.exec_ms)];
    rungs.extend(cold.listening_ms.map(|spread| (listening, spread)));
    rungs.push(("connection accepted", cold.accepted_ms));
    rungs.extend(cold.secured_ms.map(|spread| ("TLS agreed on", spread)));
    rungs.push(("first byte", cold.first_byte_ms));
    rungs.push(("whole answer", cold.ready_ms));
    rungs.push(("CPU time up to then", cold.cpu_ms));
    rungs
}

/// Describes the causes of slow launches.
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
