//! Backs large areas of memory with huge pages.

use fathom_diagnose::{Language, joined};
use fathom_model::FindingId;

use super::join_calls::preloaded;
use crate::interventions::{Case, Change, Intervention, USUAL};

pub(super) const INTERVENTION: Intervention = Intervention {
    name: "huge-pages",
    takes_away: "most page faults of large areas: they get pages of 2 MiB (GLIBC_TUNABLES, LD_PRELOAD, JAVA_TOOL_OPTIONS)",
    needs: "glibc 2.35 or later, or a program that asks for memory through the C library; transparent huge pages",
    can_break: "the program uses more memory",
    findings: &[FindingId::PageFaultHeavy, FindingId::AllocatorChurn],
    arrange,
    ..USUAL
};

const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

fn arrange(case: &Case<'_>) -> Result<Change, String> {
    let setting = std::fs::read_to_string(SETTING).unwrap_or_default();
    if !setting.contains("[madvise]") {
        return Err(match setting.contains("[always]") {
            true => "it has huge pages already".to_owned(),
            false => "this system has no transparent huge pages".to_owned(),
        });
    }
    let tunables = case.variable("GLIBC_TUNABLES");
    let tunables = tunables.filter(|own| !own.is_empty()).map(|mut own| {
        own.push(":");
        own
    });
    let mut all = tunables.unwrap_or_default();
    all.push("glibc.malloc.hugetlb=1");
    let change = preloaded(case)?
        .and("FATHOM_PRELOAD", "huge-pages")
        .and("GLIBC_TUNABLES", all);
    if !case.runs(Language::Java) {
        return Ok(change);
    }
    let own = case.variable("JAVA_TOOL_OPTIONS");
    let options = joined(own.as_deref(), "-XX:+UseTransparentHugePages");
    Ok(change.and("JAVA_TOOL_OPTIONS", options))
}
