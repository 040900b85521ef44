//! Load from other programs: compares two snapshots of the machine's counters.

use std::collections::HashMap;
use std::time::Instant;

use fathom_measure::cgroup::CpuGroups;
use fathom_model::quantity::short_time;
use fathom_model::{CheckItem, CheckState};

use super::{NO_GROUP, System, unknown};

/// Counters of the machine at one time.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    at: Instant,
    /// Ticks of all CPUs and the stolen ones among them (`/proc/stat`).
    ticks: Option<(u64, u64)>,
    /// Microseconds in which some task waited for a CPU, memory or a device (`/proc/pressure`).
    pressure: [Option<u64>; 3],
    /// Pages swapped in and out.
    swapped: Option<u64>,
    /// Number of times that a processor throttled because of heat.
    throttled: Option<u64>,
    /// How long limits stopped the group, in ns.
    halted: Option<u64>,
    /// Ticks and name of each process.
    processes: HashMap<u32, (u64, String)>,
}

const PRESSURES: [&str; 3] = ["cpu", "memory", "io"];

impl Snapshot {
    /// Reads all counters; takes several ms on a machine with a thousand processes.
    pub(super) fn take(system: &System) -> Snapshot {
        Snapshot {
            ticks: system.read("proc/stat").as_deref().and_then(parse_ticks),
            pressure: PRESSURES
                .map(|name| parse_pressure(&system.read(&format!("proc/pressure/{name}"))?)),
            swapped: system
                .read("proc/vmstat")
                .as_deref()
                .and_then(parse_swapped),
            throttled: throttled(system),
            halted: CpuGroups::of(system.root()).map(|groups| groups.throttled_ns()),
            processes: processes(system),
            at: Instant::now(),
        }
    }
}

fn parse_ticks(stat: &str) -> Option<(u64, u64)> {
    let numbers: Vec<u64> = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .take(8)
        .collect();
    (numbers.len() == 8).then(|| (sum(&numbers), numbers[7]))
}

/// Returns the total of the `some` line in us.
fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split("total=").nth(1)?.trim().parse().ok()
}

/// Adds counts without overflowing. Kernel counters never come near the numeric limit, but the contents of a
/// damaged file may.
fn sum(counts: &[u64]) -> u64 {
    counts.iter().copied().fold(0, u64::saturating_add)
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        (key == name).then(|| value.trim().parse().ok()).flatten()
    })
}

fn parse_swapped(vmstat: &str) -> Option<u64> {
    Some(sum(&[field(vmstat, "pswpin")?, field(vmstat, "pswpout")?]))
}

fn throttled(system: &System) -> Option<u64> {
    let counts: Vec<u64> = system
        .names("sys/devices/system/cpu")
        .iter()
        .filter_map(|cpu| {
            let path = format!("sys/devices/system/cpu/{cpu}/thermal_throttle/core_throttle_count");
            system.number(&path)
        })
        .map(|count| count.max(0) as u64)
        .collect();
    (!counts.is_empty()).then(|| sum(&counts))
}

/// Returns ticks and names of all processes except this one.
fn processes(system: &System) -> HashMap<u32, (u64, String)> {
    let own = std::process::id();
    system
        .names("proc")
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|pid| *pid != own)
        .filter_map(|pid| {
            Some((
                pid,
                parse_process(&system.read(&format!("proc/{pid}/stat"))?)?,
            ))
        })
        .collect()
}

/// Parses user and system ticks and the name from `pid (name) state ...`; names may contain parentheses.
fn parse_process(stat: &str) -> Option<(u64, String)> {
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let words: Vec<&str> = stat.get(close + 2..)?.split(' ').collect();
    let ticks = sum(&[words.get(11)?.parse().ok()?, words.get(12)?.parse().ok()?]);
    Some((ticks, stat.get(open + 1..close)?.to_owned()))
}

/// Returns the checks that need both snapshots.
pub(super) fn items(
    system: &System,
    before: &Snapshot,
    after: &Snapshot,
    cpus: usize,
) -> Vec<CheckItem> {
    let seconds = (after.at - before.at).as_secs_f64().max(1e-3);
    let mut items = vec![
        load(system, cpus),
        others(before, after, seconds),
        stolen(before, after),
        swapping(before, after),
        heat(before, after),
        halted(before, after),
        tracers(system),
    ];
    for (i, name) in PRESSURES.iter().enumerate() {
        items.push(pressure(
            name,
            before.pressure[i],
            after.pressure[i],
            seconds,
        ));
    }
    items
}

fn load(system: &System, cpus: usize) -> CheckItem {
    let average = system
        .read("proc/loadavg")
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let Some(average) = average else {
        return unknown("load");
    };
    let found = format!("{average:.2} on {cpus} CPUs");
    // An idle desktop uses half a CPU; above one per CPU there is no capacity left.
    if average > cpus as f64 {
        CheckItem::new("load", CheckState::Bad, found)
            .because("more programs want to run than there are CPUs: wall times include waiting")
            .mend("wait, or stop the other programs")
    } else if average > 0.5 {
        CheckItem::new("load", CheckState::Warning, found).because("other programs run at times")
    } else {
        CheckItem::new("load", CheckState::Ok, found)
    }
}

