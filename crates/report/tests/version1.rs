//! Records of version 1, written by the last Fathom with that version, can be read and are written back as
//! current records with the same values.

mod schemas;

use fathom_model::{
    BenchRecord, CatalogueRecord, CheckReport, ExperimentRecord, Explanation, PipeRecord,
    PlanRecord, ProbeResult, SCHEMA_VERSION, StartupRecord, TimeCategory,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Keys of version 1 that version 2 doesn't have; `missing` still exists for tools.
const OLD_KEYS: [&str; 23] = [
    "could_win_ns",
    "could_win_cpu_ns",
    "could_win_latency_ns",
    "spent",
    "explaining",
    "explained",
    "times_are_quoted",
    "if_free",
    "wait_input_ns",
    "wait_output_ns",
    "other_wait_ns",
    "no_cpu_ns",
    "void",
    "void_runs",
    "held",
    "told_by",
    "n",
    "scheduler",
    "elsewhere",
    "flips",
    "without",
    "undisturbed_ns",
    "harness_wait_ns",
];

/// Collects all keys of a value.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.push(key.clone());
                keys(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// Collects all numbers of a value, in its order, which doesn't depend on the names of the keys.
fn numbers(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number) => found.push(number.to_string()),
        Value::Object(map) => map.values().for_each(|value| numbers(value, found)),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// Reads a record of version 1 and writes it with the current version.
fn again<T: Serialize + DeserializeOwned>(text: &str) -> Value {
    let before: Value = serde_json::from_str(text).expect("it is JSON");
    assert_eq!(before["schema_version"], 1);
    let record: T = serde_json::from_str(text).expect("a record of version 1 is read");
    let mut after = serde_json::to_value(record).expect("a record is JSON");
    let mut of_both = [Vec::new(), Vec::new()];
    numbers(&before, &mut of_both[0]);
    numbers(&after, &mut of_both[1]);
    of_both
        .iter_mut()
        .for_each(|numbers| numbers.sort_unstable());
    assert_eq!(of_both[0], of_both[1], "the numbers are the same");
    after["schema_version"] = Value::from(SCHEMA_VERSION);
    after
}

#[test]
fn bench() {
    let record = again::<BenchRecord>(include_str!("version1/bench.json"));
    schemas::assert_fits("bench", [record.clone()]);
    assert!(record["runs"][0]["cpu_wait_free_ns"].is_u64(), "{record}");
    let metrics = record["outcome"]["results"][0]["summaries"].to_string();
    assert!(metrics.contains("\"cpu_wait_free\""), "{metrics}");
}

#[test]
fn why() {
    for text in [
        include_str!("version1/why.json"),
        include_str!("version1/why-ptrace.json"),
    ] {
        let record = again::<Explanation>(text);
        schemas::assert_fits("why", [record.clone()]);
        let tier = record["observation"]["tier"].as_str();
        assert!(matches!(tier, Some("kernel" | "ptrace")), "{tier:?}");
    }
    let all = again::<Explanation>(include_str!("version1/why.json"));
    assert!(all["findings"][0]["saving_ns"].is_u64(), "{all}");
}

#[test]
fn each_part_of_an_account_is_read_by_its_old_name() {
    let old = [
        ("disk", TimeCategory::Disk),
        ("network", TimeCategory::Network),
        ("locks", TimeCategory::Locks),
        ("signals", TimeCategory::Signals),
        ("other_wait", TimeCategory::OtherWait),
        ("ready", TimeCategory::Ready),
        ("stolen", TimeCategory::Stolen),
    ];
    for (name, category) in old {
        assert_eq!(
            serde_json::from_value::<TimeCategory>(name.into()).ok(),
            Some(category)
        );
    }
}

#[test]
fn pipe() {
    let record = again::<PipeRecord>(include_str!("version1/pipe.json"));
    schemas::assert_fits("pipe", [record.clone()]);
    assert!(
        record["observed_rounds"][0]["stages"][0]["waiting_for_reader_ns"].is_u64(),
        "{record}"
    );
}

#[test]
fn startup() {
    let record = again::<StartupRecord>(include_str!("version1/startup.json"));
    schemas::assert_fits("startup", [record.clone()]);
    assert_eq!(record["traces"][0]["tier"], "ptrace");
    assert!(record["budget"]["met"].is_boolean() && record["runs"][0]["not_cold"].is_boolean());
}

#[test]
fn machine() {
    let record: Value =
        serde_json::from_str(include_str!("version1/machine.json")).expect("it is JSON");
    for before in record["results"].as_array().expect("a list") {
        let result: ProbeResult = serde_json::from_value(before.clone()).expect("a figure is read");
        let after = serde_json::to_value(result).expect("a figure is JSON");
        assert_eq!(
            (&after["chunks"], &after["cpu_share"]),
            (&before["n"], &before["share"])
        );
        assert_eq!(after["value"], before["value"]);
    }
    let text = include_str!("version1/machine-check.json");
    let before: Value = serde_json::from_str(text).expect("it is JSON");
    let report: CheckReport = serde_json::from_str(text).expect("a check is read");
    let after = serde_json::to_value(report).expect("a check is JSON");
    let gaps = &before["noise"]["gaps"];
    assert_eq!(
        after["noise"]["gaps"]["scheduler_switches"],
        gaps["scheduler"]
    );
    let rounds = &before["noise"]["told_by"]["rounds"];
    assert!(rounds.is_u64(), "{before}");
    assert_eq!(&after["noise"]["self_comparison"]["rounds"], rounds);
    assert_eq!(after["noise"]["self_comparison"]["clock"], "cpu_wait_free");
}

#[test]
fn run() {
    let record = again::<ExperimentRecord>(include_str!("version1/run.json"));
    schemas::assert_fits("run", [record.clone()]);
    let metrics = record["results"].to_string();
    assert!(metrics.contains("\"cpu_wait_free\""), "{metrics}");
    let plan = again::<PlanRecord>(include_str!("version1/plan.json"));
    schemas::assert_fits("plan", [plan.clone()]);
    let list = again::<CatalogueRecord>(include_str!("version1/catalogue.json"));
    schemas::assert_fits("catalogue", [list.clone()]);
}

#[test]
fn no_old_word_is_written() {
    let records = [
        again::<BenchRecord>(include_str!("version1/bench.json")),
        again::<Explanation>(include_str!("version1/why.json")),
        again::<PipeRecord>(include_str!("version1/pipe.json")),
        again::<StartupRecord>(include_str!("version1/startup.json")),
        again::<ExperimentRecord>(include_str!("version1/run.json")),
    ];
    let mut all = Vec::new();
    records.iter().for_each(|record| keys(record, &mut all));
    let old: Vec<&String> = all
        .iter()
        .filter(|key| OLD_KEYS.contains(&key.as_str()))
        .collect();
    assert!(all.len() > 100 && old.is_empty(), "{old:?}");
}
