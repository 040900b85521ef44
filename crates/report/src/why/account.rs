//! An account as a reader sees it: the parts that matter, and the rest in one sum.

use fathom_model::{TimeAccount, TimeCategory};

use super::words;

/// Parts below this share are summed.
const SMALL: f64 = 0.01;

/// One line of the account.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// `None` for the sum of the small parts.
    pub(super) spent: Option<TimeCategory>,
    pub(super) name: String,
    pub(super) ns: u64,
    /// Of the whole, 0 to 1.
    pub(super) share: f64,
}

/// The parts of `account`, largest first, then the sum of those below 1 %. What is unaccounted is
/// named even where it is small: it shows how far the rest may be trusted.
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

/// `The time goes to the program's own code (82 %), kernel: page faults (7.1 %) and ...`: the three
/// largest parts, and what is unaccounted where that is no trifle.
pub(super) fn in_a_sentence(account: &TimeAccount) -> Option<String> {
    let entries = entries(account);
    // A sum of small parts is none of the largest.
    let parts: Vec<String> = entries
        .iter()
        .filter(|entry| entry.share >= SMALL)
        .filter(|entry| {
            entry
                .spent
                .is_some_and(|spent| spent != TimeCategory::Unaccounted)
        })
        .take(3)
        .map(|entry| format!("{} ({})", entry.name, super::quote::share_text(entry.share)))
        .map(|part| part.replace(" %", "\u{a0}%"))
        .collect();
    let joined = match parts.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    };
    let unknown = account.share(TimeCategory::Unaccounted);
    let share = super::quote::share_text(unknown).replace(" %", "\u{a0}%");
    match joined {
        Some(parts) if unknown < SMALL => Some(format!("The time goes to {parts}.")),
        Some(parts) => Some(format!(
            "The time goes to {parts}; {share} of it is unaccounted."
        )),
        None if unknown < SMALL => None,
        None => Some(format!(
            "Where the time goes isn't known: {share} of it is unaccounted."
        )),
    }
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
        assert_eq!(entries[1].name, "ready, but not running");
    }

    #[test]
    fn a_sentence_names_the_largest_parts_and_what_is_unaccounted() {
        let largest = |parts: &[(TimeCategory, u64)]| {
            let sentence = in_a_sentence(&account(parts));
            sentence.map(|text| text.replace('\u{a0}', " "))
        };
        assert_eq!(
            largest(&[(TimeCategory::UserCode, 900), (TimeCategory::Disk, 100)]).as_deref(),
            Some("The time goes to the program's own code (90 %) and waiting for the disk (10 %).")
        );
        assert_eq!(
            largest(&[
                (TimeCategory::UserCode, 600),
                (TimeCategory::Unaccounted, 400)
            ])
            .as_deref(),
            Some("The time goes to the program's own code (60 %); 40 % of it is unaccounted.")
        );
        assert_eq!(
            largest(&[(TimeCategory::Unaccounted, 1000)]).as_deref(),
            Some("Where the time goes isn't known: 100 % of it is unaccounted.")
        );
        assert_eq!(largest(&[]), None);
    }
}
