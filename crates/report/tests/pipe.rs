//! What `fathom pipe` says on the terminal, on its page and in JSON.

mod fingerprinted;
mod piped;
mod walker;

use fathom_model::{Exit, InputFrom, OutputTo, PipeBytesFrom, PipeRecord, PipeState, StopReason};
use fathom_report::{PipeOptions, columns, pipe_html, pipe_json, pipe_statements, pipe_terminal};
use piped::{MS, delayed, record, spoil};
use serde_json::Value;
use walker::{assert_covered, undescribed};

fn schema() -> Value {
    let text = include_str!("../../../docs/json-schema/pipe.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

fn written(record: &PipeRecord) -> Value {
    let mut out = Vec::new();
    pipe_json(record, &mut out).expect("a vector takes everything");
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

/// Records that use every key and every alternative between them.
fn records() -> Vec<PipeRecord> {
    let mut all = vec![delayed()];
    let mut bare = record();
    bare.explaining = None;
    bare.model = None;
    bare.bottleneck = None;
    bare.explained = Vec::new();
    bare.conditions.pinned_cpus = Some(vec![1]);
    bare.conditions.input = InputFrom::File("in".into());
    bare.conditions.output = OutputTo::File("out".into());
    bare.rounds[0].stages[0].exit = Exit::Signal(13);
    bare.rounds[0].stages[1].exit = Exit::TimedOut;
    bare.summary.stages[0].bytes_from = None;
    bare.summary.stages[1].bytes_from = Some(PipeBytesFrom::Staging);
    bare.summary.stages[1].alone = None;
    bare.summary.stages[0].sigpipes = 5;
    all.push(bare);
    for output in [OutputTo::Pipe, OutputTo::Inherit] {
        let mut other = record();
        other.conditions.output = output;
        all.push(other);
    }
    for stop in [
        StopReason::RunCount,
        StopReason::TimeBudget,
        StopReason::MaximumRounds,
        StopReason::Interrupted,
    ] {
        let mut other = record();
        other.stop = stop;
        all.push(other);
    }
    for record in &mut all {
        record.notes = pipe_statements(record);
    }
    all
}

#[test]
fn every_record_fits_the_schema_and_nothing_in_the_schema_is_idle() {
    let schema = schema();
    let values = records().into_iter().map(|record| written(&record));
    assert_covered(&schema, "pipe", values, |_| true);
    assert_eq!(undescribed(&schema), Vec::<String>::new());
}

#[test]
fn what_was_written_can_be_read_again() {
    for record in records() {
        let again: PipeRecord = serde_json::from_value(written(&record)).expect("a record");
        assert_eq!(again.rounds, record.rounds);
        assert_eq!(again.explained, record.explained);
        assert_eq!(again.notes, record.notes);
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_whatever_the_stages_are_called() {
    for width in [32, 40, 80, 120] {
        for mut record in records() {
            spoil(&mut record);
            record.notes = pipe_statements(&record);
            for unicode in [true, false] {
                let options = PipeOptions {
                    width,
                    color: false,
                    unicode,
                };
                let text = pipe_terminal(&record, &options);
                for line in text.lines() {
                    assert!(columns(line) <= width, "{width}: {line:?}");
                    assert!(!line.contains('\x1b') && !line.contains('\u{202e}'));
                    assert!(unicode || line.is_ascii(), "{line:?}");
                }
            }
        }
    }
}

#[test]
fn the_chart_marks_the_waits() {
    let text = pipe_terminal(&record(), &PipeOptions::default());
    let lane = |number: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("  {number} ")));
        line.expect("a lane").to_string()
    };
    let count = |line: &str, glyph: char| line.chars().filter(|c| *c == glyph).count();
    let writer = lane("1");
    assert!(count(&writer, '·') > count(&writer, '▒') && count(&writer, '▒') > count(&writer, '█'));
    assert_eq!(count(&writer, '░'), 0);
    let counter = lane("3");
    assert!(count(&counter, '░') > 50 && count(&counter, '█') > 2);
    assert!(text.contains("waiting for the reader"));
}

#[test]
fn a_misleading_wall_time_is_said_with_the_way_out() {
    let notes = pipe_statements(&record());
    let of = |stage| {
        let mut found = notes.iter().filter(|note| note.stage == Some(stage));
        found
            .find(|note| note.id == "misleading_wall_time")
            .expect("a note")
            .message
            .clone()
    };
    let text = of(1);
    assert!(
        text.starts_with("gzip's wall time is 101 ms, of which 60.0 ms is waiting for produce.")
    );
    assert!(text.contains("Alone on the same input: 40.0 ms."));
    assert!(text.contains("`fathom bench --input FILE`"));
    assert!(of(0).contains("waiting for gzip to read"));
}

#[test]
fn a_kept_input_is_named_in_the_advice() {
    let mut record = record();
    record.staged[0].file = Some("inputs/2-gzip.input".to_string());
    let notes = pipe_statements(&record);
    assert!(notes.iter().any(|note| {
        note.message
            .contains("`fathom bench --input inputs/2-gzip.input`")
    }));
}

#[test]
fn an_input_that_is_not_kept_is_to_be_saved_by_hand() {
    let said = |record: &PipeRecord, stage| {
        let notes = pipe_statements(record);
        let mut found = notes.into_iter().filter(|note| note.stage == Some(stage));
        found
            .find(|note| note.id == "misleading_wall_time")
            .expect("a note")
            .message
    };
    let mut over = record();
    over.staged[1].not_kept = Some("it is more than --stage-limit allows".to_string());
    assert!(said(&over, 1).contains("--keep-staged DIR"));
    let text = said(&over, 2);
    assert!(!text.contains("--keep-staged"), "{text}");
    assert!(
        text.contains(
            "Save its input (`./produce | gzip -1 > FILE`) and measure it with `fathom bench \
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
        text.contains("Save what produce writes in a FILE"),
        "{text}"
    );
}

/// The second stage without waits for its neighbours: 101 ms in the pipeline, so long alone.
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
    let notes = pipe_statements(record);
    let found = notes.into_iter().find(|note| note.id == "differs_alone");
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
            "Without waiting for its neighbours, gzip took 101 ms in the pipeline, alone on the same input \
             50.0 ms: likely it works differently on a file than on a pipe, or"
        ),
        "{text}"
    );
    assert!(text.contains("would measure what it does with a file"));
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
    assert!(text.contains("ready without a CPU for 40.0 ms"), "{text}");
    record.explained[0].stages[1].no_cpu_ns = Some(0);
    let text = said_of_alone(&record).expect("a note");
    assert!(
        text.contains("other waits") && !text.contains("a file"),
        "{text}"
    );
}

