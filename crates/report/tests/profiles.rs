//! Profiles for other viewers contain the routes of the record, with their times.

mod explained;

use std::collections::BTreeMap;

use explained::paths::with_paths;
use explained::{hostile, tree::many};
use fathom_model::Explanation;
use fathom_report::{ProfileForm, profile};
use serde_json::Value;

/// Returns the routes of CPU time with their own time, in milliseconds.
fn ways() -> BTreeMap<String, u64> {
    let place = " (p.js:7)";
    let of = |names: &[&str]| -> String {
        let names: Vec<String> = names.iter().map(|name| format!("{name}{place}")).collect();
        names.join(";")
    };
    BTreeMap::from([
        (of(&["main"]), 10),
        (of(&["main", "parse"]), 40),
        (of(&["main", "parse", "parse"]), 10),
        (of(&["main", "print"]), 20),
        (of(&["start"]), 10),
    ])
}

fn text(explanation: &Explanation, form: ProfileForm) -> String {
    String::from_utf8(profile(explanation, form)).unwrap()
}

#[test]
fn folded_stacks_are_a_line_for_each_way() {
    let text = text(&with_paths(), ProfileForm::Folded);
    let mut read = BTreeMap::new();
    for line in text.lines() {
        let (way, micros) = line.rsplit_once(' ').unwrap();
        if let Some(way) = way.strip_prefix("CPU time;") {
            read.insert(way.to_owned(), micros.parse::<u64>().unwrap() / 1_000);
        }
    }
    assert_eq!(read, ways());
    assert!(
        text.contains("waits;load (p.js:7);read /data/in:1 40000\n"),
        "{text}"
    );
}

#[test]
fn the_firefox_profiler_is_given_the_same_ways() {
    let profile: Value = serde_json::from_str(&text(&with_paths(), ProfileForm::Firefox)).unwrap();
    let threads = profile["threads"].as_array().unwrap();
    assert_eq!(threads[0]["name"], "CPU time");
    assert_eq!(threads[1]["name"], "waits");
    for thread in threads {
        columns_are_as_long_as_their_table(thread);
    }
    let thread = &threads[0];
    let at = |value: &Value, number: &Value| value[number.as_u64().unwrap() as usize].clone();
    let name = |stack: &Value| {
        let frame = at(&thread["stackTable"]["frame"], stack);
        let func = at(&thread["frameTable"]["func"], &frame);
        let name = at(&thread["funcTable"]["name"], &func);
        let text = at(&thread["stringArray"], &name);
        text.as_str().unwrap().to_owned()
    };
    let samples = &thread["samples"];
    let mut read = BTreeMap::new();
    for (stack, weight) in std::iter::zip(
        samples["stack"].as_array().unwrap(),
        samples["weight"].as_array().unwrap(),
    ) {
        let (mut way, mut next) = (Vec::new(), stack.clone());
        while !next.is_null() {
            way.push(name(&next));
            next = at(&thread["stackTable"]["prefix"], &next);
        }
        way.reverse();
        read.insert(way.join(";"), weight.as_f64().unwrap().round() as u64);
    }
    assert_eq!(read, ways());
    let markers = thread["markers"]["length"].as_u64().unwrap();
    assert!(markers > 0, "findings are marks");
}

fn columns_are_as_long_as_their_table(thread: &Value) {
    for (table, columns) in thread.as_object().unwrap() {
        let Some(length) = columns.get("length").and_then(Value::as_u64) else {
            continue;
        };
        for (name, column) in columns.as_object().unwrap() {
            if let Some(column) = column.as_array() {
                assert_eq!(column.len() as u64, length, "{table}.{name}");
            }
        }
    }
}

/// A field of a message: its number, kind and content.
type Field<'a> = (u64, u64, &'a [u8]);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        match tag & 7 {
            0 => fields.push((tag >> 3, value, &[][..])),
            2 => {
                let (content, rest) = bytes.split_at(value as usize);
                bytes = rest;
                fields.push((tag >> 3, 0, content));
            }
            kind => panic!("a field of kind {kind}"),
        }
    }
    fields
}

