//! What the system reports about the machine and itself, read once at the start of a session.

use std::fs;
use std::path::Path;

use fathom_model::Environment;

/// Returns what the system reports about itself. Never fails: unknown items are absent.
pub fn environment() -> Environment {
    of(Path::new("/"))
}

/// Returns what the system with files below `root` reports.
pub(crate) fn of(root: &Path) -> Environment {
    let read = |path: &str| {
        fs::read_to_string(root.join(path))
            .ok()
            .map(|text| text.trim().to_string())
    };
    let cpuinfo = read("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_string())
        })
    };
    let system = read("proc/sys/kernel/ostype").unwrap_or_else(|| std::env::consts::OS.to_string());
    let release = read("proc/sys/kernel/osrelease").unwrap_or_default();
    Environment {
        kernel: format!("{system} {release}").trim().to_string(),
        architecture: std::env::consts::ARCH.to_string(),
        cpu_model: field("model name"),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: read("proc/meminfo").and_then(|text| {
            let kib = text.lines().next()?.split_ascii_whitespace().nth(1)?;
            kib.parse::<u64>().ok()?.checked_mul(1024)
        }),
        host: read("proc/sys/kernel/hostname"),
        governor: read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtual_machine: field("flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor")),
        load_average: read("proc/loadavg")
            .and_then(|text| text.split_ascii_whitespace().next()?.parse().ok()),
        // This is measured, not read: callers that need it add it.
        fingerprint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::environment;

    #[test]
    fn what_every_system_tells_is_there() {
        let here = environment();
        assert!(!here.kernel.is_empty() && !here.architecture.is_empty());
        assert!(here.cpus >= 1);
        assert_eq!(here.fingerprint, None, "measured, not read");
    }
}
