//! Adds up amounts by key, and finds what is largest.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Adds up the amounts of each key.
pub(crate) fn totals<K: Ord, N: AddAssign + Default>(
    amounts: impl IntoIterator<Item = (K, N)>,
) -> BTreeMap<K, N> {
    let mut totals: BTreeMap<K, N> = BTreeMap::new();
    for (key, amount) in amounts {
        *totals.entry(key).or_default() += amount;
    }
    totals
}

/// Returns the key with the largest total; of several, the last one.
pub(crate) fn most<K: Ord, N: AddAssign + Default + Ord + Copy>(
    amounts: impl IntoIterator<Item = (K, N)>,
) -> Option<K> {
    let totals = totals(amounts).into_iter();
    Some(totals.max_by_key(|(_, total)| *total)?.0)
}

/// Groups items by key, in their order.
pub(crate) fn grouped<K: Ord, T>(all: impl IntoIterator<Item = (K, T)>) -> BTreeMap<K, Vec<T>> {
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for (key, item) in all {
        groups.entry(key).or_default().push(item);
    }
    groups
}

/// Returns the item with the largest amount; of several, the last one.
pub(crate) fn largest<T>(
    all: impl IntoIterator<Item = T>,
    amount: impl Fn(&T) -> f64,
) -> Option<T> {
    let mut all = all.into_iter();
    let first = all.next()?;
    Some(all.fold(first, |most, one| {
        if amount(&one).total_cmp(&amount(&most)).is_lt() {
            most
        } else {
            one
        }
    }))
}
