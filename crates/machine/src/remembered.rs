//! The quick profile of this machine, kept from one command to the next.
//!
//! It takes 3 s to measure, so it is measured once and stored while the machine stays the same: same boot,
//! kernel, processor, microcode and settings. Only [`crate::canaries`] can show whether it is still as *fast*
//! as then; [`changes`] compares them with the stored profile.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use fathom_model::MachineIdentity;

use crate::best::BestFigures;
use crate::result::ProbeResult;
use crate::suite::{self, Options, Progress};

/// Incremented when a stored profile must no longer be read.
const VERSION: u32 = 1;

/// Files whose content affects figures, with the name under which they are kept.
const SETTINGS: [(&str, &str); 7] = [
    (
        "governor",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ),
    ("no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("boost", "sys/devices/system/cpu/cpufreq/boost"),
    ("smt", "sys/devices/system/cpu/smt/active"),
    ("huge_pages", "sys/kernel/mm/transparent_hugepage/enabled"),
    (
        "clock_source",
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    ("command_line", "proc/cmdline"),
];

/// Returns the identity of the machine with files below `root`.
pub fn identity_of(root: &Path) -> MachineIdentity {
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path))
            .ok()
            .map(|text| text.trim().to_owned())
    };
    let cpuinfo = read("proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let numbers = || {
        let (maker, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("implementer {maker}, part {part}"))
    };
    let memory_kb = read("proc/meminfo").and_then(|text| {
        let first = text.lines().next()?.split_ascii_whitespace().nth(1)?;
        first.parse().ok()
    });
    let settings = SETTINGS
        .iter()
        .filter_map(|(name, path)| Some(((*name).to_owned(), read(path)?)))
        .collect();
    MachineIdentity {
        host: read("proc/sys/kernel/hostname"),
        boot_id: read("proc/sys/kernel/random/boot_id"),
        kernel: read("proc/sys/kernel/osrelease"),
        processor: field("model name").or_else(numbers),
        microcode: field("microcode"),
        cpus: read("sys/devices/system/cpu/online"),
        memory_kb,
        settings,
    }
}

/// Returns the identity of this machine.
pub fn identity() -> MachineIdentity {
    identity_of(Path::new("/"))
}

/// Returns the file's name: one for each machine that shares a home, the same after each boot.
fn file_name(machine: &MachineIdentity) -> String {
    let text = format!("{:?} {:?}", machine.host, machine.processor);
    // FNV-1a: short, and identical in every build.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("machine-{hash:016x}.json")
}

/// A quick profile and its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Version of this format.
    pub version: u32,
    /// When it was measured, in seconds since 1970.
    pub measured_at: u64,
    /// The machine that was measured.
    pub machine: MachineIdentity,
    /// The results of [`crate::quick`].
    pub results: Vec<ProbeResult>,
    /// The best figures of this profile and of earlier runs.
    #[serde(default)]
    pub seen: BestFigures,
}

impl Profile {
    /// Creates a profile of `results`, measured now on this machine.
    pub fn now(results: Vec<ProbeResult>) -> Profile {
        Profile {
            version: VERSION,
            measured_at: seconds_now(),
            machine: identity(),
            results,
            seen: BestFigures::default(),
        }
    }

    /// Returns the figure of the probe `id` in the probe's unit; `None` if it has none.
    pub fn value(&self, id: &str) -> Option<f64> {
        probe(&self.results, id)?.value
    }

    /// Returns the seconds since it was measured; 0 if the clock was set back in the meantime.
    pub fn age_seconds(&self) -> u64 {
        seconds_now().saturating_sub(self.measured_at)
    }

    /// Returns whether each canary has a figure: a profile without them can't show later that the machine
    /// changed, and was measured on a machine that was too busy.
    pub fn is_whole(&self) -> bool {
        let mut needed = CANARIES.iter().filter(|(id, _)| *id != MAY_LACK);
        needed.all(|(id, _)| self.value(id).is_some())
    }
}

