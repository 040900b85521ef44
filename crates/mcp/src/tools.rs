//! The tools, as listed to a client.

use rmcp::model::{Tool, ToolAnnotations};

use crate::allowed::Allowed;
use crate::{answers, questions};

/// Returns all tools. The descriptions of tools that run commands say which commands are allowed.
pub(crate) fn all(allowed: &Allowed) -> Vec<Tool> {
    let may_run = format!(
        " Commands run in the root folder, without a shell. Allowed: {}.",
        allowed.in_words()
    );
    vec![
        tool(
            "bench",
            "Compare commands",
            &format!(
                "Time commands and report which is faster, by how much, and whether that can be trusted. Use it for \
                 'which of these is faster' and 'did my change help' (old and new command together).{may_run}"
            ),
            runs(),
        )
        .with_input_schema::<questions::Bench>()
        .with_output_schema::<answers::Bench>(),
        tool(
            "why",
            "Explain a command's time",
            &format!(
                "Account for a command's time, and name the cause of its slowness, where that is in the source, and \
                 how much time fixing it would save; with compared_with, explain why the command takes longer than \
                 another.{may_run}"
            ),
            runs(),
        )
        .with_input_schema::<questions::Why>()
        .with_output_schema::<answers::Why>(),
        tool(
            "compare",
            "Compare saved measurements",
            "Compare two sides that were measured and saved before: revisions, labels, records or record files. Use \
             it for 'what changed since main'. Runs no command.",
            reads(),
        )
        .with_input_schema::<questions::Compare>()
        .with_output_schema::<answers::Compare>(),
        tool(
            "history",
            "Show saved measurements",
            "List saved measurements: benchmarks with their values over time. Runs no command.",
            reads(),
        )
        .with_input_schema::<questions::History>()
        .with_output_schema::<answers::History>(),
        tool(
            "machine_check",
            "Check the machine",
            "Report whether this machine is fit and quiet enough to measure on, and what to do if not. Takes a few \
             seconds; runs none of the user's commands.",
            reads(),
        )
        .with_input_schema::<questions::MachineCheck>()
        .with_output_schema::<answers::Machine>(),
        tool(
            "explain",
            "Explain a term",
            "Explain a term that Fathom prints: a finding such as unbuffered-output, a metric, a warning.",
            reads().idempotent(true),
        )
        .with_input_schema::<questions::Explain>()
        .with_output_schema::<answers::Explain>(),
    ]
}

fn tool(name: &'static str, title: &str, description: &str, hints: ToolAnnotations) -> Tool {
    Tool::new(name, description.to_owned(), serde_json::Map::new())
        .with_title(title)
        .with_annotations(hints)
}

/// Annotations for tools that only read, or measure work of their own.
fn reads() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

/// Annotations for tools that run a command. It may do anything, so they promise nothing.
fn runs() -> ToolAnnotations {
    ToolAnnotations::new()
}
