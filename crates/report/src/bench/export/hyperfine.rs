//! The JSON of hyperfine 1.x, so that scripts written for it keep working.

use fathom_exchange::export;
use fathom_model::BenchRecord;

/// Formats `record` like hyperfine 1.20's `--export-json`, using [`export::hyperfine`]. Benchmarks without
/// runs are omitted.
pub fn hyperfine_json(record: &BenchRecord) -> String {
    export::hyperfine(&[export::of_bench(record)]).text
}
