//! Clock, hardware threads, heat and power.

use fathom_model::{CheckItem, CheckState};

use super::{System, unknown};
use crate::probes::core_shared;

pub(super) fn items(system: &System) -> Vec<CheckItem> {
    vec![
        governor(system),
        turbo(system),
        siblings(system),
        thermal(system),
        clock_source(system),
        power(system),
    ]
}

fn cpus(system: &System) -> Vec<String> {
    let is_cpu = |name: &String| {
        name.strip_prefix("cpu")
            .is_some_and(|rest| rest.parse::<usize>().is_ok())
    };
    system
        .names("sys/devices/system/cpu")
        .into_iter()
        .filter(is_cpu)
        .collect()
}

fn governor(system: &System) -> CheckItem {
    let of = |cpu: &String, name: &str| {
        system.read(&format!("sys/devices/system/cpu/{cpu}/cpufreq/{name}"))
    };
    let cpus = cpus(system);
    let mut governors: Vec<String> = cpus
        .iter()
        .filter_map(|cpu| of(cpu, "scaling_governor"))
        .collect();
    governors.sort();
    governors.dedup();
    if governors.is_empty() {
        return unknown("governor").because("the clock may change unnoticed during a measurement");
    }
    let driver = cpus
        .first()
        .and_then(|cpu| of(cpu, "scaling_driver"))
        .unwrap_or_default();
    let preference = cpus
        .first()
        .and_then(|cpu| of(cpu, "energy_performance_preference"))
        .unwrap_or_default();
    let found = format!("{} ({driver})", governors.join(", "));
    // With these drivers in active mode, `powersave` only leaves the choice to the processor.
    let active = matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp");
    let steady = governors
        .iter()
        .all(|g| g == "performance" || (g == "powersave" && active && preference == "performance"));
    if steady {
        return CheckItem::new("governor", CheckState::Ok, found);
    }
    CheckItem::new("governor", CheckState::Warning, found)
        .because("short programs run at a lower clock than long ones")
        .mend("sudo cpupower frequency-set -g performance")
}

fn turbo(system: &System) -> CheckItem {
    let intel = system
        .number("sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|off| off == 0);
    let others = system
        .number("sys/devices/system/cpu/cpufreq/boost")
        .map(|on| on == 1);
    match intel.or(others) {
        None => unknown("turbo"),
        Some(false) => CheckItem::new("turbo", CheckState::Ok, "off"),
        Some(true) => {
            let command = if intel.is_some() {
                "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
            } else {
                "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
            };
            CheckItem::new("turbo", CheckState::Warning, "on")
                .because("the clock depends on temperature and on the load of other cores")
                .mend(command)
        }
    }
}

fn siblings(system: &System) -> CheckItem {
    match system.number("sys/devices/system/cpu/smt/active") {
        None => unknown("smt"),
        Some(0) => CheckItem::new("smt", CheckState::Ok, "off"),
        Some(_) => CheckItem::new("smt", CheckState::Warning, "on")
            .because("a busy sibling takes up to half of the core")
            .mend("pin to one thread of each core, or: echo off | sudo tee /sys/devices/system/cpu/smt/control"),
    }
}

/// Reports whether the other hardware thread of the core was busy while this one spun.
pub(super) fn shared_core(shared: f64) -> CheckItem {
    let percent = shared * 100.0;
    if shared < core_shared::SHARED_FROM {
        return CheckItem::new(
            "shared_core",
            CheckState::Ok,
            format!("this program had the core to itself ({percent:.0} % shared)"),
        );
    }
    CheckItem::new(
        "shared_core",
        CheckState::Warning,
        format!("a neighbour used it {percent:.0} % of the time"),
    )
    .because(core_shared::MEANING)
    .mend("end the program on the other thread; if this is a virtual machine, use one with dedicated cores")
}

fn thermal(system: &System) -> CheckItem {
    let hottest = system
        .names("sys/class/thermal")
        .iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|zone| {
            let path = format!("sys/class/thermal/{zone}");
            let now = system.number(&format!("{path}/temp"))?;
            let limit = (0..8)
                .filter_map(|i| {
                    let kind = system.read(&format!("{path}/trip_point_{i}_type"))?;
                    let at = system.number(&format!("{path}/trip_point_{i}_temp"))?;
                    (matches!(kind.as_str(), "passive" | "hot") && at > 0).then_some(at)
                })
                .min();
            Some((now, limit))
        })
        .max();
    match hottest {
        None => unknown("temperature"),
        Some((now, limit)) => {
            let found = format!("{} C at most", now / 1000);
            // The processor is within 10 °C of the first limit at which the kernel throttles it.
            if limit.is_some_and(|limit| now > limit - 10_000) {
                return CheckItem::new("temperature", CheckState::Warning, found)
                    .because("the processor is about to be slowed down")
                    .mend("let it cool down, and pause between long measurements");
            }
            CheckItem::new("temperature", CheckState::Ok, found)
        }
    }
}

