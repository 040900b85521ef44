//! The contents of a successful measurement of a server.

use serde_json::Value;

use crate::world::{fathom, line, processes_with, record, server, stderr, stdout};

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

#[test]
fn a_server_is_launched_and_loaded_and_the_books_are_right() {
    let all = record(&[], &server("good"));
    let served = &all["servers"][0];
    assert_eq!(
        (served["status"].as_u64(), served["body_bytes"].as_u64()),
        (Some(200), Some(5))
    );
    let cold = &served["cold"];
    assert_eq!(cold["launches"], 3);
    for run in cold["runs"].as_array().unwrap() {
        let rungs = [
            "exec_ms",
            "listening_ms",
            "accepted_ms",
            "first_byte_ms",
            "ready_ms",
        ];
        let rungs = rungs.map(|rung| number(&run[rung]));
        assert!(rungs.is_sorted() && rungs[0] > 0.0, "{rungs:?}");
        assert_eq!(run["killed"], 0);
        assert!(number(&run["cpu_ms"]) > 0.0);
    }
    assert_eq!(cold["listening_by"], "kernel");
    assert_eq!(
        cold["ready_ms"]["p99"],
        Value::Null,
        "three launches have no p99"
    );
    let load = served["load"].as_array().unwrap();
    assert_eq!(load.len(), 3, "two closed loops and an open one");
    for load in load {
        let count = |key: &str| load[key].as_u64().unwrap();
        assert_eq!(count("scheduled"), count("completed") + count("dropped"));
        assert_eq!((count("errors"), count("other_bodies")), (0, 0));
        assert_eq!(load["rounds"].as_array().unwrap().len(), 2);
        let recorded = load["histogram_ns"].as_array().unwrap();
        let recorded: u64 = recorded.iter().map(|pair| pair[1].as_u64().unwrap()).sum();
        assert_eq!(recorded, count("completed"));
        assert!(number(&load["server_cpu_us_per_request"]) > 0.0);
        assert!(number(&load["server_peak_memory_bytes"]) > 1e6);
    }
    assert!(load[2]["rate_per_second"].as_f64().is_some());
    let calls = &served["calls"];
    match calls["per_request"].as_f64() {
        // The server receives a request and sends a response.
        Some(each) => assert!(each >= 2.0, "{calls}"),
        None => assert!(calls["why_not"].is_string(), "{calls}"),
    }
    assert_eq!(all["complete"], true);
}

#[test]
fn a_server_is_observed_under_a_load_of_its_own() {
    let all = record(&["--launches", "0", "--why"], &server("good"));
    let served = &all["servers"][0];
    assert_eq!(served["load"].as_array().unwrap().len(), 3);
    let rounds = served["load"][0]["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 2, "the measured rounds are as without it");
    let why = &served["why"];
    assert_eq!(
        why["connections"], 4,
        "the closed loop in the middle of 1 and 4"
    );
    assert!(number(&why["seconds"]) >= 0.2, "{why}");
    assert!(number(&why["requests_per_second"]) > 0.0);
    let account = &why["account"];
    let parts = account["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["ns"].as_u64().unwrap()).sum();
    assert_eq!(Some(sum), account["wall_ns"].as_u64(), "{account}");
    if why["tier"] == "kernel" {
        let calls = why["calls"].as_array().unwrap();
        // Other users of the CPU affect which functions are among the longest, and whether a response was
        // sent in time.
        let made = |row: &Value| row["calls"].as_u64().unwrap() > 0;
        assert!(calls.iter().any(made), "{why}");
    }
    let plain = record(&["--launches", "0"], &server("good"));
    assert!(plain["servers"][0].get("why").is_none());
}

#[test]
fn nothing_of_a_server_is_left_behind() {
    let mark = format!("mark-{}", std::process::id());
    let mut words = server("daemon");
    words.push(mark.clone());
    let all = record(&[], &words);
    assert!(processes_with(&mark).is_empty());
    let warnings = all["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|w| w["id"] == "daemonised"),
        "{warnings:?}"
    );
}

#[test]
fn a_server_finds_its_port_in_a_variable_or_tells_it_by_listening() {
    let mut words = server("good");
    words[3] = "env".to_string();
    let by_variable = record(&["--rounds", "0"], &words);
    assert_eq!(by_variable["servers"][0]["cold"]["launches"], 3);
    let mut free = server("good");
    free[3] = "0".to_string();
    let discovered = record(&["--rounds", "0"], &free);
    let address = discovered["servers"][0]["address"].as_str().unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
}

#[test]
fn two_servers_are_measured_in_the_same_rounds_and_compared() {
    let (a, b) = (line("good"), line("closes"));
    let all = record(&["--launches", "2", &a, &b], &[]);
    let servers = all["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 2);
    assert!(servers[1]["load"][0]["reconnects"].as_u64().unwrap() > 0);
    assert_eq!(servers[1]["load"][0]["errors"], 0);
    let comparisons = all["comparisons"].as_array().unwrap();
    assert!(!comparisons.is_empty());
    let few = comparisons.iter().all(|c| c["verdict"] == "undecided");
    assert!(few, "two rounds decide nothing");
}

#[test]
fn answers_before_it_is_ready_are_counted() {
    let all = record(&["--rounds", "0"], &server("booting"));
    let runs = all["servers"][0]["cold"]["runs"].as_array().unwrap();
    assert!(
        runs.iter().all(|run| run["answers_before"] == 2),
        "{runs:?}"
    );
    let line = record(
        &["--rounds", "0", "--ready-line", "ready to"],
        &server("good"),
    );
    assert_eq!(line["servers"][0]["cold"]["launches"], 3);
}

#[test]
fn a_server_that_runs_already_is_loaded_and_left_running() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || answer(connection));
        }
    });
    let all = record(&["--url", &url, "--rate", "50", "--poisson"], &[]);
    let served = &all["servers"][0];
    assert_eq!(served["cold"], Value::Null);
    assert_eq!(served["load"][2]["arrivals"], "poisson");
    assert_eq!(served["load"][0]["server_cpu_us_per_request"], Value::Null);
    assert_eq!(served["load"][2]["errors"], 0);
}

