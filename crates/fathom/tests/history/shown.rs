//! `fathom report` and `fathom ui`: what was kept, as pages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::read::{record, save};
use crate::world::World;

fn kept() -> World {
    let world = World::project();
    for (hour, revision, value) in [(0, "a1", 1.0), (1, "b2", 1.1), (2, "c3", 1.2)] {
        let text = record(
            &[("parse", value), ("zip </script>", 0.25)],
            hour,
            "Linux 1",
        );
        save(&world, text, Some((revision, false)), &[]);
    }
    world
}

#[test]
fn one_page_holds_the_store_and_names_are_only_text() {
    let world = kept();
    let page = world.done(&["report", "--html", "-"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"),
        "{page}"
    );
    assert!(page.contains("zip &lt;/<wbr>script&gt;") && !page.contains("zip </script>"));
    assert!(
        page.contains("1.200 s") || page.contains("1.20 s"),
        "the last value"
    );
    assert_eq!(
        world.done(&["report", "--html", "-"]),
        page,
        "the same store, the same page"
    );
    let one = world.done(&["report", "parse", "--html", "-"]);
    assert!(one.contains("parse") && !one.contains("zip"));
}

#[test]
fn a_site_is_written_again_where_it_changed() {
    let world = kept();
    let said = world.done(&["report", "--site", "site"]);
    assert_eq!(said, "3 files in site, 3 changed\n");
    assert_eq!(
        world.done(&["report", "--site", "site"]),
        "3 files in site, 0 changed\n"
    );
    let text = record(&[("parse", 1.3)], 3, "Linux 1");
    save(&world, text, Some(("d4", false)), &[]);
    assert_eq!(
        world.done(&["report", "--site", "site"]),
        "3 files in site, 2 changed\n",
        "the index and one page"
    );
}

#[test]
fn record_files_need_no_store() {
    let world = World::new();
    world.write("before.json", &record(&[("parse", 1.0)], 0, "Linux 1"));
    world.write("after.json", &record(&[("parse", 2.0)], 1, "Linux 1"));
    let page = world.done(&["report", "before.json", "after.json", "--html", "-"]);
    assert!(page.contains("1 of 1 benchmark slower"), "{page}");
}

#[test]
fn wrong_words_are_answered() {
    let world = kept();
    for (said, arguments) in [
        (
            "nope.json is not there; name a record file",
            vec!["report", "nope.json", "--html", "x"],
        ),
        (
            "no benchmark is called \"nope\"; near it: ",
            vec!["report", "nope", "--html", "x"],
        ),
        (
            "--base \"v9\": no measurement has that label",
            vec!["report", "--base", "v9", "--html", "x"],
        ),
        (
            "--metric \"wal\": these benchmarks have ",
            vec!["report", "--metric", "wal", "--html", "x"],
        ),
        ("--html <FILE>", vec!["report"]),
        ("no benchmark is called \"nope\"", vec!["ui", "nope"]),
        (
            "does not exist yet",
            vec!["ui", "--store", "nowhere.sqlite"],
        ),
        ("invalid value '99999'", vec!["ui", "--port", "99999"]),
    ] {
        let answer = world.refused(2, &arguments);
        assert!(answer.contains(said), "{arguments:?}: {answer}");
    }
    world.write("text.json", "[1, 2]");
    let answer = world.refused(2, &["report", "text.json", "--html", "x"]);
    assert!(
        answer.contains("text.json is no record of Fathom"),
        "{answer}"
    );
    assert!(!world.here().join("x").exists());
}

struct Live {
    child: Child,
    host: String,
    path: String,
}

impl Live {
    fn start(world: &World) -> Live {
        let mut child = world
            .command(&["ui", "--no-open"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
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

    fn get(&self, what: &str, headers: &str) -> String {
        let mut connection = TcpStream::connect(&self.host).unwrap();
        let request = format!("GET {}{what} HTTP/1.1\r\n{headers}\r\n", self.path);
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    fn own(&self, what: &str) -> String {
        self.get(what, &format!("Host: {}\r\n", self.host))
    }
}

#[test]
fn the_live_page_answers_its_user_and_nobody_else() {
    let world = kept();
    let mut live = Live::start(&world);
    let page = live.own("");
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("connect-src 'self'"),
        "{page}"
    );
    let part = live.own("part?of=parse&from=0&to=1e9&most=800");
    let body = part.split_once("\r\n\r\n").unwrap().1;
    let json: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(json["benchmarks"][0]["series"][0]["total"], 3);
    assert!(live.own("part?of=nope").starts_with("HTTP/1.1 404"));
    assert!(
        live.own("part?of=parse&metric=nope")
            .starts_with("HTTP/1.1 404")
    );
    let host = format!("Host: {}\r\n", live.host);
    for headers in [
        "Host: evil.example\r\n",
        "",
        &format!("{host}Origin: http://evil.example\r\n"),
    ] {
        assert!(
            live.get("", headers).starts_with("HTTP/1.1 403"),
            "{headers}"
        );
    }
    // What another process saves is answered.
    let mark = |answer: &str| answer.split_once("\"mark\":\"").unwrap().1.to_owned();
    let before = mark(&live.own("changes?since=nothing"));
    save(&world, record(&[("parse", 1.3)], 5, "Linux 1"), None, &[]);
    let since = before.trim_end_matches("\"}");
    assert_ne!(mark(&live.own(&format!("changes?since={since}"))), before);
    assert!(live.own("part?of=parse").contains("\"total\":4"));
    // SAFETY: takes numbers; the process is ours and was not waited for.
    unsafe { libc::kill(live.child.id() as i32, libc::SIGINT) };
    assert_eq!(live.child.wait().unwrap().code(), Some(0));
}
