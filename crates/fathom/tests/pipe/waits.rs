//! The waits reported for a pipeline.

use super::*;

const MS: u64 = 1_000_000;

const SLOW_WRITER: &str = "sh -c 'sleep 0.3; echo 0123456789'";

#[test]
fn a_reader_of_a_slow_writer_waits_for_it_in_every_tier() {
    for tier in tiers() {
        let record = record(&["--tier", tier, SLOW_WRITER, "cat"]);
        assert_eq!(record["kind"], "pipe");
        assert_eq!(record["observation"]["tier"], tier);
        assert_eq!(record["rounds"].as_array().unwrap().len(), 2);
        let [writer, reader] = [0, 1].map(|stage| &record["observed_rounds"][0]["stages"][stage]);
        // A sleep is never shorter than requested; 50 ms allow for a sampler that starts late.
        assert!(
            ns(&writer["other_waits_ns"]) >= 250 * MS,
            "{tier}: {writer}"
        );
        assert!(
            ns(&reader["waiting_for_input_ns"]) >= 250 * MS,
            "{tier}: {reader}"
        );
        assert_eq!(record["bottleneck"], 0, "{tier}");
        let free = |stage: usize| {
            record["model"]["if_stage_took_no_time"][stage]["wall_seconds"]
                .as_f64()
                .unwrap()
        };
        assert!(
            free(1) >= 0.29 && free(0) < free(1),
            "{tier}: {}",
            record["model"]
        );
        assert!(note(&record, "misleading_wall_time").contains("waiting for sh. Alone"));
    }
}

#[test]
fn the_model_knows_a_stage_that_reads_all_before_it_writes() {
    if !tiers().contains(&"kernel") {
        return;
    }
    // 0.2 s until the first byte, then 0.4 s after the last, in sequence.
    let collects = "sh -c 'cat >/dev/null; sleep 0.4; echo done'";
    let first = "sh -c 'sleep 0.2; echo x'";
    let record = record(&["--tier", "kernel", first, collects, "cat"]);
    let model = &record["model"];
    assert_eq!(model["method"], "phases");
    let free = |stage: usize| {
        model["if_stage_took_no_time"][stage]["wall_seconds"]
            .as_f64()
            .unwrap()
    };
    assert!(model["as_is_seconds"].as_f64().unwrap() >= 0.58, "{model}");
    // A sleep is never shorter than requested; 10 % allow for the scaling to the timed rounds.
    assert!(
        free(0) >= 0.36 && free(1) >= 0.18 && free(2) >= 0.54,
        "{model}"
    );
    assert!(free(1) < free(0) && free(0) < free(2), "{model}");
    assert_eq!(record["bottleneck"], 1, "{model}");
}

#[test]
fn the_parts_of_a_stages_time_add_up() {
    for tier in tiers() {
        let record = record(&[
            "--tier",
            tier,
            "head -c 5000000 /dev/zero",
            "gzip -1",
            "wc -c",
        ]);
        for stage in record["observed_rounds"][0]["stages"].as_array().unwrap() {
            let parts = [
                "running_ns",
                "waiting_for_input_ns",
                "waiting_for_reader_ns",
                "other_waits_ns",
            ];
            // If the cause of the waits is unknown, these figures are missing; the running time is always
            // known.
            if parts[1..].iter().all(|part| stage[*part].is_null()) {
                assert_eq!(tier, "perf", "{stage}");
                continue;
            }
            let sum: u64 = parts.iter().map(|part| ns(&stage[*part])).sum();
            let wall = ns(&stage["end_ns"]) - ns(&stage["start_ns"]);
            assert!(
                sum.abs_diff(wall) <= wall / 50,
                "{tier}: {sum} of {wall}: {stage}"
            );
        }
    }
}

