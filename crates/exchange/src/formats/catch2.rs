//! Catch2's XML reporter: nanoseconds, summaries only.

use std::collections::HashSet;

use roxmltree::{Node, NodeId};

use crate::collector::{Collector, Measure};
use crate::error::{Error, malformed};
use crate::json::{holds, opens};
use crate::lines;
use crate::xml;
use fathom_model::imported::Summary;

pub(crate) fn can_read(head: &[u8]) -> bool {
    opens(head, b"<") && (holds(head, &["<Catch2TestRun"]) || holds(head, &["<Catch "]))
}

pub(crate) fn read(bytes: &[u8], out: &mut Collector) -> Result<(), Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(format!("Catch2: {error}")))?;
    let document = xml::document(text)?;
    let root = document.root_element();
    if let Some(form) = root
        .attribute("xml-format-version")
        .filter(|form| !matches!(*form, "2" | "3"))
    {
        return Err(Error::Version {
            tool: "Catch2",
            found: form.to_owned(),
            known: "2 and 3",
        });
    }
    out.version(root.attribute("catch2-version"));
    let benchmarks = document
        .descendants()
        .filter(|node| node.has_tag_name("BenchmarkResults"));
    let measured = benchmarks
        .flat_map(above)
        .map(|node| node.id())
        .collect::<HashSet<NodeId>>();
    for node in document.descendants().filter(Node::is_element) {
        match node.tag_name().name() {
            "BenchmarkResults" => benchmark(node, out),
            "TestCase" if !measured.contains(&node.id()) => {
                out.left_out(
                    node.attribute("name").unwrap_or("TestCase"),
                    "it contains no benchmark",
                );
            }
            "OverallResult" | "OverallResults" | "OverallResultsCases" => {
                out.left_out("results of tests", "no times");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the enclosing test cases and sections, at most a hundred levels.
fn above<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    let near = node.ancestors().take(100);
    near.filter(|node| node.has_tag_name("TestCase") || node.has_tag_name("Section"))
}

fn benchmark<'a>(node: Node<'a, 'a>, out: &mut Collector) {
    let mut path = above(node)
        .filter_map(|node| node.attribute("name"))
        .collect::<Vec<_>>();
    path.reverse();
    path.push(node.attribute("name").unwrap_or("benchmark"));
    let name = path.join(" / ");
    if let Some(failed) = node.children().find(|child| child.has_tag_name("failed")) {
        out.left_out(
            name,
            format!(
                "failed: {}",
                failed.attribute("message").unwrap_or_default()
            ),
        );
        return;
    }
    let figure = |tag: &str, key: &str| {
        let child = node.children().find(|child| child.has_tag_name(tag))?;
        lines::number(child.attribute(key)?)
    };
    let whole = |key| node.attribute(key).and_then(|value| value.parse().ok());
    let outliers = ["variance", "lowMild", "lowSevere", "highMild", "highSevere"];
    let deviation = ["lowerBound", "upperBound"];
    let outliers = outliers.map(|key| (format!("outliers {key}"), figure("outliers", key)));
    let deviation = deviation.map(|key| {
        (
            format!("standardDeviation {key}"),
            figure("standardDeviation", key),
        )
    });
    let summary = Summary {
        count: whole("samples"),
        mean: figure("mean", "value"),
        standard_deviation: figure("standardDeviation", "value"),
        low: figure("mean", "lowerBound"),
        high: figure("mean", "upperBound"),
        level: figure("mean", "ci"),
        other: outliers
            .into_iter()
            .chain(deviation)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect(),
        ..Summary::default()
    };
    out.summary_of(
        Measure::new(name, "wall", "ns"),
        summary,
        &whole("iterations").into_iter().collect::<Vec<_>>(),
    );
    out.left_out("resamples, clockResolution, estimatedDuration", "settings");
}
