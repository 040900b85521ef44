//! The environment of the machine: hypervisor, container, quota, CPUs, file system.

use std::path::Path;

use fathom_measure::cgroup::CpuGroups;
use fathom_model::quantity::short_time;
use fathom_model::{CheckItem, CheckState};

use super::{NO_GROUP, System, unknown};
use crate::mounts;

pub(super) fn items(system: &System, cpus: &[usize], directory: &Path) -> Vec<CheckItem> {
    vec![
        virtual_machine(system),
        container(system),
        quota(system, cpus.len()),
        affinity(system, cpus),
        disk(directory),
    ]
}

fn virtual_machine(system: &System) -> CheckItem {
    let Some(info) = system.read("proc/cpuinfo") else {
        return unknown("virtual_machine");
    };
    let flagged = info
        .lines()
        .filter(|line| line.starts_with("flags") || line.starts_with("Features"))
        .any(|line| line.split_whitespace().any(|word| word == "hypervisor"));
    let product = system
        .read("sys/class/dmi/id/product_name")
        .unwrap_or_default();
    let named = ["KVM", "Virtual", "VMware", "QEMU", "Bochs", "HVM"]
        .iter()
        .any(|name| product.contains(name));
    if !(flagged || named) {
        // On AArch64, no CPU flag reports a hypervisor, so nothing is known without a product name.
        let x86 = info.contains("\nflags") || info.starts_with("flags");
        return if x86 {
            CheckItem::new("virtual_machine", CheckState::Ok, "no")
        } else {
            unknown("virtual_machine")
        };
    }
    let name = if product.is_empty() {
        "yes".to_owned()
    } else {
        format!("yes ({product})")
    };
    CheckItem::new("virtual_machine", CheckState::Warning, name)
        .because(
            "the reported caches and topology are only hints, neighbours are invisible, and the clock is the host's",
        )
        .mend("compare only within one boot; watch the steal time and the gaps")
}

fn container(system: &System) -> CheckItem {
    let marker = [(".dockerenv", "docker"), ("run/.containerenv", "podman")]
        .iter()
        .find(|(file, _)| system.path(file).exists())
        .map(|(_, name)| *name);
    let group = system.read("proc/1/cgroup");
    let grouped = group.as_deref().and_then(|text| {
        ["docker", "kubepods", "lxc", "containerd"]
            .into_iter()
            .find(|name| text.contains(name))
    });
    match marker.or(grouped) {
        Some(name) => CheckItem::new("container", CheckState::Warning, name)
            .because("limits and other containers may be invisible from inside"),
        None if group.is_some() => CheckItem::new("container", CheckState::Ok, "no sign of one"),
        None => unknown("container"),
    }
}

fn quota(system: &System, cpus: usize) -> CheckItem {
    let Some(groups) = CpuGroups::of(system.root()) else {
        return CheckItem::new("cpu_quota", CheckState::Unknown, NO_GROUP);
    };
    let limit = groups.limit();
    let stopped_ns = groups.throttled_ns();
    let mut found = match limit {
        None => "none".to_owned(),
        Some(limit) if limit < cpus as f64 => format!("{limit:.2} of {cpus} CPUs"),
        Some(limit) => format!("{limit:.2} CPUs"),
    };
    if limit.is_none_or(|limit| limit >= cpus as f64) && stopped_ns == 0 {
        return CheckItem::new("cpu_quota", CheckState::Ok, found);
    }
    if stopped_ns > 0 {
        let stopped = short_time(stopped_ns as f64 / 1e9);
        found.push_str(&format!("; stopped for {stopped} so far"));
    }
    CheckItem::new("cpu_quota", CheckState::Warning, found)
        .because("threads are stopped for the rest of each 0.1 s once the quota is used up")
        .mend("raise the limit (docker: --cpus; systemd: CPUQuota=), or use fewer CPUs")
}

fn affinity(system: &System, cpus: &[usize]) -> CheckItem {
    let online = system
        .read("sys/devices/system/cpu/online")
        .map(|list| crate::reported::parse_cpu_list(&list).len());
    let isolated = system
        .read("sys/devices/system/cpu/isolated")
        .unwrap_or_default();
    let mut found = format!("{} of {} CPUs", cpus.len(), online.unwrap_or(cpus.len()));
    if !isolated.trim().is_empty() {
        found.push_str(&format!(", isolated: {}", isolated.trim()));
    }
    match online {
        None => unknown("affinity"),
        Some(online) if online > cpus.len() => {
            CheckItem::new("affinity", CheckState::Warning, found)
                .because("programs that start one thread per CPU may start too many")
        }
        Some(_) => CheckItem::new("affinity", CheckState::Ok, found),
    }
}

