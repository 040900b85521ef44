//! The tools, as a client lists them.

use rmcp::model::{Tool, ToolAnnotations};

use crate::allowed::Allowed;
use crate::{answers, questions};

/// All of them; what may be run stands with those that run it.
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
                "Time commands and say which is faster, by how much, and whether that can be trusted. Use it for \
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
                "Account for the time of a command, and name the cause of what is slow with its place in the source \
                 and the saving; with compared_with, what it takes more than another command.{may_run}"
            ),
            runs(),
        )
        .with_input_schema::<questions::Why>()
        .with_output_schema::<answers::Why>(),
        tool(
            "compare",
            "Compare what was measured before",
            "Compare two sides that were measured and saved before: revisions, labels, records or record files. Use \
             it for 'what changed since main'. Runs no command.",
            reads(),
        )
        .with_input_schema::<questions::Compare>()
        .with_output_schema::<answers::Compare>(),
        tool(
            "history",
            "Show saved measurements",
            "List what was measured and saved: benchmarks with their values over time. Runs no command.",
            reads(),
        )
        .with_input_schema::<questions::History>()
        .with_output_schema::<answers::History>(),
        tool(
            "machine_check",
            "Check the machine",
            "Say whether this machine is fit and quiet enough to measure on, and what to do. Takes some seconds; \
             runs no command of the user's.",
            reads(),
        )
        .with_input_schema::<questions::MachineCheck>()
        .with_output_schema::<answers::Machine>(),
        tool(
            "explain",
            "Explain a term",
            "Say what a term means that Fathom prints: a finding such as unbuffered-output, a metric, a warning.",
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

/// Of what only reads, and measures with work of its own.
fn reads() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).open_world(false)
}

/// Of what runs a command: it does whatever the command does, so nothing is promised.
fn runs() -> ToolAnnotations {
    ToolAnnotations::new()
}