fn clock_source(system: &System) -> CheckItem {
    const PATH: &str = "sys/devices/system/clocksource/clocksource0";
    match system.read(&format!("{PATH}/current_clocksource")) {
        None => unknown("clock_source"),
        Some(source)
            if matches!(source.as_str(), "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page")
                || source.starts_with("arch_sys_counter") =>
        {
            CheckItem::new("clock_source", CheckState::Ok, source)
        }
        Some(source) => CheckItem::new("clock_source", CheckState::Warning, source)
            .because("reading the time may take a system call, about 1 us")
            .mend(format!("if tsc is listed in /{PATH}/available_clocksource: echo tsc | sudo tee /{PATH}/current_clocksource")),
    }
}

fn power(system: &System) -> CheckItem {
    let supplies = system.names("sys/class/power_supply");
    let of = |supply: &String, name: &str| {
        system.read(&format!("sys/class/power_supply/{supply}/{name}"))
    };
    let on_battery = supplies.iter().any(|supply| {
        of(supply, "type").as_deref() == Some("Battery")
            && of(supply, "scope").as_deref() != Some("Device")
            && of(supply, "status").as_deref() == Some("Discharging")
    });
    if supplies.is_empty() {
        return CheckItem::new("battery", CheckState::Unknown, "no power supply is listed");
    }
    if on_battery {
        return CheckItem::new("battery", CheckState::Warning, "on battery")
            .because("the clock is limited to save power")
            .mend("connect the power supply");
    }
    CheckItem::new("battery", CheckState::Ok, "on mains")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{item, system};
    use super::*;

    const CPU0: &str = "sys/devices/system/cpu/cpu0/cpufreq";

    #[test]
    fn a_core_that_is_shared_is_a_warning_with_what_it_does() {
        let state = |shared| shared_core(shared).state;
        assert_eq!(state(0.6), CheckState::Warning);
        assert_eq!(state(0.01), CheckState::Ok);
        let item = shared_core(0.6);
        assert!(item.found.contains("60 %") && item.found.len() < 50);
    }

    #[test]
    fn a_saving_governor_is_a_warning_with_the_command_that_mends_it() {
        let (_root, system) = system(&[
            (&format!("{CPU0}/scaling_governor"), "schedutil\n"),
            (&format!("{CPU0}/scaling_driver"), "acpi-cpufreq\n"),
        ]);
        let found = item(&items(&system), "governor");
        assert_eq!(
            (found.state, found.found.as_str()),
            (CheckState::Warning, "schedutil (acpi-cpufreq)")
        );
        assert!(
            found
                .remedy
                .unwrap()
                .contains("frequency-set -g performance")
        );
    }

    #[test]
    fn active_powersave_with_the_performance_preference_is_right() {
        let (_root, system) = system(&[
            (&format!("{CPU0}/scaling_governor"), "powersave\n"),
            (&format!("{CPU0}/scaling_driver"), "intel_pstate\n"),
            (
                &format!("{CPU0}/energy_performance_preference"),
                "performance\n",
            ),
        ]);
        assert_eq!(item(&items(&system), "governor").state, CheckState::Ok);
    }

    #[test]
    fn both_ways_of_turbo_are_known() {
        let (_root, intel) = system(&[("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")]);
        assert!(
            item(&items(&intel), "turbo")
                .remedy
                .unwrap()
                .contains("no_turbo")
        );
        let (_root, other) = system(&[("sys/devices/system/cpu/cpufreq/boost", "0\n")]);
        assert_eq!(item(&items(&other), "turbo").state, CheckState::Ok);
    }

    #[test]
    fn heat_near_the_limit_and_an_empty_battery_are_told() {
        let zone = "sys/class/thermal/thermal_zone0";
        let (_root, system) = system(&[
            (&format!("{zone}/temp"), "86000\n"),
            (&format!("{zone}/trip_point_0_type"), "passive\n"),
            (&format!("{zone}/trip_point_0_temp"), "95000\n"),
            ("sys/class/power_supply/BAT0/type", "Battery\n"),
            ("sys/class/power_supply/BAT0/status", "Discharging\n"),
            (
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
                "hpet\n",
            ),
            ("sys/devices/system/cpu/smt/active", "1\n"),
        ]);
        for id in ["temperature", "battery", "clock_source", "smt"] {
            assert_eq!(item(&items(&system), id).state, CheckState::Warning, "{id}");
        }
    }
}
