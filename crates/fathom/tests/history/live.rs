//! `fathom ui`: serves the store to its user and no one else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use fathom_store::{Draft, Location, NewPoint, Store};
use fathom_test_postgres::{PASSWORD, Server};
use serde_json::Value;

use crate::read::{record, save};
use crate::shown::kept;
use crate::world::World;

/// A running `fathom ui`. It is ended when this value is dropped.
pub(crate) struct Live {
    child: Child,
    host: String,
    path: String,
}

impl Live {
    pub(crate) fn start(world: &World, options: &[&str]) -> Live {
        let mut child = world
            .command(&[&["ui", "--no-open"], options].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Live::of(child, &address)
    }

    /// Wraps a started server that printed this address.
    pub(crate) fn of(child: Child, address: &str) -> Live {
        let rest = address
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .expect("an address");
        let (port, path) = rest.split_once('/').unwrap();
        Live {
            child,
            host: format!("127.0.0.1:{port}"),
            path: format!("/{path}"),
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    fn asked(&self, path: &str, headers: &str) -> String {
        let mut connection = TcpStream::connect(&self.host).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, what: &str, headers: &str) -> String {
        self.asked(&format!("{}{what}", self.path), headers)
    }

    pub(crate) fn own(&self, what: &str) -> String {
        self.get(what, &format!("Host: {}\r\n", self.host))
    }

    /// Returns the body of a response.
    fn body(&self, what: &str) -> String {
        let answer = self.own(what);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{what}: {answer}");
        body.to_owned()
    }

    fn json(&self, what: &str) -> Value {
        serde_json::from_str(&self.body(what)).unwrap()
    }

    fn mark(&self, since: &str) -> String {
        let answer = self.json(&format!("changes?since={since}"));
        answer["mark"].as_str().unwrap().to_owned()
    }

    /// Ends it as Ctrl-C does, and returns its exit code.
    pub(crate) fn interrupted(&mut self) -> Option<i32> {
        // SAFETY: takes numbers; the process is ours and was not waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        self.child.wait().unwrap().code()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn files(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = all
        .map(|one| one.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_live_page_answers_its_user_and_nobody_else() {
    let world = kept();
    let folder = world.here().join(".fathom");
    let before = files(&folder);
    let mut live = Live::start(&world, &[]);
    let page = live.own("");
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("connect-src 'self'"),
        "{page}"
    );
    let json = live.json("part?of=parse&from=0&to=1e9&most=800");
    assert_eq!(json["benchmarks"][0]["series"][0]["total"], 3);
    for missing in ["part?of=nope", "part?of=parse&metric=nope", "nope"] {
        assert!(live.own(missing).starts_with("HTTP/1.1 404"), "{missing}");
    }
    let host = format!("Host: {}\r\n", live.host);
    for headers in [
        "Host: evil.example\r\n",
        "",
        &format!("{host}Origin: http://evil.example\r\n"),
        &format!("{host}Origin: null\r\n"),
    ] {
        for what in ["", "part?of=parse", "changes?since=nothing", "versions"] {
            let answer = live.get(what, headers);
            assert!(answer.starts_with("HTTP/1.1 403"), "{headers}: {answer}");
        }
    }
    for path in ["/", "/0123456789abcdef0123456789abcdef/", "/part?of=parse"] {
        let answer = live.asked(path, &host);
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        assert!(!answer.contains("parse"), "{path}: {answer}");
    }
    // Records saved by another process are served.
    let mark = live.mark("nothing");
    save(&world, record(&[("parse", 1.3)], 5, "Linux 1"), None, &[]);
    assert_ne!(live.mark(&mark), mark);
    let json = live.json("part?of=parse");
    assert_eq!(json["benchmarks"][0]["series"][0]["total"], 4);
    assert_eq!(live.interrupted(), Some(0));
    assert!(TcpStream::connect(&live.host).is_err(), "it still listens");
    assert_eq!(files(&folder), before);
}

/// The server accepts 64 connections at a time, so a client that opened 64 could lock out the browser.
#[test]
fn silence_keeps_nobody_out() {
    let world = kept();
    let mut live = Live::start(&world, &[]);
    let connect = || TcpStream::connect(&live.host).unwrap();
    let mut silent: Vec<TcpStream> = (0..200).map(|_| connect()).collect();
    let mut half = connect();
    half.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    assert!(live.own("").starts_with("HTTP/1.1 200"));
    // The oldest connection was closed; the newest may still send requests.
    let mut nothing = Vec::new();
    let _ = silent[0].read_to_end(&mut nothing);
    assert!(!nothing.starts_with(b"HTTP/1.1 200"), "{nothing:?}");
    let mut refused = String::new();
    half.write_all(b" evil\r\n\r\n").unwrap();
    half.read_to_string(&mut refused).unwrap();
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert_eq!(live.interrupted(), Some(0), "it does not wait for them");
}

/// Saves `benchmarks` benchmarks, each in its own suite with `points` records. The value of the 1234th record
/// is a spike.
fn fill(location: &Location, benchmarks: usize, points: usize) {
    let mut store = Store::open(location).unwrap();
    let draft = |at: usize| {
        let mut draft = Draft::of(record(&[], at as i64, "Linux 1")).unwrap();
        draft.labels = match at {
            at if at + 30 == points => vec!["v1".to_owned()],
            at if at + 10 == points => vec!["v2".to_owned()],
            _ => Vec::new(),
        };
        let value = if at == 1234 {
            9.0
        } else {
            1.0 + (at % 7) as f64 / 100.0
        };
        draft.points = (0..benchmarks)
            .map(|number| NewPoint {
                benchmark: format!("suite-{number}"),
                parameters: Vec::new(),
                metric: "wall".to_owned(),
                unit: "seconds".to_owned(),
                direction: Some("lower_is_better".to_owned()),
                meaning: "of a run".to_owned(),
                value,
                low: value * 0.99,
                high: value * 1.01,
                runs: 20,
            })
            .collect();
        draft
    };
    let drafts: Vec<Draft> = (0..points).map(draft).collect();
    store.save_all(&drafts).unwrap();
}

/// Checks that no response is larger than a screen needs.
fn answers_fit_a_screen(live: &Live, benchmarks: usize, points: usize) {
    let page = live.body("");
    assert_eq!(page.matches("<tr>").count(), 100.min(benchmarks) + 1);
    assert!(page.len() < 400_000, "{}", page.len());
    let last = live.body("?page=2");
    assert_eq!(last.matches("<tr>").count(), benchmarks - 200 + 1);
    let found = live.body("?words=SUITE+17&page=0");
    assert!(
        found.contains("\"found\":13") && found.contains("suite-170"),
        "{found}"
    );
    assert!(live.body("?words=suite&changed=1").contains("\"found\":0"));

    let part = live.body("part?of=suite-7&from=0&to=1e9&most=800");
    assert!(part.len() < 60_000, "{}", part.len());
    let json: Value = serde_json::from_str(&part).unwrap();
    let series = &json["benchmarks"][0]["series"][0];
    assert_eq!(series["total"], points);
    assert!(series["points"].as_u64().unwrap() <= 804);
    let indexes = series["index"].as_array().unwrap();
    assert!(indexes.contains(&Value::from(1234)), "the spike stays");
    // Request a part of a series in full, and a single point by its address.
    let json = live.json("part?of=suite-7&from=1000&to=1100&most=800");
    let points = &json["benchmarks"][0]["series"][0]["points"];
    assert_eq!(points.as_u64(), Some(102), "and the last two");
    let records = json["measurements"]["record"].as_array().unwrap();
    let at = records[50].as_str().unwrap();
    let json = live.json(&format!("part?of=suite-7&from=0&to=10&at={at}"));
    let index = json["benchmarks"][0]["series"][0]["index"]
        .as_array()
        .unwrap();
    assert!(index.contains(&Value::from(1050)), "{index:?}");
    let versions = live.body("versions");
    assert!(
        versions.contains(">v1<") && versions.contains(">v2<"),
        "{versions}"
    );
}

#[test]
fn hundreds_of_long_series_are_answered_as_far_as_a_screen_shows_them() {
    let world = World::project();
    fill(&Location::File(world.project_store()), 250, 1500);
    let live = Live::start(&world, &[]);
    answers_fit_a_screen(&live, 250, 1500);
}

#[test]
fn a_store_on_a_server_is_shown_live() {
    let Some(server) = Server::start() else {
        return;
    };
    let address = server.address("schema=ui");
    let location = Location::parse(&address).unwrap();
    fill(&location, 250, 1500);
    let world = World::new();
    let mut live = Live::start(&world, &["--store", &address]);
    answers_fit_a_screen(&live, 250, 1500);
    assert!(!live.body("").contains(PASSWORD));
    let mark = live.mark("nothing");
    let draft = Draft::of(record(&[("parse", 1.3)], 9_000, "Linux 1")).unwrap();
    Store::open(&location).unwrap().save(&draft).unwrap();
    assert_ne!(live.mark(&mark), mark);
    assert!(live.body("?words=parse").contains("1.300"));
    assert_eq!(live.interrupted(), Some(0));
}
