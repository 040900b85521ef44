//! Identifies the lock that was waited for by the location in the code that released it.
//!
//! A lock has no name, and the kernel only knows an address. The thread that ends a wait released the lock,
//! and therefore held it; the location from which it wakes others is where it did so.

use crate::file_name::file_name;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use fathom_model::without_type_arguments;
use fathom_trace::{Activity, StackRow};

use super::route::{Key, Step};
use super::sites::Site;

/// Names the locks of waits that were ended by a thread whose location is known. `rows` are the rows of the
/// sites, in the same order.
pub(super) fn name<'a>(sites: &mut [Site<'a>], rows: &[StackRow]) {
    let of_locks = |activity| {
        move |(_, row): &(&Site<'_>, &StackRow)| {
            row.activity == activity && row.call.as_deref() == Some("futex")
        }
    };
    let all = || sites.iter().zip(rows);
    let waits = all().filter(of_locks(Activity::Wait));
    let waits: HashSet<Key<'a>> = waits
        .filter_map(|(site, _)| Some(site.route.last()?.key()))
        .collect();
    // For each thread, the location from which it wakes others most often.
    let mut gave: HashMap<u32, (f64, String)> = HashMap::new();
    for (site, row) in all().filter(of_locks(Activity::Call)) {
        let wakes = |step: &&Step<'_>| !step.is_own && !waits.contains(&step.key());
        let own = site.route.iter().rfind(|step| step.is_own);
        let (Some(_), Some(words)) = (site.route.last().filter(wakes), own.and_then(place)) else {
            continue;
        };
        let most = gave.entry(row.tid).or_default();
        if site.ns >= most.0 {
            *most = (site.ns, words);
        }
    }
    for (site, row) in sites.iter_mut().zip(rows) {
        let by = row.woken_by.and_then(|by| gave.get(&by));
        if let Some((_, place)) = by.filter(|_| of_locks(Activity::Wait)(&(site, row))) {
            let how = match site.route.last().is_some_and(locks) {
                true => "lock held by",
                false => "woken by",
            };
            site.object = Some(Cow::Owned(format!("{how} {place}")));
        }
    }
}

/// Returns whether a wait at this step is for a lock rather than for an event.
fn locks(step: &Step<'_>) -> bool {
    let name = step.frame.function.as_deref().unwrap_or_default();
    name.to_ascii_lowercase().contains("lock")
}

/// Returns `give_back (p.c:9)` or, for a function without a name, its start: `sort+0xac90`.
fn place(step: &Step<'_>) -> Option<String> {
    let Some(function) = step.frame.function.as_deref() else {
        let offset = step.frame.offset?;
        return Some(format!("{}+{offset:#x}", file_name(&step.frame.binary)));
    };
    let name = without_type_arguments(function);
    let file = step.frame.source_file.as_deref().map(file_name);
    Some(match (file, step.frame.line) {
        (Some(file), Some(line)) => format!("{name} ({file}:{line})"),
        _ => name,
    })
}
