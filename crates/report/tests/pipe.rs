//! Reports of `fathom pipe` on the terminal, on its page and in JSON.

mod fingerprinted;
mod piped;
mod schemas;

use fathom_model::{
    Exit, InputFrom, OutputTo, PipeBytesFrom, PipeModel, PipeNote, PipeRecord, PipeState,
    StopReason,
};
use fathom_report::{Screen, columns, json, pipe_html, pipe_terminal};
use piped::{EVIL, delayed, record, spoil};
use schemas::assert_fits;
use serde_json::Value;

fn written(record: &PipeRecord) -> Value {
    let out = json(record).into_bytes();
    assert_eq!(out.last(), Some(&b'\n'));
    serde_json::from_slice(&out).expect("what was written is JSON")
}

/// Returns a note of each kind about the program `name`.
fn notes_of(name: &str) -> Vec<PipeNote> {
    let note = |id: &str, stage: Option<usize>| PipeNote {
        id: id.to_string(),
        stage,
        message: format!("{name} is what {id} is about."),
    };
    vec![
        note("misleading_wall_time", Some(1)),
        note("head_start", Some(2)),
        note("holds_output", Some(1)),
        note("delay_pipeline", None),
        note("failures", Some(0)),
    ]
}

fn notes() -> Vec<PipeNote> {
    notes_of("gzip")
}

/// Records that together use every key and every alternative.
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
        record.notes = notes();
    }
    all
}

