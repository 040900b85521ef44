//! Gives Java a large heap from the start.

use crate::interventions::{Case, Change, Intervention, USUAL};
use fathom_diagnose::{Language, joined};
use fathom_model::FindingId;

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "java-more-heap",
    takes_away: "garbage collections due to a small heap in Java (JAVA_TOOL_OPTIONS: the heap starts with a quarter of the \
         memory, half of it for new objects)",
    needs: "a program in Java",
    can_break: "the program uses more memory",
    findings: &[FindingId::AllocatorChurn, FindingId::PageFaultHeavy],
    arrange,
    ..USUAL
};

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    case.needs(Language::Java, "Java")?;
    let options = "-XX:InitialRAMPercentage=25 -XX:MaxRAMPercentage=50 -XX:NewRatio=1";
    let own = case.variable("JAVA_TOOL_OPTIONS");
    Ok(Change::setting(
        "JAVA_TOOL_OPTIONS",
        joined(own.as_deref(), options),
    ))
}