fn answer(mut connection: std::net::TcpStream) {
    use std::io::{Read, Write};
    let mut buffer = [0; 4096];
    while connection.read(&mut buffer).is_ok_and(|got| got > 0) {
        assert!(buffer.starts_with(b"GET /a HTTP/1.1\r\n"));
        let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
        if connection.write_all(text).is_err() {
            return;
        }
    }
}

#[test]
fn messages_go_through_a_websocket_server_and_back() {
    let options = [
        "--websocket",
        "--path",
        "/ws",
        "--launches",
        "2",
        "--rounds",
        "2",
    ];
    let quick = ["--time", "200ms", "--json", "-"];
    let all: Vec<&str> = options.into_iter().chain(quick).collect();
    let output = fathom(&all, &server("ws")).output().unwrap();
    let record: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let served = &record["servers"][0];
    assert_eq!(served["status"], 101);
    assert_eq!(served["cold"]["launches"], 2);
    assert_eq!(served["load"].as_array().unwrap().len(), 0);
    let exchanges = served["websocket"].as_array().unwrap();
    let clients: Vec<&Value> = exchanges.iter().map(|one| &one["client"]).collect();
    assert_eq!(clients, ["blocking", "spinning"]);
    for one in exchanges {
        assert_eq!(
            (&one["link"], &one["extensions"]),
            (&Value::from("echo"), &Value::Null)
        );
        let trips = one["round_trips"].as_u64().unwrap();
        assert!(trips > 0);
        assert_eq!(one["messages"].as_u64(), Some(trips));
    }
}

#[test]
fn a_server_without_websockets_is_reported_at_once() {
    // If it waited for a response, this would take an hour.
    let plain = fathom(&["--websocket", "--timeout", "1h"], &server("good"))
        .output()
        .unwrap();
    assert_eq!(plain.status.code(), Some(3));
    let said = stderr(&plain);
    assert!(said.contains("answers 200 to / instead of 101"), "{said}");
}

#[test]
fn a_server_that_begins_late_listens_late() {
    let all = record(&["--rounds", "0"], &server("late"));
    for run in all["servers"][0]["cold"]["runs"].as_array().unwrap() {
        assert!(number(&run["listening_ms"]) >= 50.0, "{run}");
    }
}

#[test]
fn another_client_gets_the_same_status_and_as_many_bytes() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || answer(connection));
        }
    });
    let own = record(&["--url", &url, "--rate", "0"], &[]);
    let script = "import sys, urllib.request as u\n\
                  a = u.urlopen(sys.argv[1])\nprint(a.status, len(a.read()))";
    let other = std::process::Command::new("python3")
        .args(["-c", script, &url])
        .output()
        .unwrap();
    let served = &own["servers"][0];
    let own = format!("{} {}\n", served["status"], served["body_bytes"]);
    assert_eq!(stdout(&other), own);
}