#[test]
fn every_record_fits_the_schema() {
    let values = records().into_iter().map(|record| written(&record));
    assert_fits("pipe", values);
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
            record.notes = notes_of(EVIL);
            for unicode in [true, false] {
                let options = Screen {
                    width,
                    color: false,
                    unicode,
                    verbose: false,
                };
                let all = Screen {
                    verbose: true,
                    ..options
                };
                let text = pipe_terminal(&record, &options) + &pipe_terminal(&record, &all);
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
    let text = pipe_terminal(&record(), &Screen::default());
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
fn where_observing_slowed_the_pipeline_shares_stand_for_times() {
    let mut record = record();
    let explaining = record.explaining.as_mut().expect("observed");
    (explaining.slowdown, explaining.times_are_quoted) = (1.4, false);
    assert!(joined(&record, true).contains("1.40x the timed rounds: over 1.1x"));
    let text = pipe_terminal(&record, &Screen::default());
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("2 gzip"))
        .collect();
    assert!(rows.iter().any(|row| row.contains("59 %")), "{text}");
}

/// Returns the text without its line breaks.
fn joined(record: &PipeRecord, verbose: bool) -> String {
    let options = Screen {
        verbose,
        ..Screen::default()
    };
    let text = pipe_terminal(record, &options);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn with_model(change: impl FnOnce(&mut PipeModel)) -> PipeRecord {
    let mut record = record();
    change(record.model.as_mut().expect("a model"));
    record
}

fn no_gain(model: &mut PipeModel) {
    for free in &mut model.if_free {
        free.wall_seconds = 0.1019;
    }
}

#[test]
fn the_first_sentence_says_which_stage_holds_the_pipeline_up() {
    let unknown = PipeRecord {
        model: None,
        bottleneck: None,
        ..record()
    };
    let nothing = PipeRecord {
        rounds: Vec::new(),
        ..record()
    };
    let cases = [
        (
            record(),
            "produce (stage 1) holds the pipeline up: if this stage took no time, it would take about 44.0 ms \
             instead of 102 ms (modelled).",
        ),
        (
            with_model(|model| model.if_free[1].wall_seconds = 0.0455),
            "produce (stage 1) and gzip (stage 2) hold the pipeline up equally: if one of them took no time, it \
             would take about 44.0 ms to 45.5 ms instead of 102 ms (modelled).",
        ),
        (
            with_model(no_gain),
            "The pipeline takes 102 ms, and no single stage holds it up: if any one of them took no \
             time, it would still take about as long. produce (stage 1) has the most time of its own.",
        ),
        (
            unknown,
            "The pipeline takes 102 ms; it is not known which stage holds it up.",
        ),
        (nothing, "No result: no round was finished."),
        (
            with_model(|model| model.as_is_seconds = 0.2),
            "The pipeline takes 102 ms; probably produce (stage 1) holds it up; the model and the measurement",
        ),
        (
            with_model(|model| {
                model.as_is_seconds = 0.2;
                model.if_free[1].wall_seconds = 0.05;
            }),
            "The pipeline takes 102 ms; probably produce (stage 1) and gzip (stage 2) hold it up equally; the",
        ),
        (
            with_model(|model| {
                model.as_is_seconds = 0.2;
                no_gain(model);
            }),
            "The pipeline takes 102 ms; it is not known which stage holds it up: the model and the measurement",
        ),
    ];
    for (record, first) in cases {
        for verbose in [false, true] {
            let text = joined(&record, verbose);
            assert!(text.starts_with(first), "{first}\n{text}");
        }
        let page = pipe_html(&record);
        let first = first.split(" (modelled)").next().unwrap_or_default();
        assert!(page.contains(first), "{first}\n{page}");
    }
    let both = with_model(|model| model.if_free[1].wall_seconds = 0.0455);
    assert_eq!(pipe_html(&both).matches("<tr class=\"neck\">").count(), 6);
}

#[test]
fn three_stages_with_much_to_say_fit_a_screen() {
    let mut record = record();
    record.notes = notes();
    let text = pipe_terminal(&record, &Screen::default());
    assert!(text.lines().count() <= 24, "{text}");
    // Errors come before suggested changes; the other notes are counted.
    let failures = text.find("failures is about").expect("it is said");
    let holds = text.find("holds_output is about").expect("it is said");
    assert!(failures < holds, "{text}");
    assert!(text.contains("1 more note"), "{text}");
    record.notes.retain(|note| note.id != "delay_pipeline");
    for note in &mut record.notes {
        note.message = format!("{} {}", note.message, "more ".repeat(40));
    }
    let text = pipe_terminal(&record, &Screen::default());
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.contains("failures is about"), "{text}");
    assert!(!text.contains("misleading_wall_time is"), "{text}");
    let all = joined(&record, true);
    for note in &record.notes {
        assert!(all.contains(note.message.trim_end()), "{all}");
    }
    assert!(
        all.contains("bytes in") && all.contains("first out"),
        "{all}"
    );
}

#[test]
fn who_asked_for_a_late_start_sees_it_first() {
    let mut record = delayed();
    record.notes = notes();
    let text = pipe_terminal(&record, &Screen::default());
    assert!(text.contains("With 2 gzip 200 ms late"), "{text}");
    assert!(!text.contains("Each stage over time"), "{text}");
}

#[test]
fn a_model_that_is_rather_far_off_says_so() {
    assert!(!joined(&record(), true).contains(" off"));
    let text = joined(&with_model(|model| model.as_is_seconds = 0.12), true);
    assert!(
        text.contains("for the pipeline as it is, the model gives 120 ms, which is 18 % off"),
        "{text}"
    );
}

#[test]
fn the_page_runs_nothing_and_shows_names_as_text() {
    let mut record = delayed();
    spoil(&mut record);
    record.notes = notes_of(EVIL);
    let page = pipe_html(&record);
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;"));
    assert!(page.contains("fathom pipe</title>"));
    assert!(!page.contains('\x1b') && !page.contains('\u{202e}'));
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!page.contains("style=\"") && !page.contains("unsafe"));
    assert!(page.len() < 1_000_000);
}

#[test]
fn the_page_has_both_charts_and_every_wait() {
    let page = pipe_html(&delayed());
    assert_eq!(page.matches("<svg class=\"plot\"").count(), 2);
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
