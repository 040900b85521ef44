//! The caches as reported by the kernel: shown next to the measurements, never instead of them.

use std::path::Path;

/// One cache as sysfs describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedCache {
    /// 1 for the first level.
    pub level: u32,
    /// Size in bytes.
    pub bytes: usize,
    /// Line size in bytes, if reported.
    pub line: Option<usize>,
    /// Ways, if reported.
    pub ways: Option<usize>,
    /// CPUs that share it, as a list such as `0-3`.
    pub shared_cpus: String,
}

/// Returns the data and unified caches of CPU `cpu`, lowest level first; empty if sysfs has none.
pub fn caches(root: &Path, cpu: usize) -> Vec<ReportedCache> {
    let mut found = Vec::new();
    for index in 0..16 {
        let dir = root.join(format!(
            "sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
        ));
        let read = |name: &str| {
            std::fs::read_to_string(dir.join(name))
                .ok()
                .map(|text| text.trim().to_owned())
        };
        let Some(kind) = read("type") else { break };
        let (Some(level), Some(bytes)) = (
            read("level").and_then(|text| text.parse().ok()),
            read("size").and_then(|text| parse_size(&text)),
        ) else {
            continue;
        };
        if kind == "Instruction" {
            continue;
        }
        found.push(ReportedCache {
            level,
            bytes,
            line: read("coherency_line_size").and_then(|text| text.parse().ok()),
            ways: read("ways_of_associativity").and_then(|text| text.parse().ok()),
            shared_cpus: read("shared_cpu_list").unwrap_or_default(),
        });
    }
    found.sort_by_key(|cache| cache.level);
    found
}

/// Parses `32K`, `1024K`, `8M` or plain bytes.
fn parse_size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.char_indices().find(|(_, c)| !c.is_ascii_digit()) {
        Some((at, _)) => text.split_at(at),
        None => (text, ""),
    };
    let factor = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

/// Parses a list such as `0-2,5`; empty for anything else.
pub(crate) fn parse_cpu_list(text: &str) -> Vec<usize> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        match (low.parse::<usize>(), high.parse::<usize>()) {
            (Ok(low), Ok(high)) if low <= high && high < 1 << 16 => cpus.extend(low..=high),
            _ => return Vec::new(),
        }
    }
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("32K"), Some(32768));
        assert_eq!(parse_size("8M"), Some(8 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size("32 KB"), None);
    }

    #[test]
    fn cpu_lists_are_ranges() {
        assert_eq!(parse_cpu_list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_cpu_list(""), [0usize; 0]);
        assert_eq!(parse_cpu_list("x"), [0usize; 0]);
    }

    #[test]
    fn instruction_caches_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (index, level, kind, size) in [
            (0, "1", "Data", "32K"),
            (1, "1", "Instruction", "32K"),
            (2, "2", "Unified", "512K"),
        ] {
            let dir = root
                .path()
                .join(format!("sys/devices/system/cpu/cpu0/cache/index{index}"));
            std::fs::create_dir_all(&dir).unwrap();
            for (name, text) in [
                ("level", level),
                ("type", kind),
                ("size", size),
                ("coherency_line_size", "64\n"),
            ] {
                std::fs::write(dir.join(name), text).unwrap();
            }
        }
        let caches = caches(root.path(), 0);
        let sizes: Vec<_> = caches.iter().map(|c| (c.level, c.bytes, c.line)).collect();
        assert_eq!(sizes, [(1, 32 << 10, Some(64)), (2, 512 << 10, Some(64))]);
    }

    /// Returns line and size in bytes of the first data cache, as reported by the processor. AMD uses leaf
    /// 0x8000001d, Intel leaf 4, in the same format.
    #[cfg(target_arch = "x86_64")]
    fn first_level_by_cpuid() -> Option<(usize, usize)> {
        use std::arch::x86_64::__cpuid_count;
        for (leaf, least) in [(0x8000_001d_u32, 0x8000_0000_u32), (4, 0)] {
            if __cpuid_count(least, 0).eax < leaf {
                continue;
            }
            for index in 0..8 {
                let said = __cpuid_count(leaf, index);
                let (kind, level) = (said.eax & 0x1f, (said.eax >> 5) & 7);
                if kind == 1 && level == 1 {
                    let line = (said.ebx & 0xfff) + 1;
                    let parts = ((said.ebx >> 12) & 0x3ff) + 1;
                    let ways = (said.ebx >> 22) + 1;
                    return Some((
                        line as usize,
                        (line * parts * ways * (said.ecx + 1)) as usize,
                    ));
                }
            }
        }
        None
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_kernels_table_is_that_of_the_processor() {
        let caches = caches(Path::new("/"), 0);
        let first = caches.iter().find(|cache| cache.level == 1);
        if let (Some(first), Some((line, bytes))) = (first, first_level_by_cpuid()) {
            assert_eq!((first.line, first.bytes), (Some(line), bytes));
        }
    }
}
