//! Points as CSV, one row each.

use fathom_exchange::export::quoted_cell;
use fathom_model::{HistoryRecord, listed, pairs};

const HEAD: &str = "benchmark,parameters,metric,unit,time,revision,branch,dirty,labels,value,low,high,runs,environment,record\n";

/// Formats all points of all series, with a header. Times are UTC.
pub fn history_csv(record: &HistoryRecord) -> String {
    let mut text = HEAD.to_owned();
    for series in &record.series {
        let parameters = pairs(listed(&series.parameters), " ");
        for point in &series.points {
            let fields = [
                quoted_cell(&series.benchmark),
                quoted_cell(&parameters),
                quoted_cell(&series.metric),
                quoted_cell(&series.unit),
                quoted_cell(&point.time),
                quoted_cell(point.revision.as_deref().unwrap_or_default()),
                quoted_cell(point.branch.as_deref().unwrap_or_default()),
                point.dirty.to_string(),
                quoted_cell(&point.labels.join(" ")),
                point.value.to_string(),
                point.low.to_string(),
                point.high.to_string(),
                point.runs.to_string(),
                quoted_cell(&point.environment),
                quoted_cell(&point.record),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}