#[test]
fn several_paths_are_asked_in_turn_and_a_budget_is_held() {
    let options = [
        "--path",
        "/",
        "--path",
        "/where",
        "--budget",
        "errors=0,p50=10s",
    ];
    let all = record(&options, &server("good"));
    assert_eq!(
        all["conditions"]["paths"],
        serde_json::json!(["/", "/where"])
    );
    assert_eq!(all["servers"][0]["load"][0]["other_bodies"], 0);
    assert_eq!(all["budget"][0]["met"], true);
    // A percentile with too few responses beyond it is null.
    let load = &all["servers"][0]["load"][0];
    let rounds = load["rounds"].as_array().unwrap().iter();
    let rounds = rounds.map(|round| (round, ["p50_ms", "p90_ms", "p95_ms", "p99_ms"]));
    for (of, keys) in rounds.chain([(&load["response_ms"], ["p50", "p90", "p95", "p99"])]) {
        assert!(keys.iter().all(|key| of.get(key).is_some()), "{of:#}");
        let known: Vec<f64> = keys.iter().filter_map(|key| of[key].as_f64()).collect();
        assert!(known.is_sorted(), "{of:#}");
    }
    // Each limit is judged; a limit that can't be judged is neither kept nor exceeded. Without load there are
    // no percentiles.
    let none = ["--rounds", "0", "--launches", "2", "--json", "-"];
    for (limits, code, met) in [
        (["ready=1us", "p95=1s"], 1, [false, false]),
        (["ready=100s", "p95=1s"], 4, [true, false]),
    ] {
        let budgets = limits.iter().flat_map(|limit| ["--budget", limit]);
        let options: Vec<&str> = none.into_iter().chain(budgets).collect();
        let output = fathom(&options, &server("good")).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{limits:?}");
        let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let judged = [0, 1].map(|at| all["budget"][at]["met"].as_bool().unwrap());
        assert_eq!(judged, met);
    }
    let over = ["--rounds", "0", "--launches", "2", "--budget", "ready=1us"];
    let output = fathom(&over, &server("good")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output).contains("OVER the budget"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_growing_rate_has_every_request_in_its_books() {
    let options = ["--launches", "0", "--rounds", "2", "--json", "-"];
    let ramp = [
        "--ramp",
        "20..220/3s",
        "--budget",
        "p50=1h,errors=0,p99.9=1h",
    ];
    let output = fathom(&[&options[..], &ramp].concat(), &server("good"))
        .output()
        .unwrap();
    // There are too few requests for p99.9.
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let served = &all["servers"][0];
    assert_eq!(served["load"].as_array().unwrap().len(), 0, "no other load");
    let ramp = &served["ramp"];
    let windows = ramp["windows"].as_array().unwrap();
    let sum = |key: &str| {
        windows
            .iter()
            .map(|one| one[key].as_u64().unwrap())
            .sum::<u64>()
    };
    // Two ramps from 20 to 220 requests per second over 3 s each.
    assert!(sum("scheduled").abs_diff(720) <= 2, "{}", sum("scheduled"));
    assert_eq!(
        sum("scheduled"),
        sum("answered") + sum("errors") + sum("dropped")
    );
    let edges = windows.iter().map(|one| number(&one["from_per_second"]));
    assert!(edges.clone().is_sorted() && edges.clone().next() == Some(20.0));
    let limits = ramp["limits"].as_array().unwrap();
    let kept: Vec<Option<f64>> = limits
        .iter()
        .map(|one| one["kept_up_to_per_second"].as_f64())
        .collect();
    assert_eq!(kept, [Some(220.0), Some(220.0), None]);
    let budget = all["budget"].as_array().unwrap();
    let met: Vec<bool> = budget
        .iter()
        .map(|one| one["met"].as_bool().unwrap())
        .collect();
    assert_eq!(met, [true, true, false]);
}

#[test]
fn a_growing_rate_ends_where_requests_fail() {
    let options = ["--launches", "0", "--rounds", "1", "--json", "-"];
    let ramp = ["--ramp", "20..220/3s", "--budget", "errors=0"];
    let output = fathom(&[&options[..], &ramp].concat(), &server("mixed"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let all: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let limits = all["servers"][0]["ramp"]["limits"].as_array().unwrap();
    let names: Vec<&str> = limits
        .iter()
        .map(|one| one["limit"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["errors=0", "knee"]);
    assert!(limits[0]["left_in"].is_u64(), "{}", limits[0]);
    assert_eq!(all["budget"][0]["met"], false);
}
