//! `--plan`: every command, before any is run.

use fathom_model::PlanRecord;

use crate::text::{columns, escape};

/// Formats the steps of a plan, each with its commands. Commands are never shortened: a user who agrees to
/// them must see them.
pub fn plan_terminal(plan: &PlanRecord) -> String {
    let mut text = format!("{}\n", escape(&plan.title));
    for (number, step) in plan.steps.iter().enumerate() {
        let number = format!("{:>3}.", number + 1);
        text.push_str(&format!("{number} {}\n", escape(&step.title)));
        let indent = " ".repeat(columns(&number) + 1);
        for command in &step.commands {
            text.push_str(&format!("{indent}$ {}\n", escape(command)));
        }
    }
    text.push_str("Nothing was run.\n");
    text
}
