//! One line for each route: its steps separated by semicolons, then a space and its microseconds.

use fathom_model::Explanation;

use super::{name, title, ways};

/// Writes a line for each route. It begins with the name of the route's tree.
pub(super) fn write(explanation: &Explanation) -> String {
    let mut text = String::new();
    for tree in &explanation.paths {
        for (step, ns) in ways(tree) {
            let way = tree.way(step).into_iter().map(|step| plain(&name(step)));
            let way: Vec<String> = std::iter::once(title(tree.of).to_owned())
                .chain(way)
                .collect();
            let micros = ns.div_ceil(1_000);
            text.push_str(&format!("{} {micros}\n", way.join(";")));
        }
    }
    text
}

/// Removes characters that would end a step or a line.
fn plain(name: &str) -> String {
    let one = |c: char| match c {
        ';' => ':',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    name.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_a_step_or_a_line() {
        assert_eq!(plain("a;b\nc\u{1b}"), "a:b\u{fffd}c\u{fffd}");
    }
}
