//! Reads a record of any verb: it is either refused, or written again as the same record.
#![no_main]

use fathom_model::{
    BenchRecord, CatalogueRecord, ExperimentRecord, Explanation, PipeRecord, PlanRecord,
    StartupRecord,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn survives<R: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<R>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&record).expect("it can be written");
    let again: R = serde_json::from_value(written.clone()).expect("what was written is read");
    assert_eq!(serde_json::to_value(&again).expect("it can be written"), written);
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    survives::<BenchRecord>(bytes);
    survives::<Explanation>(bytes);
    survives::<PipeRecord>(bytes);
    survives::<StartupRecord>(bytes);
    survives::<ExperimentRecord>(bytes);
    survives::<PlanRecord>(bytes);
    survives::<CatalogueRecord>(bytes);
});
