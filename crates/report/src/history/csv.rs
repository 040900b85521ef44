//! Points as CSV: a row each.

use fathom_model::{HistoryRecord, listed, pairs};

const HEAD: &str = "benchmark,parameters,metric,unit,time,revision,branch,dirty,labels,value,low,high,runs,environment,record\n";

/// All points of all series, with a head. Times are UTC.
pub fn history_csv(record: &HistoryRecord) -> String {
    let mut text = HEAD.to_owned();
    for series in &record.series {
        let parameters = pairs(listed(&series.parameters), " ");
        for point in &series.points {
            let fields = [
                quoted(&series.benchmark),
                quoted(&parameters),
                quoted(&series.metric),
                quoted(&series.unit),
                point.time.clone(),
                point.revision.clone().unwrap_or_default(),
                quoted(point.branch.as_deref().unwrap_or_default()),
                point.dirty.to_string(),
                quoted(&point.labels.join(" ")),
                point.value.to_string(),
                point.low.to_string(),
                point.high.to_string(),
                point.runs.to_string(),
                point.environment.clone(),
                point.record.clone(),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// As RFC 4180 wants it.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
