//! Running servers, each with the requests to send.

use std::sync::Arc;

use fathom_load::clock::now;
use fathom_load::{Address, Expected, Request, Task, TlsTerms, ask};
use fathom_measure::MeasureError;
use fathom_measure::server::{KILLED_PARENT, Server};
use fathom_model::secret::hidden;

use super::launch;
use super::plan::{ServePlan, Served};
use super::words;
use crate::ConductError;

/// A server under load.
pub(super) struct RunningServer {
    pub(super) name: String,
    /// The server, if Fathom started it.
    pub(super) server: Option<Server>,
    pub(super) task: Arc<Task>,
    pub(super) address: Address,
    pub(super) daemonised: bool,
}

/// Starts the servers that need to be started, and fetches the answers expected from each server.
///
/// # Errors
/// If a server doesn't give these answers.
pub(super) fn bring_up(
    plan: &ServePlan,
    cpus: &[usize],
) -> Result<Vec<RunningServer>, ConductError> {
    plan.servers
        .iter()
        .map(|served| up(plan, served, cpus))
        .collect()
}

fn up(plan: &ServePlan, served: &Served, cpus: &[usize]) -> Result<RunningServer, ConductError> {
    let name = served.name().to_string();
    let mut requests = plan.requests.clone();
    let (mut server, address, host, tls, daemonised) = match served {
        Served::Started(target) => {
            let launched = launch::launch(plan, target, cpus)?;
            launch::check_alone(&launched)?;
            let host = launched.address.host();
            let daemonised = launched.daemonised;
            let tls = plan.tls.as_ref();
            (
                Some(launched.server),
                launched.address,
                host,
                tls,
                daemonised,
            )
        }
        Served::Running(url) => {
            if let Some(path) = &url.path {
                requests.paths = vec![path.clone()];
            }
            let tls = plan.tls.as_ref().filter(|_| url.tls);
            (None, url.address.clone(), url.host.clone(), tls, false)
        }
    };
    if let Some(server) = &mut server {
        server.keep().map_err(|error| MeasureError::Spawn {
            name: name.clone(),
            error,
        })?;
    }
    let tls = tls.map(|tls| tls.of(&host)).transpose();
    let tls = tls.map_err(ConductError::Refused)?;
    let all = requests.requests(&host, tls.is_some());
    let all = all.map_err(ConductError::Refused)?;
    let mut expected = Vec::new();
    for (request, path) in all.iter().zip(&requests.paths) {
        match first_answer(plan, &address, tls.as_ref(), request, path) {
            Ok(answer) => expected.push(answer),
            Err(what) => {
                let stderr = server.as_mut().map_or_else(Vec::new, Server::stderr_tail);
                return Err(MeasureError::ServerFailed {
                    server: words::short(&name),
                    what,
                    stderr,
                }
                .into());
            }
        }
    }
    Ok(RunningServer {
        name,
        server,
        daemonised,
        task: Arc::new(Task {
            address: address.clone(),
            tls,
            requests: all,
            streams: plan.streams.max(1) as usize,
            expected,
            checks: plan.checks.clone(),
            head_only: requests.head_only(),
            keep_alive: plan.requests.keep_alive,
            timeout: plan.request_timeout.as_nanos() as u64,
        }),
        address,
    })
}

fn first_answer(
    plan: &ServePlan,
    address: &Address,
    tls: Option<&TlsTerms>,
    request: &Request,
    path: &str,
) -> Result<Expected, String> {
    let until = now() + plan.request_timeout.as_nanos() as u64;
    let first =
        ask(address, tls, request.clone(), plan.requests.reader(), until).map_err(|why| {
            format!(
                "does not answer {}: {}",
                hidden(path),
                words::no_answer(why)
            )
        })?;
    let expected = first.expected;
    if !plan.checks.status_is_good(expected.answer.status) {
        let said = match plan.requests.websocket {
            Some(_) => words::no_websocket(expected.answer.status, path),
            None => words::wrong_status(expected.answer.status, path),
        };
        return Err(said);
    }
    if !plan.checks.body_is_good(&expected.body) {
        let wanted = plan.checks.contains.as_deref().unwrap_or_default();
        return Err(format!(
            "answers {} without '{}', which --body-contains requires",
            hidden(path),
            String::from_utf8_lossy(wanted)
        ));
    }
    Ok(expected)
}

impl RunningServer {
    /// Reports whether the started process has ended while other processes of the server continue. On a busy
    /// machine, these may answer before the started process ends.
    pub(super) fn has_daemonised(&self) -> bool {
        let ended = |server: &Server| server.ended().is_some() && !server.processes().is_empty();
        self.daemonised || self.server.as_ref().is_some_and(ended)
    }

    /// Returns an error if the server ended under load.
    pub(super) fn check_alive(&mut self) -> Result<(), ConductError> {
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        let what = match server.ended().filter(|_| server.processes().is_empty()) {
            _ if server.has_killed_its_parent() => KILLED_PARENT.to_owned(),
            Some(exit) => format!("{} under load", words::ended(exit)),
            None => return Ok(()),
        };
        Err(MeasureError::ServerFailed {
            server: words::short(&self.name),
            what,
            stderr: server.stderr_tail(),
        }
        .into())
    }
}
