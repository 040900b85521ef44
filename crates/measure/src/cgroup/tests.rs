use super::*;

/// Creates a system with these files and folders; folder names end with a slash.
fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// Returns mounts of both versions, as in systemd's hybrid setup; `shown` is the root of each.
fn hybrid(shown: &str) -> String {
    format!(
        "32 31 0:29 {shown} /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
         35 31 0:32 {shown} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
         41 31 0:38 {shown} /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    )
}

fn unified(shown: &str) -> String {
    format!("30 24 0:26 {shown} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n")
}

const STAT_1: &str = "nr_periods 20\nnr_throttled 7\nthrottled_time 310000000\n";
const STAT_2: &str =
    "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods 20\nnr_throttled 3\nthrottled_usec 250\n";

#[test]
fn the_own_group_counts_where_it_is_not_the_mounts_root() {
    let root = system(&[
        ("proc/self/cgroup", "4:memory:/\n1:cpu,cpuacct:/a\n0::/\n"),
        ("proc/self/mountinfo", &hybrid("/")),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "40000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", STAT_1),
    ]);
    let groups = CpuGroups::of(root.path()).unwrap();
    assert_eq!(groups.limit(), Some(0.4));
    assert_eq!(groups.throttled_ns(), 310_000_000);
    let meter = ThrottleMeter::open(root.path()).unwrap();
    assert_eq!(meter.ns(), 310_000_000);
    let later = STAT_1.replace("310000000", "350000000");
    let stat = "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat";
    fs::write(root.path().join(stat), later).unwrap();
    assert_eq!(meter.ns(), 350_000_000, "the file stays open");
}

#[test]
fn the_least_limit_on_the_way_up_is_in_force_and_all_throttling_counts() {
    let root = system(&[
        ("proc/self/cgroup", "0::/pod/app/worker\n"),
        ("proc/self/mountinfo", &unified("/")),
        ("sys/fs/cgroup/pod/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/pod/cpu.stat", STAT_2),
        ("sys/fs/cgroup/pod/app/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/app/cpu.stat", STAT_2),
        ("sys/fs/cgroup/pod/app/worker/cpu.max", "max 100000\n"),
        // A sibling of the path.
        ("sys/fs/cgroup/pod/other/cpu.max", "1000 100000\n"),
        // The root group of a machine has neither a limit nor throttling counts.
        ("sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
    ]);
    let groups = CpuGroups::of(root.path()).unwrap();
    assert_eq!(groups.limit(), Some(0.5));
    assert_eq!(groups.throttled_ns(), 500_000);
    let meter = ThrottleMeter::open(root.path()).unwrap();
    assert_eq!(meter.ns(), 500_000);
}

#[test]
fn a_container_sees_its_own_group_at_the_mounts_root() {
    // With a cgroup namespace of its own, and without: then the mount shows the container's part.
    for (own, shown) in [("0::/\n", "/"), ("0::/docker/12ab\n", "/docker/12ab")] {
        let root = system(&[
            ("proc/self/cgroup", own),
            ("proc/self/mountinfo", &unified(shown)),
            ("sys/fs/cgroup/cpu.max", "40000 100000\n"),
            ("sys/fs/cgroup/memory.max", "134217728\n"),
        ]);
        assert_eq!(CpuGroups::of(root.path()).unwrap().limit(), Some(0.4));
        assert_eq!(memory_left(root.path()), Some(128 << 20));
    }
}

#[test]
fn a_group_beside_the_namespaces_root_is_found_where_it_is_mounted() {
    let files = |shown: &str| {
        system(&[
            ("proc/self/cgroup", "0::/../x\n"),
            ("proc/self/mountinfo", &unified(shown)),
            ("sys/fs/cgroup/x/cpu.max", "40000 100000\n"),
            ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ])
    };
    let outside = files("/..");
    assert_eq!(CpuGroups::of(outside.path()).unwrap().limit(), Some(0.4));
    // The namespace's own mount doesn't show this group.
    assert_eq!(CpuGroups::of(files("/").path()), None);
}

#[test]
fn in_a_namespace_without_a_mount_of_its_own_the_group_is_found_by_its_processes() {
    let own = format!("1\n{}\n", std::process::id());
    let root = system(&[
        ("proc/self/cgroup", "1:cpu:/w\n"),
        (
            "proc/self/mountinfo",
            &hybrid("/../..").replace(",cpuacct", ""),
        ),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "40000\n"),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/a/b/w/cgroup.procs", &own),
        ("sys/fs/cgroup/cpu/a/c/w/cgroup.procs", "7\n"),
        ("sys/fs/cgroup/cpu/z/c/w/cpu.cfs_quota_us", "1000\n"),
    ]);
    let groups = CpuGroups::of(root.path()).unwrap();
    assert!(groups.folders[0].ends_with("cpu/a/b/w"), "{groups:?}");
    assert_eq!(groups.limit(), Some(0.4));
}