fn probe<'a>(results: &'a [ProbeResult], id: &str) -> Option<&'a ProbeResult> {
    results.iter().find(|result| result.id == id)
}

/// Returns the seconds since 1970; 0 if the clock is set to an earlier time.
pub fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// Returns `$XDG_CACHE_HOME/fathom`, else `~/.cache/fathom`; `None` without a home.
pub fn default_folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache")
}

/// Returns Fathom's folder in the base folder given by `variable`, else in `below_home` of the home; `None`
/// without a home. Relative values are ignored, as the XDG specification requires.
pub fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute(variable)
        .or_else(|| Some(absolute("HOME")?.join(below_home)))
        .map(|base| base.join("fathom"))
}

/// Loads the profile of this machine from `folder`; `None` if there is none, if it is damaged, or if the
/// machine was rebooted or reconfigured in the meantime.
pub fn load(folder: &Path) -> Option<Profile> {
    load_of(folder, &identity())
}

fn load_of(folder: &Path, machine: &MachineIdentity) -> Option<Profile> {
    let text = std::fs::read_to_string(folder.join(file_name(machine))).ok()?;
    let profile: Profile = serde_json::from_str(&text).ok()?;
    (profile.version == VERSION && profile.machine == *machine).then_some(profile)
}

/// Writes `profile` into `folder`, which is created if necessary. The file is either complete or missing.
///
/// # Errors
/// If the folder or the file can't be written.
pub fn save(folder: &Path, profile: &Profile) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(file_name(&profile.machine));
    // Two commands may do this concurrently: each writes its own file, and the last rename wins.
    fathom_measure::write_whole(&path, serde_json::to_vec_pretty(profile)?)
}

/// Returns the stored profile of this machine, or measures one now (about 3 s) and stores it if it is
/// complete. The second value tells whether it was stored before.
///
/// An unwritable folder isn't an error: the profile is then measured each time.
pub fn profile(
    folder: Option<&Path>,
    options: &Options,
    progress: Progress<'_>,
) -> (Profile, bool) {
    if let Some(profile) = folder.and_then(load) {
        return (profile, true);
    }
    let profile = Profile::now(suite::quick(options, progress));
    if let Some(folder) = folder
        && profile.is_whole()
    {
        let _ = save(folder, &profile);
    }
    (profile, false)
}

/// The probes that show that a machine changed, and how far each varies on an unchanged machine (relative,
/// 0.03 = 3 %): memory is shared with others, the core isn't.
pub const CANARIES: [(&str, f64); 5] = [
    ("core_clock", 0.03),
    ("l1_latency", 0.03),
    ("memory_latency", 0.2),
    ("read_bandwidth_1", 0.2),
    ("system_call", 0.03),
];

/// The probe that has no figure while the core is shared with something else, which may be all the time.
const MAY_LACK: &str = "system_call";

/// A canary whose figure changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The probe's id.
    pub id: String,
    /// The probe's title.
    pub title: String,
    /// Unit of both figures.
    pub unit: String,
    /// The stored figure.
    pub before: f64,
    /// The figure now.
    pub now: f64,
}

impl Change {
    /// Returns `now / before`.
    pub fn ratio(&self) -> f64 {
        self.now / self.before
    }
}

