//! The JSON of hyperfine 1.x, so that scripts written for it keep working.

use fathom_exchange::export;
use fathom_model::BenchRecord;

/// `record` in the shape of hyperfine 1.20's `--export-json`: as [`export::hyperfine`] writes it.
/// Benchmarks without runs are left out.
pub fn hyperfine_json(record: &BenchRecord) -> String {
    export::hyperfine(&[export::of_bench(record)]).text
}
