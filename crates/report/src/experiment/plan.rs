//! `--plan`: every command, before any is run.

use fathom_model::PlanRecord;

use crate::text::{columns, escape};

/// The steps of a plan, each with its commands. Commands are not shortened: what is agreed to must
/// be seen.
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