/// Returns the canaries of `now` that differ from `before` by more than the variation of an unchanged
/// machine. A figure missing on either side is skipped: that isn't a change.
pub fn changes(before: &[ProbeResult], now: &[ProbeResult]) -> Vec<Change> {
    CANARIES
        .iter()
        .filter_map(|(id, tolerance)| {
            let (before, now) = (probe(before, id)?, probe(now, id)?);
            let (was, is) = (before.value?, now.value?);
            // Symmetric: 20 % faster and 20 % slower are the same distance.
            let moved = |was: f64, is: f64| (is / was).ln().abs() > tolerance.ln_1p();
            // If the cycles are unchanged, the clock changed, which is reported only once.
            let by_clock = match (before.cycles, now.cycles) {
                (Some(was), Some(is)) => !moved(was, is),
                _ => false,
            };
            (moved(was, is) && !by_clock).then(|| Change {
                id: now.id.clone(),
                title: now.title.clone(),
                unit: now.unit.clone(),
                before: was,
                now: is,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::test_result;

    fn all(value: f64) -> Vec<ProbeResult> {
        CANARIES
            .iter()
            .map(|(id, _)| test_result(id, Some(value)))
            .collect()
    }

    fn machine(boot: &str) -> MachineIdentity {
        MachineIdentity {
            host: Some("a".into()),
            boot_id: Some(boot.into()),
            ..MachineIdentity::default()
        }
    }

    fn profile_of(machine: MachineIdentity) -> Profile {
        Profile {
            machine,
            ..Profile::now(all(2.0))
        }
    }

    #[test]
    fn what_was_saved_is_loaded_until_the_next_boot() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("not/there/yet");
        let saved = profile_of(machine("1"));
        save(&below, &saved).unwrap();
        assert_eq!(load_of(&below, &machine("1")), Some(saved));
        assert_eq!(load_of(&below, &machine("2")), None);
        // The next boot's profile replaces the first.
        save(&below, &profile_of(machine("2"))).unwrap();
        assert_eq!(std::fs::read_dir(&below).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_or_older_file_is_no_profile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(file_name(&machine("1")));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(load_of(folder.path(), &machine("1")), None);
        let older = Profile {
            version: VERSION - 1,
            ..profile_of(machine("1"))
        };
        save(folder.path(), &older).unwrap();
        assert_eq!(load_of(folder.path(), &machine("1")), None);
    }

    #[test]
    fn a_profile_without_a_canary_is_not_whole() {
        let mut profile = Profile::now(all(2.0));
        assert!(profile.is_whole());
        profile.results[4].value = None;
        assert!(profile.is_whole(), "the core may be shared for ever");
        profile.results[3].value = None;
        assert!(!profile.is_whole());
    }

    #[test]
    fn a_canary_moves_when_it_leaves_its_own_tolerance() {
        let mut now = all(100.0);
        now[0].value = Some(102.0);
        now[2].value = Some(118.0);
        assert_eq!(changes(&all(100.0), &now), []);
        now[0].value = Some(96.0);
        now[2].value = Some(80.0);
        now[4].value = None;
        let moved = changes(&all(100.0), &now);
        let ids: Vec<&str> = moved.iter().map(|change| change.id.as_str()).collect();
        assert_eq!(ids, ["core_clock", "memory_latency"]);
        assert_eq!(moved[1].ratio(), 0.8);
    }

    #[test]
    fn a_clock_that_moved_is_reported_once() {
        let (mut before, mut now) = (all(1.0), all(1.0));
        (now[0].value, now[1].value) = (Some(1.05), Some(0.95));
        (before[1].cycles, now[1].cycles) = (Some(4.0), Some(4.01));
        let moved = changes(&before, &now);
        let ids: Vec<&str> = moved.iter().map(|change| change.id.as_str()).collect();
        assert_eq!(ids, ["core_clock"]);
        now[1].cycles = Some(5.0);
        assert_eq!(changes(&before, &now)[1].id, "l1_latency");
    }

    #[test]
    fn a_setting_that_changes_makes_another_machine() {
        let (root, _) = crate::check::tests::system(&[
            ("proc/cpuinfo", "CPU implementer : 0x41\nCPU part : 0xd0c\n"),
            (
                "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
        ]);
        let before = identity_of(root.path());
        assert_eq!(
            before.processor.as_deref(),
            Some("implementer 0x41, part 0xd0c")
        );
        let governor = root
            .path()
            .join("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        std::fs::write(governor, "performance\n").unwrap();
        let after = identity_of(root.path());
        assert_ne!(before, after);
        assert_eq!(file_name(&before), file_name(&after));
    }
}
