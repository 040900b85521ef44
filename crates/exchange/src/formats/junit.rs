//! JUnit XML of any test runner: the time of each test case, in seconds.

use roxmltree::Node;

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::json::{holds, opens};
use crate::lines;
use crate::xml;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"<") && holds(head, &["<testsuite"])
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| malformed(format!("JUnit XML: {error}")))?;
    let document = xml::document(text)?;
    for node in document.descendants().filter(Node::is_element) {
        match node.tag_name().name() {
            "testcase" => case(node, out),
            "testsuite" | "testsuites" if node.attribute("time").is_some() => {
                out.left_out("time of a suite", "the total of its test cases");
            }
            _ => {}
        }
    }
    Ok(())
}

fn case(node: Node, out: &mut Collector) {
    let class = node
        .attribute("classname")
        .filter(|class| !class.is_empty());
    let name = node.attribute("name").unwrap_or("testcase");
    let name = class.map_or_else(|| name.to_owned(), |class| format!("{class}.{name}"));
    let state = node.children().find_map(|child| {
        ["failure", "error", "skipped"]
            .into_iter()
            .find(|state| child.has_tag_name(*state))
    });
    if let Some(state) = state {
        out.left_out(name, state);
        return;
    }
    match node.attribute("time").and_then(lines::number) {
        // A test that ran again (in another suite, or as a retry) adds one more sample.
        Some(time) => {
            out.samples(Measure::new(name, "wall", "s"), [time], &[]);
        }
        None => out.left_out(name, "no time"),
    }
}
