//! What the machine runs in: hypervisor, container, quota, CPUs, file system.

use std::path::Path;

use fathom_model::{CheckItem, CheckState};

use super::{System, unknown};
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
        // On AArch64 no flag says so: without a product name nothing is known.
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
            "caches and topology are hints, neighbours are unseen, and the clock is the host's",
        )
        .mend("compare only within one boot; look at steal and at the gaps")
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
            .because("limits and other containers may not be seen from inside"),
        None if group.is_some() => CheckItem::new("container", CheckState::Ok, "no sign of one"),
        None => unknown("container"),
    }
}

/// CPUs that the quota allows, from `cpu.max` of version 2 or the two files of version 1.
fn quota_cpus(system: &System) -> Option<Option<f64>> {
    if let Some(text) = system.read("sys/fs/cgroup/cpu.max") {
        let mut words = text.split_whitespace();
        let (quota, period) = (words.next()?, words.next()?);
        let period: f64 = period.parse().ok()?;
        return Some(quota.parse::<f64>().ok().map(|quota| quota / period));
    }
    let quota = system.number("sys/fs/cgroup/cpu/cpu.cfs_quota_us")?;
    let period = system.number("sys/fs/cgroup/cpu/cpu.cfs_period_us")?;
    Some((quota > 0 && period > 0).then(|| quota as f64 / period as f64))
}

fn quota(system: &System, cpus: usize) -> CheckItem {
    match quota_cpus(system) {
        // The root group has no such file, nor has a system without groups.
        None => CheckItem::new(
            "cpu_quota",
            CheckState::Unknown,
            "no quota file for this group",
        ),
        Some(None) => CheckItem::new("cpu_quota", CheckState::Ok, "none"),
        Some(Some(allowed)) if allowed >= cpus as f64 => {
            CheckItem::new("cpu_quota", CheckState::Ok, format!("{allowed:.2} CPUs"))
        }
        Some(Some(allowed)) => CheckItem::new(
            "cpu_quota",
            CheckState::Warning,
            format!("{allowed:.2} of {cpus} CPUs"),
        )
        .because("threads are halted for the rest of each 0.1 s once the quota is used")
        .mend("raise the limit (docker: --cpus; systemd: CPUQuota=)"),
    }
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
        "tmpfs" | "ramfs" => warning.because("files live in memory: nothing is ever cold"),
        "overlay" | "fuse" | "fuse.sshfs" | "nfs" | "nfs4" | "cifs" | "9p" | "virtiofs" => {
            warning.because("file operations pass through another layer or a network")
        }
        _ => item,
    }
}

/// Share of the file system that is in use, 0 to 1.
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

    #[test]
    fn a_quota_below_the_cpus_is_a_warning_in_both_versions() {
        let (_root, two) = system(&[("sys/fs/cgroup/cpu.max", "50000 100000\n")]);
        assert_eq!(item(&all(&two), "cpu_quota").found, "0.50 of 2 CPUs");
        let (_root, one) = system(&[
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(item(&all(&one), "cpu_quota").found, "1.50 of 2 CPUs");
        let (_root, none) = system(&[("sys/fs/cgroup/cpu.max", "max 100000\n")]);
        assert_eq!(item(&all(&none), "cpu_quota").state, CheckState::Ok);
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
