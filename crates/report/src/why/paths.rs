//! The routes through the code with most of the time, for a terminal.

use fathom_model::{CodePaths, Explanation};

use super::profile::{name, title};
use super::quote::share_text;
use crate::line::{Line, Page, Tone};

/// The maximum number of routes of a tree.
const WAYS: usize = 8;
/// The share of the wall time below which routes are omitted.
const LEAST: f64 = 0.01;
/// Width of a share.
const SHARE: usize = 6;

/// Writes the largest routes of each tree, for `--functions`.
pub(super) fn write(page: &mut Page, explanation: &Explanation) {
    for tree in &explanation.paths {
        let ways = largest(tree, explanation.account.wall_ns);
        if ways.is_empty() {
            continue;
        }
        page.heading(&format!("hottest paths: {}", title(tree.of)));
        for (share, way) in ways {
            let share = share_text(share);
            let line = Line::new().add(Tone::Strong, format!("{share:>SHARE$}  "));
            let way = page.clean(&way);
            page.push(line.add(Tone::Plain, way));
        }
    }
}

/// Returns shares of the wall time, and the names on the route, outermost first.
fn largest(tree: &CodePaths, wall_ns: u64) -> Vec<(f64, String)> {
    let mut own: Vec<(usize, u64)> = tree.own_ns().into_iter().enumerate().collect();
    own.sort_by_key(|(step, ns)| (std::cmp::Reverse(*ns), *step));
    let share = |ns: u64| ns as f64 / wall_ns.max(1) as f64;
    own.into_iter()
        .take(WAYS)
        .map(|(step, ns)| {
            let way = tree.way(step).into_iter().map(name);
            (share(ns), way.collect::<Vec<_>>().join(" > "))
        })
        .filter(|(share, _)| *share >= LEAST)
        .collect()
}
