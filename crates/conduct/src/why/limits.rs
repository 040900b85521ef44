//! The measured limits of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use fathom_diagnose::Limits;
use fathom_machine::remembered::{self, Profile};
use fathom_trace::Trace;

/// Returns the limits that `fathom machine` stored for this machine. If there are none and `measure` is set,
/// takes the quick profile (3 s, at most 8 s). `floor` is the time of the empty program in seconds, from this
/// session.
///
/// Some costs are always measured now. That of looking up the trace's names takes some milliseconds. That of
/// a call through the 32-bit entry takes 2 ms and is measured if the trace has such calls. Those of the
/// simplest call and of read-only calls take 0.5 ms each and are measured if the number of calls must be
/// estimated from the time they took.
pub(super) fn limits(measure: bool, floor: Option<f64>, trace: &Trace) -> Limits {
    let folder = remembered::default_folder();
    let profile = match measure {
        true => {
            let options = fathom_machine::Options::default();
            Some(remembered::profile(folder.as_deref(), &options, &mut |_| ()).0)
        }
        false => folder.as_deref().and_then(remembered::load),
    };
    let known = of(profile.as_ref(), floor);
    let simplest = || trace.calls_cut.then(fathom_machine::simplest_call_seconds);
    Limits {
        syscall_seconds: known.syscall_seconds.or_else(simplest),
        lookup_seconds: fathom_machine::lookup_seconds(&asked_for(trace)),
        entry_32_seconds: match trace.calls_by_32_bit_entry() {
            0 => None,
            _ => fathom_machine::entry_32_seconds(),
        },
        call_seconds: match trace.calls_cut {
            true => late_calls(trace),
            false => BTreeMap::new(),
        },
        ..known
    }
}

/// Measures the cost of the calls that the trace's processes kept making until the end, if such calls can be
/// made from here.
fn late_calls(trace: &Trace) -> BTreeMap<String, f64> {
    let late = trace.syscalls.iter().filter(|row| row.late_calls > 0);
    let names: BTreeSet<&str> = late.map(|row| row.name.as_str()).collect();
    let seconds = |name: &str| Some((name.to_owned(), fathom_machine::call_seconds(name)?));
    names.into_iter().filter_map(seconds).collect()
}

/// Returns the paths that the trace's processes queried with read-only calls, most frequent first. Relative
/// paths, and patterns that stand for several paths, are skipped because they can't be queried from here.
fn asked_for(trace: &Trace) -> Vec<(CString, u64)> {
    let is_one = |path: &str| path.starts_with('/') && !path.contains(['*', '#']);
    let rows = trace.paths.iter();
    let rows = rows.filter(|row| fathom_diagnose::asks_about_path(&row.call) && is_one(&row.path));
    let mut asked: Vec<(CString, u64)> = rows
        .filter_map(|row| Some((CString::new(row.path.as_str()).ok()?, row.calls)))
        .collect();
    asked.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    asked
}

/// Returns the limits. Only figures that the probes themselves consider reliable are used.
fn of(profile: Option<&Profile>, floor: Option<f64>) -> Limits {
    let bandwidth = profile.and_then(|profile| profile.value("read_bandwidth_1"));
    Limits {
        syscall_seconds: profile.and_then(|profile| seconds(profile, "system_call")),
        memory_bandwidth: bandwidth.map(|gigabytes| gigabytes * 1e9),
        spawn_seconds: floor,
        page_fault_seconds: profile.and_then(|profile| seconds(profile, "page_fault")),
        ..Limits::default()
    }
}

/// Returns the probe's figure in seconds, whatever its unit of time.
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

    /// Returns a probe's result with this figure, as stored in a profile.
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
    fn only_whole_paths_of_questions_are_asked_for_again() {
        let row = |call: &str, path: &str, calls| fathom_trace::PathRow {
            pid: 10,
            call: call.to_owned(),
            path: path.to_owned(),
            calls,
            ns: 0,
            samples: 1,
        };
        let trace = Trace {
            paths: vec![
                row("newfstatat", "/etc/a", 3),
                row("access", "/etc/b", 20),
                row("unlink", "/etc/c", 500),
                row("newfstatat", "src/d", 500),
                row("newfstatat", "/etc/*", 500),
            ],
            ..Trace::default()
        };
        let asked = asked_for(&trace).into_iter();
        let asked: Vec<(String, u64)> = asked
            .map(|(path, calls)| (path.into_string().expect("text"), calls))
            .collect();
        assert_eq!(asked, [("/etc/b".to_owned(), 20), ("/etc/a".to_owned(), 3)]);
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
