//! Reads a trace that was saved as JSON: it is either refused, or written again as the same trace.
#![no_main]

use fathom_trace::Trace;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(trace) = serde_json::from_slice::<Trace>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&trace).expect("it can be written");
    let again: Trace = serde_json::from_value(written.clone()).expect("what was written is read");
    assert_eq!(serde_json::to_value(&again).expect("it can be written"), written);
});
