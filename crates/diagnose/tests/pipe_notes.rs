//! Tests for the notes on pipelines.

#[path = "../../report/tests/fingerprinted/mod.rs"]
mod fingerprinted;
#[path = "../../report/tests/piped/mod.rs"]
mod piped;

use fathom_diagnose::pipeline::notes;
use fathom_model::{InputFrom, PipeRecord};
use piped::{MS, delayed, record};

#[test]
fn a_misleading_wall_time_is_said_with_the_way_out() {
    let all = notes(&record());
    let of = |stage| {
        let mut found = all.iter().filter(|note| note.stage == Some(stage));
        found
            .find(|note| note.id == "misleading_wall_time")
            .expect("a note")
            .message
            .clone()
    };
    let text = of(1);
    assert!(
        text.starts_with(
            "gzip's wall time is 101 ms, of which it spent 60.0 ms waiting for produce."
        )
    );
    assert!(text.contains("Alone on the same input: 40.0 ms."));
    assert!(text.contains("`fathom bench --input FILE`"));
    assert!(of(0).contains("waiting for gzip to read"));
}

#[test]
fn a_kept_input_is_named_in_the_advice() {
    let mut record = record();
    record.staged[0].file = Some("inputs/2-gzip.input".to_string());
    let all = notes(&record);
    assert!(all.iter().any(|note| {
        note.message
            .contains("`fathom bench --input inputs/2-gzip.input`")
    }));
}

#[test]
fn an_input_that_is_not_kept_is_to_be_saved_by_hand() {
    let said = |record: &PipeRecord, stage| {
        let all = notes(record);
        let mut found = all.into_iter().filter(|note| note.stage == Some(stage));
        found
            .find(|note| note.id == "misleading_wall_time")
            .expect("a note")
            .message
    };
    let mut over = record();
    over.staged[1].not_kept = Some("it is larger than --stage-limit allows".to_string());
    assert!(said(&over, 1).contains("--keep-staged DIR"));
    let text = said(&over, 2);
    assert!(!text.contains("--keep-staged"), "{text}");
    assert!(
        text.contains(
            "Save its input (`./produce | gzip -1 > FILE`) and measure the stage with `fathom bench \
             --input FILE`."
        ),
        "{text}"
    );
    let mut none = record();
    none.staged.clear();
    none.alone.clear();
    none.conditions.input = InputFrom::File("in".into());
    assert!(said(&none, 1).contains("(`./produce < in > FILE`)"));
    none.conditions.shell = Some("sh".into());
    let text = said(&none, 1);
    assert!(
        text.contains("Save the output of produce in a FILE"),
        "{text}"
    );
}

fn alone_for(seconds: f64) -> PipeRecord {
    let mut record = record();
    let run = &mut record.explained[0].stages[1];
    (run.wait_input_ns, run.other_wait_ns) = (Some(0), Some(MS));
    let alone = record.summary.stages[1].alone.as_mut().expect("run alone");
    alone.value = seconds;
    record.alone[1].cpu_ns = vec![(seconds * 1e9) as u64; 5];
    record
}

fn said_of_alone(record: &PipeRecord) -> Option<String> {
    let all = notes(record);
    let found = all.into_iter().find(|note| note.id == "differs_alone");
    found.map(|note| {
        assert_eq!(note.stage, Some(1));
        note.message
    })
}

#[test]
fn a_stage_that_works_differently_on_a_file_is_said_with_both_times() {
    let text = said_of_alone(&alone_for(0.05)).expect("a note");
    assert!(
        text.starts_with(
            "Not counting waits for its neighbours, gzip took 101 ms in the pipeline, and alone on the same input \
             50.0 ms: it probably works differently on a file than on a pipe, or"
        ),
        "{text}"
    );
    assert!(text.contains("would measure it reading a file"));
    let text = said_of_alone(&alone_for(0.2)).expect("a note");
    assert!(text.contains("works differently on a file"), "{text}");
    assert_eq!(said_of_alone(&alone_for(0.085)), None, "less than 1.25x");
    let mut slowed = alone_for(0.05);
    slowed
        .explaining
        .as_mut()
        .expect("observed")
        .times_are_quoted = false;
    assert_eq!(said_of_alone(&slowed), None, "times don't hold");
    let mut cut = alone_for(0.2);
    cut.summary.stages[1].sigpipes = 5;
    assert_eq!(said_of_alone(&cut), None, "alone it does more");
}

#[test]
fn a_stage_that_had_no_cpu_or_other_waits_is_not_said_to_work_differently() {
    let mut record = alone_for(0.05);
    let run = &mut record.explained[0].stages[1];
    (run.other_wait_ns, run.no_cpu_ns) = (Some(40 * MS), Some(40 * MS));
    let text = said_of_alone(&record).expect("a note");
    assert!(text.contains("waited 40.0 ms for a CPU"), "{text}");
    record.explained[0].stages[1].no_cpu_ns = Some(0);
    let text = said_of_alone(&record).expect("a note");
    assert!(
        text.contains("waits that it does not have alone") && !text.contains("a file"),
        "{text}"
    );
}

#[test]
fn what_differs_alone_is_not_to_be_measured_alone() {
    let mut record = alone_for(0.04);
    // The stage waits for the first stage for half of its life.
    record.explained[0].stages[1].wait_input_ns = Some(30 * MS);
    let all = notes(&record);
    let of_gzip = |id: &str| {
        let mut found = all.iter().filter(|note| note.stage == Some(1));
        found.find(|note| note.id == id).expect("a note")
    };
    let text = &of_gzip("misleading_wall_time").message;
    assert!(
        text.ends_with("Alone on the same input: 40.0 ms."),
        "{text}"
    );
    assert!(of_gzip("differs_alone").message.contains("took 71.0 ms"));
}

