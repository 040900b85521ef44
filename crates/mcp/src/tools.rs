//! The tools, as listed to a client.

use serde_json::{Value, json};

use crate::allowed::Allowed;

/// The schemas of the questions and the answers, by tool.
const SCHEMAS: &str = include_str!("schemas.json");

/// Returns all tools. The descriptions of tools that run commands say which commands are allowed.
pub(crate) fn all(allowed: &Allowed) -> Value {
    let may_run = format!(
        " Commands run in the root folder, without a shell. Allowed: {}.",
        allowed.in_words()
    );
    json!([
        tool(
            "bench",
            "Compare commands",
            &format!(
                "Time commands and report which is faster, by how much, and whether that can be trusted. Use it for \
                 'which of these is faster' and 'did my change help' (old and new command together).{may_run}"
            ),
            runs(),
        ),
        tool(
            "why",
            "Explain a command's time",
            &format!(
                "Account for a command's time, and name the cause of its slowness, where that is in the source, and \
                 how much time fixing it would save; with compared_with, explain why the command takes longer than \
                 another.{may_run}"
            ),
            runs(),
        ),
        tool(
            "compare",
            "Compare saved measurements",
            "Compare two sides that were measured and saved before: revisions, labels, records or record files. Use \
             it for 'what changed since main'. Runs no command.",
            reads(),
        ),
        tool(
            "history",
            "Show saved measurements",
            "List saved measurements: benchmarks with their values over time. Runs no command.",
            reads(),
        ),
        tool(
            "machine_check",
            "Check the machine",
            "Report whether this machine is fit and quiet enough to measure on, and what to do if not. Takes a few \
             seconds; runs none of the user's commands.",
            reads(),
        ),
        tool(
            "explain",
            "Explain a term",
            "Explain a term that Fathom prints: a finding such as unbuffered-output, a metric, a warning.",
            json!({"readOnlyHint": true, "openWorldHint": false, "idempotentHint": true}),
        ),
    ])
}

fn tool(name: &str, title: &str, description: &str, hints: Value) -> Value {
    let mut schemas: Value = serde_json::from_str(SCHEMAS).expect("a test compares it");
    json!({
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schemas[name]["question"].take(),
        "outputSchema": schemas[name]["answer"].take(),
        "annotations": hints,
    })
}

/// Annotations for tools that only read, or measure work of their own.
fn reads() -> Value {
    json!({"readOnlyHint": true, "openWorldHint": false})
}

/// Annotations for tools that run a command. It may do anything, so they promise nothing.
fn runs() -> Value {
    json!({})
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use crate::{answers, questions};

    fn schemas<Question: JsonSchema, Answer: JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12();
        let question = settings.clone().for_deserialize().into_generator();
        let answer = settings.for_serialize().into_generator();
        json!({
            "question": question.into_root_schema_for::<Question>(),
            "answer": answer.into_root_schema_for::<Answer>(),
        })
    }

    #[test]
    fn the_schemas_are_those_of_the_types() {
        let all = json!({
            "bench": schemas::<questions::Bench, answers::Bench>(),
            "why": schemas::<questions::Why, answers::Why>(),
            "compare": schemas::<questions::Compare, answers::Compare>(),
            "history": schemas::<questions::History, answers::History>(),
            "machine_check": schemas::<questions::MachineCheck, answers::Machine>(),
            "explain": schemas::<questions::Explain, answers::Explain>(),
        });
        let text = serde_json::to_string_pretty(&all).expect("it is JSON") + "\n";
        if std::env::var_os("FATHOM_WRITE_SCHEMAS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schemas.json");
            std::fs::write(path, text).expect("it can be written");
        } else {
            assert!(text == super::SCHEMAS, "FATHOM_WRITE_SCHEMAS=1 writes them");
        }
    }
}
