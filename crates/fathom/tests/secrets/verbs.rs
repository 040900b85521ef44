//! Every verb that takes a secret.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::world::{PLAIN, SECRET, World};

/// Returns a value for `--env` with a secret and a plain variable.
fn env() -> String {
    format!("API_TOKEN={SECRET} MODE={PLAIN} DATABASE_URL='pg://joe:{SECRET}@db/perf?key={SECRET}'")
}

/// Checks which of the variables are kept.
fn check_variables(variables: &Value) {
    let of = |name: &str| {
        let all = variables.as_array().unwrap().iter();
        let found = all.clone().find(|pair| pair[0] == name);
        found.unwrap_or_else(|| panic!("{variables}"))[1]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(of("MODE"), PLAIN);
    let token = of("API_TOKEN");
    assert!(
        token.starts_with("redacted-") && token.len() == 21,
        "{token}"
    );
    // The same secret has the same token in different places.
    assert_eq!(
        of("DATABASE_URL"),
        format!("pg://joe:{token}@db/perf?key={token}")
    );
}

#[test]
fn what_times_commands() {
    let world = World::new();
    let env = env();
    let env = env.as_str();
    let record = world.measured(&[
        "bench",
        "--env",
        env,
        "-r",
        "3",
        "-w",
        "0",
        "--html",
        "out.html",
        "--export-json",
        "out.hyperfine",
        "--export-csv",
        "out.csv",
        "--export-markdown",
        "out.md",
        "sh tool",
        "sh tool 2",
    ]);
    for benchmark in record["benchmarks"].as_array().unwrap() {
        check_variables(&benchmark["environment_variables"]);
    }
    let page = std::fs::read_to_string(world.here().join("out.html")).unwrap();
    assert!(page.contains("redacted-"), "the page shows the variables");
    let shown = world.fathom(&["bench", "-v", "--env", env, "-r", "3", "-w", "0", "sh tool"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("API_TOKEN=redacted-"), "{shown}");
    world.measured(&[
        "startup",
        "--env",
        env,
        "--rounds",
        "3",
        "--html",
        "out.s.html",
        "sh tool",
    ]);
    world.measured(&[
        "pipe",
        "--env",
        env,
        "--rounds",
        "2",
        "--html",
        "out.p.html",
        "sh tool",
        "cat",
    ]);
    world.measured(&[
        "why",
        "--env",
        env,
        "-r",
        "3",
        "--html",
        "out.w.html",
        "--export-markdown",
        "out.w.md",
        "--save-observation",
        "out.observation",
        "--",
        "sh",
        "tool",
    ]);
    world.measured(&[
        "versions", "v1..v2", "--env", env, "--rounds", "2", "-w", "0", "--", "sh", "tool",
    ]);
    world.measured(&[
        "bisect",
        "v1",
        "v2",
        "--metric",
        "written_bytes",
        "--env",
        env,
        "--",
        "sh",
        "tool",
    ]);
    assert!(world.search() >= 4);
    // Everything generated from the store.
    for made in [
        &["report", "--html", "out.r.html"][..],
        &["store", "bundle", "out.bundle"],
        &["history", "--json", "out.h.json"],
    ] {
        let output = world.fathom(made);
        assert!(output.status.success(), "{made:?}: {output:?}");
    }
    world.search();
}

const SUITE: &str = r#"
schema_version = 1
title = "A suite"
[subjects.tool]
command = "sh tool"
env = { API_TOKEN = "SECRET", MODE = "PLAIN" }
[[measure]]
id = "time"
how = "bench"
rounds = 3
[[claims]]
id = "it is there"
text = "It takes some time"
layer = "size"
holds = "wall.tool > 0s"
"#;

#[test]
fn what_runs_a_file() {
    let world = World::new();
    let file = world.here().join("fathom.toml");
    let text = |secret: &str| SUITE.replace("SECRET", secret).replace("PLAIN", PLAIN);
    // The file itself contains the secret, so it is placed outside the searched folder.
    std::fs::write(&file, text(SECRET)).unwrap();
    let plan = world.fathom(&["run", "fathom.toml", "--plan"]);
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(
        plan.contains("${API_TOKEN}") && plan.contains(PLAIN),
        "{plan}"
    );
    world.fathom(&["run", "fathom.toml", "--plan", "--json", "out.plan.json"]);
    world.measured(&[
        "run",
        "fathom.toml",
        "--html",
        "out.html",
        "--export-markdown",
        "out.md",
    ]);
    std::fs::remove_file(&file).unwrap();
    assert!(world.search() >= 1);
    // A gate's suite is committed, so its files, including the secret, belong to the repository: only the
    // output is searched.
    std::fs::write(&file, text(SECRET)).unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "suite"]);
    let output = world.fathom(&[
        "gate",
        "--base",
        "HEAD",
        "--time",
        "1s",
        "--json",
        "out.json",
        "--markdown",
        "out.md",
        "--junit",
        "out.xml",
    ]);
    assert!(output.status.code().is_some());
    for name in ["out.json", "out.md", "out.xml"] {
        let text = std::fs::read_to_string(world.here().join(name)).unwrap();
        assert!(!text.contains(SECRET), "{name}: {text}");
    }
}