fn field<'a>(fields: &[Field<'a>], number: u64) -> Option<(u64, &'a [u8])> {
    let found = fields.iter().find(|(it, ..)| *it == number);
    found.map(|(_, value, content)| (*value, *content))
}

#[test]
fn perfetto_is_given_the_same_ways() {
    let bytes = profile(&with_paths(), ProfileForm::Perfetto);
    let mut open: BTreeMap<u64, Vec<(u64, String)>> = BTreeMap::new();
    let mut whole: BTreeMap<String, u64> = BTreeMap::new();
    let (mut tracks, mut last) = (Vec::new(), BTreeMap::new());
    for (number, _, packet) in fields(&bytes) {
        assert_eq!(number, 1, "a trace is packets");
        let packet = fields(packet);
        if let Some((_, track)) = field(&packet, 60) {
            let (_, name) = field(&fields(track), 2).unwrap();
            tracks.push(String::from_utf8(name.to_vec()).unwrap());
            continue;
        }
        let (at, _) = field(&packet, 8).unwrap();
        let event = fields(field(&packet, 11).unwrap().1);
        let (track, _) = field(&event, 11).unwrap();
        let before = last.insert(track, at);
        assert!(
            before.is_none_or(|before| before <= at),
            "in the order of time"
        );
        let stack = open.entry(track).or_default();
        match field(&event, 9).unwrap().0 {
            1 => {
                let (_, name) = field(&event, 23).unwrap();
                stack.push((at, String::from_utf8(name.to_vec()).unwrap()));
            }
            _ => {
                let names: Vec<&str> = stack.iter().map(|(_, name)| name.as_str()).collect();
                let way = names.join(";");
                let (from, _) = stack.pop().unwrap();
                *whole.entry(way).or_default() += (at - from) / 1_000_000;
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "what begins ends");
    assert_eq!(tracks, ["CPU time", "waits"]);
    let m = " (p.js:7)";
    assert_eq!(whole[&format!("main{m}")], 80);
    assert_eq!(whole[&format!("main{m};parse{m}")], 50);
    assert_eq!(whole[&format!("main{m};parse{m};parse{m}")], 10);
    assert_eq!(whole[&format!("main{m};print{m}")], 20);
    assert_eq!(whole[&format!("load{m};read /data/in;1")], 40);
}

/// Parses the trace with Perfetto's own classes, if Python has them. The Python in `FATHOM_TEST_PYTHON` must
/// have them.
#[test]
fn perfettos_own_code_reads_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), profile(&with_paths(), ProfileForm::Perfetto)).unwrap();
    let script = "import sys\n\
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as it\n\
        trace = it.Trace.FromString(open(sys.argv[1], 'rb').read())\n\
        print([p.track_event.name for p in trace.packet if p.track_event.type == 1])\n";
    let named = std::env::var("FATHOM_TEST_PYTHON");
    let mut command = std::process::Command::new(named.as_deref().unwrap_or("python3"));
    let output = command.args(["-c", script]).arg(file.path()).output();
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let m = " (p.js:7)";
            let wanted = format!(
                "['main{m}', 'parse{m}', 'parse{m}', 'print{m}', 'start{m}', 'load{m}', 'read /data/in;1']\n"
            );
            assert_eq!(text, wanted);
        }
        _ => {
            assert!(named.is_err(), "{named:?} doesn't read it");
            fathom_test_log::skipped("no Python with the package perfetto is here");
        }
    }
}

#[test]
fn a_hostile_program_breaks_no_form() {
    let mut explanation = many(3);
    explanation.paths = with_paths().paths;
    hostile::spoil(&mut explanation);
    let folded = text(&explanation, ProfileForm::Folded);
    assert_eq!(folded.lines().count(), 6, "{folded}");
    let json = text(&explanation, ProfileForm::Firefox);
    assert!(serde_json::from_str::<Value>(&json).is_ok());
    assert!(!profile(&explanation, ProfileForm::Perfetto).is_empty());
    // Some tiers record nothing about the code.
    explanation.paths.clear();
    assert_eq!(text(&explanation, ProfileForm::Folded), "");
    assert!(profile(&explanation, ProfileForm::Perfetto).is_empty());
}
