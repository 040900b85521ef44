//! An account for display: the parts that matter, and the sum of the rest.

use fathom_model::{TimeAccount, TimeCategory};

use super::words;

/// The share below which parts are summed.
const SMALL: f64 = 0.01;

/// One entry of the account.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The category; `None` for the sum of the small parts.
    pub(super) spent: Option<TimeCategory>,
    pub(super) name: String,
    pub(super) ns: u64,
    /// The share of the whole, 0 to 1.
    pub(super) share: f64,
}

/// Returns the parts of `account`, largest first, then the sum of those below 1 %. Unaccounted time is listed
/// even if it is small, since it shows how far to trust the rest.
pub(super) fn entries(account: &TimeAccount) -> Vec<Entry> {
    let mut large: Vec<Entry> = Vec::new();
    let mut small: Vec<TimeCategory> = Vec::new();
    for spent in TimeCategory::ALL {
        let ns = account.ns(spent);
        let share = account.share(spent);
        if ns == 0 {
            continue;
        }
        if share < SMALL {
            small.push(spent);
            continue;
        }
        large.push(Entry {
            spent: Some(spent),
            name: words::name(spent).to_owned(),
            ns,
            share,
        });
    }
    large.sort_by_key(|entry| std::cmp::Reverse(entry.ns));
    if small.is_empty() {
        return large;
    }
    let ns: u64 = small.iter().map(|spent| account.ns(*spent)).sum();
    let share = ns as f64 / account.wall_ns.max(1) as f64;
    let (spent, name) = match small.as_slice() {
        [one] => (Some(*one), words::name(*one).to_owned()),
        several if several.contains(&TimeCategory::Unaccounted) => {
            let unknown = super::quote::share_text(account.share(TimeCategory::Unaccounted));
            (None, format!("other parts ({unknown} unaccounted)"))
        }
        several => (None, format!("other, {} parts below 1 %", several.len())),
    };
    large.push(Entry {
        spent,
        name,
        ns,
        share,
    });
    large
}

/// Returns the name of a part of the kernel's time, without mentioning the kernel.
pub(super) fn in_kernel(spent: TimeCategory) -> &'static str {
    let name = words::name(spent);
    name.strip_prefix("kernel: ").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::AccountPart;

    fn account(parts: &[(TimeCategory, u64)]) -> TimeAccount {
        TimeAccount {
            wall_ns: parts.iter().map(|part| part.1).sum(),
            parts: parts
                .iter()
                .map(|&(spent, ns)| AccountPart { spent, ns })
                .collect(),
        }
    }

    #[test]
    fn the_lines_add_up_to_the_whole() {
        let account = account(&[
            (TimeCategory::UserCode, 500),
            (TimeCategory::Disk, 490),
            (TimeCategory::Ready, 6),
            (TimeCategory::Unaccounted, 4),
        ]);
        let entries = entries(&account);
        assert_eq!(entries.iter().map(|entry| entry.ns).sum::<u64>(), 1000);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[2].name, "other parts (0.4 % unaccounted)");
    }

    #[test]
    fn one_small_part_keeps_its_name() {
        let entries = entries(&account(&[
            (TimeCategory::UserCode, 998),
            (TimeCategory::Ready, 2),
        ]));
        assert_eq!(entries[1].spent, Some(TimeCategory::Ready));
        assert_eq!(entries[1].name, "waiting for a CPU");
    }
}
