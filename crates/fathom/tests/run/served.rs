//! Servers in an experiment: they are launched and loaded, and claims about them are judged.

use crate::world::{experiment, record, run, stderr, stdout, verdict};

/// Python's own server, which closes each connection.
const SERVER: &str = r#"
schema_version = 1
title = "A server"
[tools.python3]
check = "python3 --version"
[subjects.files]
command = "python3 -m http.server --bind 127.0.0.1 {{port}}"
cwd = "."
needs = ["python3"]
[[measure]]
id = "start"
how = "serve"
rounds = 8
path = "/hello.txt"
[[measure]]
id = "load"
how = "serve"
load = [2]
step = "200ms"
rounds = 8
path = "/hello.txt"
[[claims]]
id = "the start in order"
text = "It listens before it answers"
layer = "mechanism"
holds = "start.listening.files < start.first_byte.files and start.first_byte.files <= start.first_answer.files"
[[claims]]
id = "interpreted"
text = "Python takes over 1 ms to its first answer, most of it CPU time"
layer = "size"
holds = "first_answer.files > 1ms and launch_cpu.files > 1ms and slow_launches.files <= 8"
[[claims]]
id = "it serves"
text = "It answers at least ten times a second"
layer = "size"
holds = "requests_per_second_2.files > 10 and response_p50_2.files < 1s and request_cpu_2.files > 1us"
[[claims]]
id = "a limit that is not kept"
text = "It answers a hundred million times a second"
layer = "size"
budget = true
holds = "requests_per_second_2.files > 100000000"
"#;

#[test]
fn cold_start_and_throughput_of_a_server_are_judged() {
    let folder = experiment(SERVER);
    std::fs::write(folder.path().join("hello.txt"), "hello").expect("written");
    let (record, output) = record(folder.path(), &[]);
    for id in ["interpreted", "it serves"] {
        assert_eq!(verdict(&record, id), "reproduced", "{id}: {record:#}");
    }
    // On a busy machine the two times can be too close for a verdict, but never in reverse order.
    let order = verdict(&record, "the start in order");
    assert!(
        ["reproduced", "undecided"].contains(&order),
        "{order}: {record:#}"
    );
    assert_ne!(verdict(&record, "a limit that is not kept"), "reproduced");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let kept = |name: &str| {
        let path = folder
            .path()
            .join(format!(".fathom/experiment/records/{name}.json"));
        let text = std::fs::read_to_string(path).expect("the record is kept");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let (start, load) = (kept("start"), kept("load"));
    assert_eq!(start["servers"][0]["cold"]["launches"], 8);
    assert_eq!(
        load["servers"][0]["load"][0]["rounds"]
            .as_array()
            .map(Vec::len),
        Some(8)
    );
    assert_eq!(load["conditions"]["step_seconds"], 0.2);
}

#[test]
fn the_plan_shows_the_commands_that_measure_servers() {
    let folder = experiment(SERVER);
    let text = stdout(&run(folder.path(), &["--plan"]));
    let text = text.replace('\'', "");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "--launches=8 --rounds=0",
        "--rounds=8 --connections=2 --rate=0",
        "--time=200ms",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn what_servers_cannot_do_is_refused_with_what_can() {
    for (wrong, right) in [
        ("load = [2]", "load = [\"many\"]"),
        ("load = [2]", "load = [2]\ndeflate = true"),
        (
            "how = \"serve\"\nrounds",
            "how = \"bench\"\nstep = \"1s\"\nrounds",
        ),
    ] {
        let text = SERVER.replacen(wrong, right, 1);
        assert_ne!(text, SERVER);
        let output = run(experiment(&text).path(), &[]);
        assert_eq!(output.status.code(), Some(2), "{right}");
        let said = stderr(&output);
        let helps = [
            "write connection counts",
            "add load = \"websocket\"",
            "it belongs to serve",
        ];
        assert!(
            helps.iter().any(|help| said.contains(help)),
            "{right}: {said}"
        );
    }
}
