//! bombardier's JSON: microseconds, summaries only. Without `--print result` text stands before it.

use serde_json::Value;

use crate::collector::{Collector, Measure};
use crate::error::Error;
use crate::failed::Failed;
use crate::json::{count, document, figures, holds, list, number, text, word};
use crate::lines::find;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    holds(
        head,
        &[
            "\"numberOfConnections\"",
            "\"timeTakenSeconds\"",
            "\"req2xx\"",
        ],
    )
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let start = find(bytes, b"{").unwrap_or(0);
    let document = document(&bytes[start..])?;
    let (spec, result) = (&document["spec"], &document["result"]);
    let name = word(spec, "url").unwrap_or("bombardier");
    let measure = |metric, unit| {
        let settings = [
            ("connections", "numberOfConnections"),
            ("method", "method"),
            ("rate", "rate"),
            ("client", "client"),
        ];
        let given = settings
            .into_iter()
            .filter(|(_, key)| !spec[*key].is_null());
        given.fold(Measure::new(name, metric, unit), |measure, (name, key)| {
            measure.parameter(name, &text(&spec[key]))
        })
    };
    let statuses = ["1xx", "2xx", "3xx", "4xx", "5xx"].map(|class| {
        let times = count(result, &format!("req{class}")).unwrap_or(0);
        (class.replace("xx", "00"), times)
    });
    let others = count(result, "others").unwrap_or(0);
    let answered = statuses.iter().map(|(_, times)| *times);
    let all = answered.fold(others, u64::saturating_add);
    let response = statistics(&result["latency"], Some(all));
    out.summary(measure("response", "us"), response);
    // How many seconds it is the mean of isn't said.
    // At a pace that was asked for it says little of the server.
    let metric = match spec["rate"].is_null() {
        true => "requests_per_second",
        false => "throughput",
    };
    out.summary(measure(metric, "1/s"), statistics(&result["rps"], None));
    let mut failed = Failed::default();
    for (status, times) in statuses {
        failed.status(&status, times);
    }
    failed.no_answer(others);
    failed.write_as(measure("failed_responses", ""), out);
    for error in list(result, "errors") {
        let what = format!("error: {}", word(error, "description").unwrap_or_default());
        out.left_out_times(what, "no response", count(error, "count").unwrap_or(1));
    }
    out.left_out(
        "bytesRead, bytesWritten, timeTakenSeconds",
        "of the whole test",
    );
    Ok(())
}

fn statistics(value: &Value, count: Option<u64>) -> Summary {
    Summary {
        count,
        mean: number(value, "mean"),
        standard_deviation: number(value, "stddev"),
        max: number(value, "max"),
        quantiles: figures(&value["percentiles"], |percent| Some(percent.to_owned())),
        ..Summary::default()
    }
}