#[test]
fn without_a_limit_nothing_is_read_around_runs() {
    let throttled_usec = |us: u64| {
        system(&[
            ("proc/self/cgroup", "0::/a\n"),
            ("proc/self/mountinfo", &unified("/")),
            ("sys/fs/cgroup/a/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.stat", STAT_2),
            (
                "sys/fs/cgroup/a/cpu.stat.local",
                &format!("throttled_usec {us}\n"),
            ),
        ])
    };
    let root = throttled_usec(0);
    assert_eq!(CpuGroups::of(root.path()).unwrap().limit(), None);
    assert!(ThrottleMeter::open(root.path()).is_none());
    // A limit that isn't visible from inside a container throttled it before.
    let root = throttled_usec(7);
    assert_eq!(CpuGroups::of(root.path()).unwrap().limit(), None);
    assert_eq!(ThrottleMeter::open(root.path()).unwrap().ns(), 7000);
    assert_eq!(CpuGroups::of(system(&[]).path()), None);
}

#[test]
fn the_least_memory_of_all_groups_is_left_and_caches_of_files_are_given_up() {
    let root = system(&[
        ("proc/self/cgroup", "4:memory:/a/b\n0::/\n"),
        ("proc/self/mountinfo", &hybrid("/")),
        (
            "sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
        (
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            "134217728\n",
        ),
        ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "30000000\n"),
        (
            "sys/fs/cgroup/memory/a/memory.stat",
            "inactive_file 1\ntotal_inactive_file 20000000\ntotal_active_file 5000000\n",
        ),
        (
            "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
            "1073741824\n",
        ),
    ]);
    assert_eq!(memory_left(root.path()), Some((128 << 20) - 5_000_000));
    let none = system(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", &unified("/")),
        ("sys/fs/cgroup/memory.max", "max\n"),
    ]);
    assert_eq!(memory_left(none.path()), None);
}

#[cfg(launcher)]
#[test]
fn damage_to_the_files_of_a_group_stops_nobody() {
    let files = [
        ("proc/self/cgroup", "4:cpu,cpuacct:/a/b\n0::/a\n".to_owned()),
        ("proc/self/mountinfo", hybrid("/") + &hybrid("/..")),
        (
            "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.stat",
            STAT_1.to_owned() + STAT_2,
        ),
        ("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.max", "5 10\n".to_owned()),
    ];
    let texts: Vec<(&str, &str)> = files.iter().map(|(a, b)| (*a, b.as_str())).collect();
    let root = system(&texts);
    for (path, valid) in texts {
        // Each variant reads ten files: 4,000 of each took 16 s on a busy machine.
        for text in crate::mutated::mutated_text(valid).step_by(10) {
            fs::write(root.path().join(path), text).unwrap();
            let groups = CpuGroups::of(root.path());
            let limit = groups.as_ref().and_then(CpuGroups::limit);
            assert!(limit.is_none_or(|cpus| cpus > 0.0), "{limit:?}");
            if let Some(groups) = groups {
                groups.throttled_ns();
            }
            memory_left(root.path());
        }
        fs::write(root.path().join(path), valid).unwrap();
    }
}

#[test]
fn a_limit_ends_above_the_highest_group_that_sets_one() {
    let root = system(&[
        (
            "proc/self/cgroup",
            "4:memory:/m\n1:cpu,cpuacct:/pod/app\n0::/\n",
        ),
        ("proc/self/mountinfo", &hybrid("/")),
        ("sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "40000\n"),
        (
            "sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us",
            "100000\n",
        ),
        ("sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_quota_us", "-1\n"),
        (
            "sys/fs/cgroup/memory/m/memory.limit_in_bytes",
            "9223372036854771712\n",
        ),
    ]);
    let at = |path: &str| root.path().join("sys/fs/cgroup").join(path);
    let found = limiting(root.path()).unwrap();
    assert_eq!(found.own, [at("cpu,cpuacct/pod/app")]);
    assert_eq!(found.above, [at("cpu,cpuacct")]);

    // Both limits have one hierarchy, and the higher one decides.
    let root = system(&[
        ("proc/self/cgroup", "0::/pod/app\n"),
        ("proc/self/mountinfo", &unified("/")),
        ("sys/fs/cgroup/pod/app/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/pod/memory.max", "1000000\n"),
    ]);
    let found = limiting(root.path()).unwrap();
    assert_eq!(found.own, [root.path().join("sys/fs/cgroup/pod/app")]);
    assert_eq!(found.above, [root.path().join("sys/fs/cgroup")]);
}

#[test]
fn a_limit_that_is_set_outside_of_the_container_or_nowhere_is_not_lifted() {
    let root = system(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", &unified("/")),
        ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
    ]);
    let said = limiting(root.path()).unwrap_err();
    assert!(said.contains("outside of this container"), "{said}");
    fs::write(root.path().join("sys/fs/cgroup/cpu.max"), "max 100000\n").unwrap();
    let said = limiting(root.path()).unwrap_err();
    assert!(said.contains("no control group"), "{said}");
}
