//! Runs `serve`, and reads its record.

use fathom_conduct::serve::{ServePlan, Served};
use fathom_conduct::{ConductError, Event, fresh_seed};
use fathom_load::{Checks, Extensions, RequestPlan};
use fathom_measure::MeasureError;

use super::bench::Amount;
use super::observed::Session;
use super::verb::{self, Verb};
use super::{Yield, records};
use crate::file::WEBSOCKET;
use crate::file::experiment::Measure;
use crate::resolve::{Scope, Target};

/// The status with which a server switches to WebSocket.
const SWITCHING: u16 = 101;

/// Ignores progress, because the status line already names the measure.
fn unwatched(_: Event<'_>) {}

/// Launches all targets, or puts load on them, in the same rounds.
pub fn serve(measure: &Measure, targets: &[Target], amount: Amount, scope: &Scope<'_>) -> Yield {
    let mut session = Session::new(scope.folders, amount);
    let measured = session.call(&measure.id.value, |verb| {
        let plan = plan(measure, targets, amount, verb)?;
        let measured = fathom_conduct::serve(&plan, &mut unwatched)?;
        let failure = measured.failure.map(ConductError::from);
        Ok((measured.record, failure.map(|error| verb.said(&error))))
    });
    match measured {
        Ok((record, failure)) => {
            let outcome = session.outcome();
            for (index, target) in targets.iter().enumerate() {
                let samples = records::serve(
                    &record,
                    index,
                    &measure.id.value,
                    &target.subject,
                    &target.parameters,
                );
                outcome.results.samples.extend(samples);
            }
            outcome.notes.extend(records::of_serve_trust(&record));
            if let Some(why) = failure {
                outcome.failed = true;
                outcome.notes.push(why);
            }
        }
        Err(why) => {
            for target in targets {
                session.gap(measure, Some(&target.subject), &target.parameters, &why);
            }
        }
    }
    session.into_outcome()
}

fn plan(
    measure: &Measure,
    targets: &[Target],
    amount: Amount,
    verb: &Verb,
) -> Result<ServePlan, MeasureError> {
    let started = |target: &Target| Ok(Served::Started(Box::new(verb::find(&target.job)?)));
    let servers: Vec<Served> = targets
        .iter()
        .map(started)
        .collect::<Result<_, MeasureError>>()?;
    let loads = || measure.load.iter().map(|load| load.value.as_str());
    let by_websocket = loads().any(|load| load == WEBSOCKET);
    let rounds = verb::count(amount.rounds);
    let is_loaded = !measure.load.is_empty();
    let usual = ServePlan::usual(servers, fresh_seed());
    Ok(ServePlan {
        launches: if is_loaded { 0 } else { rounds },
        step: measure.step.unwrap_or(usual.step),
        cold: measure.also_cold(),
        rounds: if is_loaded { rounds } else { 0 },
        connections: loads().filter_map(|load| load.parse().ok()).collect(),
        // Claims are about numbers of connections, not about shares of the measured capacity.
        rates: Some(Vec::new()),
        requests: RequestPlan {
            paths: vec![measure.path.clone().unwrap_or_else(|| "/".to_string())],
            websocket: by_websocket.then_some(match measure.deflate {
                true => Extensions::Deflate,
                false => Extensions::None,
            }),
            ..RequestPlan::default()
        },
        checks: Checks {
            status: if by_websocket {
                vec![SWITCHING]
            } else {
                Vec::new()
            },
            contains: None,
        },
        launch_timeout: measure.timeout.unwrap_or(usual.launch_timeout),
        record: Some(verb.path.clone()),
        terms: verb.terms(targets.iter().map(|target| &target.job)),
        ..usual
    })
}
