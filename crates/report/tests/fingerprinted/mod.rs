//! The fingerprint of artificial records.

use fathom_model::{Fingerprint, MachineFigure};

/// A single figure, measured an hour ago and changed since.
pub(crate) fn fingerprint() -> Fingerprint {
    let figure = MachineFigure {
        id: "core_clock".into(),
        value: 3.244,
        unit: "GHz".into(),
    };
    Fingerprint {
        measured_seconds_ago: 3600,
        profile: vec![figure.clone()],
        canaries: vec![figure],
        skipped: vec!["read_bandwidth_1".into()],
        changed: vec!["core_clock".into()],
    }
}