#[test]
fn what_differs_alone_is_not_to_be_measured_alone() {
    let mut record = alone_for(0.04);
    // Half of its life it waits for the first stage.
    record.explained[0].stages[1].wait_input_ns = Some(30 * MS);
    let notes = pipe_statements(&record);
    let of_gzip = |id: &str| {
        let mut found = notes.iter().filter(|note| note.stage == Some(1));
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
fn where_observing_slowed_the_pipeline_shares_stand_for_times() {
    let mut record = record();
    let explaining = record.explaining.as_mut().expect("observed");
    (explaining.slowdown, explaining.times_are_quoted) = (1.4, false);
    record.notes = pipe_statements(&record);
    let text = pipe_terminal(&record, &PipeOptions::default());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1.40x the timed rounds: over 1.1x"));
    assert!(
        text.contains("of which 59 % is waiting for produce"),
        "{text}"
    );
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
    let notes = pipe_statements(&record);
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn a_late_start_is_explained_by_what_the_pipe_holds() {
    let mut record = delayed();
    let said = |record: &PipeRecord, id: &str| {
        let notes = pipe_statements(record);
        notes
            .into_iter()
            .find(|note| note.id == id)
            .expect("a note")
            .message
    };
    assert!(said(&record, "delay").contains("45.0 ms instead of 101 ms"));
    assert!(said(&record, "delay_writer").contains("all 1000 B that produce wrote fit into it"));
    assert!(said(&record, "delay_pipeline").contains("only 148 ms are lost"));
    record.summary.stages[0].bytes_out = Some(1 << 30);
    assert!(said(&record, "delay_writer").contains("filled it and had to wait for gzip to read"));
}

#[test]
fn where_no_stage_alone_would_win_anything_that_is_said() {
    let mut record = record();
    for free in &mut record.model.as_mut().expect("a model").if_free {
        free.wall_seconds = 0.1019;
    }
    let text = pipe_terminal(&record, &PipeOptions::default());
    assert!(text.contains("no single stage: "), "{text}");
}

fn joined(record: &PipeRecord) -> String {
    let text = pipe_terminal(record, &PipeOptions::default());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn stages_that_would_win_about_the_same_are_named_together() {
    let mut record = record();
    let model = record.model.as_mut().expect("a model");
    model.if_free[1].wall_seconds = 0.0455;
    let text = joined(&record);
    assert!(
        text.contains(
            "bottleneck stages 1 (produce) and 2 (gzip) alike: if one of them took no time of its own, the \
             pipeline would take about 44.0 ms to 45.5 ms instead of 102 ms (modelled"
        ),
        "{text}"
    );
    assert_eq!(pipe_html(&record).matches("<tr class=\"neck\">").count(), 6);
}

#[test]
fn a_model_that_is_rather_far_off_says_so() {
    assert!(!joined(&record()).contains(" off)"));
    let mut record = record();
    record.model.as_mut().expect("a model").as_is_seconds = 0.12;
    let text = joined(&record);
    assert!(
        text.contains("for the pipeline as it is the model gives 120 ms, 18 % off)"),
        "{text}"
    );
}

#[test]
fn a_model_that_misses_names_no_stage_by_chance() {
    let mut record = record();
    record.model.as_mut().expect("a model").as_is_seconds = 0.2;
    let text = joined(&record);
    assert!(
        text.contains("bottleneck probably stage 1, produce; the model misses"),
        "{text}"
    );
    record.model.as_mut().expect("a model").if_free[1].wall_seconds = 0.05;
    let text = joined(&record);
    assert!(
        text.contains("probably stages 1 (produce) and 2 (gzip) alike; the"),
        "{text}"
    );
    for free in &mut record.model.as_mut().expect("a model").if_free {
        free.wall_seconds = 0.1019;
    }
    let text = joined(&record);
    assert!(
        text.contains("bottleneck not known: the model misses"),
        "{text}"
    );
}

#[test]
fn ends_and_leftovers_are_said() {
    let mut record = record();
    record.summary.stages[0].sigpipes = 5;
    record.summary.stages[2].failures = 2;
    record.explained[0].stages[1].bytes_in = Some(0);
    record.alone[2].not_run = Some("it failed".to_string());
    let notes = pipe_statements(&record);
    let said = |id: &str| notes.iter().any(|note| note.id == id);
    assert!(said("sigpipe") && said("failures") && said("input_left") && said("not_alone"));
}

#[test]
fn the_page_runs_nothing_and_shows_names_as_text() {
    let mut record = delayed();
    spoil(&mut record);
    record.notes = pipe_statements(&record);
    let page = pipe_html(&record);
    assert!(!page.contains("<script") && !page.contains("</title><script"));
    assert!(page.contains("&lt;script&gt;"));
    assert_eq!(page.matches("<title>fathom pipe</title>").count(), 1);
    assert!(!page.contains('\x1b') && !page.contains('\u{202e}'));
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    assert!(!page.contains("style=\"") && !page.contains("unsafe"));
    assert!(page.len() < 1_000_000);
}

#[test]
fn the_page_has_both_charts_and_every_wait() {
    let page = pipe_html(&delayed());
    assert_eq!(page.matches("<svg").count(), 2);
    for words in [
        "waiting for input: ",
        "waiting for the reader: ",
        "on a CPU: ",
        "first byte in: ",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("With 2 gzip 200 ms late"));
    let states = record().explained[0].stages[0].stretches.len();
    assert_eq!(states, 3);
    assert!(record().explained[0].stages[0].stretches[0].state == PipeState::OtherWait);
}