fn disk(directory: &Path) -> CheckItem {
    let Some(mount) = mounts::of(directory) else {
        return unknown("file_system");
    };
    let full = used_share(directory);
    let mut found = format!("{} on {}", mount.file_system, mount.device);
    if let Some(full) = full {
        found.push_str(&format!(", {:.0} % full", full * 100.0));
    }
    let item = CheckItem::new("file_system", CheckState::Ok, found.as_str());
    let warning = CheckItem::new("file_system", CheckState::Warning, found.as_str());
    match mount.file_system.as_str() {
        _ if full.is_some_and(|full| full > 0.9) => warning
            .because("writing slows down on a nearly full file system")
            .mend("make room"),
        "tmpfs" | "ramfs" => warning.because("files are in memory: no file is ever cold"),
        "overlay" | "fuse" | "fuse.sshfs" | "nfs" | "nfs4" | "cifs" | "9p" | "virtiofs" => {
            warning.because("file operations pass through another layer or a network")
        }
        _ => item,
    }
}

/// Returns the used share of the file system, 0 to 1.
fn used_share(directory: &Path) -> Option<f64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(directory.as_os_str().as_bytes()).ok()?;
    // SAFETY: all-zero is a valid statvfs.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with zero and `stat` is a valid place.
    if unsafe { libc::statvfs(path.as_ptr(), &raw mut stat) } != 0 || stat.f_blocks == 0 {
        return None;
    }
    let used = (stat.f_blocks - stat.f_bfree) as f64;
    Some(used / (used + stat.f_bavail as f64))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{item, system};
    use super::*;

    fn all(system: &System) -> Vec<CheckItem> {
        items(system, &[0, 1], &std::env::temp_dir())
    }

    #[test]
    fn the_hypervisor_flag_makes_a_virtual_machine() {
        let (_root, guest) = system(&[("proc/cpuinfo", "flags\t: fpu hypervisor lm\n")]);
        assert_eq!(
            item(&all(&guest), "virtual_machine").state,
            CheckState::Warning
        );
        let (_root, metal) = system(&[("proc/cpuinfo", "flags\t: fpu lm\n")]);
        assert_eq!(item(&all(&metal), "virtual_machine").state, CheckState::Ok);
        let (_root, arm) = system(&[("proc/cpuinfo", "Features\t: fp asimd\n")]);
        assert_eq!(
            item(&all(&arm), "virtual_machine").state,
            CheckState::Unknown
        );
    }

    /// Returns the item of a system whose own group is `/a`, with these files.
    fn of_groups(files: &[(&str, &str)]) -> CheckItem {
        let own = [
            ("proc/self/cgroup", "1:cpu:/a\n0::/a\n"),
            (
                "proc/self/mountinfo",
                "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                 41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            ),
        ];
        let (_root, system) = system(&[&own[..], files].concat());
        item(&all(&system), "cpu_quota")
    }

    #[test]
    fn a_quota_below_the_cpus_is_a_warning_in_both_versions() {
        const ONE: &str = "sys/fs/cgroup/cpu/a/cpu";
        const TWO: &str = "sys/fs/cgroup/unified";
        let two = of_groups(&[
            (&format!("{TWO}/cpu.max"), "50000 100000\n"),
            (&format!("{TWO}/a/cpu.max"), "max 100000\n"),
        ]);
        assert_eq!(two.state, CheckState::Warning);
        assert_eq!(two.found, "0.50 of 2 CPUs", "the group above has it");
        let one = |quota, stopped_ns: &str| {
            of_groups(&[
                (&format!("{ONE}.cfs_quota_us"), quota),
                (&format!("{ONE}.cfs_period_us"), "100000\n"),
                (
                    &format!("{ONE}.stat"),
                    &format!("nr_throttled 7\nthrottled_time {stopped_ns}\n"),
                ),
            ])
        };
        assert_eq!(one("150000\n", "0").found, "1.50 of 2 CPUs");
        assert_eq!(one("200000\n", "0").state, CheckState::Ok);
        let halted = one("-1\n", "12000000");
        assert_eq!(halted.state, CheckState::Warning);
        assert_eq!(halted.found, "none; stopped for 12.0 ms so far");
        let none = one("-1\n", "0");
        assert_eq!((none.state, none.found.as_str()), (CheckState::Ok, "none"));
    }

    #[test]
    fn without_a_group_nothing_is_known_of_a_quota() {
        let (_root, system) = system(&[("sys/fs/cgroup/cpu.max", "50000 100000\n")]);
        assert_eq!(item(&all(&system), "cpu_quota").state, CheckState::Unknown);
    }

    #[test]
    fn containers_and_missing_cpus_are_told() {
        let (_root, system) = system(&[
            (".dockerenv", ""),
            ("sys/devices/system/cpu/online", "0-3\n"),
        ]);
        assert_eq!(item(&all(&system), "container").found, "docker");
        assert_eq!(item(&all(&system), "affinity").found, "2 of 4 CPUs");
    }
}
