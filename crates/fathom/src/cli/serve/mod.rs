//! `fathom serve`: cold start, load and latency of servers.

mod arguments;
mod progress;
mod servers;
mod values;

pub(super) use arguments::Arguments;
use fathom_conduct::serve::{
    CONNECTIONS, RAMP_ROUNDS, ROUNDS, ROUNDS_TO_COMPARE, Ready, ServePlan, Served,
};
use fathom_load::Checks;
use fathom_measure::interrupt;
use fathom_model::ServeRecord;
use fathom_report as report;
use progress::Line;

use crate::cli::failure::{COMMAND_FAILED, Failure, UNTRUSTED, usage};
use crate::cli::{path_conflicts, screen, write};

/// Exit code when a budget is exceeded.
const OVER_BUDGET: i32 = 1;
/// The status with which a server switches to WebSocket.
const SWITCHING: u16 = 101;
/// The default timeout of a launch; a launch that takes longer has failed.
const LAUNCH_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// Measures the servers, and prints and writes the results. Returns the exit code.
///
/// # Errors
/// Any error that keeps a result from being printed.
pub(super) fn run(arguments: &Arguments) -> Result<i32, Failure> {
    let plan = plan(arguments)?;
    let files = [&arguments.html, &arguments.json];
    write::check(&files)?;
    let commands = plan.servers.iter().filter_map(|served| match served {
        Served::Started(target) => Some(&target.command),
        Served::Running(_) => None,
    });
    path_conflicts::check(commands, &files)?;
    let mut saver = arguments.saving.saver()?;
    interrupt::catch();
    let mut line = Line::new(&plan, arguments.verbose);
    let measured = fathom_conduct::serve(&plan, &mut line);
    line.clear();
    let measured = measured?;
    let shown = show(arguments, &measured.record);
    saver.save(&measured.record, measured.record.complete);
    shown?;
    match measured.failure {
        Some(error) => Ok(Failure::from(error).print()),
        None => Ok(exit_code(&measured.record)),
    }
}

fn plan(arguments: &Arguments) -> Result<ServePlan, Failure> {
    let servers = servers::prepare(arguments)?;
    let several = servers.len() > 1;
    let are_running = !arguments.url.is_empty();
    // A ramp alone: no other load was requested.
    let ramp_alone = arguments.ramp.is_some()
        && arguments.connections.is_none()
        && arguments.rate.is_none()
        && arguments.find_rate.is_none();
    let rounds = match (ramp_alone, several) {
        (true, _) => RAMP_ROUNDS,
        (false, true) => ROUNDS_TO_COMPARE,
        (false, false) => ROUNDS,
    };
    let rounds = arguments.rounds.unwrap_or(rounds);
    let launches = if are_running { 0 } else { arguments.launches };
    if rounds == 0 && launches == 0 {
        return usage("zero launches and zero rounds would measure nothing");
    }
    let connections = match &arguments.connections {
        Some(given) => given.0.clone(),
        None if arguments.websocket || ramp_alone => Vec::new(),
        None => CONNECTIONS.to_vec(),
    };
    let given = |status: &Option<values::Status>| {
        let status = status.clone();
        status.map_or_else(Vec::new, |status| status.0)
    };
    Ok(ServePlan {
        port: arguments.port,
        launches,
        cold: arguments.cold,
        connections,
        rates: match arguments.websocket || ramp_alone {
            true => Some(Vec::new()),
            false => arguments.rate.clone().map(|rates| rates.0),
        },
        ramp: arguments.ramp,
        message_bytes: arguments.message_bytes,
        poisson: arguments.poisson,
        find_rate: arguments.find_rate.clone(),
        step: arguments.time,
        rounds,
        requests: servers::requests(arguments)?,
        tls: servers::tls(arguments, &servers)?,
        streams: arguments.streams,
        generator_threads: arguments.generator_threads,
        checks: Checks {
            status: match arguments.websocket {
                true => vec![SWITCHING],
                false => given(&arguments.status),
            },
            contains: arguments.body_contains.clone().map(String::into_bytes),
        },
        request_timeout: arguments.request_timeout,
        launch_timeout: arguments.run_options.timeout.unwrap_or(LAUNCH_TIMEOUT),
        ready: Ready {
            path: arguments.ready_path.clone(),
            status: given(&arguments.ready_status),
            line: arguments.ready_line.clone(),
        },
        stop_timeout: arguments.stop_timeout,
        why: arguments.why,
        budget: arguments
            .budget
            .iter()
            .flat_map(|budget| budget.0.clone())
            .collect(),
        margin: arguments.margin.margin,
        seed: arguments.seed.value(),
        record: write::grows(arguments.json.as_deref()),
        terms: arguments.run_options.terms(),
        servers,
    })
}

/// Prints the record and writes it to the requested file.
///
/// # Errors
/// If either can't be written.
fn show(arguments: &Arguments, record: &ServeRecord) -> Result<(), Failure> {
    let screen = screen::of_stdout(arguments.verbose);
    write::results(
        || report::serve_terminal(record, &screen),
        &[
            (arguments.html.as_deref(), &|| report::serve_html(record)),
            (write::not_grown(arguments.json.as_deref()), &|| {
                report::json(record)
            }),
        ],
    )?;
    write::say_page(arguments.html.as_deref());
    Ok(())
}

fn exit_code(record: &ServeRecord) -> i32 {
    let loads = || record.servers.iter().flat_map(|server| &server.load);
    let ramps = || record.servers.iter().flat_map(|server| &server.ramp);
    let exchanges = || record.servers.iter().flat_map(|server| &server.websocket);
    let broken = || record.budget.iter().filter(|budget| !budget.met);
    if !record.complete {
        130
    } else if broken().any(|budget| budget.value.is_some()) {
        OVER_BUDGET
    } else if loads().count() > 0 && loads().all(|load| load.errors == load.completed) {
        COMMAND_FAILED
    } else if broken().next().is_some() {
        // A limit that can't be judged is neither kept nor exceeded.
        UNTRUSTED
    } else if loads().any(|load| load.verdicts.iter().any(|one| one.is_grave()))
        || ramps().any(|ramp| ramp.verdicts.iter().any(|one| one.is_grave()))
        || exchanges().any(|exchange| exchange.verdicts.iter().any(|one| one.is_grave()))
    {
        UNTRUSTED
    } else {
        0
    }
}