#[test]
fn a_stage_that_holds_its_bytes_until_its_input_ends_is_said_to() {
    if !tiers().contains(&"kernel") {
        return;
    }
    let feed = "sh -c 'for i in 1 2 3 4; do echo ERROR; sleep 0.1; done'";
    let record = record(&["--tier", "kernel", feed, "grep ERROR", "cat"]);
    let said = note(&record, "holds_output");
    assert!(
        said.starts_with("grep holds back its output until its input ends"),
        "{said}"
    );
    assert!(said.ends_with("`grep --line-buffered` writes each line at once."));
    let flushed = self::record(&[
        "--tier",
        "kernel",
        feed,
        "grep --line-buffered ERROR",
        "cat",
    ]);
    let ids = flushed["notes"].to_string();
    assert!(!ids.contains("holds_output"), "{ids}");
}

#[test]
fn the_first_line_says_which_stage_holds_the_pipeline_up() {
    let output = pipe(&["--rounds", "2", "--traced", "1", SLOW_WRITER, "cat"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = stdout(&output);
    let first =
        "sh (stage 1) holds the pipeline up: if this stage took no time, it would take about";
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").starts_with(first), "{shown}");
    assert!(shown.lines().count() <= 24, "{shown}");
    let all = pipe(&["-v", "--rounds", "2", "--traced", "1", SLOW_WRITER, "cat"]);
    let all = stdout(&all);
    assert!(
        !shown.contains("bytes out") && all.contains("bytes out"),
        "{all}"
    );
}

#[test]
fn bytes_are_counted_exactly_between_the_stages() {
    let record = record(&["head -c 3000000 /dev/zero", "cat", "sh -c 'cat | wc -c'"]);
    let stages = record["summary"]["stages"].as_array().unwrap();
    assert_eq!(stages[0]["bytes_out"], 3_000_000);
    assert_eq!(stages[1]["bytes_in"], 3_000_000);
    assert_eq!(stages[1]["bytes_out"], 3_000_000);
    assert_eq!(stages[2]["bytes_in"], 3_000_000, "a shell's child reads it");
    assert_eq!(stages[2]["bytes_out"], Value::Null);
    assert_eq!(record["staged"][0]["bytes_written"], 3_000_000);
    for round in record["rounds"].as_array().unwrap() {
        assert_eq!(
            round["stages"][0]["waiting_for_input_ns"],
            Value::Null,
            "never traced"
        );
    }
}

#[test]
fn a_late_stage_starts_late_and_finds_its_input_waiting() {
    let record = record(&["--delay", "cat=200ms", "sh -c 'echo 0123456789'", "cat"]);
    let delayed = &record["delayed"];
    assert_eq!(delayed["delay_ns"][1], 200 * MS);
    for round in delayed["rounds"].as_array().unwrap() {
        assert!(ns(&round["stages"][1]["start_ns"]) >= 200 * MS);
        assert!(ns(&round["wall_ns"]) >= 200 * MS);
    }
    assert!(note(&record, "delay_writer").contains("all 11 B that sh wrote fit into it"));
    note(&record, "delay_pipeline");
}

#[test]
fn a_full_pipe_makes_the_writer_of_a_late_reader_wait() {
    let record = record(&["--delay", "2=300ms", "head -c 1000000 /dev/zero", "wc -c"]);
    for round in record["delayed"]["rounds"].as_array().unwrap() {
        assert!(ns(&round["stages"][0]["end_ns"]) >= 300 * MS, "{round}");
    }
    assert!(note(&record, "delay_writer").contains("had to wait for wc to read"));
    for tier in tiers() {
        let record = self::record(&[
            "--tier",
            tier,
            "--delay",
            "2=300ms",
            "head -c 1000000 /dev/zero",
            "wc -c",
        ]);
        let writer = &record["delayed"]["observed_rounds"][0]["stages"][0];
        assert!(
            ns(&writer["waiting_for_reader_ns"]) >= 200 * MS,
            "{tier}: {writer}"
        );
    }
}

#[test]
fn without_observing_what_is_not_known_is_null_and_said() {
    let record = record(&["--tier", "accounts", "seq 1000", "wc -l"]);
    assert!(record["observed_rounds"].as_array().unwrap().is_empty());
    assert_eq!(record["observation"]["tier"], "accounts");
    assert!(record["model"]["method"] == "alone");
    let output = pipe(&["--tier", "accounts", "--rounds", "2", "seq 1000", "wc -l"]);
    let shown = stdout(&output);
    assert!(shown.contains("waits are not known"), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}
