//! Damaged system files: whatever they contain, their readers return a value or report that they can't.

use std::path::Path;

use crate::check::System;
use crate::check::tests::{read, system};
use crate::mutated::mutated;
use crate::remembered::{self, Profile, identity_of};
use crate::{context, cpu_gate, environment, mounts, probes, reported, tune};

/// The files that are read, with contents as on a real machine.
const FILES: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  10 1 20 300 4 5 6 77 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
    ),
    (
        "proc/7/stat",
        "7 (a (b) c) S 1 7 7 0 -1 4 1 2 3 4 50 60 0 0 20 0 1 0 9 1 1\n",
    ),
    ("proc/loadavg", "0.50 0.40 0.30 1/200 4242\n"),
    (
        "proc/pressure/cpu",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\n",
    ),
    ("proc/vmstat", "nr_free_pages 1\npswpin 5\npswpout 6\n"),
    (
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/b partition 8388604 524288 -2\n",
    ),
    (
        "proc/cpuinfo",
        "processor : 0\nmodel name : A\nmicrocode : 0x1\nflags : fpu hypervisor\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 16384 kB\nMemFree: 8192 kB\nMemAvailable: 8192 kB\n",
    ),
    ("proc/1/cgroup", "0::/docker/1\n"),
    ("proc/sys/kernel/randomize_va_space", "2\n"),
    ("proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("proc/sys/kernel/yama/ptrace_scope", "1\n"),
    ("proc/sys/kernel/hostname", "a\n"),
    ("proc/cmdline", "root=/dev/b quiet\n"),
    ("proc/self/cgroup", "0::/a\n"),
    (
        "proc/self/mountinfo",
        "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    ),
    ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
    (
        "sys/fs/cgroup/a/cpu.stat",
        "nr_throttled 2\nthrottled_usec 3\n",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/defrag",
        "[always] defer madvise never\n",
    ),
    ("sys/devices/system/cpu/online", "0-2,5\n"),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq",
        "800000\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
        "3600000\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "3\n",
    ),
    ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
    (
        "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size",
        "64\n",
    ),
    (
        "sys/devices/system/cpu/vulnerabilities/spectre_v2",
        "Mitigation: on\n",
    ),
    ("sys/class/thermal/thermal_zone0/temp", "45000\n"),
    (
        "sys/class/thermal/thermal_zone0/trip_point_0_type",
        "passive\n",
    ),
    (
        "sys/class/thermal/thermal_zone0/trip_point_0_temp",
        "95000\n",
    ),
    ("sys/class/power_supply/BAT0/type", "Battery\n"),
    ("sys/class/power_supply/BAT0/status", "Discharging\n"),
];

/// Number of damaged variants of each file.
const FORMS: usize = 120;

fn read_all(system: &System, root: &Path) {
    let items = read(system, root);
    assert!(items.iter().all(|item| !item.id.is_empty()));
    assert!(environment::of(root).cpus >= 1);
    assert_eq!(identity_of(root), identity_of(root));
    for cache in reported::caches(root, 0) {
        reported::parse_cpu_list(&cache.shared_cpus);
    }
    let planned = tune::plan(root);
    assert!(
        planned
            .iter()
            .all(|setting| setting.before != setting.after)
    );
}

#[test]
fn no_damage_to_a_file_of_the_system_stops_its_readers() {
    let (root, system) = system(FILES);
    read_all(&system, root.path());
    for (seed, (path, valid)) in FILES.iter().enumerate() {
        for text in mutated(valid, seed as u64, FORMS) {
            std::fs::write(root.path().join(path), text).unwrap();
            read_all(&system, root.path());
        }
        std::fs::write(root.path().join(path), valid).unwrap();
    }
}

#[test]
fn no_damage_to_a_text_stops_its_parser() {
    let stat = "cpu  10 1 20 300 4 5 6 77 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
    for text in mutated(stat, 1, 2000) {
        cpu_gate::parse_steal_ns(&text, 100);
    }
    let interrupts = "           CPU0       CPU2\n  0:   5   7  timer\nLOC:  10  20 Local\n";
    for text in mutated(interrupts, 2, 2000) {
        probes::noise::parse_interrupts(&text, 2);
    }
    let mounts =
        "22 1 8:1 / / rw shared:1 - ext4 /dev/vda rw\n30 22 0:5 / /t\\040p rw - tmpfs a rw\n";
    for text in mutated(mounts, 3, 2000) {
        mounts::parse(&text, Path::new("/t p/a"));
    }
    for text in mutated("MemTotal: 1 kB\nMemAvailable: 8192 kB\n", 4, 2000) {
        context::parse_available(&text);
    }
}

#[test]
fn a_damaged_profile_is_none_or_one_that_can_be_compared() {
    let folder = tempfile::tempdir().unwrap();
    let results = vec![crate::result::test_result("core_clock", Some(2.0))];
    let saved = Profile::now(results.clone());
    remembered::save(folder.path(), &saved).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap();
    let path = file.unwrap().path();
    let valid = std::fs::read_to_string(&path).unwrap();
    let mut read = 0;
    for text in mutated(&valid, 5, 3000) {
        std::fs::write(&path, text).unwrap();
        if let Some(profile) = remembered::load(folder.path()) {
            read += 1;
            profile.age_seconds();
            for change in remembered::changes(&profile.results, &results) {
                assert!(!change.ratio().is_nan(), "{change:?}");
            }
        }
    }
    assert!((1..3000).contains(&read), "{read} were read");
}