#[test]
fn a_stage_that_waits_for_nobody_misleads_nobody() {
    let mut record = record();
    for run in &mut record.explained[0].stages {
        (run.wait_input_ns, run.wait_output_ns) = (Some(MS), Some(MS));
        run.first_in_ns = run.first_in_ns.map(|_| MS);
    }
    for summary in &mut record.summary.stages {
        summary.alone = Some(summary.wall);
    }
    let all = notes(&record);
    assert!(all.is_empty(), "{all:?}");
}

#[test]
fn a_late_start_is_explained_by_what_the_pipe_holds() {
    let mut record = delayed();
    let said = |record: &PipeRecord, id: &str| {
        let all = notes(record);
        all.into_iter()
            .find(|note| note.id == id)
            .expect("a note")
            .message
    };
    assert!(said(&record, "delay").contains("45.0 ms instead of 101 ms"));
    assert!(said(&record, "delay_writer").contains("all 1000 B that produce wrote fit into it"));
    assert!(said(&record, "delay_pipeline").contains("only 148 ms is lost"));
    record.summary.stages[0].bytes_out = Some(1 << 30);
    assert!(said(&record, "delay_writer").contains("filled it and had to wait for gzip to read"));
}

#[test]
fn ends_and_leftovers_are_said() {
    let mut record = record();
    record.summary.stages[0].sigpipes = 5;
    record.summary.stages[2].failures = 2;
    record.explained[0].stages[1].bytes_in = Some(0);
    record.alone[2].not_run = Some("it failed".to_string());
    let all = notes(&record);
    let said = |id: &str| all.iter().any(|note| note.id == id);
    assert!(said("sigpipe") && said("failures") && said("input_left") && said("not_alone"));
}

/// Returns a pipeline of a slow writer of lines, `grep ERROR`, and a stage that works on each line. The
/// second stage gets its first byte after 3 ms and writes its first byte after 1 s.
fn held() -> PipeRecord {
    let mut record = record();
    record.stages[1].arguments = ["grep", "ERROR"].map(String::from).to_vec();
    record.stages[1].name = "grep".to_string();
    let round = &mut record.explained[0];
    round.wall_ns = 1_400 * MS;
    let [writer, grep, last] = &mut round.stages[..] else {
        panic!("three stages");
    };
    (writer.end_ns, writer.other_wait_ns) = (1_000 * MS, Some(990 * MS));
    (grep.first_in_ns, grep.last_in_ns) = (Some(3 * MS), Some(900 * MS));
    (grep.first_out_ns, grep.end_ns) = (Some(1_000 * MS), 1_001 * MS);
    (grep.wait_input_ns, grep.bytes_out) = (Some(995 * MS), Some(60));
    (last.first_in_ns, last.end_ns) = (Some(1_001 * MS), 1_400 * MS);
    record
}

fn said_to_hold(record: &PipeRecord) -> Option<String> {
    let all = notes(record);
    let found = all.into_iter().find(|note| note.id == "holds_output");
    found.map(|note| {
        assert_eq!(note.stage, Some(1));
        note.message
    })
}

#[test]
fn a_stage_that_holds_its_bytes_until_its_input_ends_is_said_with_what_to_change() {
    let text = said_to_hold(&held()).expect("a note");
    assert!(
        text.starts_with(
            "grep holds back its output until its input ends: in the observed round, its first byte of input came after 3.00 ms, its first byte of output after 1.00 s, and all 60 B were written at the end. wc had no input until then, and then took another 400 ms. `grep --line-buffered` writes each line at once."
        ),
        "{text}"
    );
    let mut own = held();
    own.stages[1].arguments = vec!["./filter".to_string()];
    let text = said_to_hold(&own).expect("a note");
    assert!(text.ends_with("flush after each line."), "{text}");
}

#[test]
fn what_does_not_wait_or_would_gain_nothing_is_not_said_to_hold_back() {
    let with = |change: &dyn Fn(&mut PipeRecord)| {
        let mut record = held();
        change(&mut record);
        said_to_hold(&record)
    };
    fn stages(record: &mut PipeRecord) -> &mut Vec<fathom_model::StageRun> {
        &mut record.explained[0].stages
    }
    let spared: [&dyn Fn(&mut PipeRecord); 6] = [
        // The stage sorts.
        &|record| record.stages[1].arguments = vec!["sort".to_string()],
        // The stage computes.
        &|record| stages(record)[1].wait_input_ns = Some(100 * MS),
        // The stage writes before its input ends.
        &|record| stages(record)[1].first_out_ns = Some(10 * MS),
        // The output is more than any buffer holds.
        &|record| stages(record)[1].bytes_out = Some(1 << 20),
        // A working stage reads a file, and the next stage finishes quickly.
        &|record| {
            stages(record)[0].other_wait_ns = Some(0);
            stages(record)[2].end_ns = 1_002 * MS;
        },
        // First and last bytes are unknown.
        &|record| stages(record)[1].first_in_ns = None,
    ];
    for (index, change) in spared.into_iter().enumerate() {
        assert_eq!(with(change), None, "case {index}");
    }
    // A stage that finishes quickly may still be waiting for events from outside.
    assert!(with(&|record| stages(record)[2].end_ns = 1_002 * MS).is_some());
}
