//! Warnings about how far the numbers of a server can be trusted.

use fathom_model::{ListeningBy, ServedServer, Warning};

use super::plan::ServePlan;
use super::rounds::Made;
use super::words;
use crate::ConductError;

fn warning(server: usize, id: &str, message: String) -> Warning {
    Warning {
        id: id.to_string(),
        benchmark: Some(server),
        message,
    }
}

pub(super) fn daemonised(server: usize) -> Warning {
    warning(
        server,
        "daemonised",
        "the process that Fathom started exited but left others running, and those were measured; most servers have \
         an option to stay in the foreground"
            .to_string(),
    )
}

pub(super) fn left(server: usize, count: u32) -> Warning {
    warning(
        server,
        "left_behind",
        format!("{count} of its processes could not be ended and are still running"),
    )
}

pub(super) fn unobserved(server: usize, why_not: &ConductError) -> Warning {
    warning(
        server,
        "unobserved",
        format!("the account of its time is missing: {why_not}"),
    )
}

pub(super) fn of_launches(index: usize, server: &ServedServer) -> Vec<Warning> {
    let mut found = Vec::new();
    let Some(cold) = &server.cold else {
        return found;
    };
    if cold.listening_by == Some(ListeningBy::Look) {
        let us = cold.listening_uncertainty_us.unwrap_or(0.0);
        found.push(warning(
            index,
            "listening_looked_for",
            format!(
                "the kernel did not report when it began to listen, so the port was polled: the time may be up to \
                 {us:.0} µs too long"
            ),
        ));
    }
    let killed = cold.runs.iter().filter(|run| run.killed > 0).count();
    if killed > 0 {
        found.push(warning(
            index,
            "killed",
            format!(
                "in {killed} of {} launches, it did not exit after SIGTERM and was killed",
                cold.launches
            ),
        ));
    }
    let early: u32 = cold.runs.iter().map(|run| run.answers_before).sum();
    if early > 0 {
        found.push(warning(
            index,
            "not_ready_answers",
            format!(
                "it answered before it was ready: {early} answers in {} launches were invalid",
                cold.launches
            ),
        ));
    }
    found
}

pub(super) fn of_load(plan: &ServePlan, servers: &[ServedServer], made: &[Made]) -> Vec<Warning> {
    let mut found = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let mine = || made.iter().filter(|made| made.server == index);
        if let Some(why) = mine().find_map(|made| made.done.unconnected) {
            found.push(warning(
                index,
                "unconnected",
                format!(
                    "some connections could not be opened in advance: {}",
                    words::failure(why)
                ),
            ));
        }
        if let Some((failing, status, more)) = mine().find_map(|made| made.done.outcome.example) {
            let example = match (status, more) {
                (0, "") => String::new(),
                (0, more) => format!(": {more}"),
                (status, _) => format!(" (status {status})"),
            };
            let what = words::failure(failing);
            found.push(warning(
                index,
                "bad_answers",
                format!("one bad answer: {what}{example}"),
            ));
        }
        let (other, all): (u64, u64) = server
            .load
            .iter()
            .map(|load| (load.other_bodies, load.completed - load.errors))
            .fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        if other > 0 {
            found.push(warning(
                index,
                "other_bodies",
                format!(
                    "{other} of {all} good answers had a body that differs from the first one's"
                ),
            ));
        }
        let most = mine()
            .filter_map(|made| made.done.outcome.most_streams)
            .min();
        if let Some(most) = most.filter(|most| *most < plan.streams as usize) {
            found.push(warning(
                index,
                "fewer_streams",
                format!(
                    "it allows {most} requests at a time on a connection: the rest of --streams {} waited, and that \
                     wait counts as service time",
                    plan.streams
                ),
            ));
        }
        let unasked: u64 = mine().map(|made| made.done.outcome.unasked).sum();
        if unasked > 0 {
            found.push(warning(
                index,
                "unasked_bytes",
                format!("{unasked} answers were followed by unexpected data"),
            ));
        }
    }
    if fathom_load::is_coarse() {
        found.push(Warning {
            id: "coarse_timer".to_string(),
            benchmark: None,
            message:
                "this kernel is older than 5.11, so the open loop is scheduled with a resolution of one millisecond"
                    .to_string(),
        });
    }
    found
}
