//! Kernel settings that affect results or observability.

use fathom_model::{CheckItem, CheckState};

use super::{System, unknown};

pub(super) fn items(system: &System) -> Vec<CheckItem> {
    vec![
        layout(system),
        huge_pages(system),
        swap(system),
        perf(system),
        ptrace(system),
        grouping(system),
        mitigations(system),
    ]
}

fn layout(system: &System) -> CheckItem {
    match system.number("proc/sys/kernel/randomize_va_space") {
        None => unknown("aslr"),
        // Turning randomization off would hide the variance caused by memory layout, so Fathom never advises
        // that.
        Some(2) => CheckItem::new("aslr", CheckState::Ok, "on"),
        Some(level) => CheckItem::new("aslr", CheckState::Warning, format!("level {level}, not 2"))
            .because("every run has the same memory layout, so the effect of that layout is part of every result")
            .mend("sudo sysctl kernel.randomize_va_space=2"),
    }
}

/// Returns the word in brackets of `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    text.split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
}

fn huge_pages(system: &System) -> CheckItem {
    const PATH: &str = "sys/kernel/mm/transparent_hugepage";
    let read = |name: &str| system.read(&format!("{PATH}/{name}"));
    let Some(enabled) = read("enabled") else {
        return unknown("huge_pages");
    };
    let (enabled, defrag) = (chosen(&enabled).map(str::to_owned), read("defrag"));
    let defrag = defrag.as_deref().and_then(chosen).unwrap_or("unknown");
    match enabled.as_deref() {
        None => unknown("huge_pages"),
        Some("always") if defrag == "always" => CheckItem::new(
            "huge_pages",
            CheckState::Warning,
            "always, with direct compaction",
        )
        .because("the first touch of memory may stall while pages are compacted")
        .mend(format!("echo defer+madvise | sudo tee /{PATH}/defrag")),
        Some(mode) => CheckItem::new("huge_pages", CheckState::Ok, mode),
    }
}

fn swap(system: &System) -> CheckItem {
    match system.read("proc/swaps") {
        None => unknown("swap"),
        Some(text) => {
            let used: u64 = text
                .lines()
                .skip(1)
                .filter_map(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok())
                .fold(0, u64::saturating_add);
            match (text.lines().count() > 1, used) {
                (false, _) => CheckItem::new("swap", CheckState::Ok, "none"),
                (true, 0) => CheckItem::new("swap", CheckState::Ok, "unused"),
                (true, kb) => CheckItem::new(
                    "swap",
                    CheckState::Warning,
                    format!("{} MiB in use", kb / 1024),
                )
                .because("pages of the program or of its input may be on the swap device")
                .mend("sudo swapoff -a (with enough free memory)"),
            }
        }
    }
}

fn perf(system: &System) -> CheckItem {
    match system.number("proc/sys/kernel/perf_event_paranoid") {
        None => unknown("perf_events").because("no counters and no sampling"),
        Some(level @ ..=1) => {
            CheckItem::new("perf_events", CheckState::Ok, format!("level {level}"))
        }
        Some(2) => CheckItem::new(
            "perf_events",
            CheckState::Ok,
            "level 2: own programs, user mode only",
        )
        .because("samples do not include the kernel's part"),
        Some(level) => CheckItem::new("perf_events", CheckState::Warning, format!("level {level}"))
            .because("counters and samples are refused without privileges")
            .mend("sudo sysctl kernel.perf_event_paranoid=1"),
    }
}

fn ptrace(system: &System) -> CheckItem {
    match system.number("proc/sys/kernel/yama/ptrace_scope") {
        // Without the Yama module, the classic rule applies: a user's own programs may be traced.
        None if system.read("proc/sys/kernel/randomize_va_space").is_some() => {
            CheckItem::new("ptrace", CheckState::Ok, "any process of the same user")
        }
        None => unknown("ptrace"),
        Some(level @ (0 | 1)) => CheckItem::new(
            "ptrace",
            CheckState::Ok,
            format!("level {level}: own child processes"),
        ),
        Some(level) => CheckItem::new("ptrace", CheckState::Warning, format!("level {level}"))
            .because("system calls can't be traced without privileges")
            .mend("sudo sysctl kernel.yama.ptrace_scope=1"),
    }
}

fn grouping(system: &System) -> CheckItem {
    match system.number("proc/sys/kernel/sched_autogroup_enabled") {
        None => unknown("autogroup"),
        Some(0) => CheckItem::new("autogroup", CheckState::Ok, "off"),
        Some(_) => CheckItem::new("autogroup", CheckState::Ok, "on")
            .because("nice has no effect between sessions")
            .mend("to raise a session's priority: echo -10 | sudo tee /proc/PID/autogroup"),
    }
}

fn mitigations(system: &System) -> CheckItem {
    const PATH: &str = "sys/devices/system/cpu/vulnerabilities";
    let names = system.names(PATH);
    if names.is_empty() {
        return unknown("mitigations");
    }
    let on = names
        .iter()
        .filter_map(|name| system.read(&format!("{PATH}/{name}")))
        .filter(|text| text.starts_with("Mitigation"))
        .count();
    CheckItem::new(
        "mitigations",
        CheckState::Ok,
        format!("{on} of {} active", names.len()),
    )
    .because("system calls and faults cost more than without them; compare only measurements with the same mitigations")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{item, system};
    use super::*;

    #[test]
    fn a_fixed_layout_is_a_warning_and_never_a_remedy() {
        let (_root, off) = system(&[("proc/sys/kernel/randomize_va_space", "0\n")]);
        let found = item(&items(&off), "aslr");
        assert_eq!(found.state, CheckState::Warning);
        assert!(found.remedy.unwrap().ends_with("=2"));
    }

    #[test]
    fn direct_compaction_is_a_warning() {
        let path = "sys/kernel/mm/transparent_hugepage";
        let (_root, always) = system(&[
            (&format!("{path}/enabled"), "[always] madvise never\n"),
            (&format!("{path}/defrag"), "[always] defer madvise never\n"),
        ]);
        assert_eq!(
            item(&items(&always), "huge_pages").state,
            CheckState::Warning
        );
        let (_root, asked) = system(&[(&format!("{path}/enabled"), "always [madvise] never\n")]);
        assert_eq!(item(&items(&asked), "huge_pages").found, "madvise");
    }

    #[test]
    fn swap_matters_when_it_is_used() {
        let head = "Filename Type Size Used Priority\n";
        let (_root, none) = system(&[("proc/swaps", head)]);
        assert_eq!(item(&items(&none), "swap").found, "none");
        let used = format!("{head}/dev/sda2 partition 8388604 524288 -2\n");
        let (_root, used) = system(&[("proc/swaps", &used)]);
        assert_eq!(item(&items(&used), "swap").found, "512 MiB in use");
    }

    #[test]
    fn refused_counters_and_tracing_are_reported_with_the_setting() {
        let (_root, system) = system(&[
            ("proc/sys/kernel/perf_event_paranoid", "4\n"),
            ("proc/sys/kernel/yama/ptrace_scope", "3\n"),
        ]);
        for id in ["perf_events", "ptrace"] {
            let found = item(&items(&system), id);
            assert_eq!(found.state, CheckState::Warning);
            assert!(found.remedy.unwrap().contains("sysctl"));
        }
    }
}