/// Answers each request in the same way, and records the requests.
fn server(listener: TcpListener) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut asked = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let (mut buffer, mut held) = ([0; 4096], Vec::new());
            while !held.ends_with(b"\r\n\r\n") {
                match connection.read(&mut buffer) {
                    Ok(count @ 1..) => held.extend_from_slice(&buffer[..count]),
                    _ => break,
                }
            }
            if held.is_empty() {
                return asked;
            }
            asked.extend_from_slice(&held);
            let answer = b"HTTP/1.1 200 X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
            let _ = connection.write_all(answer);
        }
        asked
    })
}

const STARTED: &str = "import os, sys, http.server as h\n\
    assert os.environ['API_TOKEN']\n\
    class A(h.BaseHTTPRequestHandler):\n\
    \x20 protocol_version = 'HTTP/1.1'\n\
    \x20 def do_GET(self):\n\
    \x20  good = self.headers['X-Api-Key'] and 'api_key=' in self.path\n\
    \x20  self.send_response(200 if good else 403); self.send_header('Content-Length', '0'); self.end_headers()\n\
    \x20 def log_message(self, *a): pass\n\
    h.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), A).serve_forever()\n";

#[test]
fn what_asks_a_server() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let asked = server(listener);
    let header = format!("Authorization: Bearer {SECRET}");
    let cookie = format!("cookie: id={SECRET}");
    let url = format!("http://{place}/a?n=1&api_key={SECRET}");
    let quick = ["--rounds", "1", "--time", "100ms", "-c", "1", "--rate", "0"];
    let options = [
        "serve",
        "-H",
        &header,
        "-H",
        &cookie,
        "-H",
        "X-Mode: plain-as-day",
    ];
    let page = ["--html", "out.html", "--url", &url, "--no-keep-alive"];
    let record = world.measured(&[&options[..], &quick, &page].concat());
    let kept = record["conditions"]["headers"].as_array().unwrap();
    assert_eq!(kept[0][0], "Authorization");
    assert!(kept[0][1].as_str().unwrap().starts_with("redacted-"));
    assert_eq!(kept[2][1], PLAIN);
    let name = record["servers"][0]["name"].as_str().unwrap();
    let begin = format!("http://{place}/a?n=1&api_key=redacted-");
    assert!(name.starts_with(&begin), "{name}");
    std::net::TcpStream::connect(place).unwrap();
    let asked = String::from_utf8(asked.join().unwrap()).unwrap();
    assert!(asked.contains(&header) && asked.contains(&format!("api_key={SECRET}")));

    let (env, key) = (env(), format!("X-Api-Key: {SECRET}"));
    let path = format!("/?api_key={SECRET}");
    let started = [
        "--launches",
        "2",
        "--env",
        &env,
        "--path",
        &path,
        "--ready-path",
        &path,
    ];
    let words = ["--", "python3", "-c", STARTED, "{port}"];
    let options = ["serve", "-H", &key];
    let record = world.measured(&[&options[..], &quick, &started, &words].concat());
    let path = record["conditions"]["paths"][0].as_str().unwrap();
    assert!(path.starts_with("/?api_key=redacted-"), "{path}");
    // The message about a server that refuses.
    let wrong = format!("/?token={SECRET}");
    let refused = ["--path", &wrong, "--env", &env, "--timeout", "1s"];
    let output = world.fathom(&[&options[..], &quick, &refused, &words].concat());
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(world.search(), 2);
}

/// For one user, commands that differ only in a secret stay separate, and equal commands stay together.
#[test]
fn a_key_of_the_user_keeps_secrets_apart() {
    let world = World::new();
    let kept = |world: &World, secret: &str| {
        let env = format!("API_TOKEN={secret}");
        let record = world.measured(&["bench", "--env", &env, "-r", "2", "-w", "0", "sh tool"]);
        record["benchmarks"][0]["environment_variables"][0][1].to_string()
    };
    let one = kept(&world, SECRET);
    assert_eq!(kept(&world, SECRET), one);
    assert_ne!(kept(&world, "another"), one);
    assert_ne!(kept(&World::new(), SECRET), one, "another user");
    let file = world.path("configuration/fathom/redaction-key");
    let mode = Command::new("stat").args(["-c", "%a"]).arg(&file).output();
    assert_eq!(mode.unwrap().stdout, b"600\n");
    // Without a key, no part of the secret is shown.
    std::fs::remove_dir_all(world.path("configuration")).unwrap();
    std::fs::write(world.path("configuration"), "no folder").unwrap();
    assert_eq!(kept(&world, SECRET), "\"redacted\"");
}
