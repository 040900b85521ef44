//! What this machine can do at best, as far as it has been measured.

use fathom_diagnose::Limits;
use fathom_machine::remembered::{self, Profile};
use fathom_trace::Trace;

/// What `fathom machine` remembered of this machine; `measure` takes the quick profile if nothing
/// is (3 s, at most 8). `floor` is the empty program's time in seconds, of this very session. What
/// a name costs to look up is measured now (2 ms), and so is a call through the 32-bit entry (2 ms)
/// if the trace has any.
pub(super) fn limits(measure: bool, floor: Option<f64>, trace: &Trace) -> Limits {
    let folder = remembered::default_folder();
    let profile = match measure {
        true => {
            let options = fathom_machine::Options::default();
            Some(remembered::profile(folder.as_deref(), &options, &mut |_| ()).0)
        }
        false => folder.as_deref().and_then(remembered::load),
    };
    Limits {
        lookup_seconds: fathom_machine::lookup_seconds(),
        entry_32_seconds: match trace.calls_by_32_bit_entry() {
            0 => None,
            _ => fathom_machine::entry_32_seconds(),
        },
        ..of(profile.as_ref(), floor)
    }
}

/// Only what the probes themselves believe.
fn of(profile: Option<&Profile>, floor: Option<f64>) -> Limits {
    let bandwidth = profile.and_then(|profile| profile.value("read_bandwidth_1"));
    Limits {
        syscall_seconds: profile.and_then(|profile| seconds(profile, "system_call")),
        memory_bandwidth: bandwidth.map(|gigabytes| gigabytes * 1e9),
        spawn_seconds: floor,
        page_fault_seconds: profile.and_then(|profile| seconds(profile, "page_fault")),
        lookup_seconds: None,
        entry_32_seconds: None,
    }
}

/// The probe's figure, whichever unit of time it is in.
fn seconds(profile: &Profile, id: &str) -> Option<f64> {
    let result = profile.results.iter().find(|result| result.id == id)?;
    let in_a_second = match result.unit.as_str() {
        "ns" => 1e9,
        "us" => 1e6,
        _ => return None,
    };
    Some(result.value? / in_a_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A probe's result with this figure, as a profile keeps it.
    fn figure(id: &str, value: Option<f64>, unit: &str) -> fathom_machine::ProbeResult {
        let verdict = if value.is_some() { "ok" } else { "disturbed" };
        serde_json::from_value(serde_json::json!({
            "id": id, "title": id, "value": value, "unit": unit, "estimator": "minimum", "n": 9,
            "p10": 1.0, "median": 1.0, "min": 1.0, "spread": null, "share": null, "steal_ns": 0,
            "involuntary_switches": 0, "verdict": verdict, "method": "m", "note": null,
            "reported": null, "core_to_core_ns": null, "points_over": null, "points_unit": null,
            "points": null
        }))
        .unwrap()
    }

    #[test]
    fn limits_are_the_figures_of_the_profile_in_seconds_and_bytes() {
        let profile = Profile::now(vec![
            figure("system_call", Some(185.0), "ns"),
            figure("read_bandwidth_1", Some(22.0), "GB/s"),
            figure("page_fault", Some(1.2), "us"),
        ]);
        let limits = of(Some(&profile), Some(0.0001));
        assert_eq!(limits.syscall_seconds, Some(185.0 / 1e9));
        assert_eq!(limits.memory_bandwidth, Some(22.0 * 1e9));
        assert_eq!(limits.spawn_seconds, Some(0.0001));
        assert_eq!(limits.page_fault_seconds, Some(1.2 / 1e6));
    }

    #[test]
    fn what_was_disturbed_is_no_limit() {
        let profile = Profile::now(vec![figure("system_call", None, "ns")]);
        assert_eq!(of(Some(&profile), None), Limits::default());
    }

    #[test]
    fn what_was_never_measured_is_no_limit() {
        assert_eq!(of(None, None), Limits::default());
    }
}