fn others(before: &Snapshot, after: &Snapshot, seconds: f64) -> CheckItem {
    let mut users: Vec<(f64, &str)> = after
        .processes
        .iter()
        .filter_map(|(pid, (ticks, name))| {
            let earlier = before.processes.get(pid).map_or(0, |(ticks, _)| *ticks);
            // Ticks of 10 ms: Linux reports 100 per second to processes, whatever its own rate.
            let share = ticks.saturating_sub(earlier) as f64 / 100.0 / seconds;
            (share > 0.05).then_some((share, name.as_str()))
        })
        .collect();
    users.sort_by(|a, b| b.0.total_cmp(&a.0));
    if after.processes.is_empty() {
        return unknown("other_programs");
    }
    if users.is_empty() {
        return CheckItem::new("other_programs", CheckState::Ok, "none above 5 % of a CPU");
    }
    let named: Vec<String> = users
        .iter()
        .take(3)
        .map(|(share, name)| format!("{name} {:.0} %", share * 100.0))
        .collect();
    let total: f64 = users.iter().map(|(share, _)| share).sum();
    let state = if total > 0.5 {
        CheckState::Bad
    } else {
        CheckState::Warning
    };
    CheckItem::new("other_programs", state, named.join(", "))
        .because("they use CPU, caches and bandwidth that the measured program needs")
        .mend("stop them, or wait until they have finished")
}

fn stolen(before: &Snapshot, after: &Snapshot) -> CheckItem {
    let Some(((total, steal), (before_total, before_steal))) = after.ticks.zip(before.ticks) else {
        return unknown("steal");
    };
    let share = steal.saturating_sub(before_steal) as f64
        / total.saturating_sub(before_total).max(1) as f64;
    let found = format!("{:.1} %", share * 100.0);
    if share > 0.02 {
        CheckItem::new("steal", CheckState::Bad, found)
            .because("the hypervisor gives the CPU to other machines")
            .mend("use a dedicated host")
    } else if share > 0.005 {
        CheckItem::new("steal", CheckState::Warning, found)
            .because("the hypervisor sometimes gives the CPU to other machines")
            .mend("use a dedicated host")
    } else {
        CheckItem::new("steal", CheckState::Ok, found)
    }
}

/// Checks for other programs that use the kernel's tracing events or BPF programs. A traced system call takes
/// the slow path in every program: 185 ns became 246 to 416 while another program traced.
fn tracers(system: &System) -> CheckItem {
    let own = std::process::id().to_string();
    let mut looked = false;
    let mut names: Vec<String> = Vec::new();
    for pid in system.names("proc") {
        if pid == own || !pid.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let held = system.names(&format!("proc/{pid}/fd"));
        looked |= !held.is_empty();
        let traces = held.iter().any(|fd| {
            std::fs::read_link(system.path(&format!("proc/{pid}/fd/{fd}"))).is_ok_and(|target| {
                let target = target.to_string_lossy();
                target.contains("[perf_event]") || target.contains("bpf-link")
            })
        });
        if traces {
            names.extend(system.read(&format!("proc/{pid}/comm")));
        }
    }
    names.sort();
    names.dedup();
    if !names.is_empty() {
        return CheckItem::new("tracing", CheckState::Warning, names.join(", "))
            .because("while one program traces system calls, the calls of all programs cost more")
            .mend("end the tracing");
    }
    if looked {
        CheckItem::new("tracing", CheckState::Ok, "no visible program is tracing")
    } else {
        unknown("tracing")
    }
}

fn swapping(before: &Snapshot, after: &Snapshot) -> CheckItem {
    match after.swapped.zip(before.swapped) {
        None => unknown("swapping"),
        Some((now, then)) if now > then => CheckItem::new(
            "swapping",
            CheckState::Bad,
            format!("{} pages just now", now - then),
        )
        .because("memory accesses wait for the swap device")
        .mend("free some memory, or: sudo swapoff -a"),
        Some(_) => CheckItem::new("swapping", CheckState::Ok, "none just now"),
    }
}

fn heat(before: &Snapshot, after: &Snapshot) -> CheckItem {
    match after.throttled.zip(before.throttled) {
        None => unknown("thermal_throttling"),
        Some((now, then)) if now > then => {
            CheckItem::new("thermal_throttling", CheckState::Bad, "just now")
                .because("the processor lowers its clock because it is hot")
                .mend("let it cool down, and pause between measurements")
        }
        Some((0, _)) => CheckItem::new("thermal_throttling", CheckState::Ok, "never since boot"),
        Some((now, _)) => CheckItem::new(
            "thermal_throttling",
            CheckState::Warning,
            format!("{now} times since boot"),
        )
        .because("heat may slow down long measurements"),
    }
}

fn halted(before: &Snapshot, after: &Snapshot) -> CheckItem {
    match after.halted.zip(before.halted) {
        None => CheckItem::new("quota_halts", CheckState::Unknown, NO_GROUP),
        Some((now, then)) if now > then => CheckItem::new(
            "quota_halts",
            CheckState::Bad,
            format!("for {} just now", short_time((now - then) as f64 / 1e9)),
        )
        .because("the control group's quota stops the program in the middle of a run")
        .mend("raise the limit (docker: --cpus; systemd: CPUQuota=)"),
        Some((now, _)) => CheckItem::new(
            "quota_halts",
            CheckState::Ok,
            format!("none just now, {} so far", short_time(now as f64 / 1e9)),
        ),
    }
}

fn pressure(name: &str, before: Option<u64>, after: Option<u64>, seconds: f64) -> CheckItem {
    let id = format!("pressure_{name}");
    let Some((now, then)) = after.zip(before) else {
        return unknown(&id);
    };
    let share = now.saturating_sub(then) as f64 / 1e6 / seconds;
    let found = format!("{:.1} % of the time", share * 100.0);
    if share > 0.05 {
        CheckItem::new(&id, CheckState::Warning, found)
            .because("a task waited for this resource")
            .mend("wait, or stop the other programs")
    } else {
        CheckItem::new(&id, CheckState::Ok, found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{item, system};
    use super::*;

    fn between(first: &[(&str, &str)], second: &[(&str, &str)]) -> Vec<CheckItem> {
        let (_one, before) = system(first);
        let (_two, after) = system(second);
        let mut then = Snapshot::take(&before);
        let now = Snapshot::take(&after);
        // There is exactly one second between the snapshots, whatever the speed of the test machine.
        then.at = now.at - std::time::Duration::from_secs(1);
        items(&after, &then, &now, 2)
    }

    #[test]
    fn steal_is_a_share_of_all_ticks() {
        let found = between(
            &[("proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\n")],
            &[("proc/stat", "cpu  190 0 0 200 0 0 0 10 0 0\n")],
        );
        let steal = item(&found, "steal");
        assert_eq!(
            (steal.state, steal.found.as_str()),
            (CheckState::Bad, "5.0 %")
        );
    }

    #[test]
    fn busy_programs_are_named() {
        let stat =
            |ticks: u64| format!("7 (cc (1)) R 1 7 7 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 5 0 0");
        let found = between(&[("proc/7/stat", &stat(10))], &[("proc/7/stat", &stat(90))]);
        let others = item(&found, "other_programs");
        assert_eq!(
            (others.state, others.found.as_str()),
            (CheckState::Bad, "cc (1) 80 %")
        );
    }

    #[test]
    fn pressure_swapping_throttling_and_halts_are_differences() {
        let throttle = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
        let files = |n: u64| {
            vec![
                (
                    "proc/pressure/cpu",
                    format!("some avg10=0.00 total={}\n", n * 100_000),
                ),
                ("proc/vmstat", format!("pswpin {n}\npswpout 0\n")),
                (throttle, format!("{n}\n")),
                ("proc/self/cgroup", "0::/a\n".to_owned()),
                (
                    "proc/self/mountinfo",
                    "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n".to_owned(),
                ),
                (
                    "sys/fs/cgroup/a/cpu.stat",
                    format!("nr_throttled 9\nthrottled_usec {n}\n"),
                ),
            ]
        };
        let (one, two) = (files(1), files(2));
        let first: Vec<(&str, &str)> = one.iter().map(|(a, b)| (*a, b.as_str())).collect();
        let second: Vec<(&str, &str)> = two.iter().map(|(a, b)| (*a, b.as_str())).collect();
        let found = between(&first, &second);
        assert_eq!(item(&found, "pressure_cpu").found, "10.0 % of the time");
        for id in ["swapping", "thermal_throttling", "quota_halts"] {
            assert_eq!(item(&found, id).state, CheckState::Bad, "{id}");
        }
        let same = between(&first, &first);
        assert_eq!(item(&same, "swapping").state, CheckState::Ok);
        assert_eq!(item(&same, "thermal_throttling").state, CheckState::Warning);
    }

    #[test]
    fn a_program_that_traces_is_named() {
        let (root, system) = system(&[("proc/9/comm", "perf\n"), ("proc/9/fd/0", "")]);
        assert_eq!(tracers(&system).state, CheckState::Ok);
        let fd = root.path().join("proc/9/fd/3");
        std::os::unix::fs::symlink("anon_inode:[perf_event]", fd).unwrap();
        let found = tracers(&system);
        assert_eq!(
            (found.state, found.found.as_str()),
            (CheckState::Warning, "perf")
        );
    }

    #[test]
    fn load_is_held_against_the_cpus() {
        let state = |text| item(&between(&[], &[("proc/loadavg", text)]), "load").state;
        assert_eq!(state("0.10 0.2 0.3 1/90 5"), CheckState::Ok);
        assert_eq!(state("1.10 0.2 0.3 1/90 5"), CheckState::Warning);
        assert_eq!(state("3.10 0.2 0.3 1/90 5"), CheckState::Bad);
    }
}
